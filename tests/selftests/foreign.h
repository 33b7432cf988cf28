/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Dma-bufs of other drivers: vgem's, udmabuf's and the system heap's.
 */
#ifndef SELFTEST_FOREIGN_H
#define SELFTEST_FOREIGN_H

#include "system.h"

enum foreign_kind {
	FOREIGN_VGEM,
	FOREIGN_UDMABUF,
	FOREIGN_SYSTEM_HEAP,
};

/* A descriptor, -ENODEV where the machine has no such driver, or an errno. */
int foreign_open(enum foreign_kind kind, size_t size);

/*
 * A file of memory, and a dma-buf of udmabuf on a part of it, in whole pages: a
 * descriptor, -ENODEV where the machine has no udmabuf, or an errno.
 */
int foreign_memory(size_t size);
int foreign_of_memory(int memory, size_t offset, size_t size);

#endif
