// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Owners of memory, as the text and the picture of a report show them. */
#include "report.h"

struct report_order report_order(const struct history *history)
{
	const struct history_owner *owners = history->owners;
	struct report_order order = { .count = 0 };
	size_t i, at;

	for (i = 0; i < history->owner_count; i++) {
		at = order.count++;
		for (; at && owners[order.owner[at - 1]].peak < owners[i].peak;
		     at--)
			order.owner[at] = order.owner[at - 1];
		order.owner[at] = i;
	}
	if (owners[HISTORY_OWNERS].peak)
		order.owner[order.count++] = HISTORY_OWNERS;
	return order;
}

char *report_owner(const struct history *history, size_t owner)
{
	const struct history_owner *entry = &history->owners[owner];

	if (owner == HISTORY_OWNERS)
		return text_format("others");
	return text_format("%s:%lld", entry->comm, (long long)entry->pid);
}
