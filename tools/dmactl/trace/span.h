/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How long trace goes on. */
#ifndef DMACTL_SPAN_H
#define DMACTL_SPAN_H

#include "base/command.h"

/* "--for TIME" and "--buffer-size SIZE" */
extern const struct command_option for_option;
extern const struct command_option buffer_option;

struct span {
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t length_ns; /* UINT64_MAX: until a signal comes */
	uint64_t buffer; /* bytes for each processor; 0: the kernel's choice */
};

/* Reads the options and begins; false after a complaint. */
bool span_begin(const struct request *request, struct span *span);

/* Returns nanoseconds since it began. */
uint64_t span_passed(const struct span *span);

/*
 * Returns milliseconds until it ends, at most @most; 0: it has ended, by its time
 * or a signal.
 */
int span_left(const struct span *span, int most);

#endif /* DMACTL_SPAN_H */
