// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Inputs that share memory with an output are copied aside, unless each element is
 * read before it is written: when the two are the very same elements.
 */
#include "private.h"
#include "ufunc/call.h"

/* Whether a write of output @w may change elements of input @o too early. */
static bool call_aside_disturbs(const struct dray_ufunc_call *call, int w,
				int o)
{
	const struct dray_operand *written = &call->checked[w];
	const struct dray_operand *read = &call->checked[o];

	if (call->made[w] || !dray_addresses_meet(written->span, read->span))
		return false;
	if (dray_views_are_alike(written->view, read->view) &&
	    dray_overlap_self(written) == DRAY_OVERLAP_NONE)
		return false;
	return dray_overlap_find(written, read) != DRAY_OVERLAP_NONE;
}

static bool is_disturbed(const struct dray_ufunc_call *call, int o)
{
	int w;

	for (w = call->ufunc->inputs; w < call->count; w++)
		if (call_aside_disturbs(call, w, o))
			return true;
	return false;
}

int dray_call_put_aside(struct dray_ufunc_call *call)
{
	int o, ret;

	for (o = 0; o < call->operands; o++) {
		if (dray_call_is_output(call, o) || !is_disturbed(call, o))
			continue;
		ret = dray_array_copy(call->views[o], DRAY_ORDER_K,
				      &call->made[o]);
		if (ret)
			return ret;
		call->views[o] = dray_array_view(call->made[o], &call->own[o]);
	}
	return 0;
}
