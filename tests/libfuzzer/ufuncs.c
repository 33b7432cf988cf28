// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ufuncs: a call or a method with views of one memory, which may lie over each other,
 * and options of any kind.  Errors are negative and have a sentence; integers that are
 * written into a view are those of an array that is made.
 */
#include <dray/array/reduce.h>
#include <dray/array/statistics.h>

#include "views.h"

#define MAX_ELEMENTS 2048 /* of a view */
#define MAX_RESULT 65536

static const char *const names[] = {
	"absolute",    "add",		"arccos",	 "arccosh",
	"arcsin",      "arcsinh",	"arctan",	 "arctan2",
	"arctanh",     "bitwise_and",	"bitwise_count", "bitwise_or",
	"bitwise_xor", "cbrt",		"ceil",		 "conjugate",
	"copysign",    "cos",		"cosh",		 "deg2rad",
	"degrees",     "divide",	"divmod",	 "equal",
	"exp",	       "exp2",		"expm1",	 "fabs",
	"float_power", "floor",		"floor_divide",	 "fmax",
	"fmin",	       "fmod",		"frexp",	 "gcd",
	"greater",     "greater_equal", "heaviside",	 "hypot",
	"invert",      "isfinite",	"isinf",	 "isnan",
	"isnat",       "lcm",		"ldexp",	 "left_shift",
	"less",	       "less_equal",	"log",		 "log10",
	"log1p",       "log2",		"logaddexp",	 "logaddexp2",
	"logical_and", "logical_not",	"logical_or",	 "logical_xor",
	"maximum",     "minimum",	"modf",		 "multiply",
	"negative",    "nextafter",	"not_equal",	 "positive",
	"power",       "rad2deg",	"radians",	 "reciprocal",
	"remainder",   "right_shift",	"rint",		 "sign",
	"signbit",     "sin",		"sinh",		 "spacing",
	"sqrt",	       "square",	"subtract",	 "tan",
	"tanh",	       "trunc",
};

#define NAMES ((int)(sizeof(names) / sizeof(names[0])))

static const dray_dtype builtin[] = {
	DRAY_BOOL,	DRAY_INT8,	 DRAY_UINT8,   DRAY_INT16,
	DRAY_UINT16,	DRAY_INT32,	 DRAY_UINT32,  DRAY_INT64,
	DRAY_UINT64,	DRAY_FLOAT16,	 DRAY_FLOAT32, DRAY_FLOAT64,
	DRAY_COMPLEX64, DRAY_COMPLEX128,
};

#define BUILTIN ((int)(sizeof(builtin) / sizeof(builtin[0])))

/* Mostly 0, which stands for any type. */
static dray_dtype read_type(struct input *input)
{
	const int what = input_below(input, 4 * BUILTIN);

	return what < BUILTIN ? builtin[what] : 0;
}

/* A view of few elements, of a builtin type more often than of another. */
static bool read_view(struct input *input, struct dray_view *view)
{
	int changes, i;
	int64_t size = 1;
	struct dray_view typed;

	views_make(input, view);
	if (input_below(input, 3) &&
	    !dray_view_as_type(view, builtin[input_below(input, BUILTIN)],
			       &typed))
		dray_view_copy(view, &typed);
	for (changes = input_below(input, 3); changes && input->left; changes--)
		views_change(input, view);
	holds(views_inside(view));
	for (i = 0; i < view->ndim; i++)
		if (view->shape[i] &&
		    __builtin_mul_overflow(size, view->shape[i], &size))
			return false;
	return size <= MAX_ELEMENTS;
}

static bool read_mask(struct input *input, struct dray_view *mask)
{
	struct dray_view typed;

	if (!read_view(input, mask))
		return false;
	if (input_below(input, 8) &&
	    !dray_view_as_type(mask, DRAY_BOOL, &typed))
		dray_view_copy(mask, &typed);
	return true;
}

/* Whether a shape to which all views are broadcast has few elements. */
static bool is_small(const struct dray_view *views, int count)
{
	int64_t size = 1, extent;
	int i, k, at;

	for (i = 0; i < DRAY_MAX_NDIM; i++) {
		extent = 1;
		for (k = 0; k < count; k++) {
			at = views[k].ndim - 1 - i;
			if (at >= 0 && views[k].shape[at] > extent)
				extent = views[k].shape[at];
		}
		size *= extent;
		if (size > MAX_RESULT)
			return false;
	}
	return true;
}

/* Checks an error, or reads all bytes of a result. */
static void check_end(int ret, struct dray_array *made)
{
	struct dray_view view;

	holds(ret <= 0);
	if (ret) {
		holds(dray_last_error()[0]);
		return;
	}
	if (!made)
		return;
	dray_array_unref(packed(dray_array_view(made, &view)));
	dray_array_unref(made);
}

