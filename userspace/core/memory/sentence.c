// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One sentence for each enum dray_reason, with its limit.  This file uses no other
 * of the library: tests of dmactl link it without the rest.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <dray/memory.h>

/* Each takes the limit once, or not at all. */
static const char *const sentences[] = {
	[DRAY_REASON_SIZE] = "the size must be from 1 to %" PRIu64 " bytes",
	[DRAY_REASON_ALIGNMENT] =
		"the alignment must be a power of two up to %" PRIu64 " bytes",
	[DRAY_REASON_MASK] =
		"free memory lies above the highest address allowed, 0x%" PRIx64,
	[DRAY_REASON_FULL] = "the heap is full, %" PRIu64 " bytes are free",
	[DRAY_REASON_FRAGMENTED] =
		"the heap is fragmented, its longest free run is %" PRIu64 " "
		"bytes",
	[DRAY_REASON_ORDER] =
		"the page allocator's largest piece is %" PRIu64 " bytes",
	[DRAY_REASON_HEAP] = "no such heap; heaps of the node: %" PRIu64,
	[DRAY_REASON_MODE] = "the heap does not support that cache mode",
	[DRAY_REASON_PERMISSION] = "CAP_SYS_RAWIO is missing",
	[DRAY_REASON_FOREIGN] =
		"file descriptor %" PRIu64 " is not a buffer of dray",
	[DRAY_REASON_RANGE] =
		"part of it is outside the buffer of %" PRIu64 " bytes",
	[DRAY_REASON_OVERLAP] = "source and destination overlap",
	[DRAY_REASON_RUNS] = "a call submits at most %" PRIu64 " descriptors",
	[DRAY_REASON_BYTES] = "a call moves at most %" PRIu64 " bytes",
	[DRAY_REASON_CHANNEL] = "no such channel, or none is free of %" PRIu64,
	[DRAY_REASON_BUSY] =
		"the queue is full, it holds %" PRIu64 " submissions",
	[DRAY_REASON_DEAD] =
		"channel %" PRIu64 " does not answer and is not used any more",
	[DRAY_REASON_AXES] = "the limit of a transfer is %" PRIu64 " axes",
	[DRAY_REASON_BOUNCE] = "the device reaches addresses up to 0x%" PRIx64
			       ", more would be copied unseen",
	[DRAY_REASON_OWN] = "file descriptor %" PRIu64
			    " is already a dray buffer: use it directly",
	[DRAY_REASON_READ_ONLY] = "file descriptor %" PRIu64 " is read-only",
	[DRAY_REASON_QUOTA] = "the heap's limit, or the user's, is %" PRIu64
			      " bytes; free a buffer or raise the limit",
	[DRAY_REASON_MEMLOCK] =
		"the user's limit of locked memory (ulimit -l) is %" PRIu64
		" bytes; free some or raise the limit",
	[DRAY_REASON_PINNED] = "only the first %" PRIu64 " bytes can be pinned",
	[DRAY_REASON_KIND] = "channel %" PRIu64 " does something else",
	[DRAY_REASON_STREAM] =
		"stream %" PRIu64
		" is open already, here or in another process; close it there first",
	[DRAY_REASON_PIECES] = "the engine's limit for a packet is %" PRIu64
			       " contiguous pieces",
	[DRAY_REASON_RESIDUE] = "the engine of channel %" PRIu64
				" cannot count the received bytes",
	[DRAY_REASON_DEADLINE] = "the deadline is at most %" PRIu64
				 " ns, and a fence needs a deadline",
	[DRAY_REASON_POINTS] = "the limit of a timeline is %" PRIu64 " points",
	[DRAY_REASON_FRAMES] = "a ring consists of 2 to %" PRIu64 " frames",
	[DRAY_REASON_FRAME] = "frame %" PRIu64 " is not held by the reader",
	[DRAY_REASON_ROWS] =
		"the engine repeats rows of a single stride, both at most %" PRIu64
		" bytes",
	[DRAY_REASON_REGISTERS] =
		"no page of it can be mapped: in the tree it must begin at a page and be at least a page of %" PRIu64
		" bytes long",
	[DRAY_REASON_INTERRUPT] =
		"interrupt %" PRIu64
		" is in use, here, in another process or by a driver; close it there first",
};

static const char *sentence_words(int error, uint32_t reason, uint64_t limit)
{
	/* The heap could serve it if it were empty. */
	if (reason == DRAY_REASON_ALIGNMENT && error == -ENOMEM)
		return "no free run allows that alignment; the largest possible is %" PRIu64
		       " bytes";
	/* Only an address limit can be asked for with less of a right. */
	if (reason == DRAY_REASON_PERMISSION && limit)
		return "without CAP_SYS_RAWIO the address limit must be 2^n-1; the next lower limit is 0x%" PRIx64;
	if (reason >= sizeof(sentences) / sizeof(sentences[0]))
		return NULL;
	return sentences[reason];
}

/*
 * The words are formats too, and with a sanitizer the compiler believes that
 * they may be NULL.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#ifndef __clang__ /* which has no such warning */
#pragma GCC diagnostic ignored "-Wformat-truncation"
#endif
size_t dray_reason_text(int error, uint32_t reason, uint64_t limit, char *text,
			size_t room)
{
	const char *why = sentence_words(error, reason, limit);
	int length;

	if (!why)
		return 0;
	length = snprintf(text, text ? room : 0, why, limit);
	return length < 0 ? 0 : (size_t)length;
}
#pragma GCC diagnostic pop
