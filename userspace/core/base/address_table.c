// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A table from addresses to values. */
#include <stdlib.h>

#include "base/address_table.h"

/* Fibonacci hashing: blocks lie at round addresses. */
static size_t address_table_home(const struct dray_address_table *table,
				 uint64_t address)
{
	uint64_t mixed = address * 0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 32) & (table->size - 1);
}

/* The slot of @address, or the free slot it would take. */
static size_t address_table_find(const struct dray_address_table *table,
				 uint64_t address)
{
	size_t at = address_table_home(table, address);

	while (table->slots[at].value && table->slots[at].address != address)
		at = (at + 1) & (table->size - 1);
	return at;
}

bool dray_address_reserve(struct dray_address_table *table)
{
	struct dray_address_table larger = { .count = table->count };
	size_t i;

	if (table->count < table->size / 2)
		return true;
	larger.size = table->size ? 2 * table->size : 64;
	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (i = 0; i < table->size; i++)
		if (table->slots[i].value)
			larger.slots[address_table_find(
				&larger, table->slots[i].address)] =
				table->slots[i];
	free(table->slots);
	*table = larger;
	return true;
}

void *dray_address_put(struct dray_address_table *table, uint64_t address,
		       void *value)
{
	struct dray_address_slot *slot =
		&table->slots[address_table_find(table, address)];
	void *before = slot->value;

	slot->address = address;
	slot->value = value;
	table->count += !before;
	return before;
}

void *dray_address_get(const struct dray_address_table *table, uint64_t address)
{
	return table->size
		       ? table->slots[address_table_find(table, address)].value
		       : NULL;
}

void *dray_address_take(struct dray_address_table *table, uint64_t address)
{
	size_t mask = table->size - 1, hole, at;
	void *value;

	if (!table->size)
		return NULL;
	hole = address_table_find(table, address);
	value = table->slots[hole].value;
	if (!value)
		return NULL;
	/* Later entries move up if a search still finds them there. */
	for (at = (hole + 1) & mask; table->slots[at].value;
	     at = (at + 1) & mask) {
		size_t from =
			address_table_home(table, table->slots[at].address);

		if (((at - from) & mask) >= ((at - hole) & mask)) {
			table->slots[hole] = table->slots[at];
			hole = at;
		}
	}
	table->slots[hole].value = NULL;
	table->count--;
	return value;
}

void dray_address_end(struct dray_address_table *table)
{
	free(table->slots);
	*table = (struct dray_address_table){ .slots = NULL };
}
