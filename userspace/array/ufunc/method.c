// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Begins and ends calls of methods: types, the array in place of an output that
 * will not do, buffers, floating-point errors.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "cast/cast.h"
#include "ufunc/method.h"

#define FEW 8 /* elements of a row that are too few */

/*
 * The default type of a result, or 0: of sums and products no bool, and no integer
 * of fewer bits than 64; of logic a bool.
 */
static dray_dtype default_dtype(const struct dray_method *method)
{
	const char *name = method->ufunc->name;
	const dray_dtype in = method->in->dtype;

	if (!method->ufunc->definition)
		return 0;
	if (!strncmp(name, "logical_", 8))
		return DRAY_BOOL;
	if (method->to || dray_dtype_itemsize(in) >= 8 ||
	    (strcmp(name, "add") && strcmp(name, "multiply")))
		return 0;
	if (in == DRAY_BOOL || dray_dtype_kind(in) == 'i')
		return DRAY_INT64;
	return dray_dtype_kind(in) == 'u' ? DRAY_UINT64 : 0;
}

static bool is_added_time(const struct dray_method *method, dray_dtype in)
{
	const char *name = method->ufunc->name;

	return dray_dtype_is_time(in) && method->ufunc->definition &&
	       (!strcmp(name, "add") || !strcmp(name, "subtract") ||
		!strcmp(name, "multiply"));
}

/* Whether the loop notes no errors: comparisons with a NaN set flags. */
static bool method_is_quiet(const struct dray_method *method)
{
	return (method->resolved.loop.flags & DRAY_LOOP_NO_FP_ERRORS) &&
	       strchr("fc", dray_dtype_kind(method->resolved.dtypes[1]));
}

int dray_method_resolve(struct dray_method *method, dray_dtype dtype,
			bool one_type)
{
	const dray_dtype in = method->in->dtype;
	dray_dtype *dtypes = method->resolved.dtypes;
	dray_dtype given[3] = { in, in, 0 }, signature[3] = { 0 };
	struct dray_ufunc_options options = { .size = sizeof(options),
					      .signature = signature };
	int ret = 0;

	if (dtype)
		ret = dray_dtype_check(dtype, &dtype);
	else
		dtype = default_dtype(method);
	/* Of times, the units and kinds that are added decide. */
	if (!is_added_time(method, in))
		signature[0] = signature[2] = dtype;
	/* An output counts as the first input, and decides nothing alone. */
	if (!dtype && method->to)
		given[0] = method->to->dtype;
	if (!ret)
		ret = dray_ufunc_resolve(method->ufunc, given, &options,
					 &method->resolved);
	/* The input converts to the type that is wanted, by any cast. */
	if (ret == -EOPNOTSUPP && signature[2]) {
		given[0] = given[1] = dtype;
		options.signature = NULL;
		ret = dray_ufunc_resolve(method->ufunc, given, &options,
					 &method->resolved);
		if (!ret &&
		    (dray_dtype_kind(dtypes[2]) != dray_dtype_kind(dtype) ||
		     dray_dtype_itemsize(dtypes[2]) !=
			     dray_dtype_itemsize(dtype)))
			return dray_fail(
				-EOPNOTSUPP,
				"%s has no loop of the type that is wanted",
				method->ufunc->name);
	}
	if (ret)
		return ret;
	if (!dray_dtype_equal(dtypes[0], dtypes[2]) ||
	    (one_type && !dray_dtype_equal(dtypes[0], dtypes[1])))
		return dray_fail(
			-EOPNOTSUPP,
			"%s of these types has operands of several types: there is no %s",
			method->ufunc->name, method->name);
	method->converts = !dray_view_is_ready(method->in, dtypes[1]);
	if (method->converts && method_is_quiet(method))
		method->errors = &method->noted;
	ret = dray_cast_find(dtypes[2], in, &method->first);
	if (!ret && method->converts)
		ret = dray_cast_find(dtypes[1], in, &method->cast);
	method->item = dray_dtype_itemsize(dtypes[1]);
	method->result_item = dray_dtype_itemsize(dtypes[2]);
	return ret;
}

