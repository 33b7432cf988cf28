// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ends of processes that have BOs open: exit(), a signal, fork().  This process
 * opens no device itself, as XRT does not know of fork().
 */
#include <dray/array.h>

#include "../unit/child.h"
#include "board.h"

static void free_handle(void *handle)
{
	XRT(int, xrtBOFree, void *)(handle);
}

/* A BO that is made by XRT itself, and freed by the library's end. */
static int open_callers_bo(void)
{
	void *handle = XRT(void *, xrtBOAlloc, void *, size_t, uint64_t,
			   uint32_t)(dray_xrt_device_handle(device), MIB, 0, 0);
	struct dray_xrt_bo *bo = NULL;

	STEP_EQ(0,
		dray_xrt_adopt(device, handle, NULL, free_handle, handle, &bo));
	STEP_TRUE(XRT(void *, xrtBOMap, void *)(handle));
	return 0;
}

/* Opens all kinds of BOs, four of them for the driver. */
static int open_all(void)
{
	struct dray_buffer *buffer;
	struct dray_xrt_bo *bo, *part, *own, *user;
	struct dray_array *array, *over;
	uint64_t offset;

	STEP_EQ(0, dray_node_open("kernel", &node));
	STEP_EQ(0, dray_xrt_device_open(0, &device));
	STEP_EQ(0, dray_array_create_alone(node, u1, 1, DIMS(MIB), &array));
	STEP_EQ(0, dray_xrt_import_array(device, array, &bo));
	STEP_EQ(0, dray_xrt_bo_part(bo, 4096, 4096, &part));
	STEP_EQ(0, dray_xrt_alloc(device, MIB, 0, 0, &own));
	STEP_EQ(0, dray_xrt_bo_buffer(own, node, &buffer, &offset));
	STEP_EQ(0,
		dray_xrt_bo_array(own, node, 0, u1, 1, DIMS(MIB), NULL, &over));
	STEP_EQ(0,
		dray_xrt_import_user(device, array->data, 4096, NULL, &user));
	STEP_EQ(0, dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0));
	return open_callers_bo();
}

/* A crash ends the child, which cmocka would hide. */
static pid_t fork_child(void)
{
	pid_t child = fork();

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
	}
	return child;
}

struct board {
	int bos;
	uint64_t reserved, cma;
	size_t buffers;
};

static struct board look(void)
{
	struct board board = { .bos = open_bos() };

	node = open_node("kernel");
	board.reserved = heap_named("reserved").free;
	board.cma = heap_named("cma").free;
	board.buffers = buffers_of(node);
	dray_node_unref(node);
	return board;
}

static void assert_unchanged(struct board before)
{
	struct board after = look();

	assert_int_equal(after.bos, before.bos);
	assert_int_equal(after.buffers, before.buffers);
	assert_int_equal(after.reserved, before.reserved);
	assert_int_equal(after.cma, before.cma);
}

FACT(exit_with_all_open_closes_all)
{
	struct board before = look();
	pid_t child = fork_child();

	if (!child)
		exit(open_all());
	assert_int_equal(status_of(child), 0);
	assert_unchanged(before);
}

static struct dray_xrt_bo *late_bo;

static int drop(void)
{
	uint64_t address;

	STEP_EQ(-ESHUTDOWN, dray_xrt_sync(late_bo, DRAY_SYNC_FOR_CPU, 0, 0));
	STEP_TRUE(!dray_xrt_bo_handle(late_bo));
	STEP_EQ(0, dray_xrt_bo_address(late_bo, &address));
	STEP_EQ(-ESHUTDOWN, dray_xrt_device_open(0, &device));
	dray_xrt_bo_unref(late_bo);
	return 0;
}

/* Registered before XRT is loaded, and so called after its end. */
static void drop_late(void)
{
	if (drop())
		_exit(STEP_FAILED);
}

static int open_late(void)
{
	STEP_EQ(0, atexit(drop_late));
	STEP_EQ(0, open_all());
	STEP_EQ(0, dray_xrt_alloc(device, MIB, 0, 0, &late_bo));
	return 0;
}

FACT(drop_after_the_end_of_xrt_does_nothing)
{
	struct board before = look();
	pid_t child = fork_child();

	if (!child)
		exit(open_late());
	assert_int_equal(status_of(child), 0);
	assert_unchanged(before);
}

FACT(process_that_is_killed_with_all_open_leaves_nothing)
{
	struct board before = look();
	char answer = STEP_FAILED;
	int ready[2];
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork_child();
	if (!child) {
		answer = (char)open_all();
		if (write(ready[1], &answer, 1) != 1)
			_exit(STEP_FAILED);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &answer, 1), 1);
	assert_int_equal(answer, 0);
	assert_int_equal(open_bos(), before.bos + 4);
	kill(child, SIGKILL);
	assert_int_equal(status_of(child), -SIGKILL);
	close(ready[0]);
	assert_unchanged(before);
}

/* In the child of a process that uses XRT. */
static int touch_the_parents(struct dray_xrt_bo *bo)
{
	struct dray_xrt_device *again;
	struct dray_xrt_bo *part;

	STEP_EQ(-EPERM, dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0));
	STEP_TRUE(strstr(dray_last_error(), "before fork()"));
	STEP_EQ(-EPERM, dray_xrt_bo_part(bo, 0, 4096, &part));
	STEP_EQ(-EPERM, dray_xrt_device_open(0, &again));
	dray_xrt_bo_unref(bo);
	dray_xrt_device_unref(device);
	return 0;
}

static int fork_with_a_bo(int bos)
{
	struct dray_buffer *buffer;
	struct dray_xrt_bo *bo;
	pid_t child;
	int status;

	STEP_EQ(0, dray_node_open("kernel", &node));
	STEP_EQ(0, dray_xrt_device_open(0, &device));
	STEP_EQ(0, dray_buffer_alloc(node, MIB, NULL, &buffer));
	STEP_EQ(0, dray_xrt_import_buffer(device, buffer, 0, 0, &bo));
	child = fork();
	if (!child)
		_exit(touch_the_parents(bo));
	STEP_EQ(child, waitpid(child, &status, 0));
	STEP_EQ(0, status);
	STEP_EQ(bos + 1, open_bos());
	STEP_EQ(0, dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0));
	dray_xrt_bo_unref(bo);
	STEP_EQ(bos, open_bos());
	return 0;
}

FACT(child_of_a_user_of_xrt_leaves_its_handles_alone)
{
	struct board before = look();
	pid_t user = fork_child();

	if (!user)
		exit(fork_with_a_bo(before.bos));
	assert_int_equal(status_of(user), 0);
	assert_unchanged(before);
}
