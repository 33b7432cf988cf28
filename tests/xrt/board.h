/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The emulated board with Debian's XRT and the stand-in for its driver, which counts
 * BOs and remembers the last sync.  XRT's own functions are those that the library
 * has loaded.
 */
#ifndef DRAY_TESTS_XRT_BOARD_H
#define DRAY_TESTS_XRT_BOARD_H

#include <dlfcn.h>

#include "../unit/buffers.h"

#define PAGE 4096
#define MIB (1 << 20)
#define PARAMETERS "/sys/module/dray_test_zocl/parameters/"

static struct dray_node *node;
static struct dray_xrt_device *device;

/* A function of XRT's C interface: XRT(size_t, xrtBOSize, void *)(bo). */
#define XRT(type, name, ...) \
	((type(*)(__VA_ARGS__))(uintptr_t)dlsym(RTLD_DEFAULT, #name))

static inline void read_parameter(const char *name, char *text, size_t room)
{
	char path[128];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	got = read(fd, text, room - 1);
	assert_true(got > 0);
	text[got - 1] = 0; /* the end of the line */
	close(fd);
}

static inline void write_parameter(const char *name, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* BOs that the driver has. */
static inline int open_bos(void)
{
	char text[32];

	read_parameter("bos", text, sizeof(text));
	return atoi(text);
}

static inline struct dray_heap_info heap_named(const char *name)
{
	struct dray_heap_info heap;
	uint32_t i;

	for (i = 0; !dray_node_heap(node, i, &heap, sizeof(heap)); i++)
		if (!strcmp(heap.name, name))
			return heap;
	fail_msg("no heap %s", name);
	return heap;
}

static inline struct dray_buffer *alloc_in(const char *heap, uint32_t mode)
{
	struct dray_buffer_options options = { .heap = heap, .mode = mode };
	struct dray_buffer *buffer = NULL;

	assert_works(dray_buffer_alloc(node, MIB, &options, &buffer));
	return buffer;
}

/* The DMA address of a byte of a buffer. */
static inline uint64_t address_in(struct dray_buffer *buffer, uint64_t offset)
{
	struct dray_segment segment = { 0 };
	size_t count = 0;

	assert_works(dray_buffer_addresses(buffer, offset, 1, &segment, 1,
					   &count));
	assert_int_equal(count, 1);
	return segment.address;
}

static inline uint64_t address_of(struct dray_xrt_bo *bo)
{
	uint64_t address = 0;

	assert_works(dray_xrt_bo_address(bo, &address));
	return address;
}

static inline struct dray_xrt_bo *import_part(struct dray_buffer *buffer,
					      uint64_t offset, uint64_t size)
{
	struct dray_xrt_bo *bo = NULL;

	assert_works(
		dray_xrt_import_buffer(device, buffer, offset, size, &bo));
	return bo;
}

static inline struct dray_xrt_bo *import(struct dray_buffer *buffer)
{
	return import_part(buffer, 0, 0);
}

static inline struct dray_xrt_bo *alloc_bo(uint64_t flags)
{
	struct dray_xrt_bo *bo = NULL;

	assert_works(dray_xrt_alloc(device, MIB, flags, 0, &bo));
	return bo;
}

/* A block of all bytes of a BO. */
static inline struct dray_block *bytes_of(struct dray_xrt_bo *bo,
					  struct dray_node *on)
{
	struct dray_block *block = NULL;

	assert_works(dray_xrt_bo_block(bo, on, &block));
	return block;
}

static inline unsigned char *byte(struct dray_block *block, size_t i)
{
	return (unsigned char *)dray_block_data(block) + i;
}

static inline int open_board(void **state)
{
	node = open_node("kernel");
	assert_works(dray_xrt_device_open(0, &device));
	return 0;
}

static inline int close_board(void **state)
{
	dray_xrt_device_unref(device);
	dray_node_unref(node);
	/* Nothing of any test is left. */
	assert_int_equal(open_bos(), 0);
	return 0;
}

#endif /* DRAY_TESTS_XRT_BOARD_H */
