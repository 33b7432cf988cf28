// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache maintenance of attached dma-bufs of other drivers: how their memory is
 * maintained only their exporter knows, so that it is asked, once, for all of
 * it, for the owner and in the direction that was asked for.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "fixture_engine.h"
#include "foreign.h"
#include "maintenance.h"

#define PAGES 16
#define MOST 4096

static struct maintenance list[MOST];

/* How often an exporter was asked to, for that owner in that direction. */
static int asked(bool for_cpu, unsigned int direction)
{
	int count = maintenance_read(list, MOST), i, times = 0;

	for (i = 0; i < count; i++)
		times += list[i].whole && list[i].for_cpu == for_cpu &&
			 list[i].direction == direction;
	return count < 0 ? count : times;
}

TEST_F(dray, the_exporter_of_a_dma_buf_maintains_it)
{
	int fd = foreign_open(FOREIGN_VGEM, PAGES * self->page);
	uint32_t owner, direction;

	NEED_VGEM(fd);
	SKIP_IF(node_copies(),
		"a device that gets copies gets no attached memory");
	ATTACH_DMA_BUF(attach, fd, 0);
	for (owner = DRAY_SYNC_FOR_DEVICE; owner <= DRAY_SYNC_FOR_CPU; owner++)
		for (direction = DRAY_TO_DEVICE;
		     direction <= DRAY_BIDIRECTIONAL; direction++) {
			WATCH_MAINTENANCE();
			ASSERT_EQ(0, buffer_sync(self->node, attach.fd, owner,
						 direction, 0, attach.length));
			EXPECT_EQ(1, asked(owner == DRAY_SYNC_FOR_CPU,
					   maintenance_direction(direction)));
		}
	maintenance_end();
}

TEST_F(engine, the_exporter_of_a_dma_buf_writes_it_back_for_an_engine)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	int fd = foreign_open(FOREIGN_VGEM, PAGES * self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

	NEED_VGEM(fd);
	SKIP_IF(node_copies(),
		"a device that gets copies gets no attached memory");
	ATTACH_DMA_BUF(attach, fd, 0);
	transfer.src_fd = attach.fd;
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(1, asked(false, MAINTAIN_TO_DEVICE));
	transfer = engine_copy(self, self->page);
	transfer.dst_fd = attach.fd;
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(1, asked(false, MAINTAIN_BOTH));
	maintenance_end();
}
