/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the functions of statistics. */
#ifndef DRAY_STATISTICS_STATISTICS_H
#define DRAY_STATISTICS_STATISTICS_H

#include <dray/array/statistics.h>

/* Copies options, with all axes for those that name none. */
int dray_all_axes(const struct dray_reduce_options *options,
		  struct dray_reduce_options *out, const char *function);

/*
 * Ends with a result: converts it to the output that was given, by any cast, or
 * gives it away, as elements of @dtype (0: as it is).  Drops @result.
 */
int dray_deliver(struct dray_array *result, const struct dray_view *to,
		 dray_dtype dtype, struct dray_array **out);

/* Calls a builtin ufunc of one or two inputs; @to may be an input. */
int dray_call_builtin(const char *name, const struct dray_view *a,
		      const struct dray_view *b, const struct dray_view *to,
		      struct dray_array **out);

#endif /* DRAY_STATISTICS_STATISTICS_H */
