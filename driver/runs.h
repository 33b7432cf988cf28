/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages of a dedicated region are taken, and where a run of free ones
 * is.  The caller locks.
 */
#ifndef DRAY_RUNS_H
#define DRAY_RUNS_H

#include <linux/types.h>

#include "heap.h"

struct dray_runs {
	unsigned long first; /* page frame number */
	unsigned long pages;
	unsigned long free; /* pages that are not taken */
	unsigned long *taken; /* a bit for each page */
};

/* The whole pages in @size bytes from @base on, all free; -EINVAL: none. */
int dray_runs_init(struct dray_runs *runs, phys_addr_t base, phys_addr_t size);
void dray_runs_exit(struct dray_runs *runs);

/* Refuses what could not be had of an empty region either. */
int dray_runs_check(const struct dray_runs *runs,
		    const struct dray_request *request,
		    struct dray_refusal *refusal);
/* Takes a run and stores its first page; false where there is none. */
bool dray_runs_find(struct dray_runs *runs, const struct dray_request *request,
		    unsigned long *index);
/* Says why there is none. */
int dray_runs_refuse(const struct dray_runs *runs,
		     const struct dray_request *request,
		     struct dray_refusal *refusal);
/* @count pages from the @index'th of the region on. */
void dray_runs_take(struct dray_runs *runs, unsigned long index,
		    unsigned long count);
void dray_runs_give(struct dray_runs *runs, unsigned long index,
		    unsigned long count);
/* Fills total, free, largest_free and largest_request. */
void dray_runs_state(const struct dray_runs *runs, struct dray_heap_info *info);

#endif /* DRAY_RUNS_H */
