/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a transfer means, written down as the plainest loop: the header's
 * sentence about offset, axes, run and pattern over ordinary memory.  Tests
 * compare whole buffers with it, so that a byte between the rows counts.
 */
#ifndef SELFTEST_TRANSFER_MODEL_H
#define SELFTEST_TRANSFER_MODEL_H

#include "system.h"

/* The memory that stands for a buffer's fd. */
struct model_memory {
	int fd;
	uint8_t *bytes;
};

/* Does one transfer between the memories, which must hold its fds. */
void model_transfer(const struct model_memory *memories, unsigned int count,
		    const struct dray_transfer *transfer);

#endif
