// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A stand-in for the machine: /proc and /sys of a folder, and a clock that goes
 * on by one second with each look, so that rates are exact.
 *
 * DRAY_ROOT	the folder; without it there are none
 */
#include <stdlib.h>

#include "machine.h"

const char *machine_root(void)
{
	const char *root = getenv("DRAY_ROOT");

	return root ? root : "/nonexistent";
}

uint64_t machine_clock(void)
{
	static uint64_t seconds = 1000;

	return seconds++ * 1000000000;
}
