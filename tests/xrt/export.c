// SPDX-License-Identifier: Apache-2.0 OR MIT
/* BOs of XRT as buffers and blocks, by their export. */
#include "board.h"

FACTS_SHARE(open_board, close_board)

#define FREE XRT(int, xrtBOFree, void *)

static void *sub_of(void *bo, size_t size, size_t offset)
{
	void *part = XRT(void *, xrtBOSubAlloc, void *, size_t,
			 size_t)(bo, size, offset);

	assert_non_null(part);
	return part;
}

static void *callers_bo(void)
{
	void *bo = XRT(void *, xrtBOAlloc, void *, size_t, uint64_t,
		       uint32_t)(dray_xrt_device_handle(device), MIB, 0, 0);

	assert_non_null(bo);
	return bo;
}

static void mark(void *owner)
{
	++*(int *)owner;
}

FACT(block_of_any_kind_of_bo_is_shared_with_xrt)
{
	static const uint64_t kinds[] = { DRAY_XRT_NORMAL, DRAY_XRT_CACHEABLE,
					  DRAY_XRT_SVM, DRAY_XRT_HOST_ONLY,
					  DRAY_XRT_P2P };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct dray_xrt_bo *bo = alloc_bo(kinds[i]);
		struct dray_block *block = bytes_of(bo, node);
		unsigned char *map =
			XRT(void *, xrtBOMap, void *)(dray_xrt_bo_handle(bo));

		*byte(block, MIB - 1) = (unsigned char)(i + 1);
		assert_int_equal(map[MIB - 1], i + 1);
		map[3] = 9;
		assert_int_equal(*byte(block, 3), 9);
		dray_block_unref(block);
		dray_xrt_bo_unref(bo);
	}
}

FACT(block_in_a_buffer_and_one_alone_share_the_memory)
{
	struct dray_xrt_bo *bo = alloc_bo(DRAY_XRT_NORMAL);
	struct dray_block *in_buffer = bytes_of(bo, node);
	struct dray_block *alone = bytes_of(bo, NULL);
	struct dray_location where;

	*byte(in_buffer, 7) = 8;
	assert_int_equal(*byte(alone, 7), 8);
	assert_works(dray_locate(dray_block_data(in_buffer), &where));
	assert_int_equal(dray_locate(dray_block_data(alone), &where), -ENOENT);
	dray_block_unref(in_buffer);
	dray_block_unref(alone);
	dray_xrt_bo_unref(bo);
}

FACT(parts_of_a_bo_have_their_offset_in_the_buffer)
{
	struct dray_xrt_bo *bo = alloc_bo(DRAY_XRT_NORMAL), *part = NULL;
	struct dray_block *whole, *block;
	struct dray_buffer *buffer = NULL;
	uint64_t offset = 0;

	assert_works(dray_xrt_bo_part(bo, 8192 + 100, 50, &part));
	whole = bytes_of(bo, node);
	block = bytes_of(part, node);
	*byte(block, 49) = 6;
	assert_int_equal(*byte(whole, 8192 + 149), 6);
	assert_works(dray_xrt_bo_buffer(part, node, &buffer, &offset));
	assert_int_equal(offset, 8192 + 100);
	assert_int_equal(dray_buffer_size(buffer), MIB);
	dray_buffer_unref(buffer);
	dray_block_unref(block);
	dray_block_unref(whole);
	dray_xrt_bo_unref(part);
	dray_xrt_bo_unref(bo);
}

FACT(bo_of_the_caller_is_released_after_its_last_block)
{
	void *handle = callers_bo();
	struct dray_xrt_bo *bo = NULL;
	struct dray_block *block;
	int released = 0;

	assert_works(
		dray_xrt_adopt(device, handle, NULL, mark, &released, &bo));
	assert_ptr_equal(dray_xrt_bo_handle(bo), handle);
	block = bytes_of(bo, node);
	dray_xrt_bo_unref(bo);
	assert_int_equal(released, 0);
	dray_block_unref(block);
	assert_int_equal(released, 1);
	/* It was not freed here. */
	assert_int_equal(FREE(handle), 0);
}

FACT(part_of_the_caller_has_its_offset_and_one_of_a_part_too)
{
	void *root = callers_bo();
	void *part = sub_of(root, 65536, 4096);
	void *deep = sub_of(part, 4096, 8192);
	static const uint64_t offsets[] = { 4096, 4096 + 8192 };
	void *handles[] = { part, deep };

	for (size_t i = 0; i < 2; i++) {
		struct dray_xrt_bo *bo = NULL;
		struct dray_buffer *buffer = NULL;
		uint64_t offset = 0;

		assert_works(dray_xrt_adopt(device, handles[i], root, NULL,
					    NULL, &bo));
		assert_works(dray_xrt_bo_buffer(bo, node, &buffer, &offset));
		assert_int_equal(offset, offsets[i]);
		assert_ptr_equal(dray_xrt_bo_handle(bo), handles[i]);
		assert_int_equal(address_of(bo),
				 XRT(uint64_t, xrtBOAddress, void *)(root) +
					 offsets[i]);
		dray_buffer_unref(buffer);
		dray_xrt_bo_unref(bo);
	}
	FREE(deep);
	FREE(part);
	FREE(root);
}

FACT(part_of_the_caller_without_its_root_is_no_buffer)
{
	void *root = callers_bo();
	void *part = sub_of(root, 65536, 4096);
	struct dray_buffer *buffer = NULL;
	struct dray_xrt_bo *bo = NULL;
	uint64_t offset;

	assert_works(dray_xrt_adopt(device, part, NULL, NULL, NULL, &bo));
	assert_fails(dray_xrt_bo_buffer(bo, node, &buffer, &offset), -EINVAL,
		     "65536 bytes is a part of one of 1048576");
	dray_xrt_bo_unref(bo);
	FREE(part);
	FREE(root);
}

