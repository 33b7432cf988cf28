// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One sentence for each enum dray_reason, with the limit in it.  What was
 * asked, and its values, comes from the caller in front of it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/dray.h>

#include "base/error.h"
#include "memory/reason.h"

/* Each takes the limit once, or not at all. */
static const char *words(uint32_t reason, uint64_t limit)
{
	switch (reason) {
	case DRAY_REASON_SIZE:
		return "the size must be from 1 to %" PRIu64 " bytes";
	case DRAY_REASON_ALIGNMENT:
		return "the alignment must be a power of two up to %" PRIu64
		       " bytes";
	case DRAY_REASON_MASK:
		return "what is free lies above the highest address allowed, "
		       "0x%" PRIx64;
	case DRAY_REASON_FULL:
		return "the heap is full, %" PRIu64 " bytes are free";
	case DRAY_REASON_FRAGMENTED:
		return "the heap is fragmented, its longest free run has %" PRIu64
		       " bytes";
	case DRAY_REASON_ORDER:
		return "the page allocator gives at most %" PRIu64
		       " bytes in one piece";
	case DRAY_REASON_HEAP:
		return "no such heap, there are %" PRIu64;
	case DRAY_REASON_MODE:
		return "the heap does not have that cache mode";
	case DRAY_REASON_PERMISSION:
		/* Only an address limit can be asked for with less of a right. */
		return limit ? "this process does not have the right to any "
			       "address limit, the next lower one that needs "
			       "none is 0x%" PRIx64
			     : "this process does not have the right to";
	case DRAY_REASON_FOREIGN:
		return "descriptor %" PRIu64 " is no buffer of dray";
	case DRAY_REASON_RANGE:
		return "that leaves the buffer, which has %" PRIu64 " bytes";
	case DRAY_REASON_OVERLAP:
		return "source and destination overlap";
	case DRAY_REASON_RUNS:
		return "one call takes at most %" PRIu64 " descriptors";
	case DRAY_REASON_BYTES:
		return "one call moves at most %" PRIu64 " bytes";
	case DRAY_REASON_CHANNEL:
		return "no such channel, or none is free of %" PRIu64;
	case DRAY_REASON_BUSY:
		return "the queue is full, it holds %" PRIu64 " submissions";
	case DRAY_REASON_DEAD:
		return "channel %" PRIu64 " does not answer and is not used "
		       "any more";
	case DRAY_REASON_AXES:
		return "a transfer has at most %" PRIu64 " axes";
	case DRAY_REASON_BOUNCE:
		return "the device reaches addresses up to 0x%" PRIx64
		       ", more would be copied unseen";
	case DRAY_REASON_OWN:
		return "descriptor %" PRIu64 " is a buffer of dray, which is "
		       "not attached but used";
	case DRAY_REASON_READ_ONLY:
		return "descriptor %" PRIu64 " may only be read through";
	case DRAY_REASON_QUOTA:
		return "that is more than the limit of %" PRIu64
		       " bytes for the heap, or for one user of it, leaves";
	case DRAY_REASON_MEMLOCK:
		return "that is more than the user's limit of locked memory "
		       "(ulimit -l) of %" PRIu64 " bytes leaves";
	case DRAY_REASON_PINNED:
		return "only the first %" PRIu64 " bytes can be pinned";
	case DRAY_REASON_DEVICES:
		return "%" PRIu64 " devices have it already, which is as many "
		       "as may";
	default:
		return NULL;
	}
}

/*
 * The words are formats too, and with a sanitizer the compiler believes that
 * @format may be NULL.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-truncation"
int dray_fail_reason(int error, uint32_t reason, uint64_t limit,
		     const char *format, ...)
{
	const char *why = words(reason, limit);
	char asked[256], answer[160];
	va_list args;

	va_start(args, format);
	vsnprintf(asked, sizeof(asked), format, args);
	va_end(args);
	if (!why)
		return dray_fail(error, "%s: %s", asked, strerror(-error));

	snprintf(answer, sizeof(answer), why, limit);
	return dray_fail(error, "%s: %s", asked, answer);
}
#pragma GCC diagnostic pop
