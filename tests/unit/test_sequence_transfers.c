// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sequence_transfers: recorded copies on an engine that is simulated.  A transfer is
 * in flight until somebody waits for it, so steps that do not wait are found out.
 */
#include <dray/array.h>

#include "simulated_queue.h"
#include "sequences.h"

#define COUNT (64 * 64)

/* A ufunc with a loop that notes the transfers in flight, and copies. */
static struct dray_ufunc *look;
static int seen[4], looks;

static int transfers_in_flight(void)
{
	int count = 0;

	for (int i = 0; i < ENGINE_JOBS; i++)
		count += engine.jobs[i].fd && !engine.jobs[i].status;
	return count;
}

static int look_loop(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	seen[looks++] = transfers_in_flight();
	for (int64_t i = 0; i < count; i++)
		data[1][i * strides[1]] = data[0][i * strides[0]];
	return 0;
}

static int look_set_up(void **state)
{
	const struct dray_ufunc_loop loop = { .loop = look_loop };

	looks = 0;
	assert_works(
		dray_ufunc_create("look", 1, 1, DRAY_IDENTITY_NONE, &look));
	assert_works(dray_ufunc_set_loop(
		look, (dray_dtype[]){ DRAY_UINT8, DRAY_UINT8 }, &loop));
	return set_up(state);
}

static int look_tear_down(void **state)
{
	dray_ufunc_unref(look);
	return tear_down(state);
}

#define LOOK_FACT(name) FACT_WITH(name, look_set_up, look_tear_down)

static dray_value bytes(struct dray_sequence *sequence)
{
	return input(sequence, DRAY_UINT8, 2, DIMS(64, 64));
}

static dray_value looked(struct dray_sequence *sequence, dray_value value)
{
	dray_value out = 0;

	assert_works(dray_sequence_call(sequence, look, &value, NULL, &out));
	return out;
}

static dray_value sent(struct dray_sequence *sequence, dray_value value,
		       unsigned int flags)
{
	dray_value out = 0;

	assert_works(dray_sequence_copy(sequence, value, queue, flags, &out));
	return out;
}

static void end(struct dray_sequence *sequence, int count,
		const dray_value *outputs)
{
	for (int i = 0; i < count; i++)
		assert_works(dray_sequence_output(sequence, outputs[i]));
	assert_works(dray_sequence_end(sequence));
}

static void assert_all(const struct dray_view *view, int value)
{
	for (int i = 0; i < COUNT; i++)
		if (((unsigned char *)view->data)[i] != value)
			fail_msg("byte %d is %d, not %d", i,
				 ((unsigned char *)view->data)[i], value);
}

LOOK_FACT(a_transfer_goes_on_until_a_step_needs_it)
{
	struct dray_view a = square(5), copy = square(0), p = square(0),
			 r = square(0);
	struct dray_sequence *sequence = begin();
	const dray_value in = bytes(sequence);
	const dray_value other = input(sequence, DRAY_UINT8, 1, DIMS(COUNT));
	const dray_value x = sent(sequence, in, DRAY_COPY_ENGINE);
	struct dray_view flat, flat_out;
	struct dray_sequence_plan plan = { .size = sizeof(plan) };

	assert_works(dray_view_init(&flat, p.data, u1, 1, DIMS(COUNT), NULL));
	assert_works(
		dray_view_init(&flat_out, p.data, u1, 1, DIMS(COUNT), NULL));
	end(sequence, 3,
	    VALUES(x, looked(sequence, other), looked(sequence, x)));
	assert_works(dray_sequence_get_plan(sequence, &plan));
	assert_int_equal(plan.transfers, 1);
	for (int run = 0; run < 3; run++) {
		memset(a.data, run + 5, COUNT);
		looks = 0;
		assert_works(dray_sequence_run(sequence, INPUTS(&a, &flat),
					       INPUTS(&copy, &flat_out, &r),
					       NULL, NULL));
		assert_int_equal(looks, 2);
		assert_int_equal(seen[0], 1);
		assert_int_equal(seen[1], 0);
		assert_all(&copy, run + 5);
		assert_all(&r, run + 5);
	}
	assert_int_equal(engine.calls, 3);
	dray_sequence_destroy(sequence);
	discard(&a);
	discard(&copy);
	discard(&p);
	discard(&r);
}

LOOK_FACT(a_step_that_writes_the_source_waits)
{
	struct dray_view a = square(5), copy = square(0), other = square(9);
	struct dray_sequence *sequence = begin();
	const dray_value in = bytes(sequence), with = bytes(sequence);
	const dray_value x = sent(sequence, in, DRAY_COPY_ENGINE);

	end(sequence, 2, VALUES(x, looked(sequence, with)));
	assert_works(dray_sequence_run(sequence, INPUTS(&a, &other),
				       INPUTS(&copy, &a), NULL, NULL));
	assert_int_equal(seen[0], 0);
	assert_all(&copy, 5);
	assert_all(&a, 9);
	dray_sequence_destroy(sequence);
	discard(&a);
	discard(&copy);
	discard(&other);
}

