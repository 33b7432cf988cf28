// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Operands that streams cannot use as they are, because their type is another one
 * or a mask leaves elements out: the CPU converts inputs into arrays of the streams'
 * types, and outputs back.  Only with DRAY_PACKET_STAGE.
 */

#include <dray/array/nditer.h>

#include "private.h"
#include "cast/cast.h"
#include "executor/stream_executor.h"

int dray_stream_set_aside(struct dray_stream_call *run, struct dray_view *views)
{
	const struct dray_call *call = run->call;
	int o, ret;

	for (o = 0; o < call->inputs + call->outputs; o++) {
		const struct dray_view *view = call->views[o];

		dray_view_copy(&views[o], view);
		if (!run->aside[o])
			continue;
		ret = dray_array_empty(run->executor->dtypes[o], view->ndim,
				       view->shape, &run->arrays[o]);
		if (ret)
			return ret;
		dray_array_view(run->arrays[o], &views[o]);
		if (o < call->inputs)
			ret = dray_view_cast(&views[o], view,
					     DRAY_CASTING_UNSAFE);
		if (ret)
			return ret;
	}
	return 0;
}

/* Converts the elements of one inner loop for which the mask is true. */
static int put_some(const struct dray_cast *cast, char *const *data,
		    const int64_t *strides, int64_t count)
{
	const char *mask = data[2];
	int64_t from, to;
	int ret = 0;

	for (from = 0; !ret && from < count; from = to) {
		for (to = from; to < count && mask[to * strides[2]]; to++)
			;
		if (to > from)
			ret = dray_cast_run(cast, data[0] + from * strides[0],
					    strides[0],
					    data[1] + from * strides[1],
					    strides[1], to - from);
		for (; to < count && !mask[to * strides[2]]; to++)
			;
	}
	return ret;
}

static int aside_put_masked(const struct dray_view *out,
			    const struct dray_view *from,
			    const struct dray_view *where)
{
	const struct dray_view *views[] = { out, from, where };
	const uint32_t flags[] = { DRAY_OPERAND_WRITE, DRAY_OPERAND_READ,
				   DRAY_OPERAND_READ };
	const struct dray_nditer_options options = {
		.size = sizeof(options),
		.flags = DRAY_NDITER_EXTERNAL_LOOP,
		.operand_flags = flags,
	};
	struct dray_nditer *iter;
	struct dray_cast cast;
	int ret, end;

	ret = dray_cast_find(out->dtype, from->dtype, &cast);
	if (!ret)
		ret = dray_nditer_create(views, 3, &options, &iter);
	if (ret)
		return ret;
	do {
		ret = put_some(&cast, dray_nditer_data(iter),
			       dray_nditer_strides(iter),
			       *dray_nditer_count(iter));
	} while (!ret && dray_nditer_next(iter));
	end = dray_nditer_destroy(iter);
	return ret ? ret : end;
}

int dray_stream_put_back(const struct dray_stream_call *run)
{
	const struct dray_call *call = run->call;
	struct dray_view from;
	int o, ret = 0;

	for (o = call->inputs; !ret && o < call->inputs + call->outputs; o++) {
		if (!run->aside[o])
			continue;
		dray_array_view(run->arrays[o], &from);
		ret = call->where ? aside_put_masked(call->views[o], &from,
						     call->where)
				  : dray_view_cast(call->views[o], &from,
						   DRAY_CASTING_UNSAFE);
	}
	return ret;
}

void dray_stream_drop_aside(struct dray_stream_call *run)
{
	int o;

	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_array_unref(run->arrays[o]);
}
