// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A heap whose region two nodes name, each in its own order and by its own
 * name: it is one heap, which counts what either takes, and stays with one when
 * the other goes.  The emulated board's tree has a device for this, which the
 * fixture gives to dray.
 */
#include "binding.h"
#include "fixture_quota.h"
#include "platform.h"
#include "step.h"

#define SHARER "sharer"

FIXTURE(shared)
{
	bool there;
	int node[2]; /* the first is the one under test */
	struct dray_heap_info heap[2]; /* the same one, for each */
	size_t page;
	struct ledger before;
};

FIXTURE_VARIANT(shared)
{
	uint32_t type;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(shared, reserved) { .type = DRAY_HEAP_RESERVED };
FIXTURE_VARIANT_ADD(shared, cma) { .type = DRAY_HEAP_CMA };
FIXTURE_VARIANT_ADD(shared, pages) { .type = DRAY_HEAP_PAGES };
FIXTURE_VARIANT_ADD(shared, carveout) { .type = DRAY_HEAP_CARVEOUT };
/* clang-format on */

FIXTURE_SETUP(shared)
{
	self->there = !access(PLATFORM_DEVICES "/" SHARER, F_OK);
	SKIP_IF(!self->there, "this machine has no region of two nodes");
	self->page = (size_t)sysconf(_SC_PAGESIZE);
	self->node[0] = node_open();
	ASSERT_LE(0, self->node[0]);
	self->there =
		!node_find_heap(self->node[0], variant->type, &self->heap[0]);
	SKIP_IF(!self->there, "this kernel makes no such heap of the region");
	ASSERT_EQ(0, ledger_take(self->node[0], &self->before));
	ASSERT_EQ(0, platform_override(SHARER, "dray"));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", SHARER));
	self->node[1] = platform_open(SHARER);
	ASSERT_LE(0, self->node[1]);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, node_find_heap(self->node[i], variant->type,
					    &self->heap[i]));
}

FIXTURE_TEARDOWN_PARENT(shared)
{
	char path[PATH_MAX];

	if (self->heap[1].total) {
		setting_of_heap(path, self->heap[0].name, "limit");
		EXPECT_EQ(0, setting_write(path, 0));
		setting_of_heap(path, self->heap[0].name, "user_limit");
		EXPECT_EQ(0, setting_write(path, 0));
	}
	if (self->there) {
		write_name(PLATFORM_DRIVER, "unbind", SHARER);
		EXPECT_EQ(0, platform_override(SHARER, "\n"));
		EXPECT_EQ(0, ledger_differences(&self->before));
	}
}

static int take_pages(FIXTURE_DATA(shared) * self, int from, uint64_t pages,
		      struct dray_alloc *alloc)
{
	*alloc = (struct dray_alloc){
		.size = pages * self->page,
		.heap = self->heap[from].index,
		.mode = heap_usual_mode(&self->heap[from]),
	};
	return node_call(self->node[from], DRAY_IOC_ALLOC, alloc);
}

/* Does nobody but dray take from such a heap? */
static bool is_own(uint32_t type)
{
	return type == DRAY_HEAP_RESERVED || type == DRAY_HEAP_CARVEOUT;
}

/*
 * Has each node's heap so many buffers and bytes more than at first?  0, or the
 * first number that is wrong.
 */
static int wrong_for_both(FIXTURE_DATA(shared) * self, uint32_t buffers,
			  uint64_t bytes)
{
	struct dray_heap_info now, *old;

	for (int i = 0; i < 2; i++) {
		old = &self->heap[i];
		STEP_EQ(0, node_heap(self->node[i], old->index, &now));
		STEP_EQ(old->buffers + buffers, now.buffers);
		STEP_EQ(old->used + bytes, now.used);
		STEP_EQ(old->user_used + bytes, now.user_used);
		if (is_own(now.type))
			STEP_EQ(old->free - bytes, now.free);
	}
	return 0;
}