/* Whether the bits of results are the same on each way. */
static bool is_exact(const struct dray_view *view)
{
	const char kind = dray_dtype_kind(view->dtype);

	return kind == 'i' || kind == 'u';
}

static bool has_shape_of(const struct dray_view *to, struct dray_array *made)
{
	struct dray_view view;

	dray_array_view(made, &view);
	return to->ndim == view.ndim &&
	       !memcmp(to->shape, view.shape,
		       (size_t)to->ndim * sizeof(to->shape[0]));
}

/*
 * Computes once more into a view, where inputs may lie: the elements are those that
 * were made.
 */
static void compute_into(struct dray_ufunc *ufunc,
			 const struct dray_view *const *inputs,
			 const struct dray_ufunc_options *options,
			 struct dray_array *made, struct dray_view *to)
{
	const struct dray_view *outputs[] = { to };
	struct dray_view view;
	bool unique = false;
	int ret;

	ret = dray_ufunc_call(ufunc, inputs, outputs, options, NULL);
	check_end(ret, NULL);
	if (ret || options->where || options->weak || options->dtype ||
	    options->signature || !is_exact(to) || to->dtype != made->dtype ||
	    !has_shape_of(to, made) ||

	    dray_view_is_unique(to, 10000, &unique) || !unique)
		return;
	holds(same_elements(dray_array_view(made, &view), to));
}

static void read_options(struct input *input, struct dray_view *mask,
			 dray_dtype *signature,
			 struct dray_ufunc_options *options)
{
	const int what = input_number(input, 1) & 255;
	int o;

	memset(options, 0, sizeof(*options));
	if (what & 1)
		options->order = "CFAKx"[input_below(input, 5)];
	if (what & 2)
		options->casting = (uint8_t)input_below(input, 7);
	if (what & 4)
		options->dtype = read_type(input);
	if (what & 8) {
		for (o = 0; o < 4; o++)
			signature[o] = read_type(input);
		options->signature = signature;
	}
	if (what & 16 && read_mask(input, mask))
		options->where = mask;
	if (what & 32)
		options->weak = (uint16_t)input_below(input, 8);
	if (what & 64)
		options->flags = (uint32_t)input_below(input, 5);
	options->threads = what & 128 ? 2 : 0;
}

static void check_call(struct input *input, struct dray_ufunc *ufunc)
{
	const int count = dray_ufunc_inputs(ufunc);
	const int outputs = dray_ufunc_outputs(ufunc);
	struct dray_view views[3], mask, to;
	const struct dray_view *inputs[2] = { &views[0], &views[1] };
	struct dray_array *made[2] = { NULL };
	struct dray_ufunc_options options;
	dray_dtype signature[4];
	int i, ret;

	for (i = 0; i < count; i++)
		if (!read_view(input, &views[i]))
			return;
	read_options(input, &mask, signature, &options);
	if (options.where)
		dray_view_copy(&views[count], &mask);
	if (!is_small(views, count + !!options.where))
		return;
	ret = dray_ufunc_call(ufunc, inputs, NULL, &options, made);
	holds(ret <= 0);
	if (!ret && outputs == 1 && read_view(input, &to))
		compute_into(ufunc, inputs, &options, made[0], &to);
	for (i = 0; i < outputs; i++)
		check_end(ret, ret ? NULL : made[i]);
}

static void check_outer(struct input *input, struct dray_ufunc *ufunc)
{
	struct dray_ufunc_options options;
	struct dray_view a, b, mask;
	struct dray_array *made[2] = { NULL };
	dray_dtype signature[4];
	int ret;

	if (!read_view(input, &a) || !read_view(input, &b) ||
	    dray_view_size(&a) * dray_view_size(&b) > MAX_RESULT)
		return;
	read_options(input, &mask, signature, &options);
	if (options.where && !is_small(&mask, 1))
		return;
	options.where = NULL;
	ret = dray_ufunc_outer(ufunc, &a, &b, NULL, &options, made);
	check_end(ret, made[0]);
	if (!ret && made[1])
		check_end(ret, made[1]);
}

static void check_reduce(struct input *input, struct dray_ufunc *ufunc)
{
	struct dray_view in, to, mask, initial;
	struct dray_reduce_options options;
	struct dray_array *made = NULL;
	bool given;
	int axes[4], i, ret;

	memset(&options, 0, sizeof(options));
	if (!read_view(input, &in))
		return;
	options.dtype = read_type(input);
	options.axes_count = input_below(input, 4);
	for (i = 0; i < options.axes_count; i++)
		axes[i] = input_around(input, 4);
	options.axes = input_below(input, 3) ? axes : NULL;
	if (!options.axes)
		options.axes_count = 0;
	options.flags = (uint32_t)input_below(input, 9);
	if (!input_below(input, 4)) {
		if (!read_view(input, &initial))
			return;
		options.initial = &initial;
	}
	if (!input_below(input, 4)) {
		if (!read_mask(input, &mask))
			return;
		options.where = &mask;
	}
	given = !input_below(input, 3) && read_view(input, &to);
	ret = dray_ufunc_reduce(ufunc, &in, given ? &to : NULL, &options,
				&made);
	check_end(ret, made);
}

