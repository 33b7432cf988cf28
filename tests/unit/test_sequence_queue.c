// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sequence_queue: runs on queues of calls, and the executors that take part. */
#include <pthread.h>

#include <dray/array.h>

#include "sequences.h"

#define COUNT 64

/* An executor whose results are 7, and which may hold a call back. */
static struct {
	struct dray_executor *executor;
	pthread_mutex_t mutex;
	struct dray_call *held;
	bool holds;
	int calls;
	int status;
} seven = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static int seven_check(void *context, const struct dray_call *call)
{
	return 0;
}

static void finish(struct dray_call *call)
{
	const struct dray_view *out = call->views[call->inputs];
	const double value = 7;

	for (int i = 0; i < COUNT && !seven.status; i++)
		memcpy((char *)out->data + i * out->strides[0], &value,
		       sizeof(value));
	dray_call_end(call, seven.status);
}

static int seven_submit(void *context, struct dray_call *call)
{
	bool holds;

	pthread_mutex_lock(&seven.mutex);
	seven.calls++;
	holds = seven.holds;
	if (holds)
		seven.held = call;
	pthread_mutex_unlock(&seven.mutex);
	if (!holds)
		finish(call);
	return 0;
}

static void release(void)
{
	struct dray_call *call = NULL;

	while (!call) {
		pthread_mutex_lock(&seven.mutex);
		call = seven.held;
		seven.held = NULL;
		pthread_mutex_unlock(&seven.mutex);
	}
	finish(call);
}

static struct dray_call_queue *queue, *plain;
static double a[COUNT], b[COUNT], c[COUNT], d[COUNT];

static struct dray_view of(double *data)
{
	return view_of(data, DRAY_FLOAT64, 1, DIMS(COUNT), NULL);
}

/* A queue on which "negative" is cheaper by the executor. */
static int set_up(void **state)
{
	static const struct dray_executor_functions functions = {
		sizeof(functions), seven_check, seven_submit, NULL
	};
	static const struct dray_call_cost cheap = { { 1, 1000 }, { 1, 1 } },
					   dear = { { 1, 1000 },
						    { 900, 900000 } };
	dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT64 };
	struct dray_ufunc *negative = dray_ufunc_find("negative");

	seven.holds = false;
	seven.calls = 0;
	seven.status = 0;
	assert_works(dray_executor_create("seven", &functions, NULL,
					  &seven.executor));
	assert_works(dray_executor_set_cost(seven.executor, negative, types,
					    &cheap));
	assert_works(dray_executor_set_cost(dray_cpu_executor(), negative,
					    types, &dear));
	assert_works(dray_call_queue_create(&seven.executor, 1, NULL, &queue));
	assert_works(dray_call_queue_create(NULL, 0, NULL, &plain));
	for (int i = 0; i < COUNT; i++) {
		a[i] = i;
		b[i] = c[i] = d[i] = 0;
	}
	return 0;
}

static int tear_down(void **state)
{
	dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT64 };

	dray_call_queue_destroy(queue);
	dray_call_queue_destroy(plain);
	dray_executor_unref(seven.executor);
	return dray_executor_set_cost(dray_cpu_executor(),
				      dray_ufunc_find("negative"), types, NULL);
}

#define QUEUE_FACT(name) FACT_WITH(name, set_up, tear_down)

static dray_value numbers(struct dray_sequence *sequence)
{
	return input(sequence, DRAY_FLOAT64, 1, DIMS(COUNT));
}

static struct dray_sequence *ended(struct dray_sequence *sequence,
				   dray_value value)
{
	assert_works(dray_sequence_output(sequence, value));
	assert_works(dray_sequence_end(sequence));
	return sequence;
}

static struct dray_sequence *negation(void)
{
	struct dray_sequence *sequence = begin();

	return ended(sequence,
		     call(sequence, "negative", VALUES(numbers(sequence))));
}

static void wait_for(struct dray_event *event, int status)
{
	assert_int_equal(dray_event_wait(event, -1), status);
	dray_event_unref(event);
}

QUEUE_FACT(an_executor_gets_a_call_that_is_in_no_chain)
{
	struct dray_sequence *sequence = negation();
	struct dray_view in = of(a), out = of(b);

	assert_works(dray_sequence_submit(sequence, queue, INPUTS(&in),
					  INPUTS(&out), NULL, NULL, NULL));
	assert_int_equal(seven.calls, 1);
	assert_true(b[0] == 7 && b[COUNT - 1] == 7);
	assert_works(dray_sequence_submit(sequence, plain, INPUTS(&in),
					  INPUTS(&out), NULL, NULL, NULL));
	assert_works(dray_sequence_run(sequence, INPUTS(&in), INPUTS(&out),
				       NULL, NULL));
	assert_int_equal(seven.calls, 1);
	assert_true(b[3] == -3);
	seven.status = -EIO;
	assert_int_equal(dray_sequence_submit(sequence, queue, INPUTS(&in),
					      INPUTS(&out), NULL, NULL, NULL),
			 -EIO);
	dray_sequence_destroy(sequence);
}

