/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table from addresses to values: open addressing with linear probing, at
 * most half full.  It has no lock.
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

/* Makes room for one more entry; false if memory runs out. */
bool dray_address_reserve(struct dray_address_table *table);
/* Puts @value into reserved room; returns the value it replaces, or NULL. */
void *dray_address_put(struct dray_address_table *table, uint64_t address,
		       void *value);
/* Returns the value at @address, or NULL. */
void *dray_address_get(const struct dray_address_table *table,
		       uint64_t address);
/* Removes and returns the value at @address, or NULL. */
void *dray_address_take(struct dray_address_table *table, uint64_t address);
/* Frees the table, not the values. */
void dray_address_end(struct dray_address_table *table);

#endif /* DRAY_BASE_ADDRESS_TABLE_H */
