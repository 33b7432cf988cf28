/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * live: tables of blocks that are out, with the callers that allocated them.  A
 * tracking resource and a checking handler own a table each.
 */
#ifndef DRAY_LIVE_LIVE_H
#define DRAY_LIVE_LIVE_H

#include <stdbool.h>

#include <dray/handler.h>
#include <dray/resource.h>

#include "base/address_table.h"
#include "base/guard.h"
#include "live/call_site.h"

/* A block: the first member of its owner's structure, from malloc(). */
struct dray_live {
	struct dray_outstanding is;	/* the sites lie in that structure */
	const char *place;	/* as in struct dray_callers */
	bool freed;		/* not live, but still in the table */
};

struct dray_live_table {
	struct dray_guard guard;
	struct dray_live_table *next;	/* of all tables */
	size_t sites;		/* of a block, at most */
	/* the rest with the guard */
	struct dray_address_table blocks;	/* of all struct dray_live */
	uint64_t allocations;
	struct dray_check numbers;
};

/* Begins an empty table, all zero before, and lists it. */
void dray_live_begin(struct dray_live_table *table, size_t sites);
/* Ends a table without blocks. */
void dray_live_end(struct dray_live_table *table);

/*
 * Enters @live, with a new number if it is 0.  A block at the same address was
 * freed past the owner: its entry is dropped.  Returns false if memory runs out.
 */
bool dray_live_enter(struct dray_live_table *table, struct dray_live *live);

/* With the guard: returns the block that starts at @address, or NULL. */
struct dray_live *dray_live_find(const struct dray_live_table *table,
				 const void *address);
/*
 * With the guard: returns the live block that starts at @address.  Otherwise
 * counts a bad or double free and returns NULL.
 */
struct dray_live *dray_live_claim(struct dray_live_table *table,
				  const void *address);
/*
 * With the guard: marks a live block as freed.  Compares its size with @size,
 * which is NULL if not known.
 */
void dray_live_retire(struct dray_live_table *table, struct dray_live *live,
		      const size_t *size);
/* With the guard: removes a block. */
void dray_live_forget(struct dray_live_table *table, struct dray_live *live);

struct dray_check dray_live_count(struct dray_live_table *table);

/*
 * Returns copies of all live blocks, the oldest first, for free().  Returns NULL
 * with a sentence if there is no memory.
 */
struct dray_live *dray_live_list(struct dray_live_table *table, size_t *count);

/*
 * Writes all live blocks with their callers to @file, their sum and @rest.
 * Errors: -ENOMEM, -EIO (not all was written).
 */
int dray_live_report(struct dray_live_table *table, FILE *file,
		     const char *rest);

/* Finds the live block that starts at @address in any table. */
bool dray_live_origin(const void *address, size_t *size,
		      struct dray_callers *out);

#endif /* DRAY_LIVE_LIVE_H */