FACT(part_of_another_bo_is_refused)
{
	void *root = callers_bo(), *other = callers_bo();
	void *part = sub_of(root, 65536, 4096);
	struct dray_xrt_bo *bo = NULL;

	assert_fails(dray_xrt_adopt(device, part, other, NULL, NULL, &bo),
		     -EINVAL, "is not in BO");
	assert_fails(dray_xrt_adopt(device, root, part, NULL, NULL, &bo),
		     -EINVAL, "is not in BO");
	FREE(part);
	FREE(other);
	FREE(root);
}

FACT(handle_that_xrt_does_not_know_is_refused)
{
	struct dray_xrt_device *adopted = NULL;
	struct dray_xrt_bo *bo = NULL;

	assert_fails(dray_xrt_adopt(device, &bo, NULL, NULL, NULL, &bo),
		     -EINVAL, "XRT knows no BO with handle");
	assert_fails(dray_xrt_device_adopt(&bo, NULL, NULL, &adopted), -EINVAL,
		     "XRT knows no device with handle");
	assert_fails(dray_xrt_device_open(9, &adopted), -ENODEV,
		     "xrtDeviceOpen(9)");
}

FACT(block_outlives_its_bo_and_keeps_it)
{
	struct dray_xrt_bo *bo = alloc_bo(DRAY_XRT_NORMAL);
	struct dray_block *block = bytes_of(bo, node);

	dray_xrt_bo_unref(bo);
	assert_int_equal(open_bos(), 1);
	*byte(block, MIB - 1) = 1;
	dray_block_unref(block);
	assert_int_equal(open_bos(), 0);
}

FACT(buffer_outlives_its_bo_and_keeps_the_memory)
{
	struct dray_xrt_bo *bo = alloc_bo(DRAY_XRT_NORMAL);
	struct dray_buffer *buffer = NULL;
	uint64_t offset;

	assert_works(dray_xrt_bo_buffer(bo, node, &buffer, &offset));
	((unsigned char *)dray_buffer_data(buffer))[9] = 3;
	dray_xrt_bo_unref(bo);
	assert_int_equal(open_bos(), 1);
	assert_int_equal(((unsigned char *)dray_buffer_data(buffer))[9], 3);
	dray_buffer_unref(buffer);
	assert_int_equal(open_bos(), 0);
}

FACT(import_of_what_the_device_exported_is_the_same_bo)
{
	struct dray_xrt_bo *bo = alloc_bo(DRAY_XRT_NORMAL), *again, *part;
	struct dray_buffer *buffer = NULL;
	uint64_t offset;

	assert_works(dray_xrt_bo_buffer(bo, node, &buffer, &offset));
	again = import(buffer);
	part = import_part(buffer, 4096, 4096);
	assert_ptr_equal(dray_xrt_bo_handle(again), dray_xrt_bo_handle(bo));
	assert_int_equal(address_of(part), address_of(bo) + 4096);
	assert_int_equal(open_bos(), 1);
	dray_xrt_bo_unref(bo);
	assert_works(dray_xrt_sync(again, DRAY_SYNC_FOR_DEVICE, 0, 0));
	dray_xrt_bo_unref(again);
	dray_xrt_bo_unref(part);
	dray_buffer_unref(buffer);
}

FACT(exports_leave_no_descriptor_behind)
{
	struct dray_xrt_bo *bo = alloc_bo(DRAY_XRT_NORMAL);
	struct dray_block *block = bytes_of(bo, node);
	int before;

	/* XRT's own stays with the BO. */
	dray_block_unref(block);
	before = open_descriptors();
	for (int i = 0; i < 3; i++) {
		dray_block_unref(bytes_of(bo, node));
		dray_block_unref(bytes_of(bo, NULL));
	}
	assert_int_equal(open_descriptors(), before);
	dray_xrt_bo_unref(bo);
}

static int note_sync(void *owner, int direction, uint64_t size, uint64_t offset)
{
	uint64_t *noted = owner;

	noted[0] = (uint64_t)direction;
	noted[1] = offset;
	noted[2] = size;
	return 0;
}

FACT(bo_of_another_language_is_a_block_with_its_own_sync)
{
	void *handle = callers_bo();
	uint64_t noted[3] = { 0 };
	struct dray_xrt_foreign foreign = {
		.size = sizeof(foreign),
		.fd = XRT(int32_t, xrtBOExport, void *)(handle),
		.offset = 4096,
		.bytes = 8192,
		.address = XRT(uint64_t, xrtBOAddress, void *)(handle) + 4096,
		.sync = note_sync,
		.owner = noted,
	};
	unsigned char *map = XRT(void *, xrtBOMap, void *)(handle);
	struct dray_buffer *buffer = NULL;
	struct dray_xrt_bo *bo = NULL, *again = NULL;
	struct dray_block *block;
	uint64_t offset;

	assert_works(dray_xrt_wrap(device, &foreign, &bo));
	block = bytes_of(bo, node);
	*byte(block, 1) = 4;
	assert_int_equal(map[4097], 4);
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, 16, 32));
	assert_int_equal(noted[0], 1);
	assert_int_equal(noted[1], 16);
	assert_int_equal(noted[2], 32);
	assert_works(dray_xrt_bo_buffer(bo, node, &buffer, &offset));
	assert_int_equal(offset, 4096);
	assert_fails(dray_xrt_import_buffer(device, buffer, 0, 0, &again),
		     -EBUSY, "dray_xrt_wrap()");
	dray_buffer_unref(buffer);
	dray_block_unref(block);
	dray_xrt_bo_unref(bo);
	FREE(handle);
}
