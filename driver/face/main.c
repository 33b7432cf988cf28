// SPDX-License-Identifier: GPL-2.0-only
/*
 * dray.ko: contiguous DMA buffers as dma-bufs, and transfers between them.
 * This file is the module's beginning and end.  Devices come in by binding.c,
 * calls by ioctl.c.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "base/node.h"
#include "heap/heaps.h"
#include "engine/engine.h"
#include "binding.h"
#include "debug.h"
#include "pci.h"
#include "platform.h"
#include "virtual.h"

static int __init dray_bindings_register(void)
{
	int ret;

	ret = dray_virtual_register();
	if (ret)
		return ret;
	ret = dray_pci_register();
	if (ret)
		goto unregister_virtual;
	ret = dray_platform_register();
	if (ret)
		goto unregister_pci;
	/* Nothing fails from here on. */
	dray_bindings_open();
	dray_pci_attach();
	dray_platform_attach();
	return 0;

unregister_pci:
	dray_pci_unregister();
unregister_virtual:
	dray_virtual_unregister();
	return ret;
}

static void __exit dray_bindings_unregister(void)
{
	dray_platform_unregister();
	dray_pci_unregister();
	dray_virtual_unregister();
}

static int __init dray_init(void)
{
	int ret;

	ret = dray_heaps_init();
	if (ret)
		return ret;
	if (DRAY_ENGINES)
		ret = dray_engine_init();
	if (ret)
		goto exit_heaps;
	dray_debug_init();
	ret = dray_bindings_register();
	if (ret)
		goto exit_debug;
	return 0;

exit_debug:
	dray_debug_exit();
	if (DRAY_ENGINES)
		dray_engine_exit();
	/* A node may have come and gone: as in dray_exit(). */
	rcu_barrier();
exit_heaps:
	dray_heaps_exit();
	return ret;
}

/* Files, buffers and fences each hold the module, so none is left. */
static void __exit dray_exit(void)
{
	dray_bindings_unregister();
	dray_debug_exit();
	if (DRAY_ENGINES)
		dray_engine_exit();
	/* The last fences give the module back from an RCU callback. */
	rcu_barrier();
	dray_heaps_exit();
}

module_init(dray_init);
module_exit(dray_exit);

MODULE_DESCRIPTION("Contiguous DMA buffers for array programs");
MODULE_VERSION(DRAY_MODULE_VERSION);
MODULE_LICENSE("GPL");
