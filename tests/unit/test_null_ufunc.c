// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL where a function needs something: universal functions. */
#include <dray/array/sequence.h>
#include <dray/array/ufunc.h>

#include <dray/array.h>

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
	refuses(dray_ufunc_resolve_types(NULL, found, NULL, found));
	refuses(dray_ufunc_resolve_types(add, NULL, NULL, found));
	refuses(dray_ufunc_resolve_types(add, found, NULL, NULL));
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
	refuses(dray_ufunc_call(NULL, inputs, NULL, NULL, &out));
	refuses(dray_ufunc_call(add, NULL, NULL, NULL, &out));
	refuses(dray_ufunc_call(add, lacks, NULL, NULL, &out));
	refuses(dray_ufunc_call(add, inputs, NULL, NULL, NULL));
	does_nothing(dray_get_fp_state(NULL));
	ignores(assert_int_equal(dray_set_fp_state(NULL), 0));
}

FACT(sequences)
{
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_sequence *sequence = NULL;
	struct dray_sequence_plan plan = { .size = sizeof(plan) };
	struct dray_queue *queue = NULL;
	dray_value values[2], out;
	dray_dtype dtype;
	int64_t shape[DRAY_MAX_NDIM];
	double one = 1;
	int ndim;

	refuses(dray_sequence_create(NULL));
	assert_works(dray_sequence_create(&sequence));
	refuses(dray_sequence_input(NULL, DRAY_FLOAT64, 0, NULL, &out));
	refuses(dray_sequence_input(sequence, DRAY_FLOAT64, 1, NULL, &out));
	refuses(dray_sequence_input(sequence, DRAY_FLOAT64, 0, NULL, NULL));
	assert_works(dray_sequence_input(sequence, DRAY_FLOAT64, 0, NULL,
					 &values[0]));
	values[1] = values[0];
	refuses(dray_sequence_constant(NULL, DRAY_FLOAT64, &one, &out));
	refuses(dray_sequence_constant(sequence, DRAY_FLOAT64, NULL, &out));
	refuses(dray_sequence_constant(sequence, DRAY_FLOAT64, &one, NULL));
	refuses(dray_sequence_call(NULL, add, values, NULL, &out));
	refuses(dray_sequence_call(sequence, NULL, values, NULL, &out));
	refuses(dray_sequence_call(sequence, add, NULL, NULL, &out));
	refuses(dray_sequence_call(sequence, add, values, NULL, NULL));
	refuses(dray_sequence_convert(NULL, values[0], DRAY_FLOAT32,
				      DRAY_CASTING_UNSAFE, &out));
	refuses(dray_sequence_convert(sequence, values[0], DRAY_FLOAT32,
				      DRAY_CASTING_UNSAFE, NULL));
	assert_works(dray_queue_create(node, NULL, &queue));
	refuses(dray_sequence_copy(NULL, values[0], queue, 0, &out));
	refuses(dray_sequence_copy(sequence, values[0], NULL, 0, &out));
	refuses(dray_sequence_copy(sequence, values[0], queue, 0, NULL));
	dray_queue_destroy(queue);
	refuses(dray_sequence_output(NULL, values[0]));
	refuses(dray_sequence_describe(NULL, values[0], &dtype, &ndim, shape));
	refuses(dray_sequence_describe(sequence, values[0], NULL, &ndim,
				       shape));
	refuses(dray_sequence_describe(sequence, values[0], &dtype, NULL,
				       shape));
	refuses(dray_sequence_describe(sequence, values[0], &dtype, &ndim,
				       NULL));
	refuses(dray_sequence_end(NULL));
	refuses(dray_sequence_without_chains(NULL));
	assert_works(dray_sequence_output(sequence, values[0]));
	assert_works(dray_sequence_end(sequence));
	refuses(dray_sequence_get_plan(NULL, &plan));
	refuses(dray_sequence_get_plan(sequence, NULL));
	ignores(dray_sequence_destroy(NULL));
	dray_sequence_destroy(sequence);
}

FACT(runs_of_sequences)
{
	struct dray_sequence *sequence = NULL;
	struct dray_view view;
	const struct dray_view *inputs[] = { &view }, *lacks[] = { NULL };
	struct dray_call_queue *queue = NULL;
	struct dray_array *out = NULL;
	double data = 1;
	dray_value value;

	assert_works(dray_view_init(&view, &data, DRAY_FLOAT64, 0, NULL, NULL));
	assert_works(dray_sequence_create(&sequence));
	assert_works(
		dray_sequence_input(sequence, DRAY_FLOAT64, 0, NULL, &value));
	assert_works(dray_sequence_output(sequence, value));
	assert_works(dray_sequence_end(sequence));
	refuses(dray_sequence_run(NULL, inputs, NULL, NULL, &out));
	refuses(dray_sequence_run(sequence, NULL, NULL, NULL, &out));
	refuses(dray_sequence_run(sequence, lacks, NULL, NULL, &out));
	refuses(dray_sequence_run(sequence, inputs, NULL, NULL, NULL));
	assert_works(dray_call_queue_create(NULL, 0, NULL, &queue));
	refuses(dray_sequence_submit(NULL, queue, inputs, NULL, NULL, &out,
				     NULL));
	refuses(dray_sequence_submit(sequence, NULL, inputs, NULL, NULL, &out,
				     NULL));
	refuses(dray_sequence_submit(sequence, queue, NULL, NULL, NULL, &out,
				     NULL));
	refuses(dray_sequence_submit(sequence, queue, lacks, NULL, NULL, &out,
				     NULL));
	refuses(dray_sequence_submit(sequence, queue, inputs, NULL, NULL, NULL,
				     NULL));
	dray_call_queue_destroy(queue);
	dray_sequence_destroy(sequence);
}

FACTS_SHARE(set_up, tear_down)
