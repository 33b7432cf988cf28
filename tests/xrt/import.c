// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray's buffers and arrays as BOs, by import of their dma-bufs. */
#include <sys/ioctl.h>

#include "board.h"

FACTS_SHARE(open_board, close_board)

/* Calls @fact with a buffer of each heap in each of its modes. */
static void with_each_kind(void (*fact)(struct dray_buffer *buffer,
					uint32_t mode))
{
	struct dray_heap_info heap;
	unsigned int kinds = 0;
	uint32_t i, mode;

	for (i = 0; !dray_node_heap(node, i, &heap, sizeof(heap)); i++) {
		for (mode = 0; mode <= DRAY_MODE_DEVICE; mode++) {
			struct dray_buffer *buffer;

			if (!(heap.modes & 1u << mode))
				continue;
			buffer = alloc_in(heap.name, mode);
			fact(buffer, mode);
			dray_buffer_unref(buffer);
			kinds++;
		}
	}
	/* reserved, cma, pages; carveout in three modes */
	assert_true(kinds >= 6);
}

static void has_its_address_and_size(struct dray_buffer *buffer, uint32_t mode)
{
	struct dray_xrt_bo *bo = import(buffer);

	assert_int_equal(address_of(bo), address_in(buffer, 0));
	assert_int_equal(dray_xrt_bo_size(bo), MIB);
	dray_xrt_bo_unref(bo);
}

FACT(bo_of_any_heap_and_mode_has_the_address_and_size_of_the_buffer)
{
	with_each_kind(has_its_address_and_size);
}

static void is_synced_if_cached(struct dray_buffer *buffer, uint32_t mode)
{
	struct dray_xrt_bo *bo = import(buffer);

	assert_int_equal(dray_xrt_side(bo), mode == DRAY_MODE_CACHED
						    ? DRAY_XRT_SIDE_XRT
						    : DRAY_XRT_SIDE_NONE);
	dray_xrt_bo_unref(bo);
}

FACT(memory_that_is_not_cached_needs_no_side_to_sync)
{
	with_each_kind(is_synced_if_cached);
}

FACT(part_of_a_buffer_has_its_address_for_xrt_too)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = import_part(buffer, 8192, 100);
	void *handle = dray_xrt_bo_handle(bo);

	assert_int_equal(address_of(bo), address_in(buffer, 8192));
	assert_int_equal(XRT(uint64_t, xrtBOAddress, void *)(handle),
			 address_of(bo));
	assert_int_equal(XRT(size_t, xrtBOSize, void *)(handle), 100);
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}

FACT(part_of_a_part_has_its_address_for_xrt_too)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = import_part(buffer, 8192, 8192);
	struct dray_xrt_bo *part = NULL;

	assert_works(dray_xrt_bo_part(bo, 4096, 64, &part));
	dray_xrt_bo_unref(bo);
	assert_int_equal(address_of(part), address_in(buffer, 8192 + 4096));
	assert_int_equal(XRT(uint64_t, xrtBOAddress,
			     void *)(dray_xrt_bo_handle(part)),
			 address_of(part));
	dray_xrt_bo_unref(part);
	dray_buffer_unref(buffer);
}

FACT(import_of_the_same_buffer_twice_is_one_for_the_driver)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *first = import(buffer);
	struct dray_xrt_bo *second = import(buffer);

	assert_ptr_equal(dray_xrt_bo_handle(first), dray_xrt_bo_handle(second));
	assert_int_equal(open_bos(), 1);
	dray_xrt_bo_unref(first);
	assert_works(dray_xrt_sync(second, DRAY_SYNC_FOR_DEVICE, 0, 0));
	dray_xrt_bo_unref(second);
	assert_int_equal(open_bos(), 0);
	dray_buffer_unref(buffer);
}

FACT(import_by_another_buffer_of_the_same_memory_is_the_same)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_buffer *other = NULL;
	struct dray_xrt_bo *first = import(buffer);
	struct dray_xrt_bo *second;

	assert_works(dray_buffer_import(node, dray_buffer_fd(buffer), &other));
	second = import(other);
	assert_ptr_equal(dray_xrt_bo_handle(first), dray_xrt_bo_handle(second));
	dray_buffer_unref(other);
	dray_xrt_bo_unref(first);
	dray_xrt_bo_unref(second);
	dray_buffer_unref(buffer);
}

