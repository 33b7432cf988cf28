/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Dma-bufs of other drivers: vgem's, udmabuf's and the system heap's.
 */
#ifndef SELFTEST_FOREIGN_H
#define SELFTEST_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

enum foreign_kind {
	FOREIGN_VGEM,
	FOREIGN_UDMABUF,
	FOREIGN_SYSTEM_HEAP,
};

/* A descriptor, -ENODEV where the machine has no such driver, or an errno. */
int foreign_open(enum foreign_kind kind, size_t size);

#endif
