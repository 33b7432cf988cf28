// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The quick way: inputs of the same builtin type for which the ufunc has a loop,
 * outputs of the loop's types, and all of the same shape without gaps, or with a
 * single axis, or numbers without axes.  The loop is then called once.  Everything is
 * checked in a single pass, since this is most of the time of a small call.
 */
#include "array/array.h"
#include "ufunc/call.h"
#include "private.h"
#include "ufunc/users_loop.h"

struct quick {
	const struct dray_view *shape; /* an operand of the shape */
	bool has_order;
	bool c_order; /* of operands with several axes */
	char *data[DRAY_UFUNC_MAX_OPERANDS];
	int64_t strides[DRAY_UFUNC_MAX_OPERANDS];
	int64_t low[DRAY_UFUNC_MAX_OPERANDS]; /* bytes, relative to data */
	int64_t high[DRAY_UFUNC_MAX_OPERANDS];
	int64_t sizes[DRAY_UFUNC_MAX_OPERANDS]; /* bytes of an element */
	int64_t count;
};

static inline bool quick_has_shape(const struct dray_view *view,
				   const struct dray_view *shape)
{
	int i;

	if (view->ndim != shape->ndim)
		return false;
	for (i = 0; i < shape->ndim; i++)
		if (view->shape[i] != shape->shape[i])
			return false;
	return true;
}

/* Accepts an operand with several axes, in the order of the others. */
static bool take_order(struct quick *quick, const struct dray_view *view)
{
	if (!quick->has_order) {
		quick->has_order = true;
		quick->c_order = dray_view_is_packed(view, true);
		if (quick->c_order)
			return true;
	}
	return dray_view_is_packed(view, quick->c_order);
}

static inline bool call_quick_take(struct quick *quick,
				   const struct dray_view *view,
				   dray_dtype dtype, uint32_t permission, int o)
{
	const int64_t size = (int64_t)(dtype >> 32);
	struct dray_extent extent;
	int64_t stride = size;

	if (view->dtype != dtype || !(view->flags & permission) ||
	    !dray_view_is_usual(view, &extent))
		return false;
	if (view->ndim == 1) {
		stride = view->strides[0];
		quick->low[o] = extent.low;
		quick->high[o] = extent.high;
	} else {
		if (view->ndim > 1 && !take_order(quick, view))
			return false;
		if (!view->ndim)
			stride = 0;
		quick->low[o] = 0;
		quick->high[o] = extent.bytes;
	}
	if (!dray_dtype_fits_address(dtype,
				     (uintptr_t)view->data | (uint64_t)stride))
		return false;
	/* Elements that are written do not share bytes. */
	if (permission == DRAY_WRITE && extent.elements > 1 && stride < size &&
	    stride > -size)
		return false;
	quick->data[o] = view->data;
	quick->strides[o] = stride;
	quick->sizes[o] = size;
	if (view == quick->shape)
		quick->count = extent.elements;
	return quick_has_shape(view, quick->shape) ||
	       (permission == DRAY_READ && !view->ndim);
}

/* Whether output @w shares no byte with another operand, except an equal input. */
static inline bool call_quick_is_apart(const struct quick *quick, int w,
				       int inputs, int operands)
{
	const char *low = quick->data[w] + quick->low[w];
	const char *high = quick->data[w] + quick->high[w];
	int o;

	for (o = 0; o < operands; o++) {
		if (o == w || quick->data[o] + quick->low[o] >= high ||
		    quick->data[o] + quick->high[o] <= low)
			continue;
		if (o >= inputs || quick->data[o] != quick->data[w] ||
		    quick->strides[o] != quick->strides[w] ||
		    quick->sizes[o] != quick->sizes[w])
			return false;
	}
	return true;
}

