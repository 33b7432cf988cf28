/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * sorting: elements in order along an axis.
 *
 * The order is NumPy's.  Numbers, dates and durations are ordered by value; NaN
 * and NaT are last.  Complex numbers are ordered by their real part, then by
 * the imaginary part; numbers with a NaN are last.  Bytes, characters and raw
 * data are ordered by their bytes or characters; structures by their fields,
 * the first field first, and their sub-arrays by the items; user types by the
 * functions compare and argmax of their tables (element.h).  Equal elements,
 * such as 0.0 and -0.0, stay in their order.
 *
 *	struct dray_array *order;
 *
 *	ret = dray_argsort(&view, -1, &order);	// of each row
 *	if (ret)
 *		return ret;
 *	dray_array_unref(order);
 *	ret = dray_sort(&view, -1);
 *
 * Every function may be called from any thread; it returns 0 or a negative
 * errno: -EINVAL (a bad view, NULL, an axis that does not exist), -EPERM (a view
 * that may not be read, or written), -ENOMEM, and the errors named below.  A
 * function that fails changes nothing.
 */
#ifndef DRAY_SORTING_H
#define DRAY_SORTING_H

#include <dray/array/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sorts elements where they are.
 *
 * @axis: negative from the last
 *
 * Errors: also -EINVAL (a stride of 0).
 */
DRAY_API int dray_sort(const struct dray_view *view, int axis);

/**
 * Finds the indices along an axis that would sort it.
 *
 * @out: a reference to an array of int64, of the view's shape, in C order
 */
DRAY_API int dray_argsort(const struct dray_view *view, int axis,
			  struct dray_array **out);

/**
 * Finds the index of the largest element along an axis: the first of equal
 * elements, and the first NaN or NaT if there is any.
 *
 * @axis: may be DRAY_FLAT of <dray/array/index.h>: of all elements in C order
 * @out: a reference to an array of int64, of the shape without that axis, in C
 *	order
 *
 * Errors: also -EINVAL (an axis without elements), -EOPNOTSUPP (structures and raw
 * data, in NumPy a TypeError).
 */
DRAY_API int dray_argmax(const struct dray_view *view, int axis,
			 struct dray_array **out);
/** Finds the index of the smallest element; NaN and NaT win, too. */
DRAY_API int dray_argmin(const struct dray_view *view, int axis,
			 struct dray_array **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_SORTING_H */
