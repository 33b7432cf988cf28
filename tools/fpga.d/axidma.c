// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Registers of the AXI DMA: run and stop, reset, status and interrupts.  The guest's
 * writes do not trap, so each register is compared with its value before.  Words are
 * exchanged atomically: a write of the guest is either seen or still there.
 * serve.c moves the data.
 */
#include <string.h>

#include "serve.h"

bool axidma_swap(uint32_t *word, uint32_t before, uint32_t after)
{
	return __atomic_compare_exchange_n(word, &before, after, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void axidma_reload(struct axidma_channel *channel)
{
	channel->countdown = channel->threshold ? channel->threshold : 1;
}

void axidma_raise(struct axidma_channel *channel, uint32_t irqs)
{
	channel->events |= irqs;
}

void axidma_packet_done(struct axidma_channel *channel, uint64_t now)
{
	channel->silent_since = now;
	if (--channel->countdown)
		return;
	channel->silent_since = 0;
	axidma_reload(channel);
	axidma_raise(channel, SR_COMPLETE_IRQ);
}

static void axidma_halt(struct axidma_channel *channel)
{
	channel->running = false;
	channel->queued = 0;
	channel->done = 0;
	channel->silent_since = 0;
	channel->status |= SR_HALTED;
	channel->status &= ~SR_IDLE;
}

void axidma_fail(struct axidma_channel *channel, uint32_t errors,
		 uint64_t descriptor)
{
	axidma_halt(channel);
	channel->status |= errors;
	axidma_raise(channel, SR_ERROR_IRQ);
	axidma_store(&channel->registers[AXIDMA_CURDESC], (uint32_t)descriptor);
	__atomic_fetch_and(&channel->registers[AXIDMA_CR], ~CR_RUN,
			   __ATOMIC_ACQ_REL);
}

/*
 * A write of DMASR clears the interrupt bits that are 1 in it.  The driver writes
 * twice after an error, the second time without such bits: the model then possibly
 * missed the first write, and regards all bits that were shown as cleared.
 */
static void axidma_acknowledge(struct axidma_channel *channel, uint32_t written)
{
	uint32_t cleared = written & SR_IRQS;

	if (!cleared)
		cleared = channel->shown & SR_IRQS;
	channel->status &= ~cleared;
	channel->signalled = 0;
	channel->lost = 0;
}

/* Uses up an event that a test asked for; false if none is left. */
static bool axidma_consume(uint32_t *events)
{
	uint32_t left = axidma_load(events);

	return left && axidma_swap(events, left, left - 1);
}

/* Raises an edge for interrupt bits that lack it so far. */
static void signal_fresh(struct axidma *core, struct axidma_channel *channel)
{
	uint32_t enabled = axidma_load(&channel->registers[AXIDMA_CR]);
	uint32_t fresh =
		channel->status & SR_IRQS & enabled & ~channel->signalled;

	if (!fresh)
		return;
	channel->signalled |= fresh;
	if (axidma_consume(&channel->control->lose_interrupts)) {
		channel->lost |= fresh;
		channel->control->lost++;
		return;
	}
	channel->control->interrupts++;
	core->ports->interrupt(core->context, channel->direction);
}

static uint32_t whole_status(const struct axidma_channel *channel)
{
	return channel->status | channel->events | SR_SG |
	       channel->countdown << 16;
}

/*
 * Shows the status; returns true if the guest wrote it meanwhile.  Its write
 * precedes the new events and does not clear them: the driver acknowledges an
 * interrupt before it starts the transfer that causes the next interrupt.
 */
static bool axidma_settle(struct axidma *core, struct axidma_channel *channel)
{
	uint32_t *word = &channel->registers[AXIDMA_SR];
	bool written = false;
	uint32_t found;

	do {
		found = axidma_load(word);
		if (found != channel->shown) {
			axidma_acknowledge(channel, found);
			written = true;
		}
		channel->shown = found;
	} while (found != whole_status(channel) &&
		 !axidma_swap(word, found, whole_status(channel)));
	channel->shown = whole_status(channel);
	channel->status |= channel->events;
	/* An event after a lost edge raises it again. */
	channel->signalled &= ~(channel->events & channel->lost);
	channel->lost &= ~channel->events;
	channel->events = 0;
	signal_fresh(core, channel);
	return written;
}

static void reset_channel(struct axidma_channel *channel)
{
	uint32_t *registers = channel->registers;

	axidma_halt(channel);
	channel->status = SR_HALTED;
	channel->events = channel->signalled = channel->lost = 0;
	channel->threshold = CR_THRESHOLD(CR_DEFAULT);
	axidma_reload(channel);
	channel->packet = 0;
	channel->in_packet = false;
	channel->shown = whole_status(channel);
	axidma_store(&registers[AXIDMA_CURDESC], 0);
	axidma_store(&registers[AXIDMA_TAILDESC], TAIL_SEEN);
	axidma_store(&registers[AXIDMA_SR], channel->shown);
}

/*
 * Either direction's reset bit resets both; the driver waits until it is clear.  The
 * other direction is first: behind that bit, the driver may start it.
 */
static void axidma_reset(struct axidma *core)
{
	uint32_t *control[AXIDMA_DIRECTIONS];
	int i, own;

	for (i = 0; i < AXIDMA_DIRECTIONS; i++)
		reset_channel(&core->channel[i]);
	core->control->resets++;
	core->ports->reset(core->context);
	for (i = 0; i < AXIDMA_DIRECTIONS; i++)
		control[i] = &core->channel[i].registers[AXIDMA_CR];
	own = axidma_load(control[MM2S]) & CR_RESET ? MM2S : S2MM;
	axidma_store(control[MM2S + S2MM - own], CR_DEFAULT);
	axidma_store(control[own], CR_DEFAULT);
}

static void axidma_start(struct axidma_channel *channel)
{
	uint32_t *registers = channel->registers;

	channel->running = true;
	channel->paused = true;
	channel->fetched = false;
	channel->next = axidma_load(&registers[AXIDMA_CURDESC]);
	channel->current = channel->next;
	channel->status &= ~SR_HALTED;
	axidma_reload(channel);
}

/*
 * A new tail wakes an idle channel, which continues behind its last descriptor.  In
 * a busy channel it only moves the place of the pause.
 */
static bool take_tail(struct axidma_channel *channel)
{
	uint32_t *word = &channel->registers[AXIDMA_TAILDESC];
	uint32_t tail = axidma_load(word);

	if (tail & TAIL_SEEN || !axidma_swap(word, tail, tail | TAIL_SEEN))
		return false;
	channel->tail = tail;
	if (!channel->running)
		return true;
	if (channel->status & SR_IDLE || !channel->fetched ||
	    channel->newest != tail)
		channel->paused = false;
	if (channel->status & SR_IDLE)
		axidma_reload(channel);
	channel->status &= ~SR_IDLE;
	return true;
}

static bool take_registers(struct axidma_channel *channel)
{
	uint32_t *registers = channel->registers;
	uint32_t control = axidma_load(&registers[AXIDMA_CR]);
	bool changed = false;

	if (CR_THRESHOLD(control) != channel->threshold) {
		channel->threshold = CR_THRESHOLD(control);
		axidma_reload(channel);
		changed = true;
	}
	/* Only a reset clears errors. */
	if ((control & CR_RUN) && !channel->running &&
	    !(channel->status & SR_ERRORS)) {
		axidma_start(channel);
		changed = true;
	} else if (!(control & CR_RUN) && channel->running) {
		axidma_halt(channel);
		changed = true;
	}
	/* Software may write CURDESC only to a halted channel. */
	if (channel->running &&
	    axidma_load(&registers[AXIDMA_CURDESC]) != channel->current)
		axidma_store(&registers[AXIDMA_CURDESC],
			     (uint32_t)channel->current);
	return take_tail(channel) || changed;
}

/* The delay interrupt: a packet ended, and no further packet for a while. */
static bool take_time(const struct axidma *core, struct axidma_channel *channel,
		      uint64_t now)
{
	uint32_t control = axidma_load(&channel->registers[AXIDMA_CR]);
	uint64_t delay = CR_DELAY(control) * 125ull * 1000000000 / core->clock;

	if (!channel->silent_since || !delay ||
	    now - channel->silent_since < delay)
		return false;
	channel->silent_since = 0;
	axidma_reload(channel);
	axidma_raise(channel, SR_DELAY_IRQ);
	return true;
}

bool axidma_step(struct axidma *core, uint64_t now)
{
	bool changed = false;
	int i;

	if (axidma_load(&core->control->deaf))
		return false;
	for (i = 0; i < AXIDMA_DIRECTIONS; i++) {
		struct axidma_channel *channel = &core->channel[i];

		if (axidma_load(&channel->registers[AXIDMA_CR]) & CR_RESET) {
			axidma_reset(core);
			return true;
		}
		changed |= take_registers(channel);
		changed |= axidma_serve(core, channel, now);
		changed |= take_time(core, channel, now);
		changed |= axidma_settle(core, channel);
	}
	return changed;
}

bool axidma_waits(const struct axidma *core, enum axidma_direction direction)
{
	const struct axidma_channel *channel = &core->channel[direction];

	return channel->queued && !axidma_load(&channel->control->stall) &&
	       !axidma_load(&core->control->deaf);
}

unsigned int axidma_running(const struct axidma *core)
{
	return core->channel[MM2S].running + core->channel[S2MM].running;
}

void axidma_init(struct axidma *core)
{
	static const uint32_t offsets[] = {
		[MM2S] = AXIDMA_MM2S,
		[S2MM] = AXIDMA_S2MM,
	};
	struct fpga_control *control = (void *)(core->memory + FPGA_CONTROL);
	int i;

	memset(core->memory + FPGA_WINDOW, 0, FPGA_WINDOW_SIZE);
	memset(core->channel, 0, sizeof(core->channel));
	control->magic = FPGA_MAGIC;
	control->version = FPGA_VERSION;
	core->control = control;
	core->channel[MM2S].control = &control->mm2s;
	core->channel[S2MM].control = &control->s2mm;
	for (i = 0; i < AXIDMA_DIRECTIONS; i++) {
		struct axidma_channel *channel = &core->channel[i];

		channel->direction = i;
		channel->registers =
			(void *)(core->memory + FPGA_WINDOW + offsets[i]);
		reset_channel(channel);
		axidma_store(&channel->registers[AXIDMA_CR], CR_DEFAULT);
	}
}
