// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Threads that are cancelled: no call is a cancellation point.  Each fact calls
 * the library in a thread whose cancellation is pending, in a process of its
 * own: locks that such a thread leaves are left to nobody else.
 */
#include <dray/handler.h>
#include <dray/manager.h>
#include <dray/resource.h>

#include <dray/array.h>

#include "cancelled.h"
#include "child.h"
#include "records.h"

#define MIB ((size_t)1 << 20)
#define SMALL 20000

static struct dray_ipc_record record;
static unsigned char *block;
static FILE *null_file;
static int ends[2];

/* Where it hangs, for what another step left, SIGALRM ends the process. */
static void runs_through(int (*step)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		alarm(DEADLINE);
		status = in_a_cancelled_thread(step);
		/* Whoever comes next finds all locks free. */
		if (!status)
			dray_pool_trim(pool);
		if (!status && fork() == 0)
			_exit(0);
		_exit(status == WAS_CANCELLED ? 100 : status);
	}
	status = status_of(child);
	if (status == 100)
		fail_msg("the thread was cancelled inside of a call");
	assert_int_equal(status, 0);
}

static int open_and_close(void)
{
	struct dray_node *opened;
	struct dray_buffer *buffer;
	struct dray_pool *other;

	if (dray_node_open("host:shareable", &opened) ||
	    dray_buffer_alloc(opened, SMALL, NULL, &buffer) ||
	    dray_pool_create(opened, NULL, &other))
		return 1;
	dray_buffer_unref(buffer);
	dray_pool_free(other, dray_pool_alloc(other, SMALL, 0));
	dray_pool_close(other);
	dray_node_unref(opened);
	return 0;
}

BRIEF(RECORDS_FACT(nodes_buffers_and_pools), runs_through(open_and_close));

/* More than a pool keeps; a board has less in one piece, and all of it goes. */
static int take_and_free(void)
{
	size_t size = on_kernel() ? 4 * MIB : 160 * MIB;
	unsigned char *large = dray_pool_alloc(pool, size, 0);

	if (!large)
		return 1;
	memset(large, 1, size);
	dray_pool_free(pool, large);
	dray_pool_trim(pool);
	return 0;
}

BRIEF(RECORDS_FACT(a_free_that_gives_pages_back), runs_through(take_and_free));

static int ask_node(void)
{
	char names[4][DRAY_NAME_LEN];
	struct dray_heap_info heap;
	size_t count;

	dray_node_names(names, 4, &count);
	return dray_node_heap(node, 0, &heap, sizeof(heap)) ? 1 : 0;
}

BRIEF(RECORDS_FACT(questions_to_the_system), runs_through(ask_node));

/* All of it in the process that exports. */
static int own_records(void)
{
	unsigned char *own = dray_pool_alloc(pool, SMALL, 0);
	struct dray_ipc_memory *memory;
	struct dray_ipc_record mine;

	STEP_TRUE(own);
	STEP_EQ(0, dray_ipc_export(own, SMALL, DRAY_IPC_HANDOVER, &mine));
	STEP_EQ(-ETIMEDOUT, dray_ipc_wait(20));
	STEP_EQ(0, dray_ipc_open(&mine, NULL, &memory));
	STEP_EQ(0, dray_ipc_check(memory));
	dray_ipc_close(memory);
	STEP_EQ(0, dray_ipc_export(own, SMALL, 0, &mine));
	STEP_EQ(0, dray_ipc_revoke(&mine));
	dray_pool_free(pool, own);
	return 0;
}

BRIEF(RECORDS_FACT(records_of_ones_own), runs_through(own_records));

static int others_records(void)
{
	struct dray_ipc_memory *memory;

	STEP_EQ(0, dray_ipc_open(&record, NULL, &memory));
	STEP_EQ(0, dray_ipc_check(memory));
	dray_ipc_close(memory);
	return 0;
}

RECORDS_FACT(records_of_others)
{
	block = take_filled(SMALL, 1);
	record = export_of(block, SMALL, 0);
	runs_through(others_records);
	dray_pool_free(pool, block);
}

static int send_and_receive(void)
{
	struct dray_array *array, *same;

	if (dray_array_create(pool, u1, 1, DIMS(SMALL), &array) ||
	    dray_view_send(ends[0], whole_view(array)) ||
	    dray_array_receive(ends[1], NULL, &same))
		return 1;
	dray_array_unref(same);
	dray_array_unref(array);
	return 0;
}

RECORDS_FACT(arrays_over_sockets)
{
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	runs_through(send_and_receive);
	close(ends[0]);
	close(ends[1]);
}

static int report(void)
{
	struct dray_resource *of_pool, *tracking, *log;
	void *taken;
	int ret;

	if (dray_resource_pool(pool, &of_pool) ||
	    dray_resource_tracking(of_pool, 2, &tracking) ||
	    dray_resource_log(tracking, "/dev/null", &log) ||
	    dray_resource_allocate(log, SMALL, 0, 0, &taken))
		return 1;
	/* /dev/null takes all of it. */
	ret = dray_tracking_report(tracking, null_file);
	dray_resource_deallocate(log, taken, SMALL, 0);
	dray_resource_unref(log);
	dray_resource_unref(tracking);
	dray_resource_unref(of_pool);
	return ret ? 2 : 0;
}

RECORDS_FACT(reports_and_logs)
{
	null_file = fopen("/dev/null", "we");
	assert_non_null(null_file);
	runs_through(report);
	fclose(null_file);
}

static int load_manager(void)
{
	const struct dray_manager_ops *ops;

	return dray_manager_load("/nowhere/libdray-manager-no.so", &ops) ==
			       -ENOENT
		       ? 0
		       : 1;
}

BRIEF(RECORDS_FACT(a_manager_that_is_not_there), runs_through(load_manager));

FACTS_SHARE(set_up, tear_down)
