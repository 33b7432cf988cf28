// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times of loops on an executor.  A ufunc is known by its number, which no other one
 * ever has, so that times keep none of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "private.h"
#include "executor/executor.h"

/* Measured loops that are kept. */
#define MOST_TIMES 256

/* Of all executors. */
DEFINE_FORK_LOCK(DRAY_FORK_TIMES, times);

void dray_times_enlist(void)
{
	dray_fork_enlist(&locks);
}

/* With the lock. */
static struct dray_timed **times_find(struct dray_executor *executor,
				      const struct dray_ufunc *ufunc,
				      const dray_dtype *dtypes)
{
	struct dray_timed **link = &executor->timed;

	for (; *link; link = &(*link)->next)
		if ((*link)->ufunc == ufunc->number &&
		    dray_dtypes_equal((*link)->dtypes, dtypes,
				      dray_ufunc_operands(ufunc)))
			break;
	return link;
}

/*
 * Forgets the oldest measurements, so that programs that make ufuncs without end do
 * not fill the memory.  With the lock.
 */
static void forget_old(struct dray_executor *executor)
{
	struct dray_timed **link = &executor->timed, *timed;
	size_t measured = 0;

	while ((timed = *link)) {
		measured += !timed->set;
		if (timed->set || measured <= MOST_TIMES) {
			link = &timed->next;
			continue;
		}
		*link = timed->next;
		dray_timed_free(timed);
	}
}

/* With the lock; NULL without memory. */
static struct dray_timed *find_or_make(struct dray_executor *executor,
				       const struct dray_ufunc *ufunc,
				       const dray_dtype *dtypes)
{
	struct dray_timed *timed = *times_find(executor, ufunc, dtypes);
	int o;

	if (timed)
		return timed;
	timed = calloc(1, sizeof(*timed));
	if (!timed)
		return NULL;
	timed->ufunc = ufunc->number;
	timed->operands = dray_ufunc_operands(ufunc);
	for (o = 0; o < timed->operands; o++)
		timed->dtypes[o] = dray_dtype_ref(dtypes[o]);
	timed->next = executor->timed;
	executor->timed = timed;
	forget_old(executor);
	return timed;
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
	pthread_mutex_lock(&times);
	timed = *times_find(executor, ufunc, dtypes);
	if (timed)
		*out = timed->cost;
	else
		ret = dray_fail(
			-ENOENT,
			"%s has not been measured on %s with these types",
			ufunc->name, executor->name);
	pthread_mutex_unlock(&times);
	return ret;
}

int dray_executor_set_cost(struct dray_executor *executor,
			   struct dray_ufunc *ufunc, const dray_dtype *dtypes,
			   const struct dray_call_cost *cost)
{
	dray_dtype checked[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_timed *timed, **link;
	int o, ret = 0;

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
	for (o = 0; o < dray_ufunc_operands(ufunc); o++) {
		ret = dray_dtype_check(dtypes[o], &checked[o]);
		if (ret)
			return dray_fail_adding(ret, " (operand %d)", o);
	}
	dtypes = checked;
	dray_times_enlist();
	pthread_mutex_lock(&times);
	if (cost) {
		timed = find_or_make(executor, ufunc, dtypes);
		if (timed) {
			timed->cost = *cost;
			timed->set = true;
		} else {
			ret = dray_fail(-ENOMEM, "no memory for a time");
		}
	} else {
		link = times_find(executor, ufunc, dtypes);
		timed = *link;
		if (timed) {
			*link = timed->next;
			dray_timed_free(timed);
		}
	}
	pthread_mutex_unlock(&times);
	return ret;
}

void dray_executor_measured(struct dray_executor *executor,
			    const struct dray_call *call, uint64_t ns)
{
	struct dray_call_cost *cost;
	struct dray_timed *timed;
	int at;

	pthread_mutex_lock(&times);
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
	pthread_mutex_unlock(&times);
}
