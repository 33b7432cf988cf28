// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Executors: their functions and names, the CPU's, and the choice of one. */
#include <errno.h>
#include <stdarg.h>
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

/* Computes in this thread, with the state of the one that submitted the call. */
static int cpu_submit(void *context, struct dray_call *call)
{
	struct dray_queued *queued = dray_queued(call);
	struct dray_fp_state state = { .size = sizeof(state) };
	int ret;

	(void)context;
	dray_get_fp_state(&state);
	dray_set_fp_state(&queued->state);
	ret = dray_ufunc_call(call->ufunc, call->views,
			      call->views + call->inputs, &queued->options,
			      NULL);
	dray_set_fp_state(&state);
	dray_call_end(call, ret);
	return 0;
}

static struct dray_executor cpu = {
	.functions = { sizeof(cpu.functions), cpu_check, cpu_submit, NULL },
	.name = "cpu",
};

struct dray_executor *dray_cpu_executor(void)
{
	return &cpu;
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
	dray_times_drop(executor);
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

/* The time on the line through both measurements, or in proportion to one. */
static uint64_t estimate(const struct dray_call_cost *cost, int64_t elements)
{
	double few = (double)cost->elements[0],
	       many = (double)cost->elements[1];
	double ns;

	if (many > few)
		ns = (double)cost->ns[0] +
		     ((double)elements - few) *
			     ((double)cost->ns[1] - (double)cost->ns[0]) /
			     (many - few);
	else
		ns = (double)cost->ns[0] * (double)elements / few;
	return ns <= 0 ? 0 : ns < 0x1p63 ? (uint64_t)ns : INT64_MAX;
}

/* The knowledge about one executor and one call. */
struct candidate {
	bool able;
	bool known;
	uint64_t ns;
};

static struct candidate ask(struct dray_executor *executor,
			    const struct dray_call *call)
{
	struct candidate candidate = { .ns = UINT64_MAX };
	struct dray_call_cost cost;

	dray_forget_failure();
	if (executor->functions.check(executor->context, call))
		return candidate;
	candidate.able = true;
	if (!dray_executor_get_cost(executor, call->ufunc, call->dtypes,
				    &cost)) {
		candidate.known = true;
		candidate.ns = estimate(&cost, call->elements);
	}
	return candidate;
}

/* Adds to a sentence, as far as there is room. */
static void add(char why[256], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add(char why[256], const char *format, ...)
{
	size_t length = strlen(why);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why + length, 256 - length, format, arguments);
	va_end(arguments);
}

static void tell(char why[256], const struct dray_executor *executor,
		 struct candidate candidate)
{
	add(why, "%s%s: ", *why ? "; " : "", executor->name);
	if (!candidate.able)
		add(why, "%s",
		    *dray_last_error() ? dray_last_error()
				       : "it cannot run the call");
	else if (!candidate.known)
		add(why, "not measured yet");
	else
		add(why, "%llu ns", (unsigned long long)candidate.ns);
}

struct dray_executor *
dray_choose_executor(struct dray_executor *const *executors, size_t count,
		     const struct dray_call *call, uint64_t *ns, char why[256])
{
	struct candidate best = { .able = false }, candidate;
	struct dray_executor *chosen = NULL;
	size_t i;

	if (why)
		*why = '\0';
	for (i = 0; i <= count; i++) {
		struct dray_executor *executor =
			i < count ? executors[i] : &cpu;

		candidate = ask(executor, call);
		if (why)
			tell(why, executor, candidate);
		if (!candidate.able ||
		    (chosen && (!best.known ||
				(candidate.known && candidate.ns >= best.ns))))
			continue;
		chosen = executor;
		best = candidate;
	}
	*ns = best.ns;
	return chosen;
}
