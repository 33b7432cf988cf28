// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The kernel's own test of suspending devices; see sleep.h.
 */
#include "binding.h"
#include "sleep.h"

int system_sleep(void)
{
	int ret, undo;

	/* It would be spent in a loop, which an emulated processor is bad at. */
	ret = write_text("/sys/module/suspend/parameters/pm_test_delay", "0");
	if (!ret)
		ret = write_text("/sys/power/pm_test", "devices");
	if (ret)
		return ret;
	ret = write_text("/sys/power/state", "freeze");
	undo = write_text("/sys/power/pm_test", "none");
	return ret ? ret : undo;
}
