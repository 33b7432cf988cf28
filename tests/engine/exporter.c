// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The dma-buf of another driver whose device has been unbound: what the
 * exporter says then is what the caller hears, and nothing is kept of a call
 * that it refused.  Needs dray_test_exporter.ko, and dray.ko with nodes=1.
 */
#include "../selftests/step.h"
#include "../selftests/attach.h"
#include "../selftests/fixture_engine.h"
#include "number.h"

#define MODULE "/sys/module/dray_test_exporter/"
#define DRIVER "/sys/bus/platform/drivers/dray-test-exporter/"
#define DEVICE "dray-test-exporter"
#define PAGES 4

/* A dma-buf, of a device that is bound. */
FIXTURE(exporter)
{
	int node;
	size_t size;
	int fd;
	struct dray_info info;
	struct ledger before;
};

static bool nothing_holds_it(void *unused)
{
	return !number_read(MODULE "refcnt");
}

FIXTURE_SETUP(exporter)
{
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	self->fd = (int)number_read(MODULE "parameters/export");
	ASSERT_LT(0, self->fd);
}

/* Neither dray nor anybody else has kept a dma-buf. */
FIXTURE_TEARDOWN_PARENT(exporter)
{
	write_text(DRIVER "bind", DEVICE);
	write_text(MODULE "parameters/refusal", "0");
	EXPECT_EQ(0, ledger_differences(&self->before));
	EXPECT_TRUE(wait_for(nothing_holds_it, NULL));
}

static int unbind_exporter(void)
{
	return write_text(DRIVER "unbind", DEVICE);
}

TEST_F(exporter, it_is_attached_while_its_device_is_bound)
{
	ATTACH_DMA_BUF(attach, self->fd, 0);
	EXPECT_EQ(self->size, attach.length);
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, self->size));
}

TEST_F(exporter, attach_says_what_it_says)
{
	struct dray_attach attach;

	ASSERT_EQ(0, unbind_exporter());
	EXPECT_EQ(-ENXIO, attach_dma_buf(self->node, self->fd, 0, &attach));
	EXPECT_EQ(0, attach.reason);
	EXPECT_EQ(-1, attach.fd);
}

TEST_F(exporter, a_refused_attach_is_not_listed_and_holds_nothing)
{
	struct dray_attach attach;
	int count = node_count(self->node);

	ASSERT_EQ(0, unbind_exporter());
	EXPECT_EQ(-ENXIO, attach_dma_buf(self->node, self->fd, 0, &attach));
	EXPECT_EQ(count, node_count(self->node));
	close(self->fd);
	EXPECT_TRUE(wait_for(nothing_holds_it, NULL));
}

/* 0: what is refused is charged to nobody, else what went wrong. */
static int attaches_within_the_limit(void *context)
{
	FIXTURE_DATA(exporter) *self = context;
	struct rlimit limit = { self->size, self->size };
	struct dray_attach attach;
	int i;

	STEP_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	STEP_EQ(0, process_become(0, OPENER));
	STEP_EQ(0, unbind_exporter());
	for (i = 0; i < 3; i++)
		STEP_EQ(-ENXIO,
			attach_dma_buf(self->node, self->fd, 0, &attach));
	STEP_EQ(0, write_text(DRIVER "bind", DEVICE));
	if (attach_dma_buf(self->node, self->fd, 0, &attach) < 0)
		return attach.reason == DRAY_REASON_MEMLOCK ? 6 : 7;
	return 0;
}

TEST_F(exporter, a_refused_attach_is_charged_to_nobody)
{
	EXPECT_EQ(0, process_run(attaches_within_the_limit, self));
}

TEST_F(exporter, sync_of_an_attachment_says_what_it_says)
{
	ATTACH_DMA_BUF(attach, self->fd, 0);
	ASSERT_EQ(0, unbind_exporter());
	EXPECT_EQ(-ENXIO, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				      DRAY_FROM_DEVICE, 0, self->size));
}

/* Of udmabuf alone -EINVAL means that there is nothing to be done. */
TEST_F(exporter, sync_for_the_device_says_what_it_says)
{
	ATTACH_DMA_BUF(attach, self->fd, 0);
	ASSERT_EQ(0, write_text(MODULE "parameters/refusal", "-22"));
	EXPECT_EQ(-EINVAL,
		  buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_DEVICE,
			      DRAY_TO_DEVICE, 0, self->size));
	ASSERT_EQ(0, write_text(MODULE "parameters/refusal", "0"));
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, self->size));
}

TEST_F(exporter, submit_for_a_device_that_it_refuses_says_what_it_says)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .run = self->size };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	struct buffer buffer;

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, self->size, &buffer));
	ATTACH_DMA_BUF(attach, self->fd, 0);
	ASSERT_EQ(0, unbind_exporter());
	memset(buffer.bytes, 0x5a, self->size);
	transfer.src_fd = attach.fd;
	transfer.dst_fd = buffer.fd;
	EXPECT_EQ(-ENXIO, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, self->size, 0x5a));
}

TEST_F(exporter, an_attachment_outlives_the_device_and_ends_as_others_do)
{
	ATTACH_DMA_BUF(attach, self->fd, 0);
	close(self->fd);
	ASSERT_EQ(0, unbind_exporter());
	EXPECT_EQ(1, number_read(MODULE "refcnt"));
	EXPECT_EQ(0, close(attach.fd));
	EXPECT_TRUE(wait_for(nothing_holds_it, NULL));
}
