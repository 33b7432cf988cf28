// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What the engine for tests can be told, in
 * /sys/module/dray_test_engine/parameters: how it is made, what it does wrong
 * while it runs, and that the machine stands still.
 */
#include <linux/delay.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/stop_machine.h>

#include "dray_test_engine.h"

struct test_knobs test_knobs = {
	.mask_bits = 64,
	.max_segment = 65536,
	.slots = 4,
};

/* As the engine is made. */
module_param_named(mask_bits, test_knobs.mask_bits, uint, 0444);
MODULE_PARM_DESC(mask_bits, "bits of the addresses that it reaches");
module_param_named(align_shift, test_knobs.align_shift, uint, 0444);
MODULE_PARM_DESC(align_shift, "addresses and lengths are multiples of 2^N");
module_param_named(fill, test_knobs.fill, bool, 0444);
MODULE_PARM_DESC(fill, "it fills by itself");
module_param_named(no_terminate, test_knobs.no_terminate, bool, 0444);
MODULE_PARM_DESC(no_terminate, "it has no function that stops it");
module_param_named(max_segment, test_knobs.max_segment, uint, 0444);
MODULE_PARM_DESC(max_segment, "bytes of one descriptor");
module_param_named(unordered, test_knobs.unordered, bool, 0444);
MODULE_PARM_DESC(unordered,
		 "it does the last descriptor that was issued first");
module_param_named(zynqmp, test_knobs.zynqmp, bool, 0444);
MODULE_PARM_DESC(zynqmp, "its driver has the name of the ZynqMP's");

/* While it runs. */
module_param_named(slots, test_knobs.slots, uint, 0644);
MODULE_PARM_DESC(slots, "descriptors that a channel has; 0: none");
module_param_named(delay_ms, test_knobs.delay_ms, uint, 0644);
MODULE_PARM_DESC(delay_ms, "milliseconds before a descriptor is done");
module_param_named(hang, test_knobs.hang, bool, 0644);
MODULE_PARM_DESC(hang, "nothing is done until this is cleared");
module_param_named(stuck, test_knobs.stuck, uint, 0644);
MODULE_PARM_DESC(stuck, "the same of some channels: 2^N for channel N");
module_param_named(fail, test_knobs.fail, bool, 0644);
MODULE_PARM_DESC(fail, "descriptors end with an error");
module_param_named(lose, test_knobs.lose, bool, 0644);
MODULE_PARM_DESC(lose,
		 "one descriptor is done, what was issued with it is lost");
module_param_named(reset, test_knobs.reset, bool, 0644);
MODULE_PARM_DESC(reset, "one descriptor succeeds undone, the others are lost");
module_param_named(idle, test_knobs.idle, bool, 0644);
MODULE_PARM_DESC(idle, "descriptors are not done, and succeed");
module_param_named(mute, test_knobs.mute, bool, 0644);
MODULE_PARM_DESC(mute, "descriptors are done, and nothing calls back");
module_param_named(stale, test_knobs.stale, bool, 0644);
MODULE_PARM_DESC(stale, "every callback comes once more, as of an earlier use");
module_param_named(stubborn, test_knobs.stubborn, bool, 0644);
MODULE_PARM_DESC(stubborn, "what stops it fails, and what is out goes on");
module_param_named(parting, test_knobs.parting, bool, 0644);
MODULE_PARM_DESC(parting, "what is out calls back as its channel is released");
module_param_named(ahead, test_knobs.ahead, bool, 0644);
MODULE_PARM_DESC(ahead, "it reads before unfenced ones in front have written");
module_param_named(early, test_knobs.early, uint, 0444);
MODULE_PARM_DESC(early, "how many were read so, for reading");
module_param_named(linger, test_knobs.linger, bool, 0644);
MODULE_PARM_DESC(linger, "being unbound goes no further until this is cleared");
module_param_named(lingers, test_knobs.lingers, bool, 0444);
MODULE_PARM_DESC(lingers, "it is being unbound and waits, for reading");
module_param_named(locked, test_knobs.locked, bool, 0444);
MODULE_PARM_DESC(locked, "its device is locked so, for reading");
module_param_named(descriptors, test_knobs.descriptors, uint, 0444);
MODULE_PARM_DESC(descriptors, "how many were done, for reading");
module_param_named(most, test_knobs.most, uint, 0644);
MODULE_PARM_DESC(most, "bytes that were issued at once, at most");
module_param_named(restless, test_knobs.restless, uint, 0644);
MODULE_PARM_DESC(restless,
		 "descriptors that it had or got while the system slept");

/*
 * No processor takes an interrupt until the time is over, and then an engine that
 * hangs goes on.  Emulated processors take turns, and each delay may last as long
 * as another's turn.
 */
static int test_stand_still(void *milliseconds)
{
	unsigned int most = *(unsigned int *)milliseconds, i;
	u64 end = ktime_get_ns() + (u64)most * NSEC_PER_MSEC;

	for (i = 0; i < most && ktime_get_ns() < end; i++)
		mdelay(1);
	test_knobs.hang = false;
	return 0;
}

static int still_set(const char *text, const struct kernel_param *param)
{
	unsigned int milliseconds;
	int ret;

	ret = kstrtouint(text, 0, &milliseconds);
	return ret ? ret : stop_machine(test_stand_still, &milliseconds, NULL);
}

static const struct kernel_param_ops still_ops = { .set = still_set };
module_param_cb(still, &still_ops, NULL, 0200);
MODULE_PARM_DESC(still, "writing lets the machine stand still: milliseconds");
