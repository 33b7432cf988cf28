// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The checking handlers that DRAY_HANDLER=check puts over those of pools, so
 * that a program is checked as it is.  They write to standard error: each thing
 * that is wrong when it is found, and what was never freed at the end of the
 * process.  Where all is well they say nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "pool/check.h"

/* Those that were given to somebody, the latest first; they stay for good. */
static _Atomic(struct dray_checker *) checkers;

int dray_check_asked(const struct dray_handler *under,
		     const struct dray_handler **out)
{
	const char *asked = secure_getenv("DRAY_HANDLER");

	if (!asked || !*asked) {
		*out = NULL;
		return 0;
	}
	if (strcmp(asked, "check"))
		return dray_fail(-EINVAL,
				 "\"%.60s\" in DRAY_HANDLER names no handler: "
				 "check",
				 asked);
	if (!*out)
		return dray_handler_check(under, stderr, out);
	/* Nobody has had it: its pool is used again, on another node maybe. */
	snprintf(dray_checker_of(*out)->handler.name, sizeof(under->name),
		 "checked %.100s", under->name);
	dray_check_keep(dray_checker_of(*out), true);
	return 0;
}

void dray_check_at_exit(const struct dray_handler *handler)
{
	struct dray_checker *checker = dray_checker_of(handler);

	if (atomic_exchange(&checker->listed, true))
		return;
	checker->next = atomic_load(&checkers);
	while (!atomic_compare_exchange_weak(&checkers, &checker->next,
					     checker))
		;
}

static bool found_something(const struct dray_handler *handler)
{
	struct dray_check numbers;

	return !dray_check_get(handler, &numbers, sizeof(numbers)) &&
	       (numbers.blocks || numbers.bad_frees || numbers.double_frees ||
		numbers.broken_guards || numbers.late_writes);
}

/*
 * A destructor of the library runs after what the program registered for its
 * exit, and after the destructors of what is linked with the library: what they
 * free is no leak.  What a child inherited is its parent's to report.
 */
static __attribute__((destructor)) void report_at_exit(void)
{
	DRAY_NO_CANCEL;
	struct dray_checker *checker = atomic_load(&checkers);

	for (; checker; checker = checker->next) {
		if (checker->process != dray_fork_process())
			continue;
		/* A late write is found when a block goes back. */
		dray_check_keep(checker, false);
		if (!found_something(&checker->handler))
			continue;
		fprintf(stderr, "dray: handler \"%s\" at exit:\n",
			checker->handler.name);
		dray_check_list(checker, stderr);
	}
}
