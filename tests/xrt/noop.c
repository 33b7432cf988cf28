// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * XRT's own library in its mode `noop`, which has devices and memory but no kernels:
 * BOs, their parts, maps and syncs, user memory, refusals, and both orders of the end.
 * It cannot import a dma-buf; suite `xrt` does that on the board.
 */
#include <dray/array.h>

#include "../unit/unit.h"

#define SIZE 16384
#define PART 4096

static struct dray_xrt_device *device;

static int open_device(void **state)
{
	assert_works(dray_xrt_device_open(0, &device));
	return 0;
}

static int close_device(void **state)
{
	dray_xrt_device_unref(device);
	return 0;
}

static struct dray_xrt_bo *new_bo(void)
{
	struct dray_xrt_bo *bo;

	assert_works(dray_xrt_alloc(device, SIZE, DRAY_XRT_NORMAL, 0, &bo));
	return bo;
}

static struct dray_array *new_array(struct dray_xrt_bo *bo)
{
	const int64_t shape = (int64_t)dray_xrt_bo_size(bo);
	struct dray_array *array;

	assert_works(dray_xrt_bo_array(bo, NULL, 0, DRAY_UINT8, 1, &shape, NULL,
				       &array));
	return array;
}

FACT(a_device_has_a_handle)
{
	assert_non_null(dray_xrt_device_handle(device));
}

FACT(a_handle_that_is_none_is_refused)
{
	struct dray_xrt_device *other;
	struct dray_xrt_bo *bo;

	assert_fails(dray_xrt_device_adopt(&other, NULL, NULL, &other), -EINVAL,
		     "XRT knows no device");
	assert_fails(dray_xrt_adopt(device, &bo, NULL, NULL, NULL, &bo),
		     -EINVAL, "XRT knows no BO");
}

FACT(a_device_of_the_program_s_stays_open)
{
	struct dray_xrt_device *adopted;
	struct dray_xrt_bo *bo;

	assert_works(dray_xrt_device_adopt(dray_xrt_device_handle(device), NULL,
					   NULL, &adopted));
	assert_works(dray_xrt_alloc(adopted, SIZE, 0, 0, &bo));
	dray_xrt_device_unref(adopted);
	dray_xrt_bo_unref(bo);
	dray_xrt_bo_unref(new_bo());
}

FACT(kinds_of_memory_are_made)
{
	static const uint64_t kinds[] = { DRAY_XRT_NORMAL, DRAY_XRT_CACHEABLE,
					  DRAY_XRT_P2P, DRAY_XRT_SVM,
					  DRAY_XRT_HOST_ONLY };
	struct dray_xrt_bo *bo;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct dray_array *array;

		assert_works(dray_xrt_alloc(device, SIZE, kinds[i], 0, &bo));
		assert_int_equal(dray_xrt_bo_size(bo), SIZE);
		array = new_array(bo);
		memset(array->data, 1, SIZE);
		dray_array_unref(array);
		dray_xrt_bo_unref(bo);
	}
}

FACT(memory_of_the_device_alone_has_no_array)
{
	const int64_t shape = 1;
	struct dray_array *array;
	struct dray_xrt_bo *bo;

	assert_works(
		dray_xrt_alloc(device, SIZE, DRAY_XRT_DEVICE_ONLY, 0, &bo));
	assert_fails(dray_xrt_bo_array(bo, NULL, 0, DRAY_UINT8, 1, &shape, NULL,
				       &array),
		     -EOPNOTSUPP, "");
	dray_xrt_bo_unref(bo);
}

FACT(both_arrays_of_a_bo_are_its_memory)
{
	struct dray_xrt_bo *bo = new_bo();
	struct dray_array *one = new_array(bo), *two = new_array(bo);

	assert_ptr_equal(one->data, two->data);
	assert_true(one->flags & DRAY_WRITE);
	dray_array_unref(one);
	dray_array_unref(two);
	dray_xrt_bo_unref(bo);
}

FACT(an_array_outlives_its_bo_and_device)
{
	struct dray_xrt_bo *bo = new_bo();
	struct dray_array *array = new_array(bo);

	dray_xrt_bo_unref(bo);
	close_device(NULL);
	memset(array->data, 3, SIZE);
	dray_array_unref(array);
	open_device(NULL);
}

FACT(a_bo_outlives_its_array)
{
	struct dray_xrt_bo *bo = new_bo();
	struct dray_array *array = new_array(bo);

	memset(array->data, 4, SIZE);
	dray_array_unref(array);
	array = new_array(bo);
	assert_memory_equal(array->data, "\4\4\4\4", 4);
	dray_array_unref(array);
	dray_xrt_bo_unref(bo);
}

FACT(parts_of_parts_have_the_address_and_bytes_of_the_whole)
{
	struct dray_xrt_bo *bo = new_bo(), *part, *inner;
	struct dray_array *whole = new_array(bo), *array;
	uint64_t start, address;

	for (size_t i = 0; i < SIZE; i++)
		((unsigned char *)whole->data)[i] = (unsigned char)(i / 100);
	assert_works(dray_xrt_bo_part(bo, PART, 2 * PART, &part));
	assert_works(dray_xrt_bo_part(part, PART, 100, &inner));
	assert_works(dray_xrt_bo_address(bo, &start));
	assert_works(dray_xrt_bo_address(inner, &address));
	assert_int_equal(address - start, 2 * PART);
	assert_int_equal(dray_xrt_bo_size(inner), 100);
	/* The whole is freed with the last of its parts. */
	dray_array_unref(whole);
	dray_xrt_bo_unref(bo);
	dray_xrt_bo_unref(part);
	array = new_array(inner);
	assert_int_equal(*(unsigned char *)array->data, 2 * PART / 100);
	dray_array_unref(array);
	dray_xrt_bo_unref(inner);
}