FACT(devices_that_are_opened_twice_do_not_take_each_others_import)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *first = import(buffer), *second = NULL;
	struct dray_xrt_device *again = NULL;

	assert_works(dray_xrt_device_open(0, &again));
	assert_works(dray_xrt_import_buffer(again, buffer, 0, 0, &second));
	assert_int_equal(address_of(first), address_of(second));
	dray_xrt_device_unref(again);
	dray_xrt_bo_unref(first);
	assert_works(dray_xrt_sync(second, DRAY_SYNC_FOR_DEVICE, 0, 0));
	dray_xrt_bo_unref(second);
	assert_int_equal(open_bos(), 0);
	dray_buffer_unref(buffer);
}

static void mark(void *owner)
{
	++*(int *)owner;
}

FACT(device_of_the_caller_is_released_after_its_last_bo)
{
	void *handle = XRT(void *, xrtDeviceOpen, unsigned int)(0);
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_device *adopted = NULL;
	struct dray_xrt_bo *bo = NULL;
	int released = 0;

	assert_works(dray_xrt_device_adopt(handle, mark, &released, &adopted));
	assert_ptr_equal(dray_xrt_device_handle(adopted), handle);
	assert_works(dray_xrt_import_buffer(adopted, buffer, 0, 0, &bo));
	dray_xrt_device_unref(adopted);
	assert_int_equal(released, 0);
	dray_xrt_bo_unref(bo);
	assert_int_equal(released, 1);
	assert_int_equal(XRT(int, xrtDeviceClose, void *)(handle), 0);
	dray_buffer_unref(buffer);
}

FACT(buffer_dropped_before_its_bo_stays)
{
	size_t before = buffers_of(node);
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	uint64_t address = address_in(buffer, 0);
	struct dray_xrt_bo *bo = import(buffer);

	dray_buffer_unref(buffer);
	assert_int_equal(buffers_of(node), before + 1);
	assert_int_equal(address_of(bo), address);
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, 0, 0));
	dray_xrt_bo_unref(bo);
	assert_int_equal(buffers_of(node), before);
}

FACT(bo_dropped_before_its_buffer_leaves_the_memory)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	unsigned char *bytes = dray_buffer_data(buffer);
	struct dray_xrt_bo *bo = import(buffer);

	bytes[5] = 77;
	dray_xrt_bo_unref(bo);
	assert_int_equal(bytes[5], 77);
	dray_buffer_unref(buffer);
}

FACT(device_dropped_before_its_bo_stays)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_device *again = NULL;
	struct dray_xrt_bo *bo = NULL;

	assert_works(dray_xrt_device_open(0, &again));
	assert_works(dray_xrt_import_buffer(again, buffer, 0, 0, &bo));
	dray_xrt_device_unref(again);
	assert_int_equal(address_of(bo), address_in(buffer, 0));
	assert_ptr_equal(dray_xrt_bo_device(bo), again);
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}

/* A block of 1000 floats, and a view of them. */
static struct dray_block *pooled(struct dray_pool *pool, struct dray_view *view)
{
	struct dray_block *block = NULL;

	assert_works(dray_block_create_pooled(pool, 4000, 0, &block));
	assert_works(dray_view_init(view, dray_block_data(block), f4, 1,
				    DIMS(1000), NULL));
	return block;
}

FACT(views_of_a_pool_and_their_slices_have_their_addresses)
{
	struct dray_xrt_bo *bo = NULL, *part = NULL;
	struct dray_pool *pool = NULL;
	struct dray_location where;
	struct dray_block *block;
	struct dray_view view, slice;

	assert_works(dray_pool_create(node, NULL, &pool));
	block = pooled(pool, &view);
	/* Every second element, backwards, without the first and the last. */
	assert_works(
		dray_view_index(&view, &DRAY_SLICE(998, 1, -2), 1, &slice));
	assert_works(dray_locate(view.data, &where));
	assert_works(dray_xrt_import_view(device, &view, block, &bo));
	assert_works(dray_xrt_import_view(device, &slice, block, &part));
	assert_int_equal(address_of(bo),
			 address_in(where.buffer, where.offset));
	assert_int_equal(dray_xrt_bo_size(bo), 4000);
	/* From the last element of the slice: number 2 of the view. */
	assert_int_equal(address_of(part), address_of(bo) + 8);
	assert_int_equal(dray_xrt_bo_size(part), (499 - 1) * 8 + 4);
	assert_int_equal(open_bos(), 1);
	dray_xrt_bo_unref(part);
	dray_xrt_bo_unref(bo);
	dray_block_unref(block);
	dray_pool_close(pool);
}

