// SPDX-License-Identifier: GPL-2.0-only
/*
 * dray.ko: contiguous DMA buffers as dma-bufs, and transfers between them.
 * This file is the module's beginning and end; binding.c is where a
 * device comes in, ioctl.c where a call does.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "base/node.h"
#include "heap/heap.h"
#include "engine/engine.h"
#include "binding.h"
#include "debug.h"

static int __init dray_init(void)
{
	int ret;

	ret = dray_heaps_init();
	if (ret)
		return ret;
	ret = dray_channels_init();
	if (ret)
		goto exit_heaps;
	dray_debug_init();
	ret = dray_bindings_register();
	if (ret)
		goto exit_debug;
	return 0;

exit_debug:
	dray_debug_exit();
	dray_channels_exit();
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
	dray_channels_exit();
	/* The last fences give the module back from an RCU callback. */
	rcu_barrier();
	dray_heaps_exit();
}

module_init(dray_init);
module_exit(dray_exit);

MODULE_DESCRIPTION("Contiguous DMA buffers for array programs");
MODULE_VERSION(DRAY_VERSION);
MODULE_LICENSE("GPL");
