// SPDX-License-Identifier: Apache-2.0 OR MIT
/* reason: each answer of the kernel becomes a sentence with its limit. */
#include "unit.h"
#include "memory/reason.h"

static const struct {
	uint32_t reason;
	const char *sentence;
} sentences[] = {
	{ DRAY_REASON_SIZE, "from 1 to 4321 bytes" },
	{ DRAY_REASON_ALIGNMENT, "power of two up to 4321 bytes" },
	{ DRAY_REASON_MASK, "the highest address allowed, 0x10e1" },
	{ DRAY_REASON_FULL, "full, 4321 bytes are free" },
	{ DRAY_REASON_FRAGMENTED, "longest free run is 4321 bytes" },
	{ DRAY_REASON_ORDER, "largest piece is 4321 bytes" },
	{ DRAY_REASON_HEAP, "no such heap; heaps of the node: 4321" },
	{ DRAY_REASON_MODE, "does not support that cache mode" },
	{ DRAY_REASON_PERMISSION, "the next lower limit is 0x10e1" },
	{ DRAY_REASON_FOREIGN, "file descriptor 4321 is not a buffer of dray" },
	{ DRAY_REASON_RANGE, "outside the buffer of 4321 bytes" },
	{ DRAY_REASON_OVERLAP, "source and destination overlap" },
	{ DRAY_REASON_RUNS, "at most 4321 descriptors" },
	{ DRAY_REASON_BYTES, "at most 4321 bytes" },
	{ DRAY_REASON_CHANNEL, "no such channel, or none is free of 4321" },
	{ DRAY_REASON_BUSY, "full, it holds 4321 submissions" },
	{ DRAY_REASON_DEAD, "channel 4321 does not answer" },
	{ DRAY_REASON_AXES, "the limit of a transfer is 4321 axes" },
	{ DRAY_REASON_BOUNCE, "reaches addresses up to 0x10e1" },
	{ DRAY_REASON_OWN, "file descriptor 4321 is already a dray buffer" },
	{ DRAY_REASON_READ_ONLY, "file descriptor 4321 is read-only" },
	{ DRAY_REASON_QUOTA, "the user's, is 4321 bytes" },
	{ DRAY_REASON_MEMLOCK, "locked memory (ulimit -l) is 4321 bytes" },
	{ DRAY_REASON_PINNED, "only the first 4321 bytes can be pinned" },
	{ DRAY_REASON_KIND, "channel 4321 does something else" },
	{ DRAY_REASON_STREAM, "stream 4321 is open already" },
	{ DRAY_REASON_PIECES, "limit for a packet is 4321 contiguous pieces" },
	{ DRAY_REASON_RESIDUE, "channel 4321 cannot count the received bytes" },
	{ DRAY_REASON_DEADLINE, "deadline is at most 4321 ns" },
	{ DRAY_REASON_POINTS, "the limit of a timeline is 4321 points" },
	{ DRAY_REASON_FRAMES, "2 to 4321 frames" },
	{ DRAY_REASON_FRAME, "frame 4321 is not held" },
	{ DRAY_REASON_ROWS,
	  "rows of a single stride, both at most 4321 bytes" },
	{ DRAY_REASON_REGISTERS, "at least a page of 4321 bytes" },
	{ DRAY_REASON_INTERRUPT, "interrupt 4321 is in use" },
};

#define COUNT (sizeof(sentences) / sizeof(sentences[0]))

FACT(every_reason_has_a_sentence_with_its_limit)
{
	for (size_t i = 0; i < COUNT; i++)
		assert_fails(dray_fail_reason(-EINVAL, sentences[i].reason,
					      4321, "%d bytes", 99),
			     -EINVAL, sentences[i].sentence);
	assert_fails(dray_fail_reason(-ENOMEM, DRAY_REASON_ALIGNMENT, 4321,
				      "%d bytes", 99),
		     -ENOMEM, "the largest possible is 4321 bytes");
}

FACT(the_sentence_begins_with_what_was_asked)
{
	for (size_t i = 0; i < COUNT; i++) {
		dray_fail_reason(-EINVAL, sentences[i].reason, 1,
				 "%d bytes of %s", 99, "dray0");
		assert_ptr_equal(strstr(dray_last_error(),
					"99 bytes of dray0: "),
				 dray_last_error());
	}
}

FACT(the_text_of_a_reason_is_cut_and_has_its_whole_length)
{
	static const char whole[] = "the heap is full, 4321 bytes are free";
	char text[64] = "as before";

	assert_int_equal(dray_reason_text(-ENOMEM, 1000, 1, text, sizeof(text)),
			 0);
	assert_string_equal(text, "as before");
	assert_int_equal(dray_reason_text(-ENOMEM, DRAY_REASON_FULL, 4321, text,
					  sizeof(text)),
			 strlen(whole));
	assert_string_equal(text, whole);
	assert_int_equal(dray_reason_text(-ENOMEM, DRAY_REASON_FULL, 4321, text,
					  9),
			 strlen(whole));
	assert_string_equal(text, "the heap");
	assert_int_equal(dray_reason_text(-ENOMEM, DRAY_REASON_FULL, 4321, NULL,
					  0),
			 strlen(whole));
}

FACT(no_reason_is_left_out)
{
	char without[64];
	size_t i;

	snprintf(without, sizeof(without), "x: %s", strerror(EIO));
	/* Sentences, and nobody else, do not end with what errno says. */
	for (uint32_t reason = 0; reason < 64; reason++) {
		for (i = 0; i < COUNT; i++)
			if (sentences[i].reason == reason)
				break;
		dray_fail_reason(-EIO, reason, 1, "x");
		assert_int_equal(i == COUNT,
				 !strcmp(dray_last_error(), without));
	}
}

FACT(without_a_reason_errno_speaks)
{
	assert_fails(dray_fail_reason(-EBUSY, DRAY_REASON_NONE, 7, "asked"),
		     -EBUSY, strerror(EBUSY));
}

FACT(a_right_that_is_all_or_nothing_has_no_limit)
{
	assert_fails(dray_fail_reason(-EPERM, DRAY_REASON_PERMISSION, 0,
				      "asked"),
		     -EPERM, "asked: CAP_SYS_RAWIO is missing");
	assert_null(strstr(dray_last_error(), "0x"));
}

FACT(a_long_question_is_cut_and_still_answered)
{
	char question[1000];

	memset(question, 'x', sizeof(question) - 1);
	question[sizeof(question) - 1] = 0;
	assert_fails(dray_fail_reason(-ENOMEM, DRAY_REASON_FULL, 5, "%s",
				      question),
		     -ENOMEM, "5 bytes are free");
}
