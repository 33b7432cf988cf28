// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ATTACH for a device that would get copies of the memory (swiotlb): refused,
 * whatever the memory is, also where the module was told to use such a device
 * (bounce=1), because nobody would bring back what the device wrote.  Where
 * there are no copies the same memory is attached.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "foreign.h"
#include "pins.h"

#define PAGES 16

static void expect_no_copies(struct __test_metadata *_metadata, int ret,
			     const struct dray_attach *attach)
{
	if (!node_copies()) {
		EXPECT_LE(0, ret);
		return;
	}
	EXPECT_EQ(-ENOMEM, ret);
	EXPECT_EQ(DRAY_REASON_BOUNCE, attach->reason);
	EXPECT_NE(0, attach->limit);
	EXPECT_EQ(-1, attach->fd);
}

static uint8_t *memory(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST_F(dray, user_memory_is_attached_only_where_there_are_no_copies)
{
	uint8_t *bytes = memory(PAGES * self->page);
	struct dray_attach attach;
	int ret;

	ASSERT_NE(MAP_FAILED, bytes);
	ret = attach_memory(self->node, bytes, PAGES * self->page, 0, &attach);
	expect_no_copies(_metadata, ret, &attach);
}

TEST_F(dray, a_device_that_only_reads_gets_no_copies_either)
{
	uint8_t *bytes = memory(PAGES * self->page);
	struct dray_attach attach;
	int ret;

	ASSERT_NE(MAP_FAILED, bytes);
	ret = attach_memory(self->node, bytes, PAGES * self->page,
			    DRAY_ATTACH_READ_ONLY, &attach);
	expect_no_copies(_metadata, ret, &attach);
}

TEST_F(dray, a_dma_buf_is_attached_only_where_there_are_no_copies)
{
	int fd = foreign_open(FOREIGN_VGEM, PAGES * self->page);
	struct dray_attach attach;
	int ret;

	NEED_VGEM(fd);
	ret = attach_dma_buf(self->node, fd, 0, &attach);
	expect_no_copies(_metadata, ret, &attach);
}

TEST_F(dray, a_refusal_leaves_nothing_pinned)
{
	uint8_t *bytes = memory(PAGES * self->page);
	long pins = pins_count();
	struct dray_attach attach;
	int i, fd;

	ASSERT_LE(0, pins);
	for (i = 0; i < 8; i++) {
		fd = attach_memory(self->node, bytes, PAGES * self->page, 0,
				   &attach);
		expect_no_copies(_metadata, fd, &attach);
		if (fd >= 0)
			close(fd);
	}
	EXPECT_EQ(pins, pins_count());
}
