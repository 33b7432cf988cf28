/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Follows the module's tracepoints in an instance of the kernel's tracing of its
 * own, which other users of tracing do not see.  The tests replace follow.c by
 * scripted events.
 */
#ifndef DMACTL_FOLLOW_H
#define DMACTL_FOLLOW_H

#include "event.h"

struct follow;

/*
 * Starts recording events of @kinds (bits), with @buffer bytes for each
 * processor, 0: as many as the kernel chooses.  Returns NULL after a complaint.
 * Each end of the program but SIGKILL removes the instance; after that signal,
 * the next call removes it.
 */
struct follow *follow_open(uint32_t kinds, uint64_t buffer);

/*
 * Waits for events, a signal or the time; hands over each event so far, the
 * oldest first.  False after a complaint.
 */
bool follow_wait(struct follow *follow, int milliseconds,
		 void (*take)(void *context, const struct event *event),
		 void *context);

/* Ends recording, and hands over the rest. */
bool follow_drain(struct follow *follow,
		  void (*take)(void *context, const struct event *event),
		  void *context);

/* Returns the number of events that were lost since the buffer was full. */
uint64_t follow_lost(const struct follow *follow);

/* Removes the instance. */
void follow_close(struct follow *follow);

#endif /* DMACTL_FOLLOW_H */
