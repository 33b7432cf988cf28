/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a long run says of how far it has come, for tools/lib/progress.sh. */
#ifndef DRAY_TESTS_PROGRESS_H
#define DRAY_TESTS_PROGRESS_H

#include <stdio.h>

/* A hundred lines where there are a million operations or more. */
static inline void show_progress(long now, long most, const char *what)
{
	if (most < 1000000 || now % (most / 100))
		return;
	printf("# progress %ld of %ld %s\n", now, most, what);
	fflush(stdout);
}

#endif /* DRAY_TESTS_PROGRESS_H */
