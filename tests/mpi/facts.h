/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Facts that all ranks state together: each rank runs each fact, the first prints TAP.
 */
#ifndef TESTS_MPI_FACTS_H
#define TESTS_MPI_FACTS_H

#include <dray/mpi.h>

struct fact {
	const char *name;
	void (*run)(void);
};

#define FACT(name) { #name, name }

extern int rank, ranks;

/* Notes a failure, with the line and a value, on the rank that saw it. */
void note_failure(const char *file, int line, const char *what, long long is);

#define EXPECT(condition)                                           \
	do {                                                        \
		if (!(condition))                                   \
			note_failure(__FILE__, __LINE__, #condition, 0); \
	} while (0)

#define EXPECT_IS(value, expected)                                         \
	do {                                                               \
		long long is_ = (long long)(value);                        \
		if (is_ != (long long)(expected))                          \
			note_failure(__FILE__, __LINE__,                   \
				     #value " is not " #expected, is_);    \
	} while (0)

#define EXPECT_OK(call) EXPECT_IS(call, 0)

/* Runs facts and the end of MPI; returns the exit status. */
int facts_run(const struct fact *facts, int count);

#endif
