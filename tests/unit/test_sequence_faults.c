// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sequence_faults: recordings and runs without the memory that they need. */
#include <dray/array.h>

#include "failing_memory.h"
#include "ufunc.h"

WRAPPED(void *, realloc, (void *memory, size_t size))
{
	return fails_now() ? NULL : __real_realloc(memory, size);
}

static double numbers[101];

/* A chain, a masked call between, a constant, and an input to put aside. */
static int record(struct dray_sequence *sequence)
{
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_sequence_options options = { 0 };
	const double two = 2;
	dray_value a, b, sum, less, all, wide;
	int ret;

	ret = dray_sequence_input(sequence, DRAY_FLOAT64, 1, DIMS(100), &a);
	if (!ret)
		ret = dray_sequence_constant(sequence, DRAY_FLOAT64, &two, &b);
	if (!ret)
		ret = dray_sequence_call(sequence, add, (dray_value[]){ a, b },
					 NULL, &sum);
	if (!ret)
		ret = dray_sequence_call(sequence, dray_ufunc_find("less"),
					 (dray_value[]){ sum, a }, NULL, &less);
	options.where = less;
	options.otherwise = a;
	if (!ret)
		ret = dray_sequence_call(sequence, add,
					 (dray_value[]){ sum, sum }, &options,
					 &all);
	if (!ret)
		ret = dray_sequence_call(sequence, add,
					 (dray_value[]){ all, less }, NULL,
					 &wide);
	if (!ret)
		ret = dray_sequence_output(sequence, wide);
	if (!ret)
		ret = dray_sequence_output(sequence, a);
	return ret;
}

static int work(void)
{
	struct dray_view in = view_of(numbers, DRAY_FLOAT64, 1, DIMS(100),
				      NULL),
			 out = view_of(numbers + 1, DRAY_FLOAT64, 1, DIMS(100),
				       NULL);
	struct dray_sequence *sequence = NULL;
	struct dray_array *made[2] = { NULL };
	int ret = dray_sequence_create(&sequence);

	if (!ret)
		ret = record(sequence);
	if (!ret)
		ret = dray_sequence_end(sequence);
	if (!ret)
		ret = dray_sequence_run(sequence, INPUTS(&in),
					INPUTS(NULL, &out), NULL, made);
	assert_true(ret ? !made[0] : !!made[0]);
	dray_array_unref(made[0]);
	dray_sequence_destroy(sequence);
	return ret;
}

FACT(sequences_fail_cleanly_without_memory)
{
	assert_works(work());
	assert_true(fails_cleanly(work) > 15);
}

FACT(an_end_that_failed_may_be_tried_again)
{
	struct dray_sequence *sequence = NULL;
	int failures, ret = -ENOMEM;

	assert_works(dray_sequence_create(&sequence));
	assert_works(record(sequence));
	for (failures = 0; ret; failures++) {
		to_go = failures;
		ret = dray_sequence_end(sequence);
		to_go = -1;
		assert_true(!ret || ret == -ENOMEM);
	}
	assert_true(failures > 3);
	dray_sequence_destroy(sequence);
}
