/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What there is to be had where dray is not the only one that takes: there
 * the counters of a heap cannot tell whether memory really came back.
 */
#ifndef KILL_SUPPLY_H
#define KILL_SUPPLY_H

#include "../selftests/system.h"
#include "../selftests/ledger.h"

struct supply {
	uint64_t cma[LEDGER_HEAPS]; /* bytes that a cma heap gives in pieces */
	uint64_t free; /* bytes that the kernel has to give */
};

int supply_take(struct supply *supply);

/*
 * Waits until there is as much as before, but for a piece of each heap and
 * for what the kernel has kept for itself; false, and a line, where less.
 */
bool supply_is_back(const struct supply *before);

#endif
