// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decides between the engine and the CPU.  The first objection to the engine
 * wins, from what can never be to what costs too much, and becomes the
 * reason; where the caller insists on the engine it becomes the error.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/assign.h"
#include "array/overlap.h"
#include "array/view.h"
#include "base/error.h"
#include "base/number.h"
#include "memory/node.h"
#include "transfer/plan.h"

/* An objection: a code for a caller that insists, 0 for none. */
#define object(plan, code, ...) \
	(snprintf((plan)->reason, sizeof((plan)->reason), __VA_ARGS__), (code))

static int check_flags(unsigned int flags)
{
	unsigned int known = DRAY_COPY_ENGINE | DRAY_COPY_CPU |
			     DRAY_COPY_NO_SYNC | DRAY_COPY_NONBLOCK;

	if (flags & ~known)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a copy",
				 flags & ~known);
	if ((flags & DRAY_COPY_ENGINE) && (flags & DRAY_COPY_CPU))
		return dray_fail(
			-EINVAL,
			"a copy cannot be for the engine only and for the CPU only");
	return 0;
}

/* Elements of a destination that share bytes have no one right content. */
static int check_destination(const struct dray_layout *layout,
			     const struct dray_view *dst)
{
	if (layout->nested || dray_view_self_overlap(dst) != DRAY_OVERLAP_SOME)
		return 0;
	return dray_fail(
		-EINVAL,
		"elements of the destination share bytes with each other");
}

/* A view may not know that its memory cannot be written: it is a fault. */
static int check_writable(const struct dray_view *dst)
{
	struct dray_location location;

	if (dray_locate(dray_view_lowest(dst), &location) ||
	    dray_buffer_writable(location.buffer))
		return 0;
	return dray_fail(-EPERM,
			 "the destination lies in read-only buffer %" PRIu64,
			 dray_buffer_id(location.buffer));
}

/* The block that has all of a view, in a buffer of the queue's node. */
static int locate(struct dray_plan *plan, const struct dray_queue *queue,
		  const struct dray_view *view, const char *what,
		  struct dray_location *out)
{
	struct dray_fence_span span = dray_view_addresses(view);

	if (dray_locate(dray_view_lowest(view), out))
		return object(plan, -EOPNOTSUPP,
			      "the %s lies outside of dray's memory", what);
	if (span.high - (uintptr_t)out->block > out->block_size)
		return object(plan, -EOPNOTSUPP,
			      "the %s leaves its block of %" PRIu64 " bytes",
			      what, out->block_size);
	if (dray_buffer_descriptor(out->buffer) < 0)
		return object(plan, -EOPNOTSUPP,
			      "the %s is private memory of this process", what);
	if (!dray_node_same(dray_buffer_node(out->buffer), queue->node))
		return object(plan, -EOPNOTSUPP, "the %s is of another node",
			      what);
	return 0;
}

static bool is_aligned(const struct dray_plan *plan, bool fill,
		       uint64_t alignment)
{
	const struct dray_layout *layout = &plan->layout;
	uint64_t bits = layout->run | (uint64_t)(uintptr_t)layout->dst;

	if (!fill)
		bits |= (uint64_t)(uintptr_t)layout->src;
	for (int i = 0; i < layout->axes_count; i++) {
		bits |= (uint64_t)layout->axes[i].dst_stride;
		if (!fill)
			bits |= (uint64_t)layout->axes[i].src_stride;
	}
	/* buffers start on pages, so that addresses here say enough */
	return !(bits & (alignment - 1));
}

static int object_to_limits(struct dray_plan *plan,
			    const struct dray_queue *queue, unsigned int flags)
{
	if (plan->descriptors > queue->threshold && !(flags & DRAY_COPY_ENGINE))
		return object(plan, -EOPNOTSUPP,
			      "%" PRIu64
			      " descriptors exceed the threshold of %" PRIu64,
			      plan->descriptors, queue->threshold);
	if (plan->descriptors > queue->max_runs)
		return object(plan, -EOPNOTSUPP,
			      "%" PRIu64
			      " descriptors, one call takes %" PRIu64,
			      plan->descriptors, queue->max_runs);
	if (plan->layout.bytes > queue->max_bytes)
		return object(plan, -EOPNOTSUPP,
			      "%" PRIu64 " bytes, one call moves %" PRIu64,
			      plan->layout.bytes, queue->max_bytes);
	return 0;
}

