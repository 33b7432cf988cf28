// SPDX-License-Identifier: GPL-2.0-only
/*
 * Awaited pages: who pays for one stands in the page itself, since whoever
 * holds it has no more than a reference, and to note it takes no memory.
 */
#include <linux/mm.h>
#include <linux/module.h>

#include "account.h"
#include "awaited.h"

/* A module that is on its way out cannot stay. */
void dray_page_await(struct dray_awaited *awaited, struct page *page,
		     struct dray_charge *charge, size_t bytes)
{
	set_page_private(page, (unsigned long)charge);
	if (!charge)
		return;
	dray_charge_keep(charge, bytes);
	if (!awaited->count++)
		awaited->stays = try_module_get(THIS_MODULE);
}

/* The work item that may drop the reference is waited for by dray's exit. */
void dray_page_let_go(struct dray_awaited *awaited, struct page *page,
		      size_t bytes)
{
	struct dray_charge *charge = (struct dray_charge *)page_private(page);

	set_page_private(page, 0);
	if (!charge)
		return;
	dray_charge_let_go(charge, bytes);
	if (!--awaited->count && awaited->stays) {
		awaited->stays = false;
		module_put(THIS_MODULE);
	}
}