int dray_method_start(struct dray_method *method, const char *name,
		      struct dray_ufunc *ufunc, const struct dray_view *in,
		      const struct dray_view *to)
{
	int ret;

	memset(method, 0, offsetof(struct dray_method, result));
	method->buffer = NULL;
	method->name = name;
	method->ufunc = ufunc;
	method->in = in;
	method->to = to;
	if (ufunc->inputs != 2 || ufunc->outputs != 1)
		return dray_fail(
			-EINVAL,
			"%s has %d input%s and %d output%s: there is %s only of 2 and 1",
			ufunc->name, ufunc->inputs, dray_plural(ufunc->inputs),
			ufunc->outputs, dray_plural(ufunc->outputs), name);
	ret = dray_operand_init(&method->operand, in, "the input");
	if (!ret && to)
		ret = dray_view_check(to, "the output", NULL);
	if (!ret && !(in->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the input may not be read");
	return ret;
}

int dray_method_axis(int axis, int ndim, int *out)
{
	*out = dray_axis_resolve(axis, ndim);
	return *out < 0 ? -ERANGE : 0; /* With its sentence. */
}

static int check_output(const struct dray_view *to,
			const struct dray_view *like, struct dray_operand *out)
{
	char has[DRAY_SHAPE_TEXT], wanted[DRAY_SHAPE_TEXT];
	int ret;

	ret = dray_operand_init(out, to, "the output");
	if (ret)
		return ret;
	if (to->ndim != like->ndim ||
	    memcmp(to->shape, like->shape,
		   (size_t)to->ndim * sizeof(to->shape[0])))
		return dray_fail(
			-EINVAL, "the output has the shape %s, the result %s",
			dray_shape_format(has, to->ndim, to->shape),
			dray_shape_format(wanted, like->ndim, like->shape));
	return dray_operand_check_writable(out);
}

/* Whether two views are of the very same elements. */
static bool method_is_same(const struct dray_view *a, const struct dray_view *b)
{
	return a->data == b->data && a->ndim == b->ndim &&
	       !memcmp(a->strides, b->strides,
		       (size_t)a->ndim * sizeof(a->strides[0]));
}

static bool method_meets(const struct dray_operand *output,
			 const struct dray_view *other)
{
	struct dray_operand read;

	if (!output->extent.elements || dray_view_is_empty(other) ||
	    dray_operand_init(&read, other, "an input"))
		return false;
	return dray_overlap_find(output, &read) != DRAY_OVERLAP_NONE;
}

/* Whether the result may be written to the output at once. */
static bool will_do(const struct dray_method *method,
		    const struct dray_operand *output,
		    const struct dray_view *const *others, int count,
		    bool in_place)
{
	int i;

	if (!dray_view_is_ready(method->to, method->resolved.dtypes[2]) ||
	    (output->extent.elements > 1 &&
	     dray_overlap_self(output) != DRAY_OVERLAP_NONE))
		return false;
	for (i = 0; i < count; i++)
		if (others[i] && method_meets(output, others[i]))
			return false;
	return (in_place && !method->converts &&
		method_is_same(method->to, method->in)) ||
	       !method_meets(output, method->in);
}

int dray_method_prepare(struct dray_method *method,
			const struct dray_view *like,
			const struct dray_view *const *others, int count,
			bool in_place)
{
	struct dray_operand output;
	int ret;

	if (method->to) {
		ret = check_output(method->to, like, &output);
		if (ret)
			return ret;
	}
	if (method->to && will_do(method, &output, others, count, in_place)) {
		dray_view_copy(&method->result, method->to);
	} else {
		ret = dray_array_like(like, method->resolved.dtypes[2],
				      DRAY_ORDER_K, &method->made);
		if (ret)
			return ret;
		dray_array_view(method->made, &method->result);
	}
	method->piece = dray_fp_buffer_size();
	if (method->converts && method->operand.extent.elements) {
		method->buffer =
			malloc((size_t)method->piece * (size_t)method->item);
		if (!method->buffer)
			return dray_fail(-ENOMEM, "no memory for a buffer");
	}
	dray_fp_clear();
	return 0;
}

bool dray_method_across(const struct dray_view *result,
			const struct dray_view *in, int axis,
			struct dray_view *out)
{
	const uint64_t own = dray_magnitude(in->strides[axis]);
	int axes[DRAY_MAX_NDIM];
	int64_t inside = 1;
	int i;

	dray_strides_sort(in->ndim, in->strides, axes);
	dray_view_begin(&out[0], result, 0);
	dray_view_begin(&out[1], in, 0);
	for (i = 0; i < in->ndim; i++) {
		const int from = axes[i], to = out->ndim;

		if (from == axis)
			continue;
		if (in->shape[from] > 1 &&
		    dray_magnitude(in->strides[from]) < own)
			inside *= in->shape[from];
		out[0].shape[to] = result->shape[from];
		out[0].strides[to] = result->strides[from];
		out[1].shape[to] = in->shape[from];
		out[1].strides[to] = in->strides[from];
		out[0].ndim = out[1].ndim = to + 1;
	}
	return inside < FEW;
}

/* Whether a loop is the library's own for a ufunc. */
static bool is_builtin(const struct dray_ufunc *ufunc,
		       const struct dray_ufunc_loop *loop)
{
	const struct dray_ufunc_definition *definition = ufunc->definition;
	size_t i;

	if (!definition)
		return false;
	for (i = 0; i < definition->count; i++)
		if (definition->loops[i].loop == loop->loop &&
		    definition->loops[i].context == loop->context)
			return true;
	return false;
}

const struct dray_line *
dray_method_find_line(const struct dray_ufunc *ufunc,
		      const struct dray_resolved *resolved)
{
	const dray_dtype *dtypes = resolved->dtypes;

	if (!is_builtin(ufunc, &resolved->loop) ||
	    !dray_dtype_equal(dtypes[0], dtypes[1]) ||
	    !dray_dtype_equal(dtypes[0], dtypes[2]))
		return NULL;
	return dray_line_find(ufunc->name, dtypes[2], dtypes[2]);
}

const struct dray_line *dray_method_line(const struct dray_method *method,
					 bool *converts)
{
	const struct dray_view *in = method->in;
	const struct dray_line *line = NULL;

	*converts = method->converts;
	if (method->converts && dray_view_is_ready(in, in->dtype) &&
	    is_builtin(method->ufunc, &method->resolved.loop))
		line = dray_line_find(method->ufunc->name,
				      method->resolved.dtypes[2], in->dtype);
	if (!line)
		return dray_method_find_line(method->ufunc, &method->resolved);
	*converts = false;
	return line;
}

int dray_method_end(struct dray_method *method, int ret,
		    struct dray_array **out)
{
	struct dray_array *made = method->made;

	free(method->buffer);
	if (!ret && method_is_quiet(method))
		dray_fp_clear();
	if (!ret && made && method->to)
		ret = dray_view_cast(method->to, &method->result,
				     DRAY_CASTING_UNSAFE);
	if (!ret && method->noted)
		ret = dray_fp_report(method->name,
				     method->noted | dray_fp_take());
	else if (!ret)
		ret = dray_fp_check(method->name);
	if (made && (ret || method->to)) {
		dray_array_unref(made);
		made = NULL;
	}
	if (out)
		*out = made;
	return ret;
}
