// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Executors: their functions, names and references, and the CPU's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "executor/executor.h"

int dray_executor_create(const char *name,
			 const struct dray_executor_functions *functions,
			 void *context, struct dray_executor **out)
{
	struct dray_executor_functions copy;
	struct dray_executor *executor;
	int ret;

	if (!dray_given(name, __func__) || !dray_given(functions, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&copy, functions,
				DRAY_EXECUTOR_FUNCTIONS_SIZE_FIRST);
	if (ret)
		return ret;
	if (!*name || !copy.check || !copy.submit)
		return dray_fail(
			-EINVAL,
			"an executor has a name, and functions to check and to submit calls");
	executor = calloc(1, sizeof(*executor));
	if (!executor)
		return dray_fail(-ENOMEM, "no memory for an executor");
	executor->functions = copy;
	executor->context = context;
	atomic_init(&executor->references, 1);
	snprintf(executor->name, sizeof(executor->name), "%s", name);
	*out = executor;
	return 0;
}

static int cpu_check(void *context, const struct dray_call *call)
{
	(void)context;
	(void)call;
	return 0;
}

/* Without a function to submit: queues compute in their own threads. */
static struct dray_executor cpu = {
	.functions = { sizeof(cpu.functions), cpu_check, NULL, NULL },
	.name = "cpu",
};

struct dray_executor *dray_cpu_executor(void)
{
	return &cpu;
}

void dray_timed_free(struct dray_timed *timed)
{
	int o;

	for (o = 0; o < timed->operands; o++)
		dray_dtype_unref(timed->dtypes[o]);
	free(timed);
}

static void drop_times(struct dray_executor *executor)
{
	struct dray_timed *timed;

	while ((timed = executor->timed)) {
		executor->timed = timed->next;
		dray_timed_free(timed);
	}
}

struct dray_executor *dray_executor_ref(struct dray_executor *executor)
{
	if (executor && executor != &cpu)
		atomic_fetch_add(&executor->references, 1);
	return executor;
}

void dray_executor_unref(struct dray_executor *executor)
{
	DRAY_NO_CANCEL;

	if (!executor || executor == &cpu ||
	    atomic_fetch_sub(&executor->references, 1) != 1)
		return;
	if (executor->functions.release)
		executor->functions.release(executor->context);
	drop_times(executor);
	free(executor);
}

const char *dray_executor_name(const struct dray_executor *executor)
{
	return dray_given(executor, __func__) ? executor->name : NULL;
}

void *dray_executor_context(const struct dray_executor *executor,
			    const struct dray_executor_functions *functions)
{
	if (!dray_given(executor, __func__) || !dray_given(functions, __func__))
		return NULL;
	return executor->functions.check == functions->check &&
			       executor->functions.submit == functions->submit
		       ? executor->context
		       : NULL;
}
