// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints themselves, made from trace.h once.
 */
#include <linux/build_bug.h> /* string.h of some 6.12 wants it before */
#include <linux/ctype.h>
#include <linux/dray.h>
#include <linux/string.h>

/* Copies a user's text without line ends or terminal control characters. */
static void dray_trace_name(char *to, const char *name)
{
	strscpy(to, name, DRAY_NAME_LEN);
	for (; *to; to++)
		if (!isascii(*to) || !isprint(*to))
			*to = '?';
}

#define CREATE_TRACE_POINTS
#include "trace.h"