/* Makes indices, of which few are out of range. */
static void read_indices(struct input *input, int64_t extent, int64_t *numbers,
			 struct dray_view *view)
{
	const int64_t count = input_below(input, 5);
	int64_t i;

	for (i = 0; i < count; i++)
		numbers[i] = input_below(input, 16)
				     ? input_below(input, 256) %
					       (extent > 0 ? extent : 1)
				     : (int64_t)input_number(input, 8);
	holds(!dray_view_init(view, numbers, DRAY_INT64, 1, &count, NULL));
	view->flags |= DRAY_READ;
}

static void check_along(struct input *input, struct dray_ufunc *ufunc,
			bool segments)
{
	struct dray_view in, to, indices;
	struct dray_array *made = NULL;
	int64_t numbers[4];
	dray_dtype dtype;
	bool given;
	int axis, ret;

	if (!read_view(input, &in))
		return;
	axis = input_around(input, in.ndim + 1);
	dtype = read_type(input);
	given = !input_below(input, 3) && read_view(input, &to);
	read_indices(input, axis >= 0 && axis < in.ndim ? in.shape[axis] : 1,
		     numbers, &indices);
	ret = segments ? dray_ufunc_reduceat(ufunc, &in, &indices, axis, dtype,
					     given ? &to : NULL, &made)
		       : dray_ufunc_accumulate(ufunc, &in, axis, dtype,
					       given ? &to : NULL, &made);
	check_end(ret, made);
}

static void check_at(struct input *input, struct dray_ufunc *ufunc)
{
	struct dray_view target, indices, values;
	const bool placed = dray_ufunc_inputs(ufunc) == 2;
	struct dray_index steps[3] = { DRAY_ELLIPSIS };
	int64_t numbers[4];

	if (!read_view(input, &target) || !read_view(input, &values))
		return;
	read_indices(input, target.ndim ? target.shape[0] : 1, numbers,
		     &indices);
	if (input_below(input, 2)) {
		check_end(dray_ufunc_at(ufunc, &target, &indices,
					placed ? &values : NULL),
			  NULL);
		return;
	}
	steps[0] = (struct dray_index)DRAY_AT(input_around(input, 3));
	steps[1] = (struct dray_index)DRAY_SLICE(input_around(input, 3),
						 input_around(input, 3),
						 input_around(input, 3));
	steps[2] = (struct dray_index)DRAY_BY(&indices);
	check_end(dray_ufunc_at_index(ufunc, &target,
				      steps + input_below(input, 2),
				      (size_t)input_below(input, 3),
				      placed ? &values : NULL),
		  NULL);
}

static void check_clip(struct input *input)
{
	struct dray_view views[3];
	struct dray_array *made = NULL;
	int i, ret;

	for (i = 0; i < 3; i++)
		if (!read_view(input, &views[i]))
			return;
	if (!is_small(views, 3))
		return;
	ret = dray_clip(&views[0], &views[1], &views[2], NULL, NULL, &made);
	check_end(ret, made);
}

static void read_state(struct input *input)
{
	const int what = input_below(input, 32);
	struct dray_fp_state state = {
		.divide = what & 1 ? DRAY_FP_RAISE : DRAY_FP_IGNORE,
		.over = what & 2 ? DRAY_FP_RAISE : DRAY_FP_IGNORE,
		.under = what & 4 ? DRAY_FP_RAISE : DRAY_FP_IGNORE,
		.invalid = what & 8 ? DRAY_FP_RAISE : DRAY_FP_IGNORE,
		.buffer_size = what & 16 ? 16 : 8192,
	};

	holds(!dray_set_fp_state(&state));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct dray_ufunc *ufunc;
	int method;

	if (!memory)
		views_start();
	views_fill();
	read_state(&input);
	ufunc = dray_ufunc_find(names[input_below(&input, NAMES)]);
	holds(ufunc);
	method = input_below(&input, 16);
	if (size > 64 && input_below(&input, 2)) /* special numbers */
		memcpy(memory, data + size - 64, 64);
	if (method < 6)
		check_call(&input, ufunc);
	else if (method < 9)
		check_reduce(&input, ufunc);
	else if (method < 11)
		check_along(&input, ufunc, method == 9);
	else if (method < 13)
		check_at(&input, ufunc);
	else if (method < 15)
		check_outer(&input, ufunc);
	else
		check_clip(&input);
	return 0;
}
