// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters and work queues that the channels of all nodes share.
 */
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>

#include "engine.h"
#include "feed.h"
#include "provider.h"

static unsigned int max_runs = 65536;
module_param(max_runs, uint, 0444);
MODULE_PARM_DESC(max_runs, "descriptors that one SUBMIT may take");

static unsigned long max_bytes = SZ_1G;
module_param(max_bytes, ulong, 0444);
MODULE_PARM_DESC(max_bytes, "bytes that one SUBMIT may move");

static unsigned int watchdog_ms = 10000;
module_param(watchdog_ms, uint, 0644);
MODULE_PARM_DESC(watchdog_ms,
		 "milliseconds that a batch of descriptors may take");

struct workqueue_struct *dray_workqueue;
struct workqueue_struct *dray_clean_workqueue;

/* Within limits, so that each fence signals in the end. */
unsigned int dray_watchdog_ms(void)
{
	return clamp(READ_ONCE(watchdog_ms), 100U, 600000U);
}

u64 dray_submit_max_runs(void)
{
	return max_runs;
}

u64 dray_submit_max_bytes(void)
{
	return max_bytes;
}

int dray_engine_init(void)
{
	int ret;

	max_runs = max(max_runs, 1U);
	max_bytes = max(max_bytes, PAGE_SIZE);
	dray_workqueue =
		alloc_workqueue("dray", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!dray_workqueue)
		return -ENOMEM;
	dray_clean_workqueue = alloc_workqueue("dray_clean", WQ_UNBOUND, 0);
	ret = dray_clean_workqueue ? dray_providers_init() : -ENOMEM;
	if (!ret)
		return 0;
	if (dray_clean_workqueue)
		destroy_workqueue(dray_clean_workqueue);
	destroy_workqueue(dray_workqueue);
	return ret;
}

void dray_engine_exit(void)
{
	dray_providers_exit();
	destroy_workqueue(dray_clean_workqueue);
	destroy_workqueue(dray_workqueue);
}
