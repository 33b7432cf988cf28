// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A driver that waits for the fences of a dma-buf under its lock, or under that
 * of a page, which a job that has ended needs for letting go of it: no fence
 * waits for that job, and neither do other openers.  Needs
 * dray_test_importer.ko, dray_test_exporter.ko and what the fixture needs.
 */
#include "../selftests/attach.h"
#include "../selftests/importer.h"
#include "../selftests/signalled.h"
#include "fixture_fault.h"
#include "importing.h"

/* A copy of so many bytes to a buffer or an attachment. */
static int copy_to(FIXTURE_DATA(fault) * self, int fd, uint64_t size,
		   struct dray_submit *submit)
{
	struct dray_transfer transfer = whole(self);

	transfer.dst_fd = fd;
	transfer.run = size;
	*submit = (struct dray_submit)SUBMIT_OF(0, &transfer, 1);
	return node_call(self->node, DRAY_IOC_SUBMIT, submit);
}

/*
 * Two jobs on one dma-buf, of which the first has the last of its attachment, on
 * an engine that hangs.
 */
static int submit_two(FIXTURE_DATA(fault) * self, struct dray_submit *first,
		      struct dray_submit *second)
{
	int fd = parameter_read("dray_test_exporter", "export");
	struct dray_attach attach[2];
	int ret = -ENOENT, i;

	if (fd < 0)
		return fd;
	mapped_twice_begin();
	for (i = 0; i < 2; i++) {
		ret = attach_dma_buf(self->node, fd, 0, &attach[i]);
		if (ret < 0)
			return ret;
	}
	ret = knob("hang", 1);
	if (!ret)
		ret = copy_to(self, attach[0].fd, attach[0].length, first);
	close(attach[0].fd);
	if (!ret)
		ret = copy_to(self, attach[1].fd, attach[1].length, second);
	if (ret)
		return ret;
	return import("wait", fd);
}

TEST_F(fault, who_waits_under_the_lock_sees_the_fences_signal)
{
	struct dray_submit first, second;

	ASSERT_EQ(0, submit_two(self, &first, &second));
	EXPECT_EQ(0, fence_status(first.fence_fd));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(first.fence_fd));
	EXPECT_EQ(1, fence_wait(second.fence_fd));
	EXPECT_TRUE(wait_for(has_waited, NULL));
	EXPECT_EQ(1, number_read(IMPORTER "waited"));
	mapped_twice_end();
}

/* Memory of others is copied behind them, and the channel lives. */
TEST_F(fault, who_waits_under_the_lock_holds_up_no_other_opener)
{
	struct dray_submit first, second, other;

	ASSERT_EQ(0, submit_two(self, &first, &second));
	ASSERT_EQ(0, submit_on(self, 0, &other));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(other.fence_fd));
	EXPECT_TRUE(is_equal(self));
	EXPECT_TRUE(wait_for(has_waited, NULL));
	EXPECT_EQ(1, number_read(IMPORTER "waited"));
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_DEAD);
	mapped_twice_end();
}

TEST_F(fault, unbinding_completes_while_fences_are_waited_for_under_the_lock)
{
	struct dray_submit first, second;
	int ret;

	ASSERT_EQ(0, submit_two(self, &first, &second));
	/* so that the second is on its way when the node goes */
	ASSERT_EQ(0, knob("delay_ms", 700));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(first.fence_fd));
	EXPECT_EQ(0, write_text(DRIVER "unbind", "dray-virtual.0"));
	ret = fence_status(second.fence_fd);
	EXPECT_TRUE(ret == 1 || ret == -ENODEV)
	{
		TH_LOG("the fence says %d", ret);
	}
	EXPECT_TRUE(wait_for(has_waited, NULL));
	EXPECT_EQ(1, number_read(IMPORTER "waited"));
	/* as the fixture expects it */
	ASSERT_EQ(0, write_text(DRIVER "bind", "dray-virtual.0"));
	mapped_twice_end();
}

/* A page of attached memory is locked to become dirty when that ends. */
TEST_F(fault, who_waits_under_the_lock_of_a_page_sees_the_fences_signal)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct dray_submit first, second;
	uint8_t *bytes =
		mmap(NULL, page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	char text[32];

	ASSERT_NE(MAP_FAILED, bytes);
	ATTACH_MEMORY(attach, bytes, page, 0);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, copy_to(self, attach.fd, page, &first));
	close(attach.fd);
	ASSERT_EQ(0, copy_to(self, self->dst.fd, page, &second));
	snprintf(text, sizeof(text), "%lu", (unsigned long)bytes);
	ASSERT_EQ(0, write_text(IMPORTER "page_at", text));
	ASSERT_EQ(0, import("page", self->dst.fd));
	EXPECT_EQ(0, fence_status(first.fence_fd));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(first.fence_fd));
	EXPECT_EQ(1, fence_wait(second.fence_fd));
	EXPECT_TRUE(wait_for(has_waited, NULL));
	EXPECT_EQ(1, number_read(IMPORTER "waited"));
	EXPECT_EQ(-1, first_difference(self->src.bytes, bytes, page));
}

/* A fence of vgem, for which somebody waits under the lock of a buffer. */
struct holder {
	FIXTURE_DATA(fault) * self;
	int importer;
	uint32_t fence;
};

static int holder_begin(FIXTURE_DATA(fault) * self, struct holder *holder)
{
	uint32_t handle;
	int ret;

	holder->self = self;
	holder->importer = importer_open();
	if (holder->importer < 0)
		return holder->importer;
	ret = importer_attach(holder->importer, self->dst.fd, &handle);
	if (!ret)
		ret = importer_fence(holder->importer, handle, &holder->fence);
	if (ret)
		return ret;
	return import("wait", self->dst.fd);
}

static int holder_end(void *context)
{
	struct holder *holder = context;

	return importer_signal(holder->importer, holder->fence);
}

static int submit(void *context)
{
	struct holder *holder = context;
	struct dray_submit submit;

	return submit_on(holder->self, 0, &submit);
}

TEST_F(fault, submit_that_waits_for_the_lock_starts_again)
{
	struct holder holder;
	struct signalled signalled = { .call = submit,
				       .release = holder_end,
				       .context = &holder,
				       .flags = SA_RESTART };

	ASSERT_EQ(0, holder_begin(self, &holder));
	EXPECT_EQ(0, signalled_run(&signalled));
}

TEST_F(fault, submit_that_waits_for_the_lock_is_interrupted)
{
	struct holder holder;
	struct signalled signalled = { .call = submit,
				       .release = holder_end,
				       .context = &holder };

	ASSERT_EQ(0, holder_begin(self, &holder));
	EXPECT_EQ(-EINTR, signalled_run(&signalled));
}
