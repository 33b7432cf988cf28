// SPDX-License-Identifier: GPL-2.0-only
/*
 * Awaited pages.  The page itself stores its charge: its holder has only a
 * reference, and remembering it must not take memory.
 */
#include <linux/mm.h>
#include <linux/module.h>

#include "account.h"
#include "awaited.h"

/* A module that is on its way out cannot stay. */
void dray_awaited_add(struct dray_awaited *awaited, struct page *page,
		      struct dray_charge *charge, size_t bytes)
{
	set_page_private(page, (unsigned long)charge);
	if (!charge)
		return;
	dray_charge_await(charge, bytes);
	if (!awaited->count++)
		awaited->stays = try_module_get(THIS_MODULE);
}

/* The work item that may drop the reference is waited for by dray's exit. */
void dray_awaited_drop(struct dray_awaited *awaited, struct page *page,
		       size_t bytes)
{
	struct dray_charge *charge = (struct dray_charge *)page_private(page);

	set_page_private(page, 0);
	if (!charge)
		return;
	dray_charge_return(charge, bytes);
	if (!--awaited->count && awaited->stays) {
		awaited->stays = false;
		module_put(THIS_MODULE);
	}
}