/* The input is copied aside then, out of the engine's reach. */
LOOK_FACT(a_source_that_is_written_earlier_keeps_its_elements)
{
	struct dray_view a = square(5), copy = square(0), other = square(9);
	struct dray_sequence *sequence = begin();
	const dray_value in = bytes(sequence), with = bytes(sequence);
	const dray_value y = looked(sequence, with);

	end(sequence, 2, VALUES(sent(sequence, in, 0), y));
	assert_works(dray_sequence_run(sequence, INPUTS(&a, &other),
				       INPUTS(&copy, &a), NULL, NULL));
	assert_all(&copy, 5);
	assert_all(&a, 9);
	assert_int_equal(engine.calls, 0);
	dray_sequence_destroy(sequence);
	discard(&a);
	discard(&copy);
	discard(&other);
}

LOOK_FACT(a_run_ends_after_its_transfers_on_a_queue_of_calls_too)
{
	struct dray_view a = square(5), copy = square(0);
	struct dray_sequence *sequence = begin();
	struct dray_call_queue *calls = NULL;
	struct dray_event *event = NULL;

	end(sequence, 1, VALUES(sent(sequence, bytes(sequence), 0)));
	assert_works(dray_call_queue_create(NULL, 0, NULL, &calls));
	assert_works(dray_sequence_submit(sequence, calls, INPUTS(&a),
					  INPUTS(&copy), NULL, NULL, &event));
	dray_sequence_destroy(sequence);
	assert_works(dray_event_wait(event, -1));
	assert_int_equal(transfers_in_flight(), 0);
	assert_int_equal(engine.calls, 1);
	assert_all(&copy, 5);
	dray_event_unref(event);
	dray_call_queue_destroy(calls);
	discard(&a);
	discard(&copy);
}

LOOK_FACT(a_transfer_that_fails_ends_the_run)
{
	struct dray_view a = square(5), copy = square(0);
	struct dray_sequence *sequence = begin();
	const dray_value x = sent(sequence, bytes(sequence), DRAY_COPY_ENGINE);
	struct dray_array *made[2] = { NULL };

	end(sequence, 2, VALUES(x, looked(sequence, x)));
	engine.outcome = -EIO;
	assert_fails(dray_sequence_run(sequence, INPUTS(&a),
				       INPUTS(&copy, NULL), NULL, made),
		     -EIO, "");
	assert_null(made[1]);
	assert_int_equal(looks, 0);
	engine.outcome = 1;
	engine.errors[0] = -ENODEV;
	assert_fails(dray_sequence_run(sequence, INPUTS(&a),
				       INPUTS(&copy, NULL), NULL, made),
		     -ENODEV, "");
	/* A signal does not end it. */
	engine.errors[0] = -EINTR;
	engine.interrupt_poll = true;
	assert_works(dray_sequence_run(sequence, INPUTS(&a),
				       INPUTS(&copy, NULL), NULL, made));
	assert_all(&copy, 5);
	dray_array_unref(made[1]);
	/* Out of the engine's reach. */
	assert_fails(dray_sequence_run(sequence, INPUTS(&a), NULL, NULL, made),
		     -EOPNOTSUPP, "");
	assert_int_equal(transfers_in_flight(), 0);
	dray_sequence_destroy(sequence);
	discard(&a);
	discard(&copy);
}

LOOK_FACT(mistakes_with_transfers_are_refused)
{
	struct dray_view a = square(5), copy = square(0);
	struct dray_sequence *sequence = begin(), *other = begin();
	const dray_value in = bytes(sequence), foreign = bytes(other);
	struct dray_queue *gone = NULL;
	dray_value out = 0;

	assert_works(dray_queue_create(node, NULL, &gone));
	assert_fails(dray_sequence_copy(NULL, in, gone, 0, &out), -EINVAL, "");
	assert_fails(dray_sequence_copy(sequence, in, NULL, 0, &out), -EINVAL,
		     "");
	assert_fails(dray_sequence_copy(sequence, in, gone, 0, NULL), -EINVAL,
		     "");
	assert_fails(dray_sequence_copy(sequence, foreign, gone, 0, &out),
		     -EINVAL, "not of this sequence");
	for (int i = 0; i < 3; i++)
		assert_fails(dray_sequence_copy(
				     sequence, in, gone,
				     (unsigned int[]){ DRAY_COPY_NONBLOCK,
						       DRAY_COPY_ENGINE |
							       DRAY_COPY_CPU,
						       1u << 9 }[i],
				     &out),
			     -EINVAL, "flags");
	assert_int_equal(out, 0);
	assert_works(dray_sequence_copy(sequence, in, gone, 0, &out));
	end(sequence, 1, VALUES(out));
	assert_fails(dray_sequence_copy(sequence, in, gone, 0, &out), -EBUSY,
		     "has ended");
	assert_works(dray_sequence_run(sequence, INPUTS(&a), INPUTS(&copy),
				       NULL, NULL));
	assert_all(&copy, 5);
	dray_queue_destroy(gone);
	assert_fails(dray_sequence_run(sequence, INPUTS(&a), INPUTS(&copy),
				       NULL, NULL),
		     -EINVAL, "has been destroyed");
	dray_sequence_destroy(sequence);
	dray_sequence_destroy(other);
	discard(&a);
	discard(&copy);
}
