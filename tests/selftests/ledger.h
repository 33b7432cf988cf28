/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What exists before a test and must be all that exists after it: the number
 * of buffers and every heap's bytes.  A test that loses a byte fails, whatever
 * else it found out.  Memory may come back a little after the last reference
 * went (files close asynchronously, quarantine is polled), so the comparison
 * is repeated up to a deadline.
 */
#ifndef SELFTEST_LEDGER_H
#define SELFTEST_LEDGER_H

#include "system.h"

#define LEDGER_HEAPS 16

struct ledger {
	int buffers;
	uint32_t heap_count;
	struct {
		bool shared; /* others take from it: free is not compared */
		uint32_t buffers;
		uint64_t free;
		uint64_t used;
		uint64_t quarantined;
		uint64_t user_used; /* by all processes of this user */
	} heap[LEDGER_HEAPS];
};

int ledger_take(int node, struct ledger *ledger);

/*
 * Waits until everything is as it was, on a node that it opens itself.
 * Returns the number of entries that still differ at the deadline, each
 * printed with both values.
 */
int ledger_differences(const struct ledger *before);

/*
 * The same, where an address was told.  What is held then is reclaimed, again
 * and again: a transfer or another driver may let go of a buffer late, and it
 * is held from then on.
 */
int ledger_reclaimed_differences(const struct ledger *before);

#endif
