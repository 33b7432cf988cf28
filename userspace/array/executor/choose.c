// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The choice of an executor for a call, by its times. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "private.h"
#include "executor/executor.h"

/* The time on the line through both measurements, or in proportion to one. */
static uint64_t choose_estimate(const struct dray_call_cost *cost,
				int64_t elements)
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

static struct candidate choose_ask(struct dray_executor *executor,
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
		candidate.ns = choose_estimate(&cost, call->elements);
	}
	return candidate;
}

/* Adds to a sentence, as far as there is room. */
static void choose_add(char why[256], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void choose_add(char why[256], const char *format, ...)
{
	size_t length = strlen(why);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why + length, 256 - length, format, arguments);
	va_end(arguments);
}

static void choose_tell(char why[256], const struct dray_executor *executor,
			struct candidate candidate)
{
	choose_add(why, "%s%s: ", *why ? "; " : "", executor->name);
	if (!candidate.able)
		choose_add(why, "%s",
			   *dray_last_error() ? dray_last_error()
					      : "it cannot run the call");
	else if (!candidate.known)
		choose_add(why, "not measured yet");
	else
		choose_add(why, "%llu ns", (unsigned long long)candidate.ns);
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
			i < count ? executors[i] : dray_cpu_executor();

		candidate = choose_ask(executor, call);
		if (why)
			choose_tell(why, executor, candidate);
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
