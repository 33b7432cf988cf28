/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Staging: the CPU's copy between the pieces of a packet and a single buffer that
 * the engine reaches.
 */
#ifndef DRAY_STREAM_STAGE_H
#define DRAY_STREAM_STAGE_H

#include <dray/memory.h>

/*
 * A view of a packet, reduced; the bytes of the stream are in the order of axes.
 */
struct dray_packet_piece {
	unsigned char *first; /* byte of the first run */
	uint64_t run; /* bytes */
	uint32_t axes_count;
	const struct dray_axis *axes; /* src_stride to send, else dst_stride */
};

/* All zero: there is no copy. */
struct dray_stage {
	struct dray_buffer *buffer; /* a reference; NULL: no copy */
	uint32_t count; /* of pieces to copy back to */
	struct dray_packet_piece *pieces; /* owned, and their axes with them */
};

/* Allocates the buffer of a packet; errors as dray_buffer_alloc(). */
int dray_stage_begin(struct dray_stage *stage, struct dray_node *node,
		     uint64_t bytes);
/* Copies all bytes of a packet to the buffer. */
void dray_stage_fill(struct dray_stage *stage,
		     const struct dray_packet_piece *pieces, uint32_t count);
/* Owns @pieces, a single allocation, to copy received bytes back to them. */
void dray_stage_return_to(struct dray_stage *stage,
			  struct dray_packet_piece *pieces, uint32_t count);
/* Copies @bytes back, if there are pieces for them, and frees all. */
void dray_stage_end(struct dray_stage *stage, uint64_t bytes);

#endif /* DRAY_STREAM_STAGE_H */
