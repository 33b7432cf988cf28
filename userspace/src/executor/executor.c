// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Executors: their functions and names, and the CPU's. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/reply.h"
#include "executor/executor.h"

int dray_executor_create(const char *name,
			 const struct dray_executor_functions *functions,
			 void *context, struct dray_executor **out)
{
	struct dray_executor_functions copy = { .size = sizeof(copy) };
	struct dray_executor *executor;

	if (!dray_given(name, __func__) || !dray_given(functions, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	memcpy(&copy, functions,
	       functions->size < sizeof(copy) ? functions->size : sizeof(copy));
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
	pthread_mutex_init(&executor->mutex, NULL);
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
	struct dray_fp_state state;
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
	.mutex = PTHREAD_MUTEX_INITIALIZER,
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

static void free_timed(struct dray_timed *timed)
{
	int o;

	for (o = 0; o < dray_ufunc_operands(timed->ufunc); o++)
		dray_dtype_unref(timed->dtypes[o]);
	dray_ufunc_unref((struct dray_ufunc *)(uintptr_t)timed->ufunc);
	free(timed);
}

void dray_executor_unref(struct dray_executor *executor)
{
	struct dray_timed *timed;

	if (!executor || executor == &cpu ||
	    atomic_fetch_sub(&executor->references, 1) != 1)
		return;
	if (executor->functions.release)
		executor->functions.release(executor->context);
	while ((timed = executor->timed)) {
		executor->timed = timed->next;
		free_timed(timed);
	}
	pthread_mutex_destroy(&executor->mutex);
	free(executor);
}

const char *dray_executor_name(const struct dray_executor *executor)
{
	return dray_given(executor, __func__) ? executor->name : NULL;
}

/* With the mutex. */
static struct dray_timed **find(struct dray_executor *executor,
				const struct dray_ufunc *ufunc,
				const dray_dtype *dtypes)
{
	struct dray_timed **link = &executor->timed;
	int o;

	for (; *link; link = &(*link)->next) {
		if ((*link)->ufunc != ufunc)
			continue;
		for (o = 0; o < dray_ufunc_operands(ufunc); o++)
			if (!dray_dtype_equal((*link)->dtypes[o], dtypes[o]))
				break;
		if (o == dray_ufunc_operands(ufunc))
			break;
	}
	return link;
}

/* With the mutex; NULL without memory. */
static struct dray_timed *find_or_make(struct dray_executor *executor,
				       struct dray_ufunc *ufunc,
				       const dray_dtype *dtypes)
{
	struct dray_timed **link = find(executor, ufunc, dtypes);
	int o;

	if (*link)
		return *link;
	*link = calloc(1, sizeof(**link));
	if (!*link)
		return NULL;
	(*link)->ufunc = dray_ufunc_ref(ufunc);
	for (o = 0; o < dray_ufunc_operands(ufunc); o++)
		(*link)->dtypes[o] = dray_dtype_ref(dtypes[o]);
	return *link;
}

int dray_executor_get_cost(struct dray_executor *executor,
			   const struct dray_ufunc *ufunc,
			   const dray_dtype *dtypes, struct dray_call_cost *out)
{
	const struct dray_timed *timed;
	int ret = 0;

	if (!dray_given(executor, __func__) || !dray_given(ufunc, __func__) ||
	    !dray_given(dtypes, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	pthread_mutex_lock(&executor->mutex);
	timed = *find(executor, ufunc, dtypes);
	if (timed)
		*out = timed->cost;
	else
		ret = dray_fail(
			-ENOENT,
			"%s has not been measured on %s with these types",
			ufunc->name, executor->name);
	pthread_mutex_unlock(&executor->mutex);
	return ret;
}

int dray_executor_set_cost(struct dray_executor *executor,
			   struct dray_ufunc *ufunc, const dray_dtype *dtypes,
			   const struct dray_call_cost *cost)
{
	struct dray_timed *timed, **link;
	int ret = 0;

	if (!dray_given(executor, __func__) || !dray_given(ufunc, __func__) ||
	    !dray_given(dtypes, __func__))
		return -EINVAL;
	if (cost &&
	    (cost->elements[0] < 1 || cost->elements[1] < cost->elements[0]))
		return dray_fail(
			-EINVAL,
			"the times of a loop are of 1 element or more, and in order, not of %lld and %lld",
			(long long)cost->elements[0],
			(long long)cost->elements[1]);
	pthread_mutex_lock(&executor->mutex);
	if (cost) {
		timed = find_or_make(executor, ufunc, dtypes);
		if (timed) {
			timed->cost = *cost;
			timed->set = true;
		} else {
			ret = dray_fail(-ENOMEM, "no memory for a time");
		}
	} else {
		link = find(executor, ufunc, dtypes);
		timed = *link;
		if (timed) {
			*link = timed->next;
			free_timed(timed);
		}
	}
	pthread_mutex_unlock(&executor->mutex);
	return ret;
}

void dray_executor_measured(struct dray_executor *executor,
			    const struct dray_call *call, uint64_t ns)
{
	struct dray_call_cost *cost;
	struct dray_timed *timed;
	int at;

	pthread_mutex_lock(&executor->mutex);
	timed = find_or_make(executor, call->ufunc, call->dtypes);
	if (timed && !timed->set) {
		cost = &timed->cost;
		if (!cost->elements[0])
			*cost = (struct dray_call_cost){
				{ call->elements, call->elements },
				{ ns, ns },
			};
		/* The latest of the fewest and of the most elements count. */
		for (at = 0; at < 2; at++) {
			if (at ? call->elements < cost->elements[1]
			       : call->elements > cost->elements[0])
				continue;
			cost->elements[at] = call->elements;
			cost->ns[at] = ns;
		}
	}
	pthread_mutex_unlock(&executor->mutex);
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
	return ns > 0 ? (uint64_t)ns : 0;
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
		add(why, "%s", dray_last_error());
	else if (!candidate.known)
		add(why, "not measured yet");
	else
		add(why, "%llu ns", (unsigned long long)candidate.ns);
}

int dray_choose_executor(struct dray_executor *const *executors, size_t count,
			 const struct dray_call *call,
			 struct dray_executor **out, uint64_t *ns,
			 char why[256])
{
	struct candidate best = { .able = false }, candidate;
	size_t i;

	*out = NULL;
	if (why)
		*why = '\0';
	for (i = 0; i <= count; i++) {
		struct dray_executor *executor =
			i < count ? executors[i] : &cpu;

		candidate = ask(executor, call);
		if (why)
			tell(why, executor, candidate);
		if (!candidate.able ||
		    (*out && (!best.known ||
			      (candidate.known && candidate.ns >= best.ns))))
			continue;
		*out = executor;
		best = candidate;
	}
	*ns = best.ns;
	return 0;
}
