// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL where a function needs something: methods of ufuncs, and statistics. */
#include <dray/array/statistics.h>

#include <dray/array.h>

#include "null.h"

static double number = 1;
static struct dray_view view, target;
static struct dray_ufunc *add;

static void make_views(void)
{
	assert_works(
		dray_view_init(&view, &number, DRAY_FLOAT64, 0, NULL, NULL));
	target = view;
	add = dray_ufunc_find("add");
}

FACT(methods)
{
	const struct dray_index index = DRAY_ELLIPSIS;
	struct dray_array *out = NULL;

	make_views();
	refuses(dray_ufunc_reduce(NULL, &view, NULL, NULL, &out));
	refuses(dray_ufunc_reduce(add, NULL, NULL, NULL, &out));
	refuses(dray_ufunc_reduce(add, &view, NULL, NULL, NULL));
	assert_works(dray_ufunc_reduce(add, &view, &target, NULL, NULL));
	refuses(dray_ufunc_accumulate(NULL, &view, 0, 0, NULL, &out));
	refuses(dray_ufunc_accumulate(add, NULL, 0, 0, NULL, &out));
	refuses(dray_ufunc_accumulate(add, &view, 0, 0, NULL, NULL));
	refuses(dray_ufunc_reduceat(NULL, &view, &view, 0, 0, NULL, &out));
	refuses(dray_ufunc_reduceat(add, NULL, &view, 0, 0, NULL, &out));
	refuses(dray_ufunc_reduceat(add, &view, NULL, 0, 0, NULL, &out));
	refuses(dray_ufunc_reduceat(add, &view, &view, 0, 0, NULL, NULL));
	refuses(dray_ufunc_outer(NULL, &view, &view, NULL, NULL, &out));
	refuses(dray_ufunc_outer(add, NULL, &view, NULL, NULL, &out));
	refuses(dray_ufunc_outer(add, &view, NULL, NULL, NULL, &out));
	refuses(dray_ufunc_outer(add, &view, &view, NULL, NULL, NULL));
	refuses(dray_ufunc_at(NULL, &target, &view, &view));
	refuses(dray_ufunc_at(add, NULL, &view, &view));
	refuses(dray_ufunc_at(add, &target, NULL, &view));
	refuses(dray_ufunc_at(add, &target, &view, NULL));
	refuses(dray_ufunc_at_index(NULL, &target, &index, 1, &view));
	refuses(dray_ufunc_at_index(add, NULL, &index, 1, &view));
	refuses(dray_ufunc_at_index(add, &target, NULL, 1, &view));
	refuses(dray_ufunc_at_index(add, &target, &index, 1, NULL));
}

FACT(statistics)
{
	struct dray_array *out = NULL;

	make_views();
	refuses(dray_sum(NULL, NULL, NULL, &out));
	refuses(dray_sum(&view, NULL, NULL, NULL));
	refuses(dray_prod(NULL, NULL, NULL, &out));
	refuses(dray_prod(&view, NULL, NULL, NULL));
	refuses(dray_min(NULL, NULL, NULL, &out));
	refuses(dray_min(&view, NULL, NULL, NULL));
	refuses(dray_max(NULL, NULL, NULL, &out));
	refuses(dray_max(&view, NULL, NULL, NULL));
	refuses(dray_ptp(NULL, NULL, NULL, &out));
	refuses(dray_ptp(&view, NULL, NULL, NULL));
	refuses(dray_all(NULL, NULL, NULL, &out));
	refuses(dray_all(&view, NULL, NULL, NULL));
	refuses(dray_any(NULL, NULL, NULL, &out));
	refuses(dray_any(&view, NULL, NULL, NULL));
	refuses(dray_count_true(NULL, NULL, NULL, &out));
	refuses(dray_count_true(&view, NULL, NULL, NULL));
	refuses(dray_mean(NULL, NULL, NULL, &out));
	refuses(dray_mean(&view, NULL, NULL, NULL));
	refuses(dray_var(NULL, NULL, 0, NULL, &out));
	refuses(dray_var(&view, NULL, 0, NULL, NULL));
	refuses(dray_std(NULL, NULL, 0, NULL, &out));
	refuses(dray_std(&view, NULL, 0, NULL, NULL));
	refuses(dray_cumsum(NULL, 0, 0, NULL, &out));
	refuses(dray_cumsum(&view, DRAY_FLAT, 0, NULL, NULL));
	refuses(dray_cumprod(NULL, 0, 0, NULL, &out));
	refuses(dray_cumprod(&view, DRAY_FLAT, 0, NULL, NULL));
	refuses(dray_clip(NULL, &view, &view, NULL, NULL, &out));
	refuses(dray_clip(&view, NULL, NULL, NULL, NULL, &out));
	refuses(dray_clip(&view, &view, &view, NULL, NULL, NULL));
	refuses(dray_round(NULL, 2, &out));
	refuses(dray_round(&view, 2, NULL));
}

FACTS_SHARE(set_up, tear_down)
