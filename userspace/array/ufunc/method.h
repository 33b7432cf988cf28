/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A call of a method: reduce, accumulate or reduceat.  The elements of its single
 * input are converted in buffers if the loop needs others.  The result is the
 * output or, if that will not do, an array in its place.
 */
#ifndef DRAY_UFUNC_METHOD_H
#define DRAY_UFUNC_METHOD_H

#include <dray/array/reduce.h>

#include "cast/fp_state.h"
#include "private.h"
#include "loops/line.h"
#include "ufunc/ufunc.h"
#include "ufunc/users_loop.h"

struct dray_method {
	const char *name; /* "reduce", for sentences */
	const struct dray_ufunc *ufunc;
	struct dray_resolved resolved;
	const struct dray_view *in;
	const struct dray_view *to; /* or NULL */
	struct dray_operand operand; /* the input */
	bool converts; /* elements of the input, by cast */
	struct dray_cast cast; /* from the input's type to the loop's */
	struct dray_cast first; /* from the input's type to the result's */
	unsigned int noted; /* DRAY_FP_*, of conversions to a quiet loop */
	unsigned int *errors; /* noted, if the loop is quiet; or NULL */
	struct dray_array *made; /* of the result, or NULL */
	struct dray_view result; /* of the loop's type, aligned */
	char *buffer; /* of piece elements of the loop's input, or NULL */
	int64_t piece;
	int64_t item; /* bytes of an element of the loop's input */
	int64_t result_item; /* and of the result */
};

/* Checks the ufunc, the input and the output. */
int dray_method_start(struct dray_method *method, const char *name,
		      struct dray_ufunc *ufunc, const struct dray_view *in,
		      const struct dray_view *to);

/*
 * Chooses the loop.
 * @dtype: of the result, or 0
 * @one_type: the loop's three operands must be of the same type
 */
int dray_method_resolve(struct dray_method *method, dray_dtype dtype,
			bool one_type);

/* Resolves an axis, negative from the last.  -ERANGE. */
int dray_method_axis(int axis, int ndim, int *out);

/*
 * Makes the result, of the shape of @like, in the order of its strides.
 * @others: @count views that are read while the result is written
 * @in_place: the result may be the very elements of the input
 */
int dray_method_prepare(struct dray_method *method,
			const struct dray_view *like,
			const struct dray_view *const *others, int count,
			bool in_place);

/*
 * Leaves an axis out of a result and an input, and puts the others in the order
 * of memory, so that a walk in C order is in the order of memory.
 * @out: two views, of the result and the input
 * Returns whether to walk along the axis: no other lies inside of it, or few do.
 */
bool dray_method_across(const struct dray_view *result,
			const struct dray_view *in, int axis,
			struct dray_view *out);

/* Finds the short cut of a loop, unless a user replaced it; NULL: none. */
const struct dray_line *
dray_method_find_line(const struct dray_ufunc *ufunc,
		      const struct dray_resolved *resolved);

/*
 * Finds the short cut of a reduction.
 * @converts: whether it supports elements of the loop's type only, and the input's
 *	are of another
 */
const struct dray_line *dray_method_line(const struct dray_method *method,
					 bool *converts);

/*
 * Ends the call: reports floating-point errors, converts the result to the
 * output, and drops all.
 * @ret: 0, or the error so far
 */
int dray_method_end(struct dray_method *method, int ret,
		    struct dray_array **out);

/*
 * Converts elements of the input.  Flags of a loop that notes no errors mean
 * nothing, but flags of a conversion for it do.
 */
static inline int dray_method_convert(const struct dray_method *method,
				      const struct dray_cast *cast, char *to,
				      int64_t to_stride, const char *from,
				      int64_t stride, int64_t count)
{
	int ret;

	if (method->errors)
		dray_fp_clear();
	ret = dray_cast_run(cast, to, to_stride, from, stride, count);
	if (method->errors)
		*method->errors |= dray_fp_take();
	return ret;
}

/* Sets elements of the result from the first elements of the input. */
static inline int dray_method_set(const struct dray_method *method,
				  char *result, int64_t result_stride,
				  const char *in, int64_t in_stride,
				  int64_t count)
{
	return dray_method_convert(method, &method->first, result,
				   result_stride, in, in_stride, count);
}

/* Calls the loop with the result as the first input: result op= in. */
static inline int dray_method_loop(const struct dray_method *method,
				   char *result, int64_t result_stride,
				   const char *in, int64_t in_stride,
				   int64_t count)
{
	char *const data[3] = { result, (char *)(uintptr_t)in, result };
	const int64_t strides[3] = { result_stride, in_stride, result_stride };

	return dray_loop_run(&method->resolved.loop, data, strides, count);
}

#endif /* DRAY_UFUNC_METHOD_H */
