/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages that others still hold when their buffer is freed (a pipe, a socket, an
 * asynchronous close in io_uring).  Their heap looks at them from time to time.
 */
#ifndef DRAY_AWAITED_H
#define DRAY_AWAITED_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct dray_charge;
struct page;

/* How often a heap looks. */
#define DRAY_SWEEP_DELAY msecs_to_jiffies(1000)

/* Part of one heap, under its lock. */
struct dray_awaited {
	unsigned long count;
	bool stays; /* the module, for them: a reference */
};

/*
 * Awaits a page or a compound page of @bytes.  @charge pays until it is
 * dropped, after which it may be gone; NULL: no user pays, and no sweep waits.
 */
void dray_awaited_add(struct dray_awaited *awaited, struct page *page,
		      struct dray_charge *charge, size_t bytes);
void dray_awaited_drop(struct dray_awaited *awaited, struct page *page,
		       size_t bytes);

#endif /* DRAY_AWAITED_H */
