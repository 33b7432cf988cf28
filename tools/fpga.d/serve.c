// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Descriptors and data of the AXI DMA.  A channel fetches descriptors ahead, as the
 * core does: a descriptor that software changes after its fetch keeps its old
 * values.  The first in the queue moves its bytes; TLAST completes it on S2MM, and
 * the next packet begins in the next descriptor.
 */
#include "serve.h"

static uint64_t serve_wide(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

static bool serve_inside(const struct axidma *core, uint64_t start,
			 uint64_t length)
{
	return start <= core->size && length <= core->size - start;
}

static uint32_t *words_at(const struct axidma *core, uint64_t address)
{
	return (uint32_t *)(void *)(core->memory + address);
}

/* Fetches a descriptor; returns the error bits of DMASR. */
static uint32_t serve_fetch(const struct axidma *core,
			    struct axidma_channel *channel, bool cyclic)
{
	struct axidma_descriptor *into = &channel->queue[channel->queued];
	uint64_t address = channel->next;
	const uint32_t *words;

	if (address % BD_ALIGN || !serve_inside(core, address, BD_ALIGN))
		return SR_SG_DECODE_ERROR;
	words = words_at(core, address);
	if (axidma_load(&words[BD_STATUS]) & BD_COMPLETED && !cyclic)
		return SR_SG_INTERNAL_ERROR;
	into->address = address;
	into->buffer = serve_wide(&words[BD_BUFFER]);
	into->length = words[BD_CONTROL] & BD_LENGTH;
	into->ends_packet = words[BD_CONTROL] & BD_EOF;
	if (into->buffer % core->width)
		channel->control->unaligned++;
	channel->queued++;
	channel->newest = address;
	channel->fetched = true;
	channel->next = serve_wide(&words[BD_NEXT]);
	/* A cyclic chain lacks a tail. */
	channel->paused = !cyclic && address == channel->tail;
	return 0;
}

static bool fetch_ahead(const struct axidma *core,
			struct axidma_channel *channel)
{
	bool cyclic = axidma_load(&channel->registers[AXIDMA_CR]) & CR_CYCLIC;
	bool changed = false;
	uint32_t error;

	while (channel->running && !channel->paused &&
	       channel->queued < core->prefetch) {
		changed = true;
		error = serve_fetch(core, channel, cyclic);
		if (error)
			axidma_fail(channel, error, channel->next);
	}
	return changed;
}

/* Removes the first descriptor and writes its status. */
static void serve_complete(const struct axidma *core,
			   struct axidma_channel *channel, uint32_t status)
{
	struct axidma_descriptor *first = &channel->queue[0];
	unsigned int i;

	axidma_store(&words_at(core, first->address)[BD_STATUS],
		     status | BD_COMPLETED | (uint32_t)channel->done);
	channel->control->descriptors++;
	channel->done = 0;
	channel->queued--;
	for (i = 0; i < channel->queued; i++)
		channel->queue[i] = channel->queue[i + 1];
	if (channel->queued)
		channel->current = channel->queue[0].address;
	else if (channel->paused)
		channel->status |= SR_IDLE;
}

static void fail_first(const struct axidma *core,
		       struct axidma_channel *channel, uint32_t errors)
{
	uint64_t address = channel->queue[0].address;

	serve_complete(
		core, channel,
		(errors & (SR_INTERNAL_ERROR | SR_SLAVE_ERROR | SR_DECODE_ERROR))
			<< BD_ERROR_SHIFT);
	axidma_fail(channel, errors & SR_ERRORS, address);
	/* A test may ask for both interrupts at once. */
	axidma_raise(channel, errors & SR_COMPLETE_IRQ);
}

/* Returns the error bits that the first descriptor causes or a test asked for. */
static uint32_t error_of(const struct axidma *core,
			 struct axidma_channel *channel)
{
	const struct axidma_descriptor *first = &channel->queue[0];
	uint32_t asked = axidma_load(&channel->control->error);

	if (asked && axidma_swap(&channel->control->error, asked, 0))
		return asked & (SR_ERRORS | SR_COMPLETE_IRQ);
	if (!first->length)
		return SR_INTERNAL_ERROR;
	if (!serve_inside(core, first->buffer, first->length))
		return SR_DECODE_ERROR;
	return 0;
}

/* Limits @length to the byte after which a test wants TLAST. */
static size_t until_early_end(struct axidma_channel *channel, size_t length,
			      bool *early)
{
	uint32_t end = axidma_load(&channel->control->end_early);
	size_t most = end > channel->packet ? end - channel->packet : 1;

	*early = end && length >= most;
	return *early ? most : length;
}

/* Applies the faults to TLAST behind a piece; returns true if the packet ends. */
static bool serve_ends(struct axidma_channel *channel, bool last, bool early)
{
	uint32_t late = axidma_load(&channel->control->end_late);

	if (early) {
		axidma_store(&channel->control->end_early, 0);
		return true;
	}
	return last && !(late && axidma_swap(&channel->control->end_late, late,
					     late - 1));
}

static void serve_count(struct axidma_channel *channel, size_t bytes,
			bool ended)
{
	uint64_t before = channel->control->bytes;

	channel->done += bytes;
	channel->packet += bytes;
	__atomic_store_n(&channel->control->bytes, before + bytes,
			 __ATOMIC_RELEASE);
	if (bytes)
		channel->silent_since = 0;
	if (!ended)
		return;
	channel->packet = 0;
	channel->control->packets++;
}

static bool move_to_stream(struct axidma *core, struct axidma_channel *channel,
			   uint64_t now)
{
	const struct axidma_descriptor *first = &channel->queue[0];
	size_t left = first->length - channel->done;
	bool ends_packet = first->ends_packet;
	bool early;
	size_t piece = until_early_end(channel, left, &early);
	bool last = early || (piece == left && ends_packet &&
			      !axidma_load(&channel->control->end_late));
	size_t sent =
		core->ports->send(core->context,
				  core->memory + first->buffer + channel->done,
				  piece, last);

	if (!sent)
		return false;
	/* Uses the faults up only after the last byte left. */
	if (sent == piece)
		last = serve_ends(channel, piece == left && ends_packet, early);
	serve_count(channel, sent, sent == piece && last);
	if (channel->done < first->length)
		return true;
	serve_complete(core, channel, 0);
	if (ends_packet)
		axidma_packet_done(channel, now);
	return true;
}

static bool move_from_stream(struct axidma *core,
			     struct axidma_channel *channel, uint64_t now)
{
	const struct axidma_descriptor *first = &channel->queue[0];
	size_t left = first->length - channel->done;
	bool last = false;
	bool early;
	size_t piece = until_early_end(channel, left, &early);
	size_t got = core->ports->receive(
		core->context, core->memory + first->buffer + channel->done,
		piece, &last);
	uint32_t status = 0;

	if (!got && !last)
		return false;
	last = serve_ends(channel, last, early && got == piece);
	serve_count(channel, got, last);
	if (!last && channel->done < first->length)
		return true;
	if (!channel->in_packet)
		status |= BD_SOF;
	if (last)
		status |= BD_EOF;
	channel->in_packet = !last;
	serve_complete(core, channel, status);
	if (last)
		axidma_packet_done(channel, now);
	return true;
}

bool axidma_serve(struct axidma *core, struct axidma_channel *channel,
		  uint64_t now)
{
	bool changed = fetch_ahead(core, channel);
	uint32_t errors;

	if (!channel->queued || axidma_load(&channel->control->stall))
		return changed;
	errors = error_of(core, channel);
	if (errors) {
		fail_first(core, channel, errors);
		return true;
	}
	if (channel->direction == MM2S)
		changed |= move_to_stream(core, channel, now);
	else
		changed |= move_from_stream(core, channel, now);
	return changed;
}
