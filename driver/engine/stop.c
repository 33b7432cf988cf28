// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping: asks for the engine's progress, stops it, and ends the jobs in it.
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/dmaengine.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>

#include "base/node.h"
#include "channel.h"
#include "end.h"
#include "engine.h"
#include "flight.h"
#include "frames.h"
#include "job.h"
#include "quirk.h"
#include "repeat.h"
#include "stop.h"

/* Of a job that the engine reports without having moved a byte. */
#define DRAY_RETRIES 3

/* Until an engine calls back for all descriptors that it completed. */
#define DRAY_CALLBACK_NS (20 * NSEC_PER_MSEC)

int dray_stream_obstacle(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	if (READ_ONCE(channel->closing))
		return -ENODEV;
	if (READ_ONCE(channel->dead))
		return -EIO;
	if (READ_ONCE(job->cancelled) ||
	    (job->frames && READ_ONCE(job->frames->ended)))
		return -ECANCELED;
	if (job->deadline && ktime_get_ns() >= job->deadline)
		return -ETIMEDOUT;
	return 0;
}

/* Checks for a receive of several pieces that were not filled. */
static bool dray_flight_is_short(const struct dray_flight *flight)
{
	return flight->channel->stream.direction == DMA_DEV_TO_MEM &&
	       flight->residue && flight->hardware > 1;
}

bool dray_flight_is_kept(const struct dray_job *job)
{
	const struct dray_quirk *quirk = job->channel->stream.quirk;

	return quirk->keeps && !quirk->merges &&
	       dray_flight_is_short(job->flight);
}

/* Returns the status of a flight that the engine reported. */
static int dray_flight_status(const struct dray_flight *flight)
{
	if (flight->failed)
		return -EIO;
	/* Its packet ended in any of the pieces, and others filled those behind. */
	if (flight->channel->stream.quirk->merges &&
	    dray_flight_is_short(flight))
		return -EBADMSG;
	return 0;
}

/* The work item shows its end later: maintaining caches may take long. */
static void dray_stop_finish(struct dray_job *job, const struct dray_end *end,
			     bool lost)
{
	struct dray_channel *channel = job->channel;

	/* A ring's frame flies again: without room at first, it has not landed. */
	job->flight->aloft = lost;
	job->flight->retries = 0;
	job->flight->asked_ns = 0;
	job->end = *end;
	job->lost = lost;
	spin_lock_irq(&channel->lock);
	list_move_tail(&job->list, &channel->stream.ending);
	spin_unlock_irq(&channel->lock);
}

static struct dray_job *dray_stream_ending(struct dray_channel *channel)
{
	struct dray_job *job;

	spin_lock_irq(&channel->lock);
	job = list_first_entry_or_null(&channel->stream.ending, struct dray_job,
				       list);
	if (job)
		list_del_init(&job->list);
	spin_unlock_irq(&channel->lock);
	return job;
}

bool dray_stream_end_all(struct dray_channel *channel)
{
	struct dray_job *job;
	bool any = false, lost;

	lockdep_assert_held(&channel->stream.working);
	while ((job = dray_stream_ending(channel))) {
		any = true;
		lost = job->lost;
		if (job->frames)
			dray_frame_end(job);
		else
			dray_job_end(job, &job->end, lost);
		if (lost)
			list_add_tail(&job->list, &channel->stream.lost);
		else if (!job->frames)
			dray_job_retire(job);
	}
	return any;
}

void dray_stream_end(struct dray_job *job, int error, u64 bytes, bool stopped)
{
	const struct dray_end end = {
		.error = error,
		.bytes = bytes,
		.stopped = stopped,
		.time_ns = ktime_get_ns(),
	};

	dray_stop_finish(job, &end, false);
}

void dray_stream_land(struct dray_job *job)
{
	const struct dray_flight *flight = job->flight;
	const int status = dray_flight_status(flight);
	const struct dray_end end = {
		.error = status,
		.bytes = flight->bytes - flight->residue,
		.stopped = status,
		.time_ns = flight->time_ns,
	};

	dray_stop_finish(job, &end, false);
}

/* Waits for the engine's report; false: there is none until @until, ktime in ns. */
static bool dray_flight_await(const struct dray_job *job, u64 until)
{
	while (!dray_flight_has_landed(job)) {
		if (ktime_get_ns() >= until)
			return false;
		usleep_range(100, 200);
	}
	return true;
}

/* Returns the last job in the engine, which is not empty. */
static struct dray_job *dray_stream_last(struct dray_channel *channel)
{
	struct dray_job *job;

	list_for_each_entry_reverse(job, &channel->stream.jobs, list)
		if (job->flight->aloft)
			break;
	return job;
}

/*
 * Notes the engine's progress with a job.  A residue of the last descriptor only says
 * nothing about earlier descriptors: a group is reported at its end, so each of them
 * may be running, or even be complete.
 */
