/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A process of the mixed load: it does with buffers whatever a program may do
 * with them, in an order that its seed gives, until it is killed.
 */
#ifndef KILL_LOAD_H
#define KILL_LOAD_H

#include <stdatomic.h>

#include "../selftests/system.h"

/* What a process does; each is counted when it has worked. */
enum work {
	WORK_ALLOC,
	WORK_SYNC,
	WORK_SUBMIT,
	WORK_CHAIN, /* a submission that waits for another */
	WORK_FINISHED, /* a transfer that ended while somebody looked */
	WORK_FORK,
	WORK_SEND,
	WORK_RECEIVE,
	WORK_DIRECT_READ,
	WORK_DIRECT_WRITE,
	WORK_RING,
	WORK_PIPE,
	WORK_IMPORT,
	WORK_EXPORT,
	WORK_ATTACH,
	WORK_CANCEL,
	WORK_ADDRESS,
	WORK_REMAP,
	WORK_ASK,
	WORK_STREAM,
	WORK_PACKET,
	WORK_FRAMES,
	WORKS
};

extern const char *const work_names[WORKS];

/* Memory that the load's processes and who kills them share. */
struct board {
	atomic_uint done[WORKS];
	atomic_bool absent[WORKS]; /* this kernel or machine has it not */
	atomic_int in_flight[16]; /* fences of a process, not signalled yet */
};

struct load {
	unsigned int index;
	uint64_t seed;
	int inbox; /* descriptors come in here from the neighbour */
	int outbox;
	int disk; /* for direct I/O, or -1 */
	struct board *board;
};

/* Never returns. */
_Noreturn void load_run(const struct load *load);

#endif
