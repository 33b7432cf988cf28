// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sequence_bad: mistakes of recordings and of runs. */
#include <dray/array.h>

#include "sequences.h"

FACT(mistakes_of_a_recording_are_met_where_they_are_made)
{
	struct dray_sequence *sequence = begin(), *other = begin();
	const dray_value a = input(sequence, DRAY_FLOAT64, 1, DIMS(3));
	const dray_value b = input(sequence, DRAY_FLOAT64, 1, DIMS(4));
	const dray_value foreign = input(other, DRAY_FLOAT64, 1, DIMS(3));
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_sequence_options options = { 0 };
	struct dray_sequence_plan plan = { .size = sizeof(plan) };
	struct dray_array *made = NULL;
	dray_value out = 0;

	assert_fails(dray_sequence_input(sequence, 0, 0, NULL, &out), -EINVAL,
		     "type");
	assert_fails(dray_sequence_input(sequence, DRAY_FLOAT64, 1, DIMS(-1),
					 &out),
		     -EINVAL, "-1");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, foreign), NULL,
					&out),
		     -EINVAL, "a value is not of this sequence");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, 0), NULL,
					&out),
		     -EINVAL, "a value is none");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a + 7), NULL,
					&out),
		     -EINVAL, "a value is not of this sequence");
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, b), NULL,
					&out),
		     -EINVAL, "broadcast");
	assert_fails(dray_sequence_call(sequence, dray_ufunc_find("invert"),
					VALUES(a), NULL, &out),
		     -EOPNOTSUPP, "no loop for the types");
	options.where = a;
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EOPNOTSUPP, "mask");
	options = (struct dray_sequence_options){ .otherwise = a };
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EINVAL, "need a mask");
	options = (struct dray_sequence_options){ .flags = 1u << 30 };
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EINVAL, "unknown flags");
	options = (struct dray_sequence_options){ .weak = 1 };
	assert_fails(dray_sequence_call(sequence, add, VALUES(a, a), &options,
					&out),
		     -EINVAL, "a number of the program");
	assert_fails(dray_sequence_convert(sequence, a, DRAY_INT32,
					   DRAY_CASTING_SAFE, &out),
		     -EINVAL, "Cannot cast");
	assert_fails(dray_sequence_convert(sequence, a, DRAY_INT32,
					   (enum dray_casting)9, &out),
		     -EINVAL, "casting rule 9");
	assert_fails(dray_sequence_output(sequence, foreign), -EINVAL,
		     "a value is not of this sequence");
	assert_fails(dray_sequence_run(sequence, NULL, NULL, NULL, &made),
		     -EINVAL, "");
	assert_fails(dray_sequence_get_plan(sequence, &plan), -EINVAL,
		     "before its end");
	assert_fails(dray_sequence_end(sequence), -EINVAL, "no output");
	assert_int_equal(out, 0);
	assert_works(dray_sequence_output(sequence, a));
	assert_works(dray_sequence_end(sequence));
	assert_fails(dray_sequence_end(sequence), -EBUSY, "has ended");
	assert_fails(dray_sequence_output(sequence, a), -EBUSY, "has ended");
	dray_sequence_destroy(other);
	dray_sequence_destroy(sequence);
}

static double numbers[8];

FACT(runs_take_the_layout_that_was_recorded)
{
	struct dray_sequence *sequence = begin();
	const dray_value in = input(sequence, DRAY_FLOAT64, 1, DIMS(3));
	struct dray_view right = view_of(numbers, DRAY_FLOAT64, 1, DIMS(3),
					 NULL),
			 longer = view_of(numbers, DRAY_FLOAT64, 1, DIMS(4),
					  NULL),
			 typed = view_of(numbers, DRAY_INT64, 1, DIMS(3), NULL),
			 locked = right, hidden = right,
			 near = view_of(numbers + 1, DRAY_FLOAT64, 1, DIMS(3),
					NULL),
			 once = view_of(numbers, DRAY_FLOAT64, 1, DIMS(3),
					DIMS(0));
	const struct dray_sequence_run_options bad = { .flags = 4 };
	struct dray_array *made[2] = { NULL };

	locked.flags &= ~(uint32_t)DRAY_WRITE;
	hidden.flags &= ~(uint32_t)DRAY_READ;
	assert_works(dray_sequence_output(sequence, call(sequence, "negative",
							 VALUES(in))));
	assert_works(dray_sequence_output(sequence, in));
	assert_fails(dray_sequence_run(sequence, INPUTS(&right), NULL, NULL,
				       made),
		     -EINVAL, "has not ended");
	assert_works(dray_sequence_end(sequence));

#define REFUSES(code, part, in, first, second)                             \
	assert_fails(dray_sequence_run(sequence, INPUTS(in),               \
				       INPUTS(first, second), NULL, made), \
		     code, part)
	REFUSES(-EINVAL, "input 0 of a sequence is recorded with shape (3,)",
		&longer, NULL, NULL);
	REFUSES(-EINVAL, "input 0 of a sequence is recorded with type", &typed,
		NULL, NULL);
	REFUSES(-EPERM, "may not be read", &hidden, NULL, NULL);
	REFUSES(-EPERM, "", &right, &locked, NULL);
	REFUSES(-EINVAL, "output 1 of a sequence is recorded with shape",
		&right, NULL, &longer);
	REFUSES(-EINVAL, "outputs 0 and 1 of a sequence share memory", &right,
		&right, &near);
	REFUSES(-EINVAL, "", &right, &once, NULL);
	assert_fails(dray_sequence_run(sequence, INPUTS(&right), NULL, &bad,
				       made),
		     -EINVAL, "unknown flags");
	assert_null(made[0]);
	assert_works(
		dray_sequence_run(sequence, INPUTS(&right), NULL, NULL, made));
	dray_array_unref(made[0]);
	dray_array_unref(made[1]);
	dray_sequence_destroy(sequence);
}
