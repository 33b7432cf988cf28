/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Facts that two processes state together, each fact in two new processes that UCX
 * connects; prints TAP.
 */
#ifndef TESTS_RDMA_PAIR_H
#define TESTS_RDMA_PAIR_H

#include <dray/ucx.h>

struct fact {
	const char *name;
	void (*run)(void);
	int dies;	/* 1: side 1 is killed; it states nothing */
};

#define FACT(name) { #name, name, 0 }
#define FACT_OF_DEATH(name) { #name, name, 1 }

extern int side; /* 0 or 1 */
/* Whether a dead peer is an error: then UCX uses no shared memory. */
extern bool pair_errors;
extern struct dray_ucx_peer peer;
extern ucp_context_h context;
extern struct dray_node *node; /* of host memory that may be shared */
extern struct dray_pool *pool;

void note_failure(const char *file, int line, const char *what, long long is);

#define EXPECT_IS(value, expected)                                         \
	do {                                                               \
		long long is_ = (long long)(value);                        \
		if (is_ != (long long)(expected))                          \
			note_failure(__FILE__, __LINE__,                   \
				     #value " is not " #expected, is_);    \
	} while (0)

#define EXPECT(condition) EXPECT_IS(!!(condition), 1)
#define EXPECT_OK(call) EXPECT_IS(call, 0)

/* Waits until the other side is here too, while UCX works. */
void pair_meet(void);
/* Bytes to the other side, and from it. */
void pair_tell(const void *bytes, size_t size);
void pair_hear(void *bytes, size_t size);
/* Waits until the other side is dead or stopped. */
void pair_lose(void);
/* Kills or stops this side. */
void pair_raise(int signal);

int64_t now_us(void);

int facts_run(const struct fact *facts, int count);

#endif
