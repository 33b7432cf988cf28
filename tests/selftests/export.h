/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Read-only descriptors of buffers, for the tests of EXPORT.
 */
#ifndef SELFTEST_EXPORT_H
#define SELFTEST_EXPORT_H

#include "harness.h"

#include "node.h"
#include "setup.h"

static inline int export_fd(int node, int fd)
{
	struct dray_export export = {
		.buffer_fd = fd,
		.flags = DRAY_EXPORT_READ_ONLY,
	};
	int ret = node_call(node, DRAY_IOC_EXPORT, &export);

	return ret ? ret : export.fd;
}

static inline int map_error(size_t size, int protection, int flags, int fd)
{
	void *bytes = mmap(NULL, size, protection, flags, fd, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	munmap(bytes, size);
	return 0;
}

/* Declares a buffer of a heap with 0x11 everywhere, and its read-only descriptor. */
#define OPEN_READ_ONLY(buffer, reader)                        \
	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page); \
	memset(buffer.bytes, 0x11, buffer.size);               \
	int reader = export_fd(self->node, buffer.fd);         \
	ASSERT_LE(0, reader)

#define MAP_READ_ONLY(bytes, size, reader)                                    \
	uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, reader, 0); \
	ASSERT_NE(MAP_FAILED, (void *)bytes)

/*
 * A cache keeps what the CPU wrote until it is written back; a device's copy
 * replaces it, unless it was handed over before.
 */
static inline int hand_to_copy(int node, const struct buffer *buffer)
{
	if (!node_copies())
		return 0;
	return buffer_sync(node, buffer->fd, DRAY_SYNC_FOR_DEVICE,
			   DRAY_TO_DEVICE, 0, buffer->size);
}

#endif
