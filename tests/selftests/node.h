/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The node under test, its heaps and its buffers.  Thin wrappers over the
 * calls of linux/dray.h: each returns 0 or a negative errno and hides nothing
 * of the structure, so that a test can look at every field of the reply.
 */
#ifndef SELFTEST_NODE_H
#define SELFTEST_NODE_H

#include "system.h"

struct buffer {
	int fd;
	uint64_t id;
	size_t size;
	uint8_t *bytes; /* a shared, writable mapping of all of it */
};

/* Values of the calls' structures; further fields may follow. */
#define SUBMIT_OF(index, list, number, ...)                                    \
	{                                                                      \
		.channel = (index), .transfers = (uintptr_t)(list),            \
		.count = (number), __VA_ARGS__                                 \
	}
#define COPY_OF(to, from, bytes, ...)                                          \
	{                                                                      \
		.op = DRAY_OP_COPY, .dst_fd = (to), .src_fd = (from),          \
		.run = (bytes), __VA_ARGS__                                    \
	}
#define SYNC_OF(device, side, way, list, number, ...)                          \
	{                                                                      \
		.target = (device), .owner = (side), .direction = (way),       \
		.ranges = (uintptr_t)(list), .count = (number), __VA_ARGS__    \
	}

/* DRAY_NODE, or /dev/dray0 */
const char *node_path(void);

/* A file descriptor, or a negative errno. */
int node_open(void);

int node_call(int node, unsigned long request, void *argument);
int node_info(int node, struct dray_info *info);
int node_heap(int node, uint32_t index, struct dray_heap_info *heap);
int node_channel(int node, uint32_t index, struct dray_channel_info *channel);

/* The heap's description, or -ENOENT where the node has none of that type. */
int node_find_heap(int node, uint32_t type, struct dray_heap_info *heap);
const char *heap_type_name(uint32_t type);

/*
 * Was the module told to use devices even where they get copies (bounce=1)?
 * Then no mapping is longer than a copy can be, 256 KiB, and where the memory
 * lies says nothing about addresses.
 */
bool node_copies(void);

/* Caches, or copies, that SYNC has to do with. */
bool node_is_maintained(const struct dray_info *info);

/* The number of buffers that this caller sees, or a negative errno. */
int node_count(int node);

/* 1 if the buffer is in LIST, 0 if not, or a negative errno. */
int node_lists(int node, uint64_t id);

int node_buffer_info(int node, uint64_t id, struct dray_buffer_info *info);

/* Frees what is held since a test that knew an address ended. */
int node_reclaim(void);

/* Cached where the heap has that, else the first mode that it has. */
uint32_t heap_usual_mode(const struct dray_heap_info *heap);

/* Allocates, and maps where bytes are wanted.  buffer_close undoes both. */
int buffer_allocate(int node, uint32_t heap, size_t size,
		    struct buffer *buffer);
int buffer_open(int node, uint32_t heap, size_t size, struct buffer *buffer);
void buffer_close(struct buffer *buffer);

/* DMA_BUF_IOCTL_SYNC */
int buffer_cpu_access(int fd, uint64_t flags);

static inline int cpu_begin(int fd, uint64_t access)
{
	return buffer_cpu_access(fd, DMA_BUF_SYNC_START | access);
}

static inline int cpu_end(int fd, uint64_t access)
{
	return buffer_cpu_access(fd, DMA_BUF_SYNC_END | access);
}

/* SYNC of one plain range for the node. */
int buffer_sync(int node, int fd, uint32_t owner, uint32_t direction,
		uint64_t offset, uint64_t width);

/* The index of the first byte that is not value, or -1. */
int64_t first_other_byte(const uint8_t *bytes, size_t size, uint8_t value);

/* The index of the first byte that differs, or -1. */
int64_t first_difference(const uint8_t *a, const uint8_t *b, size_t size);

/* The same bytes for the same seed. */
void fill_random(uint8_t *bytes, size_t size, uint64_t seed);
uint64_t next_random(uint64_t *state);

#endif