QUEUE_FACT(a_chain_of_calls_is_the_cpus)
{
	struct dray_sequence *sequence = begin();
	const dray_value in = numbers(sequence);
	struct dray_view from = of(a), to = of(b);

	ended(sequence,
	      call(sequence, "add",
		   VALUES(call(sequence, "negative", VALUES(in)), in)));
	assert_works(dray_sequence_submit(sequence, queue, INPUTS(&from),
					  INPUTS(&to), NULL, NULL, NULL));
	assert_int_equal(seven.calls, 0);
	assert_true(b[3] == 0);
	dray_sequence_destroy(sequence);
}

QUEUE_FACT(calls_without_chains_go_to_executors)
{
	struct dray_sequence *sequence = begin();
	const dray_value in = numbers(sequence);
	struct dray_view from = of(a), to = of(b);
	struct dray_sequence_plan plan = { .size = sizeof(plan) };

	assert_works(dray_sequence_without_chains(sequence));
	ended(sequence,
	      call(sequence, "add",
		   VALUES(call(sequence, "negative", VALUES(in)), in)));
	assert_works(dray_sequence_get_plan(sequence, &plan));
	assert_int_equal(plan.chains, 0);
	assert_works(dray_sequence_submit(sequence, queue, INPUTS(&from),
					  INPUTS(&to), NULL, NULL, NULL));
	/* Both: the executor takes any call, and the times of "add" are not known. */
	assert_int_equal(seven.calls, 2);
	assert_true(b[3] == 7);
	assert_works(dray_sequence_run(sequence, INPUTS(&from), INPUTS(&to),
				       NULL, NULL));
	assert_true(b[3] == 0);
	assert_fails(dray_sequence_without_chains(sequence), -EBUSY, "ended");
	dray_sequence_destroy(sequence);
}

QUEUE_FACT(a_run_waits_for_calls_of_other_queues_that_write_its_inputs)
{
	struct dray_sequence *sequence = negation();
	struct dray_view from = of(a), between = of(b), to = of(c),
			 last = of(d);
	struct dray_event *first = NULL, *second = NULL, *third = NULL;

	seven.holds = true;
	assert_works(dray_call_queue_submit(queue, dray_ufunc_find("negative"),
					    INPUTS(&from), INPUTS(&between),
					    NULL, NULL, &first));
	assert_works(dray_sequence_submit(sequence, plain, INPUTS(&between),
					  INPUTS(&to), NULL, NULL, &second));
	/* And a call waits for the run. */
	assert_works(dray_call_queue_submit(plain, dray_ufunc_find("negative"),
					    INPUTS(&to), INPUTS(&last), NULL,
					    NULL, &third));
	dray_sequence_destroy(sequence);
	assert_int_equal(dray_event_status(second), 0);
	assert_int_equal(dray_view_wait(&to, DRAY_ACCESS_READ, 0), -ETIME);
	release();
	wait_for(first, 0);
	wait_for(second, 0);
	wait_for(third, 0);
	assert_true(c[5] == -7 && d[5] == 7);
}

QUEUE_FACT(an_input_is_read_when_the_run_has_its_turn)
{
	struct dray_sequence *sequence = begin();
	const dray_value first = numbers(sequence), second = numbers(sequence);
	struct dray_view from = of(a), in = of(b), to = of(c);
	struct dray_event *before = NULL, *event = NULL;

	/* The output is the first input, which the second call still needs. */
	assert_works(dray_sequence_output(sequence, call(sequence, "negative",
							 VALUES(second))));
	ended(sequence, call(sequence, "absolute", VALUES(first)));
	seven.holds = true;
	assert_works(dray_call_queue_submit(queue, dray_ufunc_find("negative"),
					    INPUTS(&from), INPUTS(&in), NULL,
					    NULL, &before));
	assert_works(dray_sequence_submit(sequence, plain, INPUTS(&in, &from),
					  INPUTS(&in, &to), NULL, NULL,
					  &event));
	release();
	wait_for(before, 0);
	wait_for(event, 0);
	assert_true(c[4] == 7 && b[4] == -4);
	dray_sequence_destroy(sequence);
}

QUEUE_FACT(a_run_that_waits_can_be_cancelled)
{
	struct dray_sequence *sequence = negation();
	struct dray_view from = of(a), between = of(b), to = of(c);
	struct dray_event *first = NULL, *second = NULL;

	seven.holds = true;
	assert_works(dray_call_queue_submit(queue, dray_ufunc_find("negative"),
					    INPUTS(&from), INPUTS(&between),
					    NULL, NULL, &first));
	assert_works(dray_sequence_submit(sequence, plain, INPUTS(&between),
					  INPUTS(&to), NULL, NULL, &second));
	assert_works(dray_event_cancel(second));
	release();
	wait_for(first, 0);
	wait_for(second, -ECANCELED);
	assert_true(c[5] == 0);
	dray_sequence_destroy(sequence);
}

