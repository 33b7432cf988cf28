// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL where a function needs something: products, executors and queues of calls. */
#include <dray/array/executor.h>
#include <dray/array/linear.h>

#include <dray/array.h>

#include "null.h"

typedef int product(const struct dray_view *a, const struct dray_view *b,
		    const struct dray_view *to, struct dray_array **out);

static double number = 1;
static struct dray_view view;

static void make_view(void)
{
	assert_works(
		dray_view_init(&view, &number, DRAY_FLOAT64, 1, DIMS(1), NULL));
}

FACT(products)
{
	product *const products[] = { dray_matmul, dray_matvec, dray_vecmat,
				      dray_dot, dray_vecdot };
	struct dray_array *out = NULL;

	make_view();
	for (size_t i = 0; i < 3; i++) {
		refuses(products[i](NULL, &view, NULL, &out));
		refuses(products[i](&view, NULL, NULL, &out));
		refuses(products[i](&view, &view, NULL, NULL));
	}
	dray_blas_name();
	dray_set_multiplier(NULL, NULL);
}

static int check(void *context, const struct dray_call *call)
{
	return 0;
}

static int submit(void *context, struct dray_call *call)
{
	dray_call_end(call, 0);
	return 0;
}

FACT(executors)
{
	const struct dray_executor_functions functions = { sizeof(functions),
							   check, submit,
							   NULL };
	const dray_dtype dtypes[] = { DRAY_FLOAT64, DRAY_FLOAT64,
				      DRAY_FLOAT64 };
	struct dray_stream_executor_options options = { .dtypes = dtypes };
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_executor *executor = NULL;
	struct dray_call_cost cost;

	refuses(dray_executor_create(NULL, &functions, NULL, &executor));
	refuses(dray_executor_create("x", NULL, NULL, &executor));
	refuses(dray_executor_create("x", &functions, NULL, NULL));
	assert_works(dray_executor_create("x", &functions, NULL, &executor));
	gives_nothing(dray_executor_name(NULL));
	gives_nothing(dray_executor_context(NULL, &functions));
	gives_nothing(dray_executor_context(executor, NULL));
	assert_null(dray_executor_ref(NULL));
	ignores(dray_executor_unref(NULL));
	refuses(dray_executor_get_cost(NULL, add, dtypes, &cost));
	refuses(dray_executor_get_cost(executor, NULL, dtypes, &cost));
	refuses(dray_executor_get_cost(executor, add, NULL, &cost));
	refuses(dray_executor_get_cost(executor, add, dtypes, NULL));
	refuses(dray_executor_set_cost(NULL, add, dtypes, NULL));
	refuses(dray_executor_set_cost(executor, NULL, dtypes, NULL));
	refuses(dray_executor_set_cost(executor, add, NULL, NULL));
	refuses(dray_stream_executor_create(NULL, &executor));
	refuses(dray_stream_executor_create(&options, &executor));
	options.ufunc = add;
	refuses(dray_stream_executor_create(&options, &executor));
	refuses(dray_stream_executor_create(&options, NULL));
	refuses(dray_stream_executor_reset(NULL));
	dray_executor_unref(dray_executor_ref(dray_cpu_executor()));
	dray_executor_unref(executor);
}

FACT(queues_of_calls)
{
	const struct dray_view *inputs[] = { &view, &view };
	const struct dray_view *missing[] = { &view, NULL };
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_executor *none = NULL;
	struct dray_call_explanation plan = { .size = sizeof(plan) };
	struct dray_call_queue *queue;
	struct dray_array *out = NULL;

	make_view();
	refuses(dray_call_queue_create(NULL, 1, NULL, &queue));
	refuses(dray_call_queue_create(&none, 1, NULL, &queue));
	refuses(dray_call_queue_create(NULL, 0, NULL, NULL));
	assert_works(dray_call_queue_create(NULL, 0, NULL, &queue));
	refuses(dray_call_queue_submit(NULL, add, inputs, NULL, NULL, &out,
				       NULL));
	refuses(dray_call_queue_submit(queue, NULL, inputs, NULL, NULL, &out,
				       NULL));
	refuses(dray_call_queue_submit(queue, add, NULL, NULL, NULL, &out,
				       NULL));
	refuses(dray_call_queue_submit(queue, add, missing, NULL, NULL, &out,
				       NULL));
	refuses(dray_call_queue_submit(queue, add, inputs, NULL, NULL, NULL,
				       NULL));
	refuses(dray_explain_call(NULL, add, inputs, NULL, NULL, &plan));
	refuses(dray_explain_call(queue, NULL, inputs, NULL, NULL, &plan));
	refuses(dray_explain_call(queue, add, NULL, NULL, NULL, &plan));
	refuses(dray_explain_call(queue, add, inputs, NULL, NULL, NULL));
	dray_call_end(NULL, 0);
	gives(false, dray_call_is_cancelled(NULL));
	dray_call_queue_destroy(queue);
	ignores(dray_call_queue_destroy(NULL));
	refuses(dray_call_queue_cancel(NULL));
	gives_nothing(dray_call_queue_full(NULL));
}

FACTS_SHARE(set_up, tear_down)