FACT(a_part_outside_its_bo_is_refused)
{
	struct dray_xrt_bo *bo = new_bo(), *part;

	assert_fails(dray_xrt_bo_part(bo, PART, SIZE, &part), -EINVAL, "16384");
	assert_fails(dray_xrt_bo_part(bo, 0, 0, &part), -EINVAL, "");
	assert_fails(dray_xrt_bo_part(bo, UINT64_MAX, 2, &part), -EINVAL, "");
	dray_xrt_bo_unref(bo);
}

FACT(any_bytes_of_a_bo_are_synced)
{
	struct dray_xrt_bo *bo = new_bo();

	assert_int_equal(dray_xrt_side(bo), DRAY_XRT_SIDE_XRT);
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0));
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, 100, 1));
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, SIZE - 1, 1));
	assert_fails(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, SIZE - 1, 2), -EINVAL,
		     "16384");
	assert_fails(dray_xrt_sync(bo, (enum dray_sync_owner)9, 0, 0), -EINVAL,
		     "");
	dray_xrt_bo_unref(bo);
}

static struct dray_array *shareable_array(void)
{
	const int64_t shape = SIZE;
	struct dray_node *node;
	struct dray_array *array;

	assert_works(dray_node_open("host:shareable", &node));
	assert_works(
		dray_array_create_alone(node, DRAY_UINT8, 1, &shape, &array));
	dray_node_unref(node);
	return array;
}

FACT(an_array_of_the_host_is_refused_and_stays_as_it_was)
{
	struct dray_array *array = shareable_array();
	struct dray_xrt_bo *bo;

	assert_fails(dray_xrt_import_array(device, array, &bo), -EOPNOTSUPP,
		     "not a dma-buf");
	memset(array->data, 5, SIZE);
	dray_array_unref(array);
}

FACT(user_memory_is_the_array_s_own)
{
	struct dray_array *array = shareable_array(), *again;
	struct dray_xrt_bo *bo;

	assert_works(dray_xrt_import_user(device, array->data, SIZE,
					  &array->block, &bo));
	again = new_array(bo);
	assert_ptr_equal(again->data, array->data);
	dray_array_unref(again);
	/* The BO keeps it. */
	dray_array_unref(array);
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0));
	again = new_array(bo);
	memset(again->data, 6, SIZE);
	dray_xrt_bo_unref(bo);
	memset(again->data, 7, SIZE);
	dray_array_unref(again);
}

FACT(user_memory_that_does_not_begin_a_page_is_refused)
{
	struct dray_array *array = shareable_array();
	struct dray_xrt_bo *bo;

	assert_fails(dray_xrt_import_user(device, (char *)array->data + 64, 64,
					  &array->block, &bo),
		     -EINVAL, "page size 4096");
	assert_fails(dray_xrt_import_user(device, array->data, 0, NULL, &bo),
		     -EINVAL, "");
	dray_array_unref(array);
}

FACT(a_bo_that_cannot_be_exported_has_no_buffer)
{
	struct dray_xrt_bo *bo = new_bo();
	struct dray_buffer *buffer;
	struct dray_node *node;
	uint64_t offset;

	assert_works(dray_node_open("host:shareable", &node));
	assert_fails(dray_xrt_bo_buffer(bo, node, &buffer, &offset),
		     -EOPNOTSUPP, "");
	dray_node_unref(node);
	dray_xrt_bo_unref(bo);
}

FACT(a_child_of_fork_has_no_part_in_it)
{
	struct dray_xrt_bo *bo = new_bo(), *part;
	int status;
	pid_t child = fork();

	if (!child) {
		bool refused =
			dray_xrt_bo_part(bo, 0, PART, &part) == -EPERM &&
			dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, 0, 0) == -EPERM;

		dray_xrt_bo_unref(bo);
		_exit(refused ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, 0, 0));
	dray_xrt_bo_unref(bo);
}

/* In a child, which ends by exit() with all of it open. */
FACT(exit_with_everything_open_is_no_crash)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "noop", "leaves_all_open", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Leaks on purpose. */
FACT(leaves_all_open)
{
	struct dray_xrt_device *left;
	struct dray_xrt_bo *bo, *part;

	assert_works(dray_xrt_device_open(0, &left));
	assert_works(dray_xrt_alloc(left, SIZE, 0, 0, &bo));
	assert_works(dray_xrt_bo_part(bo, PART, PART, &part));
	new_array(part);
}

#define THREADS 4
#define ROUNDS 200

static void *come_and_go(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct dray_xrt_bo *bo = new_bo(), *part;
		struct dray_array *array;

		assert_works(dray_xrt_bo_part(bo, PART, PART, &part));
		dray_xrt_bo_unref(bo);
		array = new_array(part);
		dray_xrt_bo_unref(part);
		memset(array->data, i, PART);
		dray_array_unref(array);
	}
	return NULL;
}

FACT(threads_make_and_drop_bos)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go,
						NULL),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

FACTS_SHARE(open_device, close_device)
