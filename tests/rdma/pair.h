/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Facts that two sides state together, each fact in two new processes that UCX connects;
 * prints TAP.  Usually both are of this machine.  The environment says otherwise:
 *
 *	PAIR_ADDRESS	UCX connects by this address of side 0, and a port, as
 *			RDMA's connection manager needs; else by the workers'
 *	PAIR_SIDE	0 or 1: this is one side, and the other another machine: both
 *			get the same address, and each prints what its side states
 *	DRAY_TEST_NODE	node of the memory; else host:shareable
 */
#ifndef TESTS_RDMA_PAIR_H
#define TESTS_RDMA_PAIR_H

#include <dray/ucx.h>

enum death {
	LIVES,
	PROCESS_DIES, /* side 1 is killed or stopped; it states nothing */
	MACHINE_DIES	/* the machine of side 1 is switched off */
};

struct fact {
	const char *name;
	void (*run)(void);
	enum death death;
	const char *(*lacks)(void); /* why the fact cannot be here; NULL: never */
};

#define FACT(name) { #name, name, LIVES, NULL }
#define FACT_OF_DEATH(name, lacks) { #name, name, PROCESS_DIES, lacks }
#define FACT_OF_MACHINE(name) { #name, name, MACHINE_DIES, NULL }
#define FACT_UNLESS(name, lacks) { #name, name, LIVES, lacks }

extern int side; /* 0 or 1 */
/* Whether a dead peer is an error: then UCX uses no shared memory. */
extern bool pair_errors;
extern bool pair_keys; /* whether the transport checks keys, as cards do */
extern struct dray_ucx_peer peer;
extern ucp_context_h context;
extern struct dray_node *node; /* of memory that may be shared */
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
/* Waits until the other side is dead or stopped, while UCX does nothing. */
void pair_lose(void);
/* Kills or stops this side. */
void pair_raise(int signal);

/* Whether the memory is the module's; also before the node is open. */
bool pair_on_kernel(void);

int64_t now_us(void);

/* Runs facts of tables that end with a fact without a name. */
int facts_run(const struct fact *const *tables, int count);

#endif
