/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A move: a transfer that the kernel checked.  It lists the runs in the caller's
 * order, and the same bytes as two sorted sides, for overlap and the maintenance
 * of caches.
 */
#ifndef DRAY_MOVE_H
#define DRAY_MOVE_H

#include <linux/dray.h>
#include <linux/types.h>

#include "base/refusal.h"
#include "side.h"

struct device;
struct dray_patterns;

/* An axis of both sides, outermost first; @index is the cursor's. */
struct dray_step {
	u64 count; /* > 1 */
	u64 index;
	s64 dst_stride; /* bytes */
	s64 src_stride; /* bytes */
	bool seam; /* where it steps, a run touches the next on both sides */
};

struct dray_move {
	u32 op; /* enum dray_op */
	u64 run; /* bytes, including joined axes */
	u64 longest; /* bytes, of a descriptor */
	u32 steps;
	struct dray_step *step;
	struct dray_side dst; /* no area to send and to show */
	struct dray_side src; /* no area to fill or to receive */

	u8 pattern[DRAY_MAX_PATTERN];
	u32 pattern_size;
	struct dray_patterns *patterns; /* of its job */
	bool waits; /* for earlier moves: begins a batch */
	bool memset; /* the engine fills by itself */
	size_t fill_size; /* bytes of its slice, else; 0: there is none */
	dma_addr_t fill_address;

	/* the cursor */
	u64 stretch; /* bytes: this run, with the next across a seam */
	u64 done; /* bytes of the stretch */
	u64 dst_at; /* bytes, start of this run in its area */
	u64 src_at;
	bool ended;
};

/* An engine's abilities, as far as a move depends on them. */
struct dray_engine_limits {
	u64 max_segment; /* bytes of a descriptor */
	u32 alignment; /* bytes, of copies */
	u32 fill_alignment; /* bytes; 0: no fill in hardware */
};

/* A descriptor. */
struct dray_descriptor {
	dma_addr_t dst;
	dma_addr_t src;
	size_t length; /* bytes */
};

/*
 * A move belongs to a single task at a time.  It is checked once, fitted to an
 * engine, then makes descriptors: dray_move_descriptor() returns the next
 * descriptor, dray_move_advance() skips the bytes that the engine accepted, until
 * @ended.  Functions return 0 or an errno; @refusal may explain it.
 */
/* Room for the steps and the two sides of @axes axes, in this order. */
void dray_move_room(struct dray_move *move, struct dray_step *step,
		    struct dray_dim *dim, u32 axes);
int dray_move_check(struct dray_move *move,
		    const struct dray_transfer *transfer,
		    const struct dray_axis *axes, struct dray_refusal *refusal);
int dray_move_fit(struct dray_move *move, struct device *dev,
		  const struct dray_engine_limits *limits, u64 most, u64 *runs,
		  struct dray_refusal *refusal);
/* Whether @later must follow @earlier; yes if only their pages could decide. */
bool dray_move_needs(const struct dray_move *later,
		     const struct dray_move *earlier);
/* Does it write, and read, memory?  Not if that side is a stream. */
static inline bool dray_move_writes(const struct dray_move *move)
{
	return move->op != DRAY_OP_SEND && move->op != DRAY_OP_SHOW;
}

static inline bool dray_move_reads(const struct dray_move *move)
{
	return move->op == DRAY_OP_COPY || !dray_move_writes(move);
}

/* Bytes that it moves. */
u64 dray_move_bytes(const struct dray_move *move);
/* Back to the first descriptor. */
void dray_move_rewind(struct dray_move *move);
void dray_move_descriptor(const struct dray_move *move,
			  struct dray_descriptor *descriptor);
void dray_move_advance(struct dray_move *move, size_t length);

#endif /* DRAY_MOVE_H */