FACT(block_dropped_before_its_bo_is_not_reused)
{
	struct dray_block *block, *other, *over;
	struct dray_pool *pool = NULL;
	struct dray_xrt_bo *bo = NULL;
	struct dray_view view;

	assert_works(dray_pool_create(node, NULL, &pool));
	block = pooled(pool, &view);
	*(float *)view.data = 5;
	assert_works(dray_xrt_import_view(device, &view, block, &bo));
	dray_block_unref(block);
	other = pooled(pool, &view);
	over = bytes_of(bo, NULL);
	assert_ptr_not_equal(view.data, dray_block_data(over));
	dray_xrt_bo_unref(bo);
	dray_block_unref(other);
	dray_pool_close(pool);
	assert_true(*(float *)dray_block_data(over) == 5);
	assert_int_equal(open_bos(), 1);
	dray_block_unref(over);
	assert_int_equal(open_bos(), 0);
}

FACT(buffer_of_an_import_is_the_one_that_was_imported)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = import_part(buffer, 4096, 4096);
	struct dray_buffer *again = NULL;
	uint64_t offset = 0;

	assert_works(dray_xrt_bo_buffer(bo, NULL, &again, &offset));
	assert_ptr_equal(again, buffer);
	assert_int_equal(offset, 4096);
	dray_buffer_unref(again);
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}

FACT(memory_that_may_only_be_read_is_refused)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_export args = {
		.buffer_fd = dray_buffer_fd(buffer),
		.flags = DRAY_EXPORT_READ_ONLY,
		.fd = -1,
	};
	struct dray_buffer *shared = NULL;
	struct dray_xrt_bo *bo = NULL;
	int fd = open("/dev/dray0", O_RDWR | O_CLOEXEC);

	assert_int_equal(ioctl(fd, DRAY_IOC_EXPORT, &args), 0);
	assert_works(dray_buffer_import(node, args.fd, &shared));
	assert_fails(dray_xrt_import_buffer(device, shared, 0, 0, &bo), -EIO,
		     "xrtBOImport() refuses");
	dray_buffer_unref(shared);
	close(args.fd);
	close(fd);
	dray_buffer_unref(buffer);
}

FACT(memory_of_the_host_is_refused)
{
	static const struct {
		const char *spec;
		const char *says;
	} hosts[] = {
		{ "host:private", "memory of the host is not a dma-buf" },
		{ "host:shareable", "is not a dma-buf" },
	};

	for (size_t i = 0; i < 2; i++) {
		struct dray_node *host = open_node(hosts[i].spec);
		struct dray_buffer *buffer = alloc(host, PAGE);
		struct dray_xrt_bo *bo = NULL;

		assert_fails(dray_xrt_import_buffer(device, buffer, 0, 0, &bo),
			     -EOPNOTSUPP, hosts[i].says);
		dray_buffer_unref(buffer);
		dray_node_unref(host);
	}
}

FACT(ranges_that_leave_the_buffer_are_refused)
{
	static const struct {
		uint64_t offset, size;
	} bad[] = {
		{ MIB, 0 },
		{ MIB, 1 },
		{ 0, MIB + 1 },
		{ 1, MIB },
		{ UINT64_MAX, 1 },
		{ 1, UINT64_MAX },
		{ UINT64_MAX, UINT64_MAX },
	};
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_fails(dray_xrt_import_buffer(device, buffer,
						    bad[i].offset, bad[i].size,
						    &bo),
			     -EINVAL, "leave the buffer of 1048576 bytes");
	dray_buffer_unref(buffer);
}

#define THREADS 4
#define TURNS 50

static void *import_and_drop(void *argument)
{
	struct dray_buffer *buffer = argument;
	struct dray_xrt_bo *bo;
	intptr_t failed = 0;

	for (int i = 0; i < TURNS; i++) {
		if (dray_xrt_import_buffer(device, buffer, 0, PAGE, &bo)) {
			failed++;
			continue;
		}
		failed += !!dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0);
		dray_xrt_bo_unref(bo);
	}
	return (void *)failed;
}

FACT(threads_may_import_and_drop_the_same_buffer)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	pthread_t threads[THREADS];
	void *failed;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						import_and_drop, buffer),
				 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(open_bos(), 0);
	dray_buffer_unref(buffer);
}
