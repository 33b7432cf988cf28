// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Boards that dt generate knows by name: the cells of the root of their trees, and
 * the memory that every device of the board reaches.
 */
#include "plan.h"

#define BELOW_1G              \
	{                     \
		0, 0x3fffffff \
	}
#define BELOW_2G              \
	{                     \
		0, 0x7fffffff \
	}
#define BELOW_4G              \
	{                     \
		0, 0xffffffff \
	}

const struct board boards[] = {
	{ "zynq", "Zynq-7000: ZC702, ZC706, Zed board", { 1, 1 }, BELOW_1G },
	{ "zynqmp", "Zynq UltraScale+: ZCU102, KV260", { 2, 2 }, BELOW_2G },
	{ "versal", "Versal", { 2, 2 }, BELOW_2G },
	{ "rpi4", "Raspberry Pi 4", { 2, 1 }, BELOW_1G },
	{ "rpi5", "Raspberry Pi 5", { 2, 2 }, BELOW_4G },
	{ "generic",
	  "a root with 2 address and 2 size cells",
	  { 2, 2 },
	  BELOW_4G },
	{ 0 },
};
