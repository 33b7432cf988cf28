// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL where a function needs something: universal functions. */
#include <dray/ufunc.h>

#include "null.h"

FACT(functions)
{
	const dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 };
	dray_dtype found[3];
	struct dray_ufunc_loop loop;
	struct dray_ufunc *add = dray_ufunc_find("add"), *made = NULL;

	gives(NULL, dray_ufunc_find(NULL));
	allows(dray_ufunc_number);
	refuses(dray_ufunc_create(NULL, 1, 1, DRAY_IDENTITY_NONE, &made));
	refuses(dray_ufunc_create("f", 1, 1, DRAY_IDENTITY_NONE, NULL));
	ignores(assert_null(dray_ufunc_ref(NULL)));
	ignores(dray_ufunc_unref(NULL));
	gives(NULL, dray_ufunc_name(NULL));
	gives(0, dray_ufunc_inputs(NULL));
	gives(0, dray_ufunc_outputs(NULL));
	gives(DRAY_IDENTITY_NONE, dray_ufunc_identity(NULL));
	refuses(dray_ufunc_get_loop(NULL, 0, found, &loop));
	refuses(dray_ufunc_get_loop(add, 0, NULL, &loop));
	refuses(dray_ufunc_get_loop(add, 0, found, NULL));
	assert_works(dray_ufunc_get_loop(add, 0, found, &loop));
	refuses(dray_ufunc_set_loop(NULL, types, &loop));
	refuses(dray_ufunc_set_loop(add, NULL, &loop));
	refuses(dray_ufunc_set_loop(add, types, NULL));
}

FACT(calls)
{
	struct dray_ufunc *add = dray_ufunc_find("add");
	double data = 1;
	struct dray_view view;
	const struct dray_view *inputs[] = { &view, &view };
	const struct dray_view *lacks[] = { &view, NULL };
	struct dray_array *out = NULL;

	assert_works(dray_view_init(&view, &data, DRAY_FLOAT64, 0, NULL, NULL));
	view.flags |= DRAY_READ;
	refuses(dray_ufunc_call(NULL, inputs, NULL, NULL, &out));
	refuses(dray_ufunc_call(add, NULL, NULL, NULL, &out));
	refuses(dray_ufunc_call(add, lacks, NULL, NULL, &out));
	refuses(dray_ufunc_call(add, inputs, NULL, NULL, NULL));
	does_nothing(dray_get_fp_state(NULL));
	ignores(assert_int_equal(dray_set_fp_state(NULL), 0));
}

FACTS_SHARE(set_up, tear_down)
