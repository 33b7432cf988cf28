// SPDX-License-Identifier: GPL-2.0-only
/*
 * Providers.  The kernel links a node to the providers that its device tree names.
 * Other nodes find theirs by requesting a channel.  If the provider is unbound before
 * the node is linked to it, its driver frees the channel all the same.  So no device
 * of a bus that providers have is unbound in between.
 */
#include <linux/amba/bus.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/sched/signal.h>

#include "base/node.h"
#include "provider.h"

/* A millisecond or two each: for the hold, and then for a provider's lock. */
#define DRAY_HOLD_TRIES 1000
#define DRAY_LOCK_TRIES 10000

static DEFINE_MUTEX(dray_providers_lock);
/* Devices on their way out, under the lock. */
static unsigned int dray_providers_leaving;

static int dray_provider_notify(struct notifier_block *block,
				unsigned long event, void *dev)
{
	if (event != BUS_NOTIFY_UNBIND_DRIVER &&
	    event != BUS_NOTIFY_UNBOUND_DRIVER)
		return NOTIFY_DONE;
	mutex_lock(&dray_providers_lock);
	if (event == BUS_NOTIFY_UNBIND_DRIVER)
		dray_providers_leaving++;
	else if (dray_providers_leaving)
		dray_providers_leaving--;
	mutex_unlock(&dray_providers_lock);
	return NOTIFY_OK;
}

static struct dray_provider_bus {
	const struct bus_type *bus;
	struct notifier_block block;
} dray_provider_buses[] = {
	{ &platform_bus_type, { .notifier_call = dray_provider_notify } },
#ifdef CONFIG_PCI
	{ &pci_bus_type, { .notifier_call = dray_provider_notify } },
#endif
#ifdef CONFIG_ARM_AMBA
	{ &amba_bustype, { .notifier_call = dray_provider_notify } },
#endif
};

static void dray_providers_unwatch(unsigned int count)
{
	struct dray_provider_bus *bus = dray_provider_buses;

	/* Older kernels want a bus that is not const. */
	for (; count--; bus++)
		bus_unregister_notifier((void *)bus->bus, &bus->block);
}

int dray_providers_init(void)
{
	struct dray_provider_bus *bus = dray_provider_buses;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(dray_provider_buses); i++, bus++) {
		ret = bus_register_notifier((void *)bus->bus, &bus->block);
		if (ret) {
			dray_providers_unwatch(i);
			return ret;
		}
	}
	return 0;
}

void dray_providers_exit(void)
{
	dray_providers_unwatch(ARRAY_SIZE(dray_provider_buses));
}

/* Tries again: a device on its way out may be this node, wait for it, or last. */
int dray_providers_hold(struct dray_node *node)
{
	unsigned int tries;

	for (tries = 0; tries < DRAY_HOLD_TRIES; tries++) {
		if (mutex_lock_killable(&dray_providers_lock))
			return -EINTR;
		if (!dray_providers_leaving)
			return 0;
		mutex_unlock(&dray_providers_lock);
		if (dray_node_check(node))
			return -ENODEV;
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(1000, 2000);
	}
	return -EBUSY;
}

void dray_providers_release(void)
{
	mutex_unlock(&dray_providers_lock);
}

/*
 * Locks @provider, so that its unbinding does not begin.  If it began already, it
 * waits for the hold to end, and will not unbind a new consumer.  Others hold the lock
 * for a moment; some of them may wait for the hold, too.
 */
static bool dray_provider_lock(struct dray_node *node, struct device *provider)
{
	unsigned int tries;

	for (tries = 0; tries < DRAY_LOCK_TRIES; tries++) {
		if (device_trylock(provider))
			return true;
		if (READ_ONCE(provider->links.status) != DL_DEV_DRIVER_BOUND ||
		    dray_node_check(node) || fatal_signal_pending(current))
			break;
		usleep_range(1000, 2000);
	}
	return false;
}

bool dray_provider_link(struct dray_node *node, struct device *dev,
			struct device *provider)
{
	struct device_link *link = NULL;

	lockdep_assert_held(&dray_providers_lock);
	if (!dray_provider_lock(node, provider))
		return false;
	if (provider->links.status == DL_DEV_DRIVER_BOUND)
		link = device_link_add(dev, provider,
				       DL_FLAG_AUTOREMOVE_CONSUMER);
	device_unlock(provider);
	return link;
}
