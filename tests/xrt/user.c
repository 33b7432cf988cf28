// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Mapped memory as BOs: of dray's heaps, and of this process. */
#include "board.h"

FACTS_SHARE(open_board, close_board)

static struct dray_xrt_bo *user_bo(void *address, uint64_t size,
				   struct dray_block *keep)
{
	struct dray_xrt_bo *bo = NULL;

	assert_works(dray_xrt_import_user(device, address, size, keep, &bo));
	return bo;
}

FACT(user_memory_of_a_heap_with_pages_has_the_buffers_address)
{
	static const char *const heaps[] = { "reserved", "pages" };

	for (size_t i = 0; i < 2; i++) {
		struct dray_buffer *buffer =
			alloc_in(heaps[i], DRAY_MODE_CACHED);
		char *data = dray_buffer_data(buffer);
		struct dray_xrt_bo *bo = user_bo(data, MIB, NULL);
		struct dray_xrt_bo *part = user_bo(data + 8192, 4097, NULL);

		assert_int_equal(address_of(bo), address_in(buffer, 0));
		assert_int_equal(address_of(part), address_in(buffer, 8192));
		assert_int_equal(dray_xrt_bo_size(part), 4097);
		dray_xrt_bo_unref(bo);
		dray_xrt_bo_unref(part);
		dray_buffer_unref(buffer);
	}
}

FACT(block_of_user_memory_lies_where_the_user_has_it)
{
	unsigned char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_xrt_bo *bo = user_bo(page, PAGE, NULL);
	struct dray_block *block = bytes_of(bo, NULL);

	assert_ptr_equal(dray_block_data(block), page);
	dray_xrt_bo_unref(bo);
	page[1] = 2;
	assert_int_equal(*byte(block, 1), 2);
	dray_block_unref(block);
	munmap(page, PAGE);
}

FACT(user_memory_in_several_pieces_is_refused)
{
	struct dray_xrt_bo *bo = NULL;
	int fd = memfd_create("page", MFD_CLOEXEC);
	char *pages = mmap(NULL, 2 * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* One page twice: they do not follow each other. */
	assert_int_equal(ftruncate(fd, PAGE), 0);
	for (int i = 0; i < 2; i++)
		assert_true(mmap(pages + i * PAGE, PAGE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	assert_fails(dray_xrt_import_user(device, pages, 2 * PAGE, NULL, &bo),
		     -EIO, "xrtBOAllocUserPtr() refuses 8192 bytes");
	munmap(pages, 2 * PAGE);
	close(fd);
}

FACT(user_memory_whose_pages_cannot_stay_is_refused)
{
	static const struct {
		const char *heap;
		uint32_t mode;
		const char *says;
	} kinds[] = {
		{ "cma", DRAY_MODE_CACHED, "XRT keeps its pages" },
		{ "carveout", DRAY_MODE_WRITE_COMBINED,
		  "mapped without pages" },
		{ "carveout", DRAY_MODE_DEVICE, "for devices alone" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct dray_buffer *buffer =
			alloc_in(kinds[i].heap, kinds[i].mode);
		struct dray_xrt_bo *bo = NULL;

		assert_fails(dray_xrt_import_user(device,
						  dray_buffer_data(buffer), MIB,
						  NULL, &bo),
			     -EOPNOTSUPP, kinds[i].says);
		dray_buffer_unref(buffer);
	}
}

FACT(user_memory_of_another_driver_is_refused)
{
	struct dray_xrt_bo *own = alloc_bo(DRAY_XRT_NORMAL), *bo = NULL;
	struct dray_block *block = bytes_of(own, node);

	assert_fails(dray_xrt_import_user(device, dray_block_data(block), MIB,
					  NULL, &bo),
		     -EOPNOTSUPP, "another driver");
	dray_block_unref(block);
	dray_xrt_bo_unref(own);
}

FACT(user_memory_keeps_its_buffer_and_its_block)
{
	size_t before = buffers_of(node);
	struct dray_xrt_bo *bo;
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_block *block = NULL;

	assert_works(dray_block_create_buffer(buffer, &block));
	dray_buffer_unref(buffer);
	bo = user_bo(dray_block_data(block), PAGE, block);
	assert_int_equal(dray_block_count(block), 2);
	dray_block_unref(block);
	assert_int_equal(buffers_of(node), before + 1);
	dray_xrt_bo_unref(bo);
	assert_int_equal(buffers_of(node), before);
}

FACT(user_memory_has_no_dma_buf)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = user_bo(dray_buffer_data(buffer), MIB, NULL);
	struct dray_buffer *again = NULL;
	uint64_t offset;

	assert_fails(dray_xrt_bo_buffer(bo, node, &again, &offset), -EOPNOTSUPP,
		     "user memory has no dma-buf");
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}

FACT(user_memory_that_is_no_range_of_a_buffer_is_refused)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	char *data = dray_buffer_data(buffer);
	struct dray_xrt_bo *bo = NULL;
	const struct {
		void *address;
		uint64_t size;
		const char *says;
	} bad[] = {
		{ data + 64, PAGE, "not at a multiple of the page size 4096" },
		{ data, 0, "leave the address space" },
		{ data, UINT64_MAX, "leave the address space" },
		{ data, MIB + 1, "leave the buffer of 1048576 bytes" },
		{ data + MIB - PAGE, PAGE + 1, "leave the buffer" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_fails(dray_xrt_import_user(device, bad[i].address,
						  bad[i].size, NULL, &bo),
			     -EINVAL, bad[i].says);
	dray_buffer_unref(buffer);
}

FACT(user_memory_that_is_free_in_a_pool_is_refused)
{
	struct dray_pool *pool = NULL;
	struct dray_xrt_bo *bo = NULL;
	void *block;

	assert_works(dray_pool_create(node, NULL, &pool));
	block = dray_pool_alloc(pool, PAGE, PAGE);
	assert_non_null(block);
	dray_pool_free(pool, block);
	assert_fails(dray_xrt_import_user(device, block, PAGE, NULL, &bo),
		     -EINVAL, "memory of dray that is free");
	dray_pool_close(pool);
}

/* As zocl does.  Last, as it costs the board this memory. */
FACT(user_memory_that_the_driver_keeps_is_not_given_out_again)
{
	uint64_t before = heap_named("reserved").quarantined;
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);

	write_parameter("leak", "1");
	dray_xrt_bo_unref(user_bo(dray_buffer_data(buffer), MIB, NULL));
	write_parameter("leak", "0");
	dray_buffer_unref(buffer);
	assert_int_equal(heap_named("reserved").quarantined, before + MIB);
}
