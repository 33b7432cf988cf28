// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flights: pieces of a stream's job for dmaengine_prep_slave_sg(), and the
 * engine's callback, which only notes the report and wakes the channel's work
 * item.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "heap/account.h"
#include "channel.h"
#include "engine.h"
#include "flight.h"
#include "job.h"
#include "quirk.h"
#include "repeat.h"

/* Bytes of a flight that are not charged, as of a job. */
#define DRAY_FLIGHT_SMALL SZ_4K

/* Pieces under construction; without @sg they are only counted. */
struct dray_pieces {
	struct scatterlist *sg;
	u32 count;
	u64 hardware; /* pieces as the engine's driver cuts them */
	u64 end; /* address behind the last */
	u64 length; /* bytes of the last */
	u64 longest; /* bytes */
	u32 cut; /* bytes; 0: the driver does not cut */
};

static void dray_pieces_close(struct dray_pieces *pieces)
{
	struct scatterlist *sg;

	if (!pieces->length)
		return;
	if (pieces->sg) {
		sg = &pieces->sg[pieces->count];
		sg_dma_address(sg) = pieces->end - pieces->length;
		sg_dma_len(sg) = pieces->length;
	}
	pieces->hardware +=
		pieces->cut ? DIV_ROUND_UP_ULL(pieces->length, pieces->cut) : 1;
	pieces->count++;
	pieces->length = 0;
}

static void dray_pieces_add(struct dray_pieces *pieces, dma_addr_t address,
			    size_t length)
{
	if (pieces->length && pieces->end == address &&
	    pieces->length + length <= pieces->longest) {
		pieces->end += length;
		pieces->length += length;
		return;
	}
	dray_pieces_close(pieces);
	pieces->end = address + length;
	pieces->length = length;
}

static void dray_pieces_of(struct dray_pieces *pieces, struct dray_job *job)
{
	struct dray_descriptor descriptor;
	struct dray_move *move;
	u32 i;

	for (i = 0; i < job->count; i++) {
		move = &job->moves[i];
		while (!move->ended) {
			dray_move_descriptor(move, &descriptor);
			dray_pieces_add(pieces,
					dray_move_writes(move) ? descriptor.dst
							       : descriptor.src,
					descriptor.length);
			dray_move_advance(move, descriptor.length);
		}
		dray_move_rewind(move);
	}
	dray_pieces_close(pieces);
}

static int dray_pieces_prepare(struct dray_job *job,
			       struct dray_refusal *refusal)
{
	struct dray_channel *channel = job->channel;
	struct dray_pieces pieces = {
		.longest = channel->limits.max_segment,
		.cut = dray_quirk_cut(channel->stream.quirk, channel->chan),
	};
	u32 most = channel->stream.quirk->pieces, count;
	struct user_struct *user = NULL;
	struct dray_flight *flight;
	size_t size;
	int ret;

	dray_pieces_of(&pieces, job);
	count = pieces.count;
	if (most && pieces.hardware > most)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_PIECES, most);
	size = struct_size(flight, piece, count);
	if (size > DRAY_FLIGHT_SMALL) {
		ret = dray_charge_user(size, &user, refusal);
		if (ret)
			return ret;
	}
	flight = kvzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!flight) {
		if (user)
			dray_uncharge_user(user, size);
		return -ENOMEM;
	}
	flight->user = user;
	flight->size = size;
	flight->channel = channel;
	flight->bytes = job->bytes;
	flight->count = count;
	flight->hardware = pieces.hardware;
	sg_init_table(flight->piece, count);
	pieces.sg = flight->piece;
	pieces.count = 0;
	dray_pieces_of(&pieces, job);
	job->flight = flight;
	job->runs = count;
	return 0;
}

int dray_flight_prepare(struct dray_job *job, struct dray_refusal *refusal)
{
	return job->channel->stream.repeats ? dray_repeat_prepare(job, refusal)
					    : dray_pieces_prepare(job, refusal);
}

void dray_flight_put(struct dray_flight *flight)
{
	if (!flight || flight->stored)
		return;
	if (flight->user)
		dray_uncharge_user(flight->user, flight->size);
	kfree(flight->rows);
	kvfree(flight);
}

/* From the engine's tasklet or interrupt; stopping the engine waits for it. */
static void dray_flight_land(struct dray_flight *flight, bool failed,
			     u64 residue)
{
	struct dray_channel *channel = flight->channel;

	flight->time_ns = ktime_get_ns();
	flight->failed = failed;
	flight->residue = channel->stream.counts && !failed
				  ? min(residue, flight->bytes)
				  : 0;
	/*
	 * The work item that sees it sees the report.  From here on the flight may
	 * be gone.
	 */
	smp_store_release(&flight->landed, true);
	mod_delayed_work(dray_workqueue, &channel->feed, 0);
}

static void dray_flight_result(void *data,
			       const struct dmaengine_result *result)
{
	dray_flight_land(data, result && result->result != DMA_TRANS_NOERROR,
			 result ? result->residue : 0);
}

static void dray_flight_callback(void *data)
{
	dray_flight_land(data, false, 0);
}

static struct dma_async_tx_descriptor *
dray_pieces_take(struct dray_flight *flight)
{
	struct dray_channel *channel = flight->channel;
	struct dma_async_tx_descriptor *tx;

	tx = dmaengine_prep_slave_sg(channel->chan, flight->piece,
				     flight->count, channel->stream.direction,
				     DMA_PREP_INTERRUPT | DMA_CTRL_ACK);
	if (tx) {
		tx->callback = dray_flight_callback;
		tx->callback_result = dray_flight_result;
		tx->callback_param = flight;
	}
	return tx;
}

int dray_flight_start(struct dray_flight *flight)
{
	struct dma_async_tx_descriptor *tx;

	tx = flight->rows ? dray_repeat_take(flight) : dray_pieces_take(flight);
	if (!tx)
		return -EAGAIN;
	flight->landed = false;
	flight->moved = 0;
	flight->unknown = false;
	flight->broken = false;
	flight->cookie = dmaengine_submit(tx);
	flight->aloft = !dma_submit_error(flight->cookie);
	return flight->aloft ? 0 : -EIO;
}

bool dray_flight_has_landed(const struct dray_job *job)
{
	/* The report is read behind this. */
	return job->flight->aloft && smp_load_acquire(&job->flight->landed);
}

bool dray_flight_is_unfinished(const struct dray_job *job)
{
	const struct dray_flight *flight = job->flight;

	return flight->channel->stream.counts && !flight->failed &&
	       flight->residue == flight->bytes;
}
