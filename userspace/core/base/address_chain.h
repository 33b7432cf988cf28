/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Chains of entries that share an address, in a table of their heads.  An entry
 * is found, or leaves its chain, without a look at any other.  A key need not
 * be an address.
 */
#ifndef DRAY_BASE_ADDRESS_CHAIN_H
#define DRAY_BASE_ADDRESS_CHAIN_H

#include "base/address_table.h"

/* The link that each chained structure embeds. */
struct dray_address_link {
	uint64_t address;
	struct dray_address_link *next;
	struct dray_address_link *before;	/* NULL: this one is the head */
};

/* The structure around the @member @link; NULL if @link is NULL. */
#define DRAY_LINKED(link, type, member)                                 \
	((link) ? (type *)(void *)((char *)(link) - offsetof(type, member)) \
		: NULL)

/* In front of its chain; dray_address_reserve() has made room. */
void dray_address_join(struct dray_address_table *heads, uint64_t address,
		       struct dray_address_link *link);
void dray_address_leave(struct dray_address_table *heads,
			struct dray_address_link *link);

#endif /* DRAY_BASE_ADDRESS_CHAIN_H */
