/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table from addresses to whatever belongs to them: open addressing with
 * linear probing, at most half full.  It has no lock.
 */
#ifndef DRAY_BASE_ADDRESS_TABLE_H
#define DRAY_BASE_ADDRESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dray_address_slot {
	uint64_t address;
	void *value;		/* NULL: free */
};

/* All zero is an empty one. */
struct dray_address_table {
	struct dray_address_slot *slots;
	size_t size;		/* slots, a power of two, or 0 */
	size_t count;
};

/* Makes room for one more; false where there is no memory. */
bool dray_address_reserve(struct dray_address_table *table);
/*
 * Puts @value there, for which there is room; what was there before, or NULL.
 */
void *dray_address_put(struct dray_address_table *table, uint64_t address,
		       void *value);
/* What is there, or NULL. */
void *dray_address_get(const struct dray_address_table *table,
		       uint64_t address);
/* Takes out what is there, or NULL. */
void *dray_address_take(struct dray_address_table *table, uint64_t address);
/* Ends the table, not what it leads to. */
void dray_address_end(struct dray_address_table *table);

#endif /* DRAY_BASE_ADDRESS_TABLE_H */
