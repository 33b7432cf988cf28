// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Calls the loop on elements in place: once, if they lie along a single axis, else
 * along the best axis, for each place of the others.
 *
 * The innermost axis is the best, unless it is short and another is longer.  The
 * longer axis is then cut into blocks, inside which the short axes are walked, so
 * that loops are long and elements that lie near each other are used together.
 */
#include "private.h"
#include "ufunc/call.h"

#define SHORT 32u /* elements of an axis */
#define BLOCK 512 /* elements */

struct strided_walk {
	struct dray_ufunc_call *call;
	struct dray_pass pass;
	const struct dray_layout *layout;
	int operands;
	int best; /* axis */
	int cut; /* axis, for threads */
};

/* Broadcasts a view to the shape of the call. */
static void call_strided_expand(const struct dray_ufunc_call *call,
				const struct dray_view *view,
				struct dray_view *out)
{
	const int missing = call->ndim - view->ndim;
	int i;

	dray_view_begin(out, view, call->ndim);
	for (i = 0; i < call->ndim; i++) {
		out->shape[i] = call->shape[i];
		out->strides[i] = i < missing || view->shape[i - missing] == 1
					  ? 0
					  : view->strides[i - missing];
	}
}

/* Reduces all operands with the first output as the leader. */
static void call_strided_reduce(const struct dray_ufunc_call *call,
				struct dray_layout *layout)
{
	struct dray_view views[DRAY_MAX_OPERANDS];
	const struct dray_view *of[DRAY_MAX_OPERANDS];
	const int inputs = call->ufunc->inputs;
	unsigned char *data[DRAY_MAX_OPERANDS];
	int o, i, at = 0;
	int places[DRAY_MAX_OPERANDS];

	for (o = inputs; o < call->count; o++)
		places[at++] = o;
	for (o = 0; o < call->operands; o++)
		if (!dray_call_is_output(call, o))
			places[at++] = o;
	DRAY_HOLDS(at == call->operands);
	for (o = 0; o < call->operands; o++) {
		call_strided_expand(call, call->views[places[o]], &views[o]);
		of[o] = &views[o];
	}
	dray_layout_reduce_items(layout, of, call->operands);
	/* From here on, operands are in the loop's order. */
	for (o = 0; o < call->operands; o++)
		data[places[o]] = layout->data[o];
	for (o = 0; o < call->operands; o++)
		layout->data[o] = data[o];
	for (i = 0; i < layout->axes_count; i++) {
		const struct dray_layout_axis axis = layout->axes[i];

		for (o = 0; o < call->operands; o++)
			layout->axes[i].strides[places[o]] = axis.strides[o];
	}
}

static int best_axis(const struct dray_layout *layout)
{
	int best = layout->axes_count - 1, i;

	if (best < 1 || layout->axes[best].count >= SHORT)
		return best;
	for (i = best - 1; i >= 0; i--)
		if (layout->axes[i].count > 4 * layout->axes[best].count)
			best = i;
	return best;
}

static void call_strided_advance(const struct strided_walk *walk, char **data,
				 const int64_t *strides, int64_t steps)
{
	int o;

	for (o = 0; o < walk->operands; o++)
		data[o] = dray_address_add(data[o], steps * strides[o]);
}

/*
 * Walks the axes from @number on, and calls the loop for @block elements of the
 * best axis.
 */
static int strided_walk_axes(const struct strided_walk *walk, int number,
			     char *const *start, int64_t block)
{
	static const int64_t none[DRAY_MAX_OPERANDS];
	const struct dray_layout *layout = walk->layout;
	const struct dray_layout_axis *axis = &layout->axes[number];
	const bool best = number == walk->best;
	const int64_t step = best ? BLOCK : 1;
	char *data[DRAY_MAX_OPERANDS];
	int64_t left;
	int o, ret = 0;

	if (number == layout->axes_count)
		return dray_pass_run(&walk->pass, start,
				     number ? layout->axes[walk->best].strides
					    : none,
				     block);
	if (best && number == layout->axes_count - 1)
		return dray_pass_run(&walk->pass, start, axis->strides,
				     (int64_t)axis->count);
	for (o = 0; o < walk->operands; o++)
		data[o] = start[o];
	for (left = (int64_t)axis->count; left > 0 && !ret; left -= step) {
		if (best)
			block = left < BLOCK ? left : BLOCK;
		ret = strided_walk_axes(walk, number + 1, data, block);
		call_strided_advance(walk, data, axis->strides, step);
	}
	return ret;
}

static int walk_all(const struct strided_walk *walk)
{
	char *data[DRAY_MAX_OPERANDS];
	int o;

	for (o = 0; o < walk->operands; o++)
		data[o] = (char *)walk->layout->data[o];
	return strided_walk_axes(walk, 0, data, 1);
}

/* Computes a part in any thread. */
static int strided_walk_part(void *context, uint64_t at, uint64_t length)
{
	struct strided_walk walk = *(const struct strided_walk *)context;
	struct dray_layout part = *walk.layout;
	struct dray_layout_axis *axis = &part.axes[walk.cut];
	int o, ret;

	for (o = 0; o < walk.operands; o++)
		part.data[o] += (int64_t)at * axis->strides[o];
	axis->count = length;
	walk.layout = &part;
	if (walk.pass.loop.flags & DRAY_LOOP_NO_FP_ERRORS)
		return walk_all(&walk);
	dray_fp_clear();
	ret = walk_all(&walk);
	__atomic_fetch_or(&walk.call->errors, dray_fp_take(), __ATOMIC_RELAXED);
	return ret;
}

int dray_call_strided(struct dray_ufunc_call *call)
{
	struct dray_layout layout;
	struct strided_walk walk = {
		.call = call,
		.layout = &layout,
		.operands = call->operands,
	};
	unsigned int threads;

	call_strided_reduce(call, &layout);
	dray_pass_init(&walk.pass, call);
	walk.best = best_axis(&layout);
	threads = dray_call_threads(call, layout.bytes);
	if (threads <= 1 || !layout.axes_count)
		return walk_all(&walk);
	walk.cut = dray_threads_axis(&layout, threads);
	return dray_threads_run(layout.axes[walk.cut].count, threads,
				strided_walk_part, &walk);
}
