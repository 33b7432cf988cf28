/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What all processes of the fuzzer share: the count of calls, what each thread
 * is doing, the places of the module that were reached, and the corpus, which
 * is the inputs that reached a place for the first time.
 */
#ifndef FUZZ_BOARD_H
#define FUZZ_BOARD_H

#include <stdatomic.h>

#include "../selftests/system.h"
#include "coverage.h"
#include "input.h"

#define PROCESSES 3
#define THREADS 2 /* of a process */
#define RECENT 12 /* calls of a thread that are shown when it is stuck */
#define CORPUS 4096

struct worker {
	uint64_t seed;
	atomic_int task;
	atomic_ulong began; /* milliseconds; 0: in no call */
	atomic_uint count; /* calls, of all */
	struct call recent[RECENT];
};

struct board {
	atomic_ulong calls;
	uint64_t until; /* this many, in this phase */
	atomic_uint tried[KINDS];
	atomic_uint worked[KINDS];
	atomic_uint absent[KINDS]; /* not on this machine */
	atomic_uint spent[KINDS]; /* milliseconds */
	struct worker workers[PROCESSES * THREADS];
	uint8_t seen[COVERAGE_SIZE];
	atomic_uint corpus_count;
	atomic_bool ready[CORPUS];
	bool kept[CORPUS]; /* reached something new when it was done again */
	struct input corpus[CORPUS];
};

struct settings {
	uint64_t seed;
	uint64_t calls;
	uint64_t guide; /* what one input of these many reaches is looked at */
	bool coverage;
	bool loud; /* each call is told before it is done */
	int disk;
	int inbox[PROCESSES];
	int outbox[PROCESSES];
};

extern struct board *board;
extern struct settings settings;

uint64_t milliseconds_now(void);

/* The body of a process of a phase, and of one that does the corpus again. */
_Noreturn void process_fuzz(uint32_t process, uint64_t seed);
_Noreturn void process_corpus(void);

void corpus_add(const struct input *input, uint32_t count);

#endif
