// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Numbers of the program: each becomes one element of the loop's type, in the
 * call's own memory.  An integer has to fit.
 */
#include <errno.h>
#include <inttypes.h>

#include "private.h"
#include "ufunc/call.h"

/* Whether an integer is one of a class of integers. */
static bool call_weak_fits(uint8_t class, int64_t value, bool natural)
{
	const unsigned int bits =
		(unsigned int)dray_dtype_itemsize(dray_loop_types[class]) * 8;
	int64_t most;

	DRAY_HOLDS(bits && bits <= 64);
	if (class >= DRAY_LOOP_UINT8) {
		if (bits == 64)
			return natural || value >= 0;
		most = (INT64_C(1) << bits) - 1;
		return value >= 0 && value <= most;
	}
	most = INT64_MAX >> (64 - bits);
	return (value >= 0 || !natural) && value <= most && value >= -most - 1;
}

int dray_check_integer(const struct dray_view *view, dray_dtype dtype)
{
	const uint8_t from = dray_loop_class(view->dtype);
	const uint8_t to = dray_loop_class(dtype);
	const bool natural = from >= DRAY_LOOP_UINT8;
	char text[DRAY_DTYPE_TYPESTR_SIZE];
	int64_t value;
	int ret;

	if (from == DRAY_LOOP_NO_CLASS || to == DRAY_LOOP_NO_CLASS ||
	    !dray_loop_is_integer(from) || !dray_loop_is_integer(to))
		return 0;
	ret = dray_view_get(view, natural ? DRAY_UINT64 : DRAY_INT64, &value);
	if (ret || call_weak_fits(to, value, natural))
		return ret;
	dray_dtype_text(dtype, text);
	if (natural)
		return dray_fail_as(-EOVERFLOW, DRAY_FAILURE_BOUNDS,
				    "integer %" PRIu64 " out of bounds for %s",
				    (uint64_t)value, text);
	return dray_fail_as(-EOVERFLOW, DRAY_FAILURE_BOUNDS,
			    "integer %" PRId64 " out of bounds for %s", value,
			    text);
}

int dray_ufunc_check_weak(int o, int64_t elements)
{
	return elements == 1
		       ? 0
		       : dray_fail(
				 -EINVAL,
				 "a number of the program is one element, and input %d has %" PRId64,
				 o, elements);
}

static int call_weak_convert(struct dray_ufunc_call *call, int o)
{
	const struct dray_view *view = call->views[o];
	const uint8_t from = dray_loop_class(view->dtype);
	const uint8_t to = dray_loop_class(call->resolved.dtypes[o]);
	struct dray_view *own = &call->own[o];
	int i, ret;

	if (from == DRAY_LOOP_NO_CLASS || to == DRAY_LOOP_NO_CLASS ||
	    from == to || dray_loop_rank(from) > dray_loop_rank(to))
		return 0;
	ret = dray_check_integer(view, dray_loop_types[to]);
	if (!ret)
		ret = dray_view_get(view, dray_loop_types[to],
				    call->numbers[o]);
	if (ret)
		return ret;
	dray_view_begin(own, view, view->ndim);
	for (i = 0; i < view->ndim; i++) {
		own->shape[i] = 1;
		own->strides[i] = 0;
	}
	own->data = call->numbers[o];
	own->dtype = dray_loop_types[to];
	own->flags = DRAY_READ;
	call->views[o] = own;
	return dray_operand_init(&call->checked[o], own, call->checked[o].name);
}

/* Chooses the loop anew for a comparison with a number that does not fit. */
static int compare_strictly(struct dray_ufunc_call *call)
{
	struct dray_ufunc_options strict = *call->options;
	dray_dtype given[DRAY_UFUNC_MAX_OPERANDS];
	int o;

	for (o = 0; o < call->count; o++)
		given[o] = call->views[o] ? call->views[o]->dtype : 0;
	strict.weak = 0;
	return dray_ufunc_resolve(call->ufunc, given, &strict, &call->resolved);
}

int dray_call_convert_weak(struct dray_ufunc_call *call)
{
	const bool compares =
		dray_ufunc_compares(call->ufunc, call->resolved.dtypes);
	int o, ret;

	for (o = 0; o < call->ufunc->inputs; o++) {
		if (!(call->options->weak >> o & 1))
			continue;
		ret = dray_ufunc_check_weak(o, dray_view_size(call->views[o]));
		if (!ret)
			ret = call_weak_convert(call, o);
		if (ret == -EOVERFLOW && compares)
			return compare_strictly(call);
		if (ret)
			return ret;
	}
	return 0;
}
