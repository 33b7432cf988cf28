/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel's log, from a line on that the test writes.
 */
#ifndef SELFTEST_KERNEL_LOG_H
#define SELFTEST_KERNEL_LOG_H

#include <sys/klog.h>

#include "binding.h"

#define LOG_BEGIN "dray test: the log begins here"

/* Returns 0 or a negative errno. */
static inline int log_begin(void)
{
	return write_text("/dev/kmsg", LOG_BEGIN "\n");
}

/* The log since the last log_begin(), which stays allocated; or NULL. */
static inline char *log_read(void)
{
	const int read_all = 3, size_buffer = 10;
	int size = klogctl(size_buffer, NULL, 0), length;
	char *log = size < 0 ? NULL : malloc((size_t)size + 1), *at, *last;

	if (!log)
		return NULL;
	length = klogctl(read_all, log, size);
	log[length < 0 ? 0 : length] = 0;
	for (at = log, last = log; (at = strstr(at, LOG_BEGIN)); at++)
		last = at;
	return last;
}

#endif
