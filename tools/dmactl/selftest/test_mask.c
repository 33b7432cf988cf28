// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Addresses of buffers lie below the node's mask, and below a limit that the
 * caller names.  If a process that knew an address is killed, the module
 * holds the memory, so signals wait until the buffer is given back.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include "selftest.h"

#define SIZE 65536 /* bytes; more than a page, for more than one segment */
#define MOST_SEGMENTS 16
#define FOUR_GIB UINT64_C(0xffffffff)

static void test_mask_check(struct selftest *test, struct dray_buffer *buffer,
			    uint64_t limit)
{
	struct dray_segment segments[MOST_SEGMENTS];
	json_t *values = json_object();
	enum outcome outcome = OUTCOME_PASS;
	uint64_t highest = 0;
	size_t count = 0, i;
	int ret = dray_buffer_addresses(buffer, 0, 0, segments, MOST_SEGMENTS,
					&count);

	if (ret) {
		json_decref(values);
		selftest_add(test, "mask", OUTCOME_FAIL, NULL,
			     "cannot ask for addresses: %s", dray_last_error());
		return;
	}
	for (i = 0; i < count && i < MOST_SEGMENTS; i++)
		if (segments[i].address + segments[i].length - 1 > highest)
			highest = segments[i].address + segments[i].length - 1;
	if (highest > limit || count > MOST_SEGMENTS)
		outcome = OUTCOME_FAIL;
	document_number(values, "segments", count);
	document_set(values, "below", json_boolean(highest <= limit));
	/* a report must not tell the address itself */
	selftest_add(test, "mask", outcome, values,
		     "a buffer of %d bytes in %zu %s lies %s 0x%" PRIx64 "%s",
		     SIZE, count, count == 1 ? "segment" : "segments",
		     highest <= limit ? "below" : "above", limit,
		     test->node->info.flags & DRAY_NODE_IOMMU
			     ? ", through an IOMMU"
			     : "");
}

static void mask_check_limit(struct selftest *test, uint64_t limit)
{
	struct dray_buffer *buffer;
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	ret = selftest_take(test, SIZE,
			    limit < test->node->info.dma_mask ? limit : 0,
			    &buffer);
	if (ret) {
		selftest_add(test, "mask",
			     ret == -ENOMEM ? OUTCOME_SKIP : OUTCOME_FAIL, NULL,
			     "no buffer below 0x%" PRIx64 ": %s", limit,
			     dray_last_error());
	} else {
		test_mask_check(test, buffer, limit);
		dray_buffer_unref(buffer);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void test_mask(struct selftest *test)
{
	uint64_t mask = test->node->info.dma_mask;

	if (!(test->node->info.flags & DRAY_NODE_ADDRESS)) {
		selftest_add(test, "mask", OUTCOME_SKIP, NULL,
			     "takes the right to ask for addresses");
		return;
	}
	mask_check_limit(test, mask);
	if (mask > FOUR_GIB)
		mask_check_limit(test, FOUR_GIB);
}
