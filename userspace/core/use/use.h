/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory in use: the book of the memory that engines and calls of this process read or
 * write.  Transfers, packets, rings, queued calls and loans enter their memory and leave at
 * their end; dray_view_wait(), copies by the CPU and queues of calls ask for it.  A single lock
 * guards the book.  No system call and no function of a user or of another room runs under
 * it, but short tests of a search.  The book of a child is empty: transfers of its parent
 * end in the parent.
 */
#ifndef DRAY_USE_USE_H
#define DRAY_USE_USE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/interval_tree.h"
#include "layout/operand.h"
#include "base/shared.h"

struct dray_use;
struct dray_use_part;

/* Calls of queues, which wait for each other, are in an order of their own. */
enum dray_use_sort {
	DRAY_USE_TRANSFER, /* or a ring */
	DRAY_USE_CALL,
	DRAY_USE_LOAN, /* to another engine */
	DRAY_USE_SORTS,
};

/* The functions of a kind of users. */
struct dray_use_kind {
	enum dray_use_sort sort;
	/*
	 * Waits for the end of @use, to which @part belongs.  Other results are
	 * -ETIME, -EINTR, or an errno that the wait returns.
	 */
	int (*wait)(struct dray_use *use, const struct dray_use_part *part,
		    int timeout_ms);
	/* With the last reference. */
	void (*free)(struct dray_use *use);
};

/* An interval of a user's memory. */
struct dray_use_part {
	struct dray_interval interval;
	struct dray_use *use;
	struct dray_use_part *next; /* of the same user */
	bool writes; /* it may read, too; else it only reads */
	_Atomic bool idle; /* the program may use it: searches pass over it */
};

/*
 * A user of memory, the first member of its structure.  Its status is the end's, too:
 * once it is not 0, searches pass over the user.
 */
struct dray_use {
	const struct dray_use_kind *kind;
	_Atomic uint32_t references;
	_Atomic int status; /* 0: not ended; 1, or a negative errno */
	uint32_t process; /* that uses the memory, see dray_fork_process() */
	/* 1: entered before it is submitted; 2: and threads wait for that */
	_Atomic uint32_t pending;
	uint64_t number; /* in the book: lower for older users; 0: not in it */
	struct dray_use_part *parts;
};

/* Lets forks acquire the lock; before the first user enters. */
void dray_uses_enlist(void);

/* Begins a user with a reference, no memory, and this process. */
void dray_use_init(struct dray_use *use, const struct dray_use_kind *kind);
static inline void dray_use_ref(struct dray_use *use)
{
	atomic_fetch_add(&use->references, 1);
}
void dray_use_unref(struct dray_use *use);

static inline bool dray_use_has_ended(const struct dray_use *use)
{
	return atomic_load(&use->status);
}

/* Adds memory to a user that did not enter yet; @part stays with the user. */
void dray_use_add(struct dray_use *use, struct dray_use_part *part,
		  struct dray_addresses span, bool writes);

/* Enters all of a user's memory at once, with a number above all others. */
DRAY_PRIVATE void dray_use_enter(struct dray_use *use);
/*
 * Does so as soon as its memory meets no user of @sorts (as of dray_use_query), which it
 * waits for as dray_use_wait() does.
 */
int dray_use_enter_alone(struct dray_use *use, unsigned int sorts,
			 int timeout_ms);
/*
 * Enters a transfer, which is pending until it was submitted, once none of its memory is
 * lent.  Errors are -EAGAIN (@nonblock, and memory is lent) and -EINTR.
 */
int dray_use_claim(struct dray_use *use, bool nonblock);
/* Ends that: waits for it can begin. */
void dray_use_submitted(struct dray_use *use);
static inline bool dray_use_is_pending(const struct dray_use *use)
{
	return atomic_load_explicit(&use->pending, memory_order_acquire);
}

/* Removes it, if it is there.  Before the last reference is dropped. */
void dray_use_leave(struct dray_use *use);

/* The object of a search. */
struct dray_use_query {
	struct dray_addresses reads; /* finds users that write there */
	struct dray_addresses writes; /* finds users that read or write there */
	uint64_t before; /* only users of lower numbers */
	unsigned int sorts; /* 1 << DRAY_USE_TRANSFER and others; 0: all */
	/* also asks about the user, briefly; NULL: all are wanted */
	bool (*wanted)(const struct dray_use *use, const void *context);
	const void *context;
};

/*
 * Returns a user that did not end yet, with a reference, or NULL.
 * @part: set to the memory that met the query
 */
struct dray_use *dray_use_find(const struct dray_use_query *query,
			       const struct dray_use_part **part);

/*
 * Enters @use, unless its memory meets a user of @sorts, which is returned as by
 * dray_use_find().
 */
struct dray_use *dray_use_enter_or_find(struct dray_use *use,
					unsigned int sorts,
					const struct dray_use_part **part);

/* Whether there is such a user. */
DRAY_PRIVATE bool dray_use_meets(const struct dray_use_query *query);

/*
 * Waits until there is no such user: 0.  Errors are -ETIME after @timeout_ms
 * milliseconds (below 0: never), -EINTR, and errors of a user's kind.
 */
DRAY_PRIVATE int dray_use_wait(const struct dray_use_query *query,
			       int timeout_ms);

/* The end of a wait of @timeout_ms; CLOCK_MONOTONIC, ~0 if below 0: never. */
uint64_t dray_use_until(int timeout_ms);

#endif /* DRAY_USE_USE_H */
