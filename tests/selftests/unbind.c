// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The device goes away under its users: through sysfs while buffers are
 * mapped, and by removing the module, which must not succeed while anything
 * is held.  The last test puts the node back for those that follow.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "fixture_engine.h"

#define BIND_DEADLINE 10000 /* milliseconds */

FIXTURE(bound)
{
	int node;
	size_t page;
	struct dray_info info;
	struct ledger before;
	char driver[PATH_MAX]; /* the driver's folder in sysfs */
	char device[DRAY_NAME_LEN];
};

static int write_name(const char *folder, const char *file, const char *name)
{
	char path[PATH_MAX];
	ssize_t length = (ssize_t)strlen(name);
	int fd, ret;

	if (snprintf(path, sizeof(path), "%s/%s", folder, file) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	ret = write(fd, name, (size_t)length) == length ? 0 : -errno;
	close(fd);
	return ret;
}

static bool node_answers(void *context)
{
	struct dray_info info;
	int node = node_open(), ret;

	(void)context;
	if (node < 0)
		return false;
	ret = node_info(node, &info);
	close(node);
	return !ret;
}

static bool node_is_gone(void *context)
{
	(void)context;
	return access(node_path(), F_OK) != 0;
}

FIXTURE_SETUP(bound)
{
	char link[64];
	struct stat status;

	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->page = (size_t)sysconf(_SC_PAGESIZE);
	ASSERT_EQ(0, fstat(self->node, &status));
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device/driver",
		 major(status.st_rdev), minor(status.st_rdev));
	ASSERT_NE(NULL, realpath(link, self->driver))
	{
		TH_LOG("%s: %s", link, strerror(errno));
	}
	memcpy(self->device, self->info.device, sizeof(self->device));
}

/* Whatever a test did, the node is there for the next one. */
FIXTURE_TEARDOWN_PARENT(bound)
{
	if (!node_answers(NULL))
		write_name(self->driver, "bind", self->device);
	EXPECT_TRUE(wait_for(node_answers, NULL, BIND_DEADLINE));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(bound, an_idle_node_goes_and_comes_back)
{
	close(self->node);
	ASSERT_EQ(0, write_name(self->driver, "unbind", self->device));
	EXPECT_TRUE(wait_for(node_is_gone, NULL, BIND_DEADLINE));
	ASSERT_EQ(0, write_name(self->driver, "bind", self->device));
	EXPECT_TRUE(wait_for(node_answers, NULL, BIND_DEADLINE));
}

TEST_F(bound, unbind_completes_under_mapped_buffers)
{
	struct buffer buffer;
	uint32_t i;

	for (i = 0; i < self->info.heap_count; i++)
		ASSERT_EQ(0,
			  buffer_open(self->node, i, 4 * self->page, &buffer));
	EXPECT_EQ(0, write_name(self->driver, "unbind", self->device));
}

TEST_F(bound, every_later_call_says_that_the_device_is_gone)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_offset = 64,
					  .run = 64 };
	struct dray_info info = { 0 };
	struct dray_heap_info heap_info = { 0 };
	struct dray_channel_info channel_info = { 0 };
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };
	struct dray_address address = { 0 };
	struct dray_sync sync = { .target = DRAY_TARGET_NODE,
				  .owner = DRAY_SYNC_FOR_DEVICE,
				  .direction = DRAY_TO_DEVICE };
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .transfers = (uintptr_t)&transfer,
				      .count = 1 };
	struct dray_list list = { 0 };
	struct dray_buffer_info buffer_info = { 0 };
	const struct {
		unsigned long request;
		void *argument;
	} calls[] = {
		{ DRAY_IOC_INFO, &info },
		{ DRAY_IOC_HEAP_INFO, &heap_info },
		{ DRAY_IOC_CHANNEL_INFO, &channel_info },
		{ DRAY_IOC_ALLOC, &alloc },
		{ DRAY_IOC_ADDRESS, &address },
		{ DRAY_IOC_SYNC, &sync },
		{ DRAY_IOC_SUBMIT, &submit },
		{ DRAY_IOC_LIST, &list },
		{ DRAY_IOC_BUFFER_INFO, &buffer_info },
	};
	struct buffer buffer;
	size_t i;

	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, self->page,
				     &buffer));
	transfer.dst_fd = buffer.fd;
	transfer.src_fd = buffer.fd;
	address.fd = buffer.fd;
	buffer_info.id = buffer.id;
	ASSERT_EQ(0, write_name(self->driver, "unbind", self->device));
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		EXPECT_EQ(-ENODEV, node_call(self->node, calls[i].request,
					     calls[i].argument))
		{
			TH_LOG("call %zu", i);
		}
	}
}

