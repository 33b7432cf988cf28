// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decides between the engine and the CPU.  Objections to the engine are in
 * order, from impossible to expensive.  The first is the reason, and the error
 * if the caller insists on the engine.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "layout/overlap.h"
#include "base/error.h"
#include "base/number.h"
#include "memory/node.h"
#include "transfer/plan.h"

/* Notes the reason; the value is the error for a caller that insists. */
#define REJECT(plan, code, ...) \
	(snprintf((plan)->reason, sizeof((plan)->reason), __VA_ARGS__), (code))

static int plan_check_flags(unsigned int flags)
{
	unsigned int known = DRAY_COPY_ENGINE | DRAY_COPY_CPU |
			     DRAY_COPY_NO_SYNC | DRAY_COPY_NONBLOCK;

	if (flags & ~known)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a copy",
				 flags & ~known);
	if ((flags & DRAY_COPY_ENGINE) && (flags & DRAY_COPY_CPU))
		return dray_fail(
			-EINVAL,
			"a copy cannot be both engine only and CPU only");
	return 0;
}

/* Refuses elements that share bytes: no content of those would be right. */
static int plan_check_destination(const struct dray_plan *plan)
{
	if (plan->layout.nested ||
	    dray_overlap_self(&plan->dst) != DRAY_OVERLAP_SOME)
		return 0;
	return dray_fail(
		-EINVAL,
		"elements of the destination share bytes with each other");
}

/* Refuses read-only memory, even if the view is not marked so. */
static int plan_check_writable(struct dray_operand *dst)
{
	if (!dray_operand_locate(dst, false) ||
	    dray_buffer_writable(dst->location.buffer))
		return 0;
	return dray_fail(-EPERM,
			 "the destination lies in read-only buffer %" PRIu64,
			 dray_buffer_id(dst->location.buffer));
}

/* Holds the block of an operand, if the queue's engine can reach it. */
static int plan_reject_memory(struct dray_plan *plan,
			      struct dray_operand *operand)
{
	struct dray_buffer *buffer;
	struct dray_node *node;

	dray_operand_locate(operand, true);
	if (dray_operand_check_block(operand))
		return REJECT(plan, -EOPNOTSUPP, "%s", dray_last_error());
	buffer = operand->location.buffer;
	if (dray_buffer_descriptor(buffer) < 0)
		return REJECT(plan, -EOPNOTSUPP,
			      "%s is private memory of this process",
			      operand->name);
	node = dray_buffer_node(buffer);
	if (node != plan->queue->node &&
	    !dray_node_same(node, plan->queue->node))
		return REJECT(plan, -EOPNOTSUPP, "%s is of another node",
			      operand->name);
	return 0;
}

static bool is_aligned(const struct dray_plan *plan, uint64_t alignment)
{
	const struct dray_layout *layout = &plan->layout;
	uint64_t bits = layout->run;
	int i, o;

	for (o = 0; o < layout->operands; o++) {
		bits |= (uint64_t)(uintptr_t)layout->data[o];
		for (i = 0; i < layout->axes_count; i++)
			bits |= (uint64_t)layout->axes[i].strides[o];
	}
	/* Buffers start on pages, so the CPU's addresses show the alignment. */
	return !(bits & (alignment - 1));
}

static int reject_costs(struct dray_plan *plan)
{
	const struct dray_queue *queue = plan->queue;

	if (plan->descriptors > queue->threshold &&
	    !(plan->flags & DRAY_COPY_ENGINE))
		return REJECT(plan, -EOPNOTSUPP,
			      "%" PRIu64
			      " descriptors exceed the threshold of %" PRIu64,
			      plan->descriptors, queue->threshold);
	if (plan->descriptors > queue->max_runs)
		return REJECT(plan, -EOPNOTSUPP,
			      "%" PRIu64
			      " descriptors, one call takes %" PRIu64,
			      plan->descriptors, queue->max_runs);
	if (plan->layout.bytes > queue->max_bytes)
		return REJECT(plan, -EOPNOTSUPP,
			      "%" PRIu64 " bytes, one call moves %" PRIu64,
			      plan->layout.bytes, queue->max_bytes);
	return 0;
}

