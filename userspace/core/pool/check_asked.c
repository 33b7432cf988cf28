// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The checking handlers that DRAY_HANDLER=check puts over those of pools, so
 * that a program is checked unchanged.  They write each fault to standard error
 * when it is found, and the leaks at the end of the process.  If there are
 * none, they print nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "pool/check.h"

/* Handlers given to a caller, the latest first; they stay for good. */
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
				 "DRAY_HANDLER is \"%.60s\", not \"check\"",
				 asked);
	if (!*out)
		return dray_handler_check(under, stderr, out);
	/* A reused pool's checker, never handed out; the node may differ. */
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
	struct dray_check numbers = { .size = sizeof(numbers) };

	return !dray_check_get(handler, &numbers) &&
	       (numbers.blocks || numbers.bad_frees || numbers.double_frees ||
		numbers.broken_guards || numbers.late_writes);
}

/*
 * A destructor of the library runs after the program's exit functions, and
 * after the destructors of objects linked with the library: memory that they
 * free is not a leak.  The parent reports inherited blocks.
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
