// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Chains of entries that share an address. */
#include "base/address_chain.h"

void dray_address_join(struct dray_address_table *heads, uint64_t address,
		       struct dray_address_link *link)
{
	struct dray_address_link *head = dray_address_put(heads, address, link);

	link->address = address;
	link->next = head;
	link->before = NULL;
	if (head)
		head->before = link;
}

void dray_address_leave(struct dray_address_table *heads,
			struct dray_address_link *link)
{
	if (link->next)
		link->next->before = link->before;
	if (link->before)
		link->before->next = link->next;
	else if (link->next)
		dray_address_put(heads, link->address, link->next);
	else
		dray_address_take(heads, link->address);
}
