// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints themselves, made from trace.h once.
 */
#include <linux/build_bug.h> /* string.h of some 6.12 wants it before */
#include <linux/ctype.h>
#include <linux/dray.h>
#include <linux/string.h>

#include "buffer.h"

/* Copies a user's text without line ends or terminal control characters. */
static void dray_trace_name(char *to, const char *name, size_t room)
{
	strscpy(to, name, room);
	for (; *to; to++)
		if (!isascii(*to) || !isprint(*to))
			*to = '?';
}

/* Returns a buffer's place in its region, or -1 if its heap has none. */
static s64 dray_trace_offset(const struct dray_buffer *buffer)
{
	return buffer->heap->base ? buffer->memory.start - buffer->heap->base
				  : -1;
}

#define CREATE_TRACE_POINTS
#include "trace.h"