/* Makes output @o in the order of the inputs. */
static int call_quick_make(struct quick *quick, dray_dtype dtype, int o,
			   struct dray_array **made)
{
	const struct dray_view *shape = quick->shape;
	const int64_t size = (int64_t)(dtype >> 32);
	const bool f_order = quick->has_order && !quick->c_order;
	int64_t strides[DRAY_MAX_NDIM];
	int ret;

	/* Too many bytes are refused by the next call. */
	if (f_order)
		(void)dray_strides_fill(shape->ndim, shape->shape, size, false,
					strides);
	ret = dray_array_from_handler(dtype, shape->ndim, shape->shape,
				      f_order ? strides : NULL, false, made);
	if (ret)
		return ret;
	quick->data[o] = (*made)->data;
	quick->strides[o] = shape->ndim ? size : 0;
	return 0;
}

static int call_quick_compute(const struct dray_ufunc *ufunc,
			      const struct dray_ufunc_options *options,
			      const struct dray_ufunc_loop *loop,
			      const struct quick *quick)
{
	struct dray_resolved fast;
	int ret;

	if (options->flags) {
		fast.loop = *loop;
		dray_ufunc_choose_fast(options, &fast);
		loop = &fast.loop;
	}

	if (loop->flags & DRAY_LOOP_NO_FP_ERRORS)
		return dray_loop_run(loop, quick->data, quick->strides,
				     quick->count);
	dray_fp_clear();
	ret = dray_loop_run(loop, quick->data, quick->strides, quick->count);
	return ret ? ret : dray_fp_check(ufunc->name);
}

bool dray_call_quick(struct dray_ufunc *ufunc,
		     const struct dray_view *const *inputs,
		     const struct dray_view *const *outputs,
		     const struct dray_ufunc_options *options,
		     struct dray_array **out, int *ret)
{
	const struct dray_ufunc_table *table = dray_ufunc_table(ufunc);
	const int operands = dray_ufunc_operands(ufunc);
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	const struct dray_ufunc_row *row;
	struct quick quick;
	uint8_t class;
	int o;

	if (!inputs[0])
		return false;
	class = dray_loop_class(inputs[0]->dtype);
	if (class == DRAY_LOOP_NO_CLASS || !table->uniform[class])
		return false;
	row = &table->rows[table->uniform[class] - 1];
	quick.has_order = false;
	quick.c_order = true;
	quick.shape = inputs[0];
	for (o = 1; o < ufunc->inputs; o++) {
		if (!inputs[o])
			return false;
		if (inputs[o]->ndim > quick.shape->ndim)
			quick.shape = inputs[o];
	}
	for (o = 0; o < ufunc->inputs; o++)
		if ((options->weak >> o & 1 && inputs[o]->ndim) ||
		    !call_quick_take(&quick, inputs[o], row->dtypes[o],
				     DRAY_READ, o))
			return false;
	for (; o < operands; o++) {
		const struct dray_view *view =
			outputs ? outputs[o - ufunc->inputs] : NULL;

		quick.data[o] = NULL;
		quick.low[o] = 0;
		quick.high[o] = 0;
		if (view ? !call_quick_take(&quick, view, row->dtypes[o],
					    DRAY_WRITE, o)
			 : !out || row->classes[o] == DRAY_LOOP_NO_CLASS)
			return false;
	}
	for (o = ufunc->inputs; outputs && o < operands; o++)
		if (outputs[o - ufunc->inputs] &&
		    !call_quick_is_apart(&quick, o, ufunc->inputs, operands))
			return false;
	*ret = 0;
	for (o = ufunc->inputs; o < operands && !*ret; o++)
		if (!outputs || !outputs[o - ufunc->inputs])
			*ret = call_quick_make(&quick, row->dtypes[o], o,
					       &made[o]);
	if (!*ret)
		*ret = call_quick_compute(ufunc, options, &row->loop, &quick);
	for (o = ufunc->inputs; o < operands; o++) {
		if (*ret)
			dray_array_unref(made[o]);
		else if (out)
			out[o - ufunc->inputs] = made[o];
	}
	return true;
}
