// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The driver of the node's engine is unbound, as sysfs names it: the node goes
 * first, with transfers under way and with its memory shared in every way.  On a
 * board the kernel knows of the engine from the device tree.
 */
#include <sys/sysmacros.h>

#include "fixture_engine.h"

#include "binding.h"
#include "shared.h"
#include "transfer.h"

#define JOBS 4

/* The engine's device, and the driver of that. */
struct supplier {
	char driver[PATH_MAX];
	char device[NAME_MAX + 1];
};

FIXTURE(supplier)
{
	int node;
	size_t page;
	struct dray_info info;
	struct ledger before;
	struct binding binding;
	struct supplier supplier;
	struct buffer src;
	struct buffer dst;
};

/* Is the device that the link @path leads to one that offers DMA channels? */
static bool supplier_read(const char *path, struct supplier *supplier)
{
	char file[PATH_MAX], device[PATH_MAX];

	snprintf(file, sizeof(file), "%.3000s/supplier", path);
	if (!realpath(file, device))
		return false;
	snprintf(file, sizeof(file), "%.3000s/dma", device);
	if (access(file, F_OK))
		return false;
	snprintf(file, sizeof(file), "%.3000s/driver", device);
	snprintf(supplier->device, sizeof(supplier->device), "%.255s",
		 strrchr(device, '/') + 1);
	return realpath(file, supplier->driver);
}

/* Of the node's device, whose folder has a link for each of them. */
static int supplier_find(int node, struct supplier *supplier)
{
	char folder[64], path[PATH_MAX];
	struct dirent *entry;
	struct stat status;
	bool found = false;
	DIR *links;

	if (fstat(node, &status))
		return -errno;
	snprintf(folder, sizeof(folder), "/sys/dev/char/%u:%u/device",
		 major(status.st_rdev), minor(status.st_rdev));
	links = opendir(folder);
	while (links && !found && (entry = readdir(links))) {
		if (strncmp(entry->d_name, "supplier:", 9))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		found = supplier_read(path, supplier);
	}
	if (links)
		closedir(links);
	return found ? 0 : -ENOENT;
}

static int supplier_unbind(const struct supplier *supplier)
{
	return write_name(supplier->driver, "unbind", supplier->device);
}

/* The kernel may bind the node again by itself. */
static int supplier_bind(const struct supplier *supplier,
			 const struct binding *binding)
{
	int ret = write_name(supplier->driver, "bind", supplier->device);

	if (ret)
		return ret;
	write_name(binding->driver, "bind", binding->device);
	return wait_for(node_answers, NULL) ? 0 : -ETIME;
}

static int copy(int node, const struct buffer *to, const struct buffer *from)
{
	struct dray_transfer transfer = COPY_OF(to->fd, from->fd, to->size);

	return transfer_run(node, &transfer, 0, 0);
}

/* After a first transfer the node is linked to its engine at the latest. */
FIXTURE_SETUP(supplier)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, binding_find(self->node, &self->binding));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE,
				 &self->src));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE,
				 &self->dst));
	fill_random(self->src.bytes, BUFFER_SIZE, 3);
	ASSERT_EQ(0, copy(self->node, &self->dst, &self->src));
	ASSERT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes,
				       BUFFER_SIZE));
	SKIP_IF(supplier_find(self->node, &self->supplier),
		"sysfs names no engine for this node");
}

FIXTURE_TEARDOWN_PARENT(supplier)
{
	if (!self->info.channel_count)
		return;
	if (!node_answers(NULL)) {
		EXPECT_EQ(0, supplier_bind(&self->supplier, &self->binding));
	}
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

/* Copies that keep the first channel busy for a while; how many there are. */
static unsigned int submit_slow(FIXTURE_DATA(supplier) * self, int *fences)
{
	struct dray_channel_info channel = { .alignment = 1 };
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_fd = self->dst.fd,
					  .src_fd = self->src.fd,
					  .axes_count = 1 };
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	struct dray_axis axis;
	unsigned int i;

	node_channel(self->node, 0, &channel);
	transfer.run = channel.alignment < 4 ? 4 : channel.alignment;
	axis.count = BUFFER_SIZE / (2 * transfer.run);
	if (axis.count > self->info.max_runs)
		axis.count = self->info.max_runs;
	axis.count /= (uint32_t)engine_slowness();
	axis.dst_stride = 2 * (int64_t)transfer.run;
	axis.src_stride = axis.dst_stride;
	transfer.axes = (uintptr_t)&axis;
	for (i = 0; i < JOBS; i++) {
		if (node_call(self->node, DRAY_IOC_SUBMIT, &submit))
			break;
		fences[i] = submit.fence_fd;
	}
	return i;
}

TEST_F(supplier, the_node_goes_before_its_engine_and_leaves_what_is_shared)
{
	int fences[JOBS + 2], ret, i;
	struct dray_info info;
	struct shared shared;

	NEED_ATTACHING();
	ret = shared_open(self->node, &self->dst, &shared);
	NEED_VGEM(ret);
	ASSERT_EQ(0, ret);
	ASSERT_EQ(JOBS, submit_slow(self, fences));
	ASSERT_EQ(0, shared_submit(self->node, &self->dst, &shared,
				   fences + JOBS));
	ASSERT_EQ(0, supplier_unbind(&self->supplier));
	EXPECT_TRUE(node_is_gone(NULL));
	EXPECT_EQ(-ENODEV, node_info(self->node, &info));
	/* Nothing is under way any more. */
	for (i = 0; i < JOBS + 2; i++) {
		ret = fence_status(fences[i]);
		EXPECT_TRUE(ret == 1 || ret == -ENODEV)
		{
			TH_LOG("fence %d says %d", i, ret);
		}
	}
	/* The mappings stay, and can be written. */
	memset(self->dst.bytes, 1, BUFFER_SIZE);
	ASSERT_EQ(0, supplier_bind(&self->supplier, &self->binding));
	close(self->node);
	self->node = node_open();
	ASSERT_LE(0, self->node);
	EXPECT_STREQ("", shared_change(self->node, &self->dst, &shared, true));
	shared_close(&shared);
	EXPECT_EQ(0, node_lists(self->node, shared.user.id));
	EXPECT_EQ(0, node_lists(self->node, shared.dmabuf.id));
	EXPECT_EQ(0, copy(self->node, &self->dst, &self->src));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes,
				       BUFFER_SIZE));
}

/* By itself the engine's end is enough: nobody needs to be at work. */
TEST_F(supplier, a_node_that_does_nothing_goes_with_its_engine_and_comes_back)
{
	for (int round = 0; round < 2; round++) {
		ASSERT_EQ(0, supplier_unbind(&self->supplier));
		EXPECT_TRUE(node_is_gone(NULL));
		ASSERT_EQ(0, supplier_bind(&self->supplier, &self->binding));
		close(self->node);
		self->node = node_open();
		ASSERT_LE(0, self->node);
		memset(self->dst.bytes, 0, BUFFER_SIZE);
		EXPECT_EQ(0, copy(self->node, &self->dst, &self->src));
		EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes,
					       BUFFER_SIZE));
	}
}
