/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The display of the emulated ZCU102 has no refresh of its own: each picture that the
 * host takes is one vertical sync.  Programs ask for them in a page that the device
 * tree keeps out of the kernel's map, and that screen.py reads.  They map it from
 * /dev/mem.
 */
#ifndef DRAY_SCREEN_H
#define DRAY_SCREEN_H

#include <stdint.h>

#define SCREEN_ADDRESS 0x3ffe0000 /* physical, of struct screen */

struct screen {
	uint32_t pictures; /* taken so far, as the guest wants: 0.ppm, 1.ppm, ... */
	uint32_t refreshes; /* nonzero: 50 vertical syncs a second, without pictures */
};

#endif /* DRAY_SCREEN_H */
