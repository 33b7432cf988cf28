// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The plan for buffers.
 *
 * A buffer holds a number of whole cores: the elements of the inner axes, up to
 * the outer axis.  A core ends where the axes of some operand no longer chain, or
 * where a reduction starts.  The outer axis is chosen to make the fewest fills,
 * counted once more for each operand that is buffered.
 *
 * A reduction, along the outer axis or in the core, is a double loop: the
 * operand moves along either of the two and stands still along the other, so its
 * buffer only holds the elements along which it moves.
 *
 * (Source: NumPy's nditer since 2.3, which uses the same cores and sizes.)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "iterator/nditer.h"
#include "private.h"

#define DEFAULT_SIZE 8192

/* A choice of the outer axis. */
struct buffer_choice {
	int outer;
	int cost; /* 1, and 1 for each operand that is buffered */
	int64_t size; /* elements of the core times the axis's length */
	int64_t core;
};

struct buffer_plan {
	const struct dray_nditer *iter;
	int64_t most; /* elements of a buffer */
	/* For each operand: the count of inner axes that chain, axis 0 included. */
	int chained[DRAY_MAX_OPERANDS];
	/* The axis at which it starts or ends to move, if it is reduced; or 0. */
	int reduces_at[DRAY_MAX_OPERANDS];
	int reduction; /* the same for any of them */
	int cost;
	struct buffer_choice best;
};

/* Whether a buffer cannot hold more than @size elements, or none is needed. */
static bool is_limited(const struct buffer_plan *plan, int64_t size)
{
	return size >= plan->most &&
	       (plan->cost > 1 ||
		!(plan->iter->flags & DRAY_NDITER_GROW_INNER));
}

/* Adds an axis: which operands chain, which are reduced? */
static void nditer_buffer_extend(struct buffer_plan *plan, int i)
{
	const struct nditer_axis *inner = &plan->iter->axes[i - 1];
	const struct nditer_axis *outer = &plan->iter->axes[i];
	int o;

	for (o = 0; o < plan->iter->operands; o++) {
		uint32_t flags = plan->iter->operand[o].flags;

		if (plan->chained[o] == i) {
			if (nditer_product(inner->strides[o], inner->count) ==
			    outer->strides[o]) {
				plan->chained[o]++;
				continue;
			}
			if (!(flags & OPERAND_CONVERTS))
				plan->cost++;
		}
		if ((flags & OPERAND_REDUCES) &&
		    (!outer->strides[o] || !inner->strides[o])) {
			plan->reduces_at[o] = i;
			plan->reduction = i;
		}
	}
}

static void nditer_buffer_choose(struct buffer_plan *plan)
{
	const struct dray_nditer *iter = plan->iter;
	int64_t size = iter->axes[0].count;
	int i;

	plan->best = (struct buffer_choice){ 0, plan->cost, size, 1 };
	for (i = 1; i < iter->ndim; i++) {
		int64_t core = size;
		double part;

		if (plan->reduction || is_limited(plan, size))
			break;
		nditer_buffer_extend(plan, i);
		size = nditer_product(size, iter->axes[i].count);
		if (!size)
			break;
		part = (double)(is_limited(plan, size) ? plan->most : size);
		/* Fewer fills for the cost; doubles, since products overflow. */
		if (plan->cost * (double)plan->best.size <=
		    plan->best.cost * part)
			plan->best = (struct buffer_choice){ i, plan->cost,
							     size, core };
	}
}

/* Whether an operand belongs to the double loop of a reduction. */
static bool is_reduced(const struct buffer_plan *plan, int o)
{
	const struct nditer_axis *outer = &plan->iter->axes[plan->reduction];
	uint32_t flags = plan->iter->operand[o].flags;
	bool fills_lines = (flags & DRAY_OPERAND_CONTIGUOUS) &&
			   !(flags & DRAY_OPERAND_WRITE);

	if (!plan->reduction || plan->best.outer != plan->reduction)
		return false;
	if (plan->reduces_at[o] == plan->best.outer)
		return true;
	if (plan->chained[o] == plan->best.outer && !(flags & OPERAND_CONVERTS))
		return true;
	return !outer->strides[o] && plan->chained[o] <= plan->best.outer &&
	       !fills_lines;
}

/* Sets the strides of the inner loop, and of a reduction's outer loop. */
static void buffer_set_strides(struct dray_nditer *iter,
			       const struct buffer_plan *plan, int o,
			       bool reduced, bool buffered)
{
	const struct nditer_axis *outer = &iter->axes[plan->reduction];
	struct nditer_operand *operand = &iter->operand[o];
	int64_t itemsize = dray_dtype_itemsize(operand->dtype);
	bool fills_lines = (operand->flags & DRAY_OPERAND_CONTIGUOUS) &&
			   !(operand->flags & DRAY_OPERAND_WRITE);

	if (!buffered) {
		operand->buffer_stride = iter->axes[0].strides[o];
		operand->outer_stride = outer->strides[o];
	} else if (reduced) {
		operand->buffer_stride = outer->strides[o] ? 0 : itemsize;
		operand->outer_stride = outer->strides[o] ? itemsize : 0;
	} else if ((operand->flags & OPERAND_HAS_ONE_STRIDE) &&
		   !iter->axes[0].strides[o] && !fills_lines) {
		operand->buffer_stride = 0;
		operand->outer_stride = 0;
	} else {
		operand->buffer_stride = itemsize;
		operand->outer_stride =
			nditer_product(itemsize, plan->best.core);
	}
	iter->inner_strides[o] = operand->buffer_stride;
}

/* Plans an operand; returns whether it needs a buffer. */
static bool plan_operand(struct dray_nditer *iter,
			 const struct buffer_plan *plan, int o)
{
	struct nditer_operand *operand = &iter->operand[o];
	bool buffered = operand->flags & OPERAND_CONVERTS;
	bool reduced = is_reduced(plan, o);

	operand->flags &= ~(OPERAND_HAS_ONE_STRIDE | OPERAND_IS_UNBUFFERED |
			    OPERAND_IS_REUSABLE | OPERAND_IS_DOUBLE);
	if (plan->chained[o] + reduced > plan->best.outer)
		operand->flags |= OPERAND_HAS_ONE_STRIDE;
	else
		buffered = true;
	buffer_set_strides(iter, plan, o, reduced, buffered);
	if (reduced)
		operand->flags |= OPERAND_IS_DOUBLE;
	if (!buffered)
		operand->flags |= OPERAND_IS_UNBUFFERED;
	return buffered;
}

static int find_casts(const struct nditer_operand *operand,
		      struct nditer_casts *casts)
{
	dray_dtype stored =
		operand->array ? operand->array->dtype : operand->stored;
	int ret = 0;

	if (operand->flags & OPERAND_IS_UNBUFFERED)
		return 0;
	if (operand->flags & DRAY_OPERAND_READ)
		ret = dray_cast_find(operand->dtype, stored, &casts->read);
	if (!ret && (operand->flags & DRAY_OPERAND_WRITE))
		ret = dray_cast_find(stored, operand->dtype, &casts->write);
	return ret;
}

int dray_nditer_check_elements(const struct dray_nditer *iter, int o)
{
	const struct nditer_operand *operand = &iter->operand[o];
	int i;

	if (!iter->size)
		return 0;
	for (i = 0; i < operand->ndim; i++) {
		if (!nditer_extent(iter, operand, i))
			return dray_fail(
				-EINVAL,
				"operand %d has no elements to copy: its axis %d, which the iteration leaves out, has none",
				o, i);
	}
	return 0;
}

int dray_nditer_plan_buffers(struct dray_nditer *iter)
{
	struct buffer_plan plan = { .iter = iter, .cost = 1 };
	bool any = false;
	int ret, o;

	plan.most = iter->buffer_wanted ? iter->buffer_wanted : DEFAULT_SIZE;
	for (o = 0; o < iter->operands; o++) {
		plan.chained[o] = 1;
		if (iter->operand[o].flags & OPERAND_CONVERTS)
			plan.cost++;
	}
	nditer_buffer_choose(&plan);
	iter->flags &= ~NDITER_DOUBLE_LOOP;
	if (plan.reduction && plan.best.outer == plan.reduction)
		iter->flags |= NDITER_DOUBLE_LOOP;
	iter->core = plan.best.core;
	iter->outer = plan.best.outer;
	iter->core_offset = 0;
	iter->reduce_at = 0;
	iter->buffered = 0;
	for (o = 0; o < iter->operands; o++) {
		any |= plan_operand(iter, &plan, o);
		ret = iter->operand[o].flags & OPERAND_IS_UNBUFFERED
			      ? 0
			      : dray_nditer_check_elements(iter, o);
		if (!ret)
			ret = find_casts(&iter->operand[o], &iter->casts[o]);
		if (ret)
			return ret;
	}
	iter->buffer_size = plan.best.size;
	if ((any || !(iter->flags & DRAY_NDITER_GROW_INNER)) &&
	    plan.most < plan.best.size)
		iter->buffer_size =
			plan.best.core * (plan.most / plan.best.core);
	return 0;
}

void dray_nditer_free_buffers(struct dray_nditer *iter)
{
	int o;

	for (o = 0; o < iter->operands; o++) {
		free(iter->operand[o].buffer);
		iter->operand[o].buffer = NULL;
	}
}

int dray_nditer_allocate_buffers(struct dray_nditer *iter)
{
	int o;

	for (o = 0; o < iter->operands; o++) {
		struct nditer_operand *operand = &iter->operand[o];
		size_t itemsize = dray_dtype_itemsize(operand->dtype);
		size_t bytes;

		if (operand->flags & OPERAND_IS_UNBUFFERED)
			continue;
		if (dray_mul_overflow(itemsize, iter->buffer_size, &bytes))
			return dray_fail(-ENOMEM,
					 "a buffer of %" PRId64
					 " elements of %zu bytes is too large",
					 iter->buffer_size, itemsize);
		operand->buffer = malloc(bytes ? bytes : 1);
		if (!operand->buffer)
			return dray_fail(
				-ENOMEM,
				"no memory for a buffer of %zu bytes for operand %d",
				bytes, o);
	}
	return 0;
}
