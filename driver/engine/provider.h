/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Providers: devices whose drivers register engines.
 */
#ifndef DRAY_PROVIDER_H
#define DRAY_PROVIDER_H

#include <linux/types.h>

struct device;
struct dray_node;

/* Watches the buses of providers, from the module's beginning to its end. */
int dray_providers_init(void);
void dray_providers_exit(void);

/*
 * Keeps all providers from being unbound, until dray_providers_release().  The caller
 * requests a channel meanwhile, and links or releases it.  -ENODEV if the node goes,
 * -EINTR if the task is killed, -EBUSY if one is being unbound for seconds.
 */
int dray_providers_hold(struct dray_node *node);
void dray_providers_release(void);

/* Links @dev to @provider, so that it goes and sleeps first; false: it cannot. */
bool dray_provider_link(struct dray_node *node, struct device *dev,
			struct device *provider);

#endif /* DRAY_PROVIDER_H */