TEST_F(shared, it_is_one_heap_by_one_name)
{
	EXPECT_STREQ(self->heap[0].name, self->heap[1].name);
	EXPECT_EQ(self->heap[0].total, self->heap[1].total);
	EXPECT_EQ(self->heap[0].flags & ~DRAY_HEAP_DEFAULT,
		  self->heap[1].flags & ~DRAY_HEAP_DEFAULT);
	EXPECT_EQ(0, wrong_for_both(self, 0, 0));
}

TEST_F(shared, what_either_takes_both_have_less)
{
	struct dray_alloc alloc[2];
	uint64_t bytes = 0;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, take_pages(self, i, 4, &alloc[i]));
		bytes += alloc[i].size;
		EXPECT_EQ(0, wrong_for_both(self, (uint32_t)i + 1, bytes));
	}
	close(alloc[0].fd);
	EXPECT_EQ(0, wrong_for_both(self, 1, alloc[1].size));
	close(alloc[1].fd);
	EXPECT_EQ(0, wrong_for_both(self, 0, 0));
}

/* Each in turn, until together they have what one may have. */
static int take_until(FIXTURE_DATA(shared) * self, uint32_t count)
{
	struct dray_alloc alloc;
	int ret;

	for (uint32_t i = 0; i < count; i++) {
		ret = take_pages(self, (int)i % 2, 1, &alloc);
		if (ret)
			return ret;
	}
	for (uint32_t i = 0; i < 2; i++) {
		ret = take_pages(self, (int)i, 1, &alloc);
		if (ret != -EDQUOT)
			return -EMSGSIZE;
		if (alloc.reason != DRAY_REASON_QUOTA)
			return -EBADMSG;
	}
	return 0;
}

/* The heap's setting: room for so many of the smallest buffers. */
static int leave_room(FIXTURE_DATA(shared) * self, const char *setting,
		      uint64_t used, uint32_t count)
{
	struct dray_alloc alloc;
	char path[PATH_MAX];
	int ret = take_pages(self, 0, 1, &alloc);

	if (ret)
		return ret;
	close(alloc.fd);
	setting_of_heap(path, self->heap[1].name, setting);
	return setting_write(path, used + count * alloc.size);
}

TEST_F(shared, a_users_limit_is_for_what_it_takes_by_both)
{
	ASSERT_EQ(0,
		  leave_room(self, "user_limit", self->heap[0].user_used, 5));
	EXPECT_EQ(0, take_until(self, 5));
}

TEST_F(shared, a_limit_is_for_what_is_taken_by_both)
{
	ASSERT_EQ(0, leave_room(self, "limit", self->heap[0].used, 5));
	EXPECT_EQ(0, take_until(self, 5));
}

TEST_F(shared, what_one_has_taken_the_other_does_not_get)
{
	struct dray_alloc all, one;

	SKIP_IF(!is_own(variant->type), "others take from it too");
	SKIP_IF(node_copies(), "no buffer is longer than a copy");
	ASSERT_EQ(0,
		  take_pages(self, 1, self->heap[1].free / self->page, &all));
	EXPECT_EQ(-ENOMEM, take_pages(self, 0, 1, &one));
	EXPECT_EQ(DRAY_REASON_FULL, one.reason);
	close(all.fd);
	EXPECT_EQ(0, take_pages(self, 0, 1, &one));
}

TEST_F(shared, when_one_goes_the_other_has_it_still)
{
	struct dray_heap_info now;
	struct dray_alloc alloc;

	ASSERT_EQ(0, take_pages(self, 1, 4, &alloc));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", SHARER));
	ASSERT_EQ(0, node_heap(self->node[0], self->heap[0].index, &now));
	EXPECT_EQ(self->heap[0].used + alloc.size, now.used);
	EXPECT_EQ(self->heap[0].buffers + 1, now.buffers);
	close(alloc.fd);
	ASSERT_EQ(0, node_heap(self->node[0], self->heap[0].index, &now));
	EXPECT_EQ(self->heap[0].used, now.used);
	EXPECT_EQ(0, take_pages(self, 0, 4, &alloc));
}