TEST_F(bound, a_mapping_stays_valid_after_unbind)
{
	struct buffer buffer;
	uint8_t *second, *copy = malloc(4 * self->page);
	uint32_t i;

	for (i = 0; i < self->info.heap_count; i++) {
		int node = node_open();

		ASSERT_LE(0, node);
		ASSERT_EQ(0, buffer_open(node, i, 4 * self->page, &buffer));
		fill_random(copy, buffer.size, i);
		memcpy(buffer.bytes, copy, buffer.size);
		ASSERT_EQ(0, write_name(self->driver, "unbind", self->device));
		EXPECT_EQ(-1,
			  first_difference(copy, buffer.bytes, buffer.size));
		/* a dropped page comes in again, a new mapping is possible */
		madvise(buffer.bytes, buffer.size, MADV_DONTNEED);
		EXPECT_EQ(-1,
			  first_difference(copy, buffer.bytes, buffer.size));
		second = mmap(NULL, buffer.size, PROT_READ | PROT_WRITE,
			      MAP_SHARED, buffer.fd, 0);
		ASSERT_NE(MAP_FAILED, second);
		second[1] ^= 0xff;
		EXPECT_EQ(second[1], buffer.bytes[1]);
		munmap(second, buffer.size);
		buffer_close(&buffer);
		close(node);
		ASSERT_EQ(0, write_name(self->driver, "bind", self->device));
		ASSERT_TRUE(wait_for(node_answers, NULL, BIND_DEADLINE));
	}
}

TEST_F(bound, a_node_that_came_back_does_not_give_away_live_memory)
{
	static struct buffer others[64];
	uint8_t *copy = malloc(4 * self->page);
	struct dray_heap_info heap;
	struct buffer buffer;
	unsigned int count;
	uint32_t i;

	for (i = 0; i < self->info.heap_count; i++) {
		int node = node_open();

		ASSERT_LE(0, node);
		ASSERT_EQ(0, buffer_open(node, i, 4 * self->page, &buffer));
		fill_random(copy, buffer.size, i);
		memcpy(buffer.bytes, copy, buffer.size);
		ASSERT_EQ(0, write_name(self->driver, "unbind", self->device));
		ASSERT_EQ(0, write_name(self->driver, "bind", self->device));
		ASSERT_TRUE(wait_for(node_answers, NULL, BIND_DEADLINE));
		close(node);
		node = node_open();
		ASSERT_LE(0, node);
		ASSERT_EQ(0, node_heap(node, i, &heap));
		EXPECT_LE(buffer.size, heap.used);
		for (count = 0; count < 64; count++) {
			if (buffer_open(node, i, 4 * self->page,
					&others[count]))
				break;
			memset(others[count].bytes, 0xee, 4 * self->page);
		}
		EXPECT_LT(0, count);
		EXPECT_EQ(-1,
			  first_difference(copy, buffer.bytes, buffer.size));
		while (count)
			buffer_close(&others[--count]);
		buffer_close(&buffer);
		close(node);
	}
}

TEST_F(bound, a_transfer_under_way_ends_and_unbind_completes)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY, .run = 16 };
	struct dray_axis axis = { .dst_stride = 32, .src_stride = 32 };
	struct dray_submit submit = {
		.channel = DRAY_CHANNEL_ANY,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
	};
	struct buffer src, dst;
	int ret;

	if (!self->info.channel_count)
		SKIP(return, "this node has no DMA channel");
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE, &src));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE, &dst));
	axis.count = BUFFER_SIZE / 32;
	if (axis.count > self->info.max_runs)
		axis.count = self->info.max_runs;
	transfer.src_fd = src.fd;
	transfer.dst_fd = dst.fd;
	engine_axes(&transfer, &axis, 1);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	ASSERT_EQ(0, fence_status(submit.fence_fd));
	ASSERT_EQ(0, write_name(self->driver, "unbind", self->device));
	ret = fence_wait(submit.fence_fd);
	EXPECT_TRUE(ret == 1 || ret == -ENODEV || ret == -ECANCELED)
	{
		TH_LOG("the fence says %d", ret);
	}
	if (ret == 1) {
		EXPECT_EQ(-1, first_difference(dst.bytes, src.bytes, 16));
	}
}

