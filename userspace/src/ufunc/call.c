// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Calls: operands are broadcast and converted, and given to the loop in pieces. */
#include <errno.h>
#include <string.h>

#include <dray/nditer.h>

#include "base/error.h"
#include "ufunc/ufunc.h"

int dray_ufunc_call(struct dray_ufunc *ufunc,
		    const struct dray_view *const *inputs,
		    const struct dray_view *const *outputs,
		    const struct dray_ufunc_options *options,
		    struct dray_array **out)
{
	static const struct dray_ufunc_options none;
	const struct dray_view *views[DRAY_UFUNC_MAX_OPERANDS];
	dray_dtype given[DRAY_UFUNC_MAX_OPERANDS];
	uint32_t flags[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_resolved resolved;
	struct dray_nditer_options iteration = {
		.flags = DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_BUFFERED |
			 DRAY_NDITER_GROW_INNER | DRAY_NDITER_ZEROSIZE_OK |
			 DRAY_NDITER_COPY_IF_OVERLAP,
		.operand_flags = flags,
		.dtypes = resolved.dtypes,
	};
	struct dray_nditer *iter;
	int o, count, ret, ended;

	if (!dray_given(ufunc, __func__) || !dray_given(inputs, __func__))
		return -EINVAL;
	if (!options)
		options = &none;
	count = dray_ufunc_operands(ufunc);
	for (o = 0; o < count; o++) {
		const bool input = o < ufunc->inputs;

		views[o] = input     ? inputs[o]
			   : outputs ? outputs[o - ufunc->inputs]
				     : NULL;
		if (input && !dray_given(views[o], __func__))
			return -EINVAL;
		if (!views[o] && !dray_given(out, __func__))
			return -EINVAL;
		given[o] = views[o] ? views[o]->dtype : 0;
		flags[o] = DRAY_OPERAND_ALIGNED | DRAY_OPERAND_NATIVE_ORDER |
			   DRAY_OPERAND_ELEMENTWISE;
		flags[o] |= input ? DRAY_OPERAND_READ
				  : DRAY_OPERAND_WRITE | DRAY_OPERAND_ALLOCATE |
					    DRAY_OPERAND_NO_BROADCAST;
	}
	ret = dray_ufunc_resolve(ufunc, given, options, &resolved);
	if (ret)
		return ret;
	iteration.order = options->order;
	iteration.casting = options->casting ? (uint8_t)(options->casting - 1)
					     : DRAY_CASTING_SAME_KIND;
	ret = dray_nditer_create(views, count, &iteration, &iter);
	if (ret)
		return ret;
	if (dray_nditer_size(iter) > 0) {
		char **data = dray_nditer_data(iter);
		const int64_t *strides = dray_nditer_strides(iter);
		const int64_t *steps = dray_nditer_count(iter);

		do {
			ret = resolved.loop.loop(data, strides, *steps,
						 resolved.loop.context);
		} while (!ret && dray_nditer_next(iter));
	}
	for (o = ufunc->inputs; o < count && out; o++)
		out[o - ufunc->inputs] =
			views[o] || ret
				? NULL
				: dray_array_ref(dray_nditer_array(iter, o));
	ended = dray_nditer_destroy(iter);
	return ret ? ret : ended;
}
