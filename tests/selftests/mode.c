// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache modes: which is in effect, who says so, and which heap is taken for one.
 */
#include "fixture_dray.h"
#include "fixture_mode.h"

TEST_F(mode, the_reply_says_which_is_in_effect)
{
	struct dray_alloc alloc = { .size = 1,
				    .heap = self->heap.index,
				    .mode = variant->mode };
	int ret = node_call(self->node, DRAY_IOC_ALLOC, &alloc);

	if (self->effect < 0) {
		EXPECT_EQ(self->effect, ret);
		EXPECT_EQ(DRAY_REASON_MODE, alloc.reason);
		EXPECT_NE(0, self->heap.modes & 1u << alloc.limit);
	} else {
		ASSERT_EQ(0, ret);
		EXPECT_EQ(self->effect, alloc.mode);
	}
}

TEST_F(mode, heap_info_tells_whether_it_can_be_in_effect)
{
	EXPECT_EQ(self->effect == (int)variant->mode,
		  self->heap.modes >> variant->mode & 1);
	EXPECT_EQ(0, self->heap.modes >> (DRAY_MODE_DEVICE + 1));
}

TEST_F(mode, buffer_info_says_which_is_in_effect)
{
	OPEN_MODE(buffer);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(self->effect, info.mode);
	EXPECT_EQ(self->heap.index, info.heap);
}

/* From any heap: the reply, and the heap that was taken. */
static int allocate_any(FIXTURE_DATA(dray) * self, uint32_t mode,
			struct dray_alloc *alloc, struct dray_heap_info *heap)
{
	int ret;

	*alloc = (struct dray_alloc){ .size = 1,
				      .heap = DRAY_HEAP_ANY,
				      .mode = mode };
	ret = node_call(self->node, DRAY_IOC_ALLOC, alloc);
	return ret ? ret : node_heap(self->node, alloc->heap, heap);
}

TEST_F(dray, any_heap_is_one_that_has_the_mode)
{
	struct dray_heap_info heap;
	struct dray_alloc alloc;
	int ret;

	for (uint32_t mode = 0; mode <= DRAY_MODE_DEVICE; mode++) {
		ret = allocate_any(self, mode, &alloc, &heap);
		if (ret == -EOPNOTSUPP) {
			EXPECT_EQ(DRAY_REASON_MODE, alloc.reason);
			continue;
		}
		ASSERT_EQ(0, ret);
		EXPECT_NE(0, heap.modes & 1u << alloc.mode);
		close(alloc.fd);
	}
}

TEST_F(dray, any_heap_is_no_carveout_where_another_has_the_mode)
{
	struct dray_heap_info heap, other;
	struct dray_alloc alloc;
	uint32_t mode, i, offering;

	for (mode = 0; mode < DRAY_MODE_DEVICE; mode++) {
		offering = 0;
		for (i = 0; i < self->info.heap_count; i++) {
			ASSERT_EQ(0, node_heap(self->node, i, &other));
			if (other.type != DRAY_HEAP_CARVEOUT)
				offering |= other.modes;
		}
		if (!(offering & 1u << mode))
			continue;
		ASSERT_EQ(0, allocate_any(self, mode, &alloc, &heap));
		EXPECT_NE(DRAY_HEAP_CARVEOUT, heap.type);
		close(alloc.fd);
	}
}

TEST_F(dray, memory_for_devices_only_comes_from_the_first_heap)
{
	struct dray_heap_info heap;
	struct dray_alloc alloc;

	ASSERT_EQ(0, allocate_any(self, DRAY_MODE_DEVICE, &alloc, &heap));
	EXPECT_EQ(0, alloc.heap);
	EXPECT_EQ(DRAY_MODE_DEVICE, alloc.mode);
}
