// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * xrt_faults: every call of the system that making BOs and arrays makes fails once,
 * then with all that come after it; each time there is a code and a sentence, and
 * no BO, array or file descriptor is left.  XRT itself is a mock (mock_xrt.h).
 */
#include <dray/array.h>

#include "fault.h"
#include "mock_xrt.h"
#include "buffers.h"

#define SIZE 65536

static struct dray_node *node;
static struct dray_xrt_device *device;
static struct dray_buffer *buffer;
static struct dray_array *array;

static int begin(void **state)
{
	file_system = DMA_BUF_MAGIC;
	node = open_node("host:shareable");
	buffer = alloc(node, SIZE);
	assert_works(dray_xrt_device_open(0, &device));
	assert_works(dray_array_from_buffer(buffer, 4096, f4, 1, DIMS(100),
					    NULL, &array));
	return 0;
}

static int end(void **state)
{
	dray_array_unref(array);
	dray_xrt_device_unref(device);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
	return 0;
}

FACTS_SHARE(begin, end)

static bool fail_call(int (*work)(void), int n, bool last)
{
	int descriptors = open_descriptors(), devices = xrt.devices, ret;

	arm_with(n, last);
	ret = work();
	disarm_after(ret);
	assert_int_equal(open_descriptors(), descriptors);
	assert_int_equal(dray_block_count(&array->block), 1);
	assert_int_equal(xrt.devices, devices);
	assert_int_equal(xrt.bos, 0);
	return faulted;
}

static void fails_in_each_call(int (*work)(void))
{
	assert_int_equal(work(), 0);
	fail_each_call(fail_call, work);
}

static int open_device(void)
{
	struct dray_xrt_device *other;
	int ret = dray_xrt_device_open(1, &other);

	if (!ret)
		dray_xrt_device_unref(other);
	return ret;
}

static int adopt_device(void)
{
	struct dray_xrt_device *other;
	int ret = dray_xrt_device_adopt(dray_xrt_device_handle(device), NULL,
					NULL, &other);

	if (!ret)
		dray_xrt_device_unref(other);
	return ret;
}

/* An array over the BO, and the end of both. */
static int array_of(struct dray_xrt_bo **made, int ret)
{
	struct dray_array *over;
	struct dray_xrt_bo *bo;

	if (ret)
		return ret;
	bo = *made;
	ret = dray_xrt_bo_array(bo, NULL, 0, u1, 1, DIMS(64), NULL, &over);
	if (!ret)
		dray_array_unref(over);
	dray_xrt_bo_unref(bo);
	return ret;
}

static int import_all(void)
{
	struct dray_xrt_bo *bo;

	return array_of(&bo, dray_xrt_import_buffer(device, buffer, 0, 0, &bo));
}

static int import_slice(void)
{
	struct dray_xrt_bo *bo;

	return array_of(&bo, dray_xrt_import_array(device, array, &bo));
}

static int import_user(void)
{
	struct dray_xrt_bo *bo;

	return array_of(&bo,
			dray_xrt_import_user(device, dray_buffer_data(buffer),
					     SIZE, &array->block, &bo));
}

static int map_alone(void)
{
	struct dray_xrt_bo *bo;

	return array_of(&bo, dray_xrt_alloc(device, SIZE, 0, 0, &bo));
}

static int make_part(void)
{
	struct dray_xrt_bo *bo, *part;
	int ret = dray_xrt_alloc(device, SIZE, 0, 0, &bo);

	if (ret)
		return ret;
	ret = dray_xrt_bo_part(bo, 4096, 4096, &part);
	dray_xrt_bo_unref(bo);
	return array_of(&part, ret);
}

static int no_sync(void *owner, int direction, uint64_t size, uint64_t offset)
{
	return 0;
}

static int wrap(void)
{
	struct dray_xrt_foreign foreign = {
		.size = sizeof(foreign),
		.fd = dray_buffer_fd(buffer),
		.bytes = SIZE,
		.sync = no_sync,
	};
	struct dray_xrt_bo *bo;

	return array_of(&bo, dray_xrt_wrap(NULL, &foreign, &bo));
}

static int adopt(void)
{
	struct mock_bo *root = mock_alloc(NULL, SIZE, 0, 0);
	struct mock_bo *part = mock_part(root, 4096, 8192);
	struct dray_xrt_bo *bo;
	int ret = array_of(&bo,
			   dray_xrt_adopt(device, part, root, NULL, NULL, &bo));

	mock_free(part);
	mock_free(root);
	return ret;
}

FACT(devices)
{
	fails_in_each_call(open_device);
	fails_in_each_call(adopt_device);
}

FACT(imports)
{
	fails_in_each_call(import_all);
	fails_in_each_call(import_slice);
	fails_in_each_call(import_user);
}

FACT(bos_of_xrt)
{
	fails_in_each_call(map_alone);
	fails_in_each_call(make_part);
	fails_in_each_call(adopt);
	fails_in_each_call(wrap);
}