static void dray_flight_measure(struct dray_job *job, u32 residue, bool gentle,
				u64 until)
{
	struct dray_flight *flight = job->flight, *told = flight;
	const struct dray_stream *stream = &flight->channel->stream;

	if (stream->quirk->blind)
		told = dray_stream_last(flight->channel)->flight;
	/* A packet under way may be about to end; so may an earlier packet. */
	if (stream->counts && residue < told->bytes &&
	    (gentle || told != flight) && dray_flight_await(job, until))
		return;
	flight->unknown = !stream->counts || told != flight;
	if (!flight->unknown)
		flight->moved =
			flight->bytes - min_t(u64, residue, flight->bytes);
}

/* Checks that the flight landed for good; if not, the engine gets it again. */
static bool dray_flight_is_done(const struct dray_job *job)
{
	return dray_flight_has_landed(job) && !dray_flight_is_unfinished(job);
}

/* Notes the engine's status of a flight; true: nothing else is known of it. */
static bool dray_flight_is_over(struct dray_job *job, u64 until, u32 *residue)
{
	struct dray_flight *flight = job->flight;
	const struct dray_stream *stream = &flight->channel->stream;
	struct dma_tx_state state = {};
	enum dma_status status;

	if (dray_flight_has_landed(job))
		return dray_flight_is_done(job);
	status = dmaengine_tx_status(flight->channel->chan, flight->cookie,
				     &state);
	*residue = state.residue;
	if (status != DMA_COMPLETE && status != DMA_ERROR)
		return false;
	flight->broken = status == DMA_ERROR;
	if (dray_flight_await(job, until) && !flight->broken)
		return dray_flight_is_done(job);
	/* Without a callback, all was sent, or a packet of any length arrived. */
	flight->unknown = !flight->broken;
	if (flight->unknown && stream->direction == DMA_MEM_TO_DEV)
		flight->moved = flight->bytes;
	return true;
}

/*
 * Notes the engine's progress with each job.  An engine that counts whole pieces only
 * may be in the first piece of its oldest flight.
 */
static void dray_stream_measure(struct dray_channel *channel, bool gentle,
				u64 until)
{
	struct dray_stream *stream = &channel->stream;
	bool doubt = stream->coarse;
	struct dray_job *job;
	u32 residue = 0;

	if (stream->repeats)
		dray_repeats_look(channel);
	list_for_each_entry(job, &stream->jobs, list) {
		if (!job->flight->aloft ||
		    dray_flight_is_over(job, until, &residue))
			continue;
		if (stream->repeats)
			return;
		if (!dray_flight_has_landed(job))
			dray_flight_measure(job, residue, gentle, until);
		if (dray_flight_is_done(job))
			continue;
		job->flight->unknown |= doubt;
		doubt = false;
		/* Without a residue, later flights did not begin. */
		if (!stream->counts)
			return;
	}
}

/*
 * Notes the engine's progress before its stop.  A gentle stop lets packets under way
 * end first.  Then the engine is paused, if its driver can: a packet that arrived between
 * the question for its progress and the stop would be lost without an error.
 */
static void dray_stream_note(struct dray_channel *channel, bool gentle,
			     u64 until)
{
	if (gentle)
		dray_stream_measure(channel, true, until);
	if (!channel->stream.repeats)
		dmaengine_pause(channel->chan);
	dray_stream_measure(channel, false, until);
}

static struct dray_job *dray_stream_aloft(struct dray_channel *channel)
{
	struct dray_job *job;

	list_for_each_entry(job, &channel->stream.jobs, list)
		if (job->flight->aloft)
			return job;
	return NULL;
}

/*
 * If a driver does not say that its engine goes on, it refuses the next
 * descriptor.  A descriptor that was not issued is never started.
 */
static bool dray_stream_is_quiet(struct dray_channel *channel,
				 struct dray_flight *flight)
{
	struct dma_async_tx_descriptor *tx;
	bool quiet;

	tx = dmaengine_prep_slave_sg(channel->chan, flight->piece, 1,
				     channel->stream.direction, DMA_CTRL_ACK);
	if (!tx)
		return true;
	quiet = !dma_submit_error(dmaengine_submit(tx));
	dmaengine_terminate_sync(channel->chan);
	return quiet;
}

/*
 * A driver that restarts does so in its interrupt handler, which may run beside the
 * first call and start waiting descriptors.  None waits after that call, so the second
 * one stops the engine for good.  No handler runs on after it: it could still note an
 * error, and the next descriptor would reset the other direction.
 */
static bool dray_stream_terminate(struct dray_channel *channel)
{
	unsigned int i, calls = channel->stream.quirk->restarts ? 2 : 1;

	for (i = 0; i < calls; i++) {
		if (dmaengine_terminate_sync(channel->chan))
			return false;
		/* Handlers run with interrupts off, which RCU waits for. */
		if (calls > 1)
			synchronize_rcu_expedited();
	}
	return true;
}