QUEUE_FACT(arrays_are_made_when_the_run_is_submitted)
{
	struct dray_sequence *sequence = begin();
	const dray_value in = numbers(sequence);
	struct dray_array *made[2] = { NULL };
	struct dray_view from = of(a), one, two;
	struct dray_event *event = NULL;

	assert_works(dray_sequence_output(sequence, call(sequence, "square",
							 VALUES(in))));
	ended(sequence, in);
	assert_works(dray_sequence_submit(sequence, plain, INPUTS(&from), NULL,
					  NULL, made, &event));
	dray_sequence_destroy(sequence);
	wait_for(event, 0);
	dray_array_view(made[0], &one);
	dray_array_view(made[1], &two);
	assert_true(((double *)one.data)[9] == 81);
	assert_true(((double *)two.data)[9] == 9);
	dray_array_unref(made[0]);
	dray_array_unref(made[1]);
}

QUEUE_FACT(errors_of_numbers_are_those_of_the_thread_that_submits)
{
	struct dray_sequence *sequence;
	dray_value in;
	struct dray_fp_state errors = { .size = sizeof(errors) };
	struct dray_view from = of(a), to = of(b);
	struct dray_array *made = NULL;

	if (!flags_are_kept())
		skip();
	sequence = begin();
	in = numbers(sequence);
	ended(sequence, call(sequence, "reciprocal", VALUES(in)));
	dray_get_fp_state(&errors);
	errors.divide = DRAY_FP_RAISE;
	assert_works(dray_set_fp_state(&errors));
	assert_fails(dray_sequence_submit(sequence, plain, INPUTS(&from),
					  INPUTS(&to), NULL, NULL, NULL),
		     -EDOM, "divide by zero");
	assert_fails(dray_sequence_submit(sequence, plain, INPUTS(&from), NULL,
					  NULL, &made, NULL),
		     -EDOM, "divide by zero");
	assert_null(made);
	assert_works(dray_set_fp_state(NULL));
	dray_sequence_destroy(sequence);
}

QUEUE_FACT(mistakes_of_a_run_are_met_when_it_is_submitted)
{
	const struct dray_sequence_run_options bad = { .flags = 4 };
	struct dray_sequence *sequence = begin();
	const dray_value in = numbers(sequence);
	struct dray_view from = of(a), to = of(b), locked = to;
	struct dray_view other =
		view_of(a, DRAY_FLOAT64, 1, DIMS(COUNT - 1), NULL);
	struct dray_event *event = NULL;

#define REFUSES(code, part, in, out, options)                                  \
	assert_fails(dray_sequence_submit(sequence, plain, INPUTS(in),         \
					  INPUTS(out), options, NULL, &event), \
		     code, part)
	locked.flags &= ~(uint32_t)DRAY_WRITE;
	REFUSES(-EINVAL, "has not ended", &from, &to, NULL);
	ended(sequence, call(sequence, "negative", VALUES(in)));
	REFUSES(-EINVAL, "recorded with shape", &other, &to, NULL);
	REFUSES(-EINVAL, "recorded with shape", &from, &other, NULL);
	REFUSES(-EPERM, "", &from, &locked, NULL);
	REFUSES(-EINVAL, "unknown flags", &from, &to, &bad);
	assert_null(event);
	dray_sequence_destroy(sequence);
}

static void *submit_often(void *argument)
{
	struct dray_sequence *sequence = argument;
	struct dray_view in = of(a), view;
	bool *fine = calloc(1, sizeof(*fine));

	*fine = true;
	for (int i = 0; i < 200; i++) {
		struct dray_event *event = NULL;
		struct dray_array *made = NULL;
		int ret = i % 2 ? dray_sequence_submit(sequence, plain,
						       INPUTS(&in), NULL, NULL,
						       &made, &event)
				: dray_sequence_run(sequence, INPUTS(&in), NULL,
						    NULL, &made);

		if (!ret && event)
			ret = dray_event_wait(event, -1);
		dray_event_unref(event);
		*fine &=
			!ret &&
			((double *)dray_array_view(made, &view)->data)[8] == -8;
		dray_array_unref(made);
	}
	return fine;
}

QUEUE_FACT(threads_submit_one_sequence_at_once)
{
	struct dray_sequence *sequence = negation();
	pthread_t threads[3];
	void *fine;

	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit_often,
						sequence),
				 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &fine), 0);
		assert_true(*(bool *)fine);
		free(fine);
	}
	dray_sequence_destroy(sequence);
}
