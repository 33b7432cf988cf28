/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What is done while allocations fail: each a few calls that a program makes.
 */
#ifndef FAULTS_SCENARIO_H
#define FAULTS_SCENARIO_H

#include "../selftests/node.h"

struct scenario {
	const char *name;
	/* Before, and after, without failures; 0 or a negative errno. */
	int (*prepare)(void);
	int (*run)(void);
	void (*undo)(void);
	uint32_t heap;
	int other; /* an errno that is right too, from the kernel's core */
	unsigned int does_without; /* what failed: the call may work all the same */
	/* Is this the right reply to what failed?  NULL: none is looked at. */
	bool (*replied)(int ret, const char *injector);
};

/* Of the injectors, those whose failure the log tells. */
#define SLAB 1
#define PAGES 2
#define COPY 4

#define SCENARIOS 64 /* at most */

extern const struct scenario scenarios[];
extern const unsigned int scenario_count;

/* The one that runs, for its heap. */
extern const struct scenario *scenario;

/* How prepare says that this machine has not what it takes. */
#define NOT_HERE (-ENOTTY)

/* 0, or a negative errno: the node and its driver's folder. */
int scenarios_open(void);

/*
 * Transfers while so many of a hundred of the module's allocations fail, in
 * its workers too.  Each must end, well or not: else it is -ETIME.
 */
int transfers_run(unsigned int number, unsigned int percent);

#endif