/*
 * Calls again and again until the device is gone, and tells once that it has
 * begun.  0 when every call before succeeded and every fence came to an end.
 */
static int keep_calling(void *context)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_offset = 64,
					  .run = 64 };
	struct dray_submit submit;
	struct dray_info info;
	struct buffer buffer;
	int told = *(int *)context, node = node_open(), ret;
	bool first = true;

	if (node < 0 || node_info(node, &info))
		return 1;
	for (;;) {
		ret = buffer_open(node, DRAY_HEAP_ANY, 4096, &buffer);
		if (ret)
			return ret == -ENODEV ? 0 : 2;
		ret = buffer_sync(node, buffer.fd, DRAY_SYNC_FOR_DEVICE,
				  DRAY_BIDIRECTIONAL, 0, 4096);
		if (ret)
			return ret == -ENODEV ? 0 : 3;
		submit = (struct dray_submit){
			.channel = DRAY_CHANNEL_ANY,
			.transfers = (uintptr_t)&transfer,
			.count = 1,
		};
		transfer.src_fd = buffer.fd;
		transfer.dst_fd = buffer.fd;
		if (info.channel_count) {
			ret = node_call(node, DRAY_IOC_SUBMIT, &submit);
			if (ret)
				return ret == -ENODEV ? 0 : 4;
			ret = fence_wait(submit.fence_fd);
			if (ret != 1 && ret != -ENODEV)
				return 5;
			close(submit.fence_fd);
		}
		buffer_close(&buffer);
		if (first && write(told, "", 1) != 1)
			return 6;
		first = false;
	}
}

TEST_F(bound, unbind_completes_while_everybody_calls)
{
	enum {
		CALLERS = 4,
		ROUNDS = 5
	};
	pid_t child[CALLERS];
	int round, i, told[2];
	char byte;

	close(self->node);
	ASSERT_EQ(0, pipe(told));
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CALLERS; i++) {
			child[i] = process_start(keep_calling, &told[1]);
			ASSERT_LT(0, child[i]);
		}
		for (i = 0; i < CALLERS; i++)
			ASSERT_EQ(1, read(told[0], &byte, 1));
		EXPECT_EQ(0, write_name(self->driver, "unbind", self->device));
		for (i = 0; i < CALLERS; i++)
			EXPECT_EQ(0, process_wait(child[i]));
		ASSERT_EQ(0, write_name(self->driver, "bind", self->device));
		ASSERT_TRUE(wait_for(node_answers, NULL, BIND_DEADLINE));
	}
}

static int remove_module(void)
{
	return syscall(SYS_delete_module, "dray", O_NONBLOCK) ? -errno : 0;
}

/* EAGAIN, which rmmod prints as "in use"; it is EWOULDBLOCK, not EBUSY. */
#define HELD (-EWOULDBLOCK)

TEST_F(bound, the_module_stays_while_the_node_is_open)
{
	EXPECT_EQ(HELD, remove_module());
}

TEST_F(bound, the_module_stays_while_a_buffers_fd_lives)
{
	struct buffer buffer;

	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1, &buffer));
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
}

TEST_F(bound, the_module_stays_while_a_mapping_lives)
{
	struct buffer buffer;

	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, self->page, &buffer));
	close(buffer.fd);
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
	buffer.bytes[0] = 1;
}

TEST_F(bound, the_module_stays_while_a_fence_lives)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .run = 64,
					  .dst_offset = 64 };
	struct dray_submit submit = {
		.channel = DRAY_CHANNEL_ANY,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
	};
	struct buffer buffer;

	if (!self->info.channel_count)
		SKIP(return, "this node has no DMA channel");
	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1, &buffer));
	transfer.src_fd = buffer.fd;
	transfer.dst_fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	close(buffer.fd);
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
}

TEST_F(bound, the_module_stays_while_a_buffer_outlives_its_device)
{
	struct buffer buffer;

	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, self->page, &buffer));
	ASSERT_EQ(0, write_name(self->driver, "unbind", self->device));
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
}

TEST_HARNESS_MAIN
