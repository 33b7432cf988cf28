/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages that others still hold when their buffer is freed (a pipe, a socket, an
 * asynchronous close in io_uring), and that a heap awaits: it looks at them from
 * time to time.
 */
#ifndef DRAY_AWAITED_H
#define DRAY_AWAITED_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct dray_charge;
struct page;

/* How often a heap looks. */
#define DRAY_SWEEP_DELAY msecs_to_jiffies(1000)

/* Of one heap, under its lock. */
struct dray_awaited {
	unsigned long count;
	bool stays; /* the module, for them: a reference */
};

/*
 * @charge pays for @bytes, a page or a compound page, until it is let go, after
 * which it may be gone; NULL: nobody pays, and nobody waits.
 */
void dray_page_await(struct dray_awaited *awaited, struct page *page,
		     struct dray_charge *charge, size_t bytes);
void dray_page_let_go(struct dray_awaited *awaited, struct page *page,
		      size_t bytes);

#endif /* DRAY_AWAITED_H */