static int object_to_engine(struct dray_plan *plan,
			    const struct dray_queue *queue,
			    const struct dray_view *dst,
			    const struct dray_view *src, bool fill,
			    unsigned int flags)
{
	uint32_t itemsize = dst->dtype.itemsize;
	int code;

	if (flags & DRAY_COPY_CPU)
		return object(plan, -EOPNOTSUPP,
			      "the caller asked for the CPU");
	if (!queue->engine)
		return object(plan, -EOPNOTSUPP, "%s", queue->no_engine);
	if (!plan->layout.nested)
		return object(plan, -EOPNOTSUPP,
			      "the destination's axes interleave");
	if (fill &&
	    (itemsize > DRAY_MAX_PATTERN || !dray_is_power_of_two(itemsize)))
		return object(
			plan, -EOPNOTSUPP,
			"the engine fills elements of 1, 2, 4, 8 or 16 bytes, not of %u",
			itemsize);
	code = locate(plan, queue, dst, "destination", &plan->dst);
	if (!code && !fill)
		code = locate(plan, queue, src, "source", &plan->src);
	if (code)
		return code;
	if (!fill && dray_view_spans_overlap(dst, src))
		return object(plan, -EINVAL,
			      "the spans of source and destination overlap");
	if (queue->alignment > 1 && !is_aligned(plan, fill, queue->alignment))
		return object(
			plan, -EOPNOTSUPP,
			"the engine needs addresses and lengths in multiples of %u bytes",
			queue->alignment);
	return object_to_limits(plan, queue, flags);
}

static void count_descriptors(struct dray_plan *plan, uint64_t max_segment)
{
	uint64_t pieces = plan->layout.run / max_segment +
			  (plan->layout.run % max_segment != 0);

	/* no more than the bytes, which fit */
	plan->descriptors = plan->layout.runs * pieces;
}

static void reduce(struct dray_layout *layout, const struct dray_view *dst,
		   const struct dray_view *src, bool fill)
{
	/* for a fill only the destination is contiguous or not */
	dray_layout_reduce(layout, dst, fill ? dst : src);
	for (int i = 0; fill && i < layout->axes_count; i++)
		layout->axes[i].src_stride = 0;
}

int dray_plan_make(struct dray_queue *queue, const struct dray_view *dst,
		   const struct dray_view *src, bool fill, unsigned int flags,
		   struct dray_plan *plan)
{
	int error, objection;

	error = check_flags(flags);
	if (!error)
		error = dray_view_check_pair(dst, src);
	if (error)
		return error;
	plan->engine = false;
	plan->descriptors = 0;
	reduce(&plan->layout, dst, src, fill);
	if (!plan->layout.runs) {
		snprintf(plan->reason, sizeof(plan->reason),
			 "there is nothing to copy");
		return 0;
	}
	error = check_destination(&plan->layout, dst);
	if (!error)
		error = check_writable(dst);
	if (error)
		return error;

	pthread_mutex_lock(&queue->lock);
	count_descriptors(plan, queue->max_segment);
	objection = object_to_engine(plan, queue, dst, src, fill, flags);
	if (!objection) {
		plan->engine = true;
		snprintf(plan->reason, sizeof(plan->reason),
			 "%" PRIu64
			 " descriptors are within the %s of %" PRIu64,
			 plan->descriptors,
			 flags & DRAY_COPY_ENGINE ? "engine's limit"
						  : "threshold",
			 flags & DRAY_COPY_ENGINE ? queue->max_runs
						  : queue->threshold);
	}
	pthread_mutex_unlock(&queue->lock);

	if (objection && (flags & DRAY_COPY_ENGINE))
		return dray_fail(objection, "the engine cannot: %s",
				 plan->reason);
	return 0;
}
