/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The module's events in the kernel's trace.  That is the whole machine's, and
 * wants root and tracefs.
 */
#ifndef SELFTEST_TRACING_H
#define SELFTEST_TRACING_H

#include "system.h"

/* Empties the trace; -ENODEV where the kernel has no events, or an errno. */
int tracing_begin(void);
void tracing_stop(void);

/* All that the trace holds; the caller frees it. */
char *trace_read(void);

/* Has the trace a line of this event with that text in it? */
bool trace_has(const char *event, const char *text);

/* Of a test or a fixture's setup. */
#define TRACE_BEGIN()                                              \
	do {                                                       \
		int begun_ = tracing_begin();                      \
								   \
		if (begun_ == -ENODEV)                             \
			SKIP(return, "this kernel has no events"); \
		ASSERT_EQ(0, begun_);                              \
	} while (0)

#endif
