/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * io_uring with one registered buffer: it pins a mapping's pages, and lets go
 * of them some time after the process has gone.
 */
#ifndef SELFTEST_RING_H
#define SELFTEST_RING_H

#include <linux/io_uring.h>

#include "system.h"

struct ring {
	int fd;
	uint8_t *queues;
	size_t size;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
};

/* Each 0 or a negative errno. */
int ring_open(struct ring *ring);
void ring_close(struct ring *ring);
int ring_register(struct ring *ring, void *bytes, size_t size);

/* Of a test. */
#define OPEN_RING(ring)                                                 \
	do {                                                            \
		int _ret = ring_open(ring);                             \
		if (_ret == -ENOSYS || _ret == -EPERM)                  \
			SKIP(return, "this kernel has no io_uring: %s", \
				   strerror(-_ret));                    \
		ASSERT_EQ(0, _ret);                                     \
	} while (0)

/*
 * IORING_OP_READ_FIXED or IORING_OP_WRITE_FIXED with the registered buffer, at
 * the beginning of @file: only starts it, or waits for it and returns the
 * number of bytes.
 */
int ring_start(struct ring *ring, uint8_t operation, int file, void *bytes,
	       size_t size);
int ring_run(struct ring *ring, uint8_t operation, int file, void *bytes,
	     size_t size);

#endif