bool dray_stream_halt(struct dray_channel *channel)
{
	struct dray_job *job = dray_stream_aloft(channel);

	if (!dray_stream_terminate(channel))
		return false;
	dray_repeats_forget(channel);
	if (!job && !list_empty(&channel->stream.lost))
		job = list_first_entry(&channel->stream.lost, struct dray_job,
				       list);
	if (!job || !channel->stream.quirk->deaf)
		return true;
	return dray_stream_is_quiet(channel, job->flight);
}

static void dray_stream_died(struct dray_channel *channel)
{
	dev_err(channel->node->dev,
		"channel %s does not stop: not used any more\n", channel->name);
	spin_lock_irq(&channel->lock);
	WRITE_ONCE(channel->dead, true);
	spin_unlock_irq(&channel->lock);
}

/* Ends a job that was in the engine at its stop, if it must end. */
static void dray_stream_settle_one(struct dray_job *job, bool own, bool halted)
{
	struct dray_flight *flight = job->flight;
	struct dray_end end = {
		.bytes = flight->moved,
		.stopped = true,
		.time_ns = ktime_get_ns(),
	};

	if (dray_flight_is_done(job)) {
		dray_stream_land(job);
		return;
	}
	/* Each time the engine is stopped, it may report the same again. */
	if (flight->broken ||
	    (dray_flight_has_landed(job) && ++flight->retries > DRAY_RETRIES))
		end.error = -EIO;
	else
		end.error = dray_stream_obstacle(job);
	flight->aloft = !halted;
	if (!halted)
		end.error = end.error ? end.error : -EIO;
	else if (flight->moved == flight->bytes)
		end.error = 0;
	else if (!end.error && (!own || flight->moved || flight->unknown))
		end.error = -ECONNRESET;
	else if (!end.error)
		return;
	dray_stop_finish(job, &end, !halted);
}

/*
 * Marks jobs that later jobs overtook, as the engine reported them without a byte: if
 * they continued, they would receive later packets, or the rest of a packet that began
 * in another job.
 */
static void dray_stream_mark_overtaken(struct dray_channel *channel)
{
	struct dray_flight *flight;
	struct dray_job *job;
	bool overtaken = false;

	list_for_each_entry_reverse(job, &channel->stream.jobs, list) {
		flight = job->flight;
		if (!flight->aloft)
			continue;
		if (dray_flight_is_done(job)) {
			overtaken = true;
			continue;
		}
		flight->unknown |= overtaken;
		overtaken |= flight->moved || flight->unknown;
	}
}

static void dray_stream_settle(struct dray_channel *channel, bool own,
			       bool halted)
{
	struct dray_job *job, *next;

	if (!halted)
		dray_stream_died(channel);
	if (!channel->stream.repeats)
		dray_stream_mark_overtaken(channel);
	list_for_each_entry_safe(job, next, &channel->stream.jobs, list)
		if (job->flight->aloft)
			dray_stream_settle_one(job, own, halted);
}

/*
 * Has @other jobs that stopping @channel stops too?  With a common lock they stay, and
 * with them its engine.
 */
static bool dray_stream_is_hit(struct dray_channel *channel,
			       struct dray_channel *other)
{
	if (other == channel)
		return true;
	return other->stream.engine == channel->stream.engine &&
	       dray_stream_aloft(other) &&
	       other->chan->device == channel->chan->device;
}

bool dray_stream_stop(struct dray_channel *channel, bool gentle)
{
	struct dray_channels *channels = channel->node->channels;
	DECLARE_BITMAP(hit, DRAY_MAX_CHANNELS) = {};
	DECLARE_BITMAP(halted, DRAY_MAX_CHANNELS) = {};
	u64 until = ktime_get_ns() + DRAY_CALLBACK_NS;
	u32 i;

	lockdep_assert_held(channel->stream.engine);
	for (i = 0; i < channels->count; i++)
		if (dray_stream_is_hit(channel, &channels->channel[i])) {
			__set_bit(i, hit);
			dray_stream_note(&channels->channel[i], gentle, until);
		}
	for_each_set_bit(i, hit, channels->count)
		if (dray_stream_halt(&channels->channel[i]))
			__set_bit(i, halted);
	for_each_set_bit(i, hit, channels->count)
		dray_stream_settle(&channels->channel[i],
				   gentle || &channels->channel[i] == channel,
				   test_bit(i, halted));
	/* The others' work items continue with the remaining jobs. */
	for_each_set_bit(i, hit, channels->count)
		mod_delayed_work(dray_workqueue, &channels->channel[i].feed, 0);
	return test_bit(channel->index, halted);
}

bool dray_stream_stop_again(struct dray_channel *channel)
{
	struct mutex *engine = channel->stream.engine;
	bool signalling = dma_fence_begin_signalling(), stops;

	mutex_lock(&channel->stream.working);
	mutex_lock(engine);
	stops = dray_stream_stop(channel, false);
	mutex_unlock(engine);
	dray_stream_end_all(channel);
	mutex_unlock(&channel->stream.working);
	dma_fence_end_signalling(signalling);
	return stops;
}