static int plan_reject_engine(struct dray_plan *plan)
{
	const struct dray_queue *queue = plan->queue;
	uint32_t itemsize = dray_dtype_itemsize(plan->dst.view->dtype);
	int code;

	if (plan->flags & DRAY_COPY_CPU)
		return REJECT(plan, -EOPNOTSUPP,
			      "the caller asked for the CPU");
	if (!queue->engine)
		return REJECT(plan, -EOPNOTSUPP, "%s", queue->no_engine);
	if (!plan->layout.nested)
		return REJECT(plan, -EOPNOTSUPP,
			      "the destination's axes interleave");
	if (plan->fill &&
	    (itemsize > DRAY_MAX_PATTERN || !dray_is_power_of_two(itemsize)))
		return REJECT(
			plan, -EOPNOTSUPP,
			"the engine fills elements of 1, 2, 4, 8 or 16 bytes, not of %u",
			itemsize);
	code = plan_reject_memory(plan, &plan->dst);
	if (!code && !plan->fill)
		code = plan_reject_memory(plan, &plan->src);
	if (code)
		return code;
	if (!plan->fill && dray_addresses_meet(plan->dst.span, plan->src.span))
		return REJECT(plan, -EINVAL,
			      "the spans of source and destination overlap");
	if (queue->alignment > 1 && !is_aligned(plan, queue->alignment))
		return REJECT(
			plan, -EOPNOTSUPP,
			"the engine needs addresses and lengths in multiples of %u bytes",
			queue->alignment);
	return reject_costs(plan);
}

static uint64_t descriptors_of(uint64_t run, uint64_t max_segment)
{
	return run / max_segment + (run % max_segment != 0);
}

/* The engine crosses seams: two runs are joined there. */
static void count_descriptors(struct dray_plan *plan)
{
	const struct dray_layout *layout = &plan->layout;
	const uint64_t seams = dray_layout_seams(layout);
	uint64_t most = plan->queue->max_segment;

	/* Cannot overflow: there are no more descriptors than bytes. */
	plan->descriptors =
		(layout->runs - 2 * seams) * descriptors_of(layout->run, most) +
		seams * descriptors_of(2 * layout->run, most);
}

/* For a fill only the destination's runs matter. */
static void plan_reduce(struct dray_plan *plan)
{
	const struct dray_view *views[] = {
		[DRAY_DST] = plan->dst.view,
		[DRAY_SRC] = plan->src.view,
	};

	dray_layout_reduce(&plan->layout, views, plan->fill ? 1 : 2);
}

/* Returns the code of plan_reject_engine(), 0 if the engine copies. */
static int plan_choose(struct dray_plan *plan)
{
	bool insists = plan->flags & DRAY_COPY_ENGINE;
	int code;

	pthread_mutex_lock(&plan->queue->lock);
	count_descriptors(plan);
	code = plan_reject_engine(plan);
	plan->engine = !code;
	if (!code)
		snprintf(plan->reason, sizeof(plan->reason),
			 "%" PRIu64
			 " descriptor%s %s within the %s of %" PRIu64,
			 plan->descriptors, dray_plural(plan->descriptors),
			 plan->descriptors == 1 ? "is" : "are",
			 insists ? "engine's limit" : "threshold",
			 insists ? plan->queue->max_runs
				 : plan->queue->threshold);
	pthread_mutex_unlock(&plan->queue->lock);
	return code;
}

int dray_plan_make(struct dray_plan *plan)
{
	int ret, code;

	ret = plan_check_flags(plan->flags);
	if (!ret)
		ret = dray_operand_match(&plan->dst, &plan->src);
	if (ret)
		return ret;
	plan->engine = false;
	plan->descriptors = 0;
	plan_reduce(plan);
	if (!plan->layout.runs) {
		snprintf(plan->reason, sizeof(plan->reason),
			 "there is nothing to copy");
		return 0;
	}
	ret = plan_check_destination(plan);
	if (ret)
		return ret;
	/* plan_choose() looks memory up first if an engine may copy. */
	code = plan_choose(plan);
	ret = plan_check_writable(&plan->dst);
	if (!ret && code && (plan->flags & DRAY_COPY_ENGINE))
		ret = dray_fail(code, "the engine cannot: %s", plan->reason);
	return ret;
}

void dray_plan_drop(struct dray_plan *plan)
{
	dray_operand_drop(&plan->dst);
	dray_operand_drop(&plan->src);
}
