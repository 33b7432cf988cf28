/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A packet on its way through a call: its views, checked and reduced, and the
 * choice between the engine alone and a staging copy.
 */
#ifndef DRAY_STREAM_PACKET_H
#define DRAY_STREAM_PACKET_H

#include "stream/stream.h"

#define DRAY_PACKET_REASON 160 /* bytes of a sentence */

struct dray_packet_view {
	struct dray_operand operand;
	char name[24]; /* of the operand, "view 3" */
};

struct dray_packet {
	/* set by dray_packet_init() */
	struct dray_stream *stream;
	struct dray_packet_options options;
	uint32_t op; /* of the stream */
	bool sends; /* or shows */
	uint32_t count; /* of views, and of pieces */
	struct dray_packet_view *views;
	struct dray_packet_piece *pieces; /* and their axes behind them */
	uint64_t elements;
	uint64_t bytes;
	uint64_t rows; /* to show, else 1 */
	uint64_t descriptors; /* contiguous pieces of memory */
	/* set by dray_packet_choose() */
	bool staged;
	char reason[DRAY_PACKET_REASON];
};

/*
 * Checks and reduces the views.  Needs dray_packet_drop(), after a failure too.
 * Errors are as of dray_stream_send() and dray_stream_recv(), but for the engine's.
 */
int dray_packet_init(struct dray_packet *packet, struct dray_stream *stream,
		     bool sends, const struct dray_view *const *views,
		     size_t count, const struct dray_packet_options *options);

/* Chooses how to move it; -EOPNOTSUPP if the engine cannot. */
int dray_packet_choose(struct dray_packet *packet);

/* Describes a piece, which lies in @buffer; descriptors are not set. */
struct dray_transfer
dray_packet_transfer(const struct dray_packet *packet,
		     const struct dray_buffer *buffer,
		     const struct dray_packet_piece *piece);

/* Releases the memory that is still held. */
void dray_packet_drop(struct dray_packet *packet);

#endif /* DRAY_STREAM_PACKET_H */
