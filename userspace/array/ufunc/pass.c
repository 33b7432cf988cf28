// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs a loop for the ways through the elements.  With a mask, it is called for
 * each run of elements with a true mask.  Counts the threads that share the work.
 */
#include "private.h"
#include "ufunc/call.h"
#include "ufunc/users_loop.h"

void dray_pass_init(struct dray_pass *pass, const struct dray_ufunc_call *call)
{
	static const struct {
		unsigned int error;
		int flag;
	} flags[] = {
		{ DRAY_FP_DIVIDE, FE_DIVBYZERO },
		{ DRAY_FP_OVER, FE_OVERFLOW },
		{ DRAY_FP_UNDER, FE_UNDERFLOW },
		{ DRAY_FP_INVALID, FE_INVALID },
	};
	unsigned int raised;
	size_t i;

	pass->loop = call->resolved.loop;
	pass->mask = dray_call_has_mask(call) ? call->count : -1;
	pass->raised = 0;
	pass->errors = NULL;
	if (pass->loop.flags & DRAY_LOOP_NO_FP_ERRORS)
		return;
	raised = dray_fp_raised();
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (raised & flags[i].error)
			pass->raised |= flags[i].flag;
}

/* Counts elements from @at on that have the mask @wanted. */
static int64_t count_alike(const char *mask, int64_t stride, int64_t at,
			   int64_t count, bool wanted)
{
	const int64_t start = at;

	if (!stride)
		return !mask[0] == !wanted ? count - at : 0;
	while (at < count && !mask[at * stride] == !wanted)
		at++;
	return at - start;
}

static int run_masked(const struct dray_pass *pass, char *const *data,
		      const int64_t *strides, int64_t count)
{
	const char *mask = data[pass->mask];
	const int64_t stride = strides[pass->mask];
	char *part[DRAY_MAX_OPERANDS];
	int64_t at = 0, length;
	int o, ret;

	for (;;) {
		at += count_alike(mask, stride, at, count, false);
		if (at == count)
			return 0;
		length = count_alike(mask, stride, at, count, true);
		for (o = 0; o < pass->mask; o++)
			part[o] = data[o] + at * strides[o];
		ret = dray_loop_run(&pass->loop, part, strides, length);
		if (ret)
			return ret;
		at += length;
	}
}

static int pass_run(const struct dray_pass *pass, char *const *data,
		    const int64_t *strides, int64_t count)
{
	return pass->mask < 0 ? dray_loop_run(&pass->loop, data, strides, count)
			      : run_masked(pass, data, strides, count);
}

int dray_pass_run(const struct dray_pass *pass, char *const *data,
		  const int64_t *strides, int64_t count)
{
	int ret;

	if (pass->errors) {
		__atomic_fetch_or(pass->errors, dray_fp_take(),
				  __ATOMIC_RELAXED);
		ret = pass_run(pass, data, strides, count);
		dray_fp_clear();
		return ret;
	}
	ret = pass_run(pass, data, strides, count);
	if (!ret && pass->raised && fetestexcept(pass->raised))
		return DRAY_PASS_RAISED;
	return ret;
}

/* Whether an output that was given may be written by several threads. */
static bool is_divisible(const struct dray_ufunc_call *call, int w)
{
	bool unique;
	int o;

	if (dray_view_is_unique(call->views[w], DRAY_SHARE_BOUNDS, &unique) ||
	    !unique)
		return false;
	for (o = w + 1; o < call->count; o++)
		if (!call->made[o] &&
		    dray_addresses_meet(call->checked[w].span,
					call->checked[o].span))
			return false;
	return true;
}

unsigned int dray_call_threads(const struct dray_ufunc_call *call,
			       uint64_t bytes)
{
	int o;

	if (call->options->threads <= 1 ||
	    (call->resolved.loop.flags & DRAY_LOOP_SINGLE_THREAD))
		return 1;
	for (o = call->ufunc->inputs; o < call->count; o++)
		if (!call->made[o] && !is_divisible(call, o))
			return 1;
	return dray_threads_for(bytes, call->options->threads);
}
