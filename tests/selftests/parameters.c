// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What the module's parameters say is in effect, whatever they say: the suites
 * run this with the defaults, and again with each of them set.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "step.h"

#define NOBODY 65534

/* As text; a flag is Y or N. */
static void parameter(const char *name, char text[32])
{
	char path[64];
	ssize_t length;
	int file;

	snprintf(path, sizeof(path), "/sys/module/dray/parameters/%s", name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	length = read(file, text, 31);
	text[length > 0 ? length : 0] = 0;
	close(file);
}

static uint64_t parameter_number(const char *name)
{
	char text[32];

	parameter(name, text);
	return *text ? strtoull(text, NULL, 0) : UINT64_MAX;
}

static int allocate(FIXTURE_DATA(heap) * self, uint64_t size,
		    struct dray_alloc *alloc)
{
	*alloc = (struct dray_alloc){ .size = size, .heap = self->heap.index };
	return node_call(self->node, DRAY_IOC_ALLOC, alloc);
}

TEST_F(heap, more_than_heap_limit_is_refused)
{
	uint64_t limit = parameter_number("heap_limit");
	struct dray_alloc alloc;

	EXPECT_EQ(limit, self->heap.limit);
	SKIP_IF(!limit || limit >= self->heap.largest_free,
		"heap_limit limits nothing here");
	EXPECT_EQ(-EDQUOT, allocate(self, limit + self->page, &alloc));
	EXPECT_EQ(DRAY_REASON_QUOTA, alloc.reason);
	EXPECT_EQ(limit, alloc.limit);
}

TEST_F(heap, more_than_user_limit_is_refused)
{
	uint64_t limit = parameter_number("user_limit");
	struct dray_alloc alloc;

	EXPECT_EQ(limit, self->heap.user_limit);
	SKIP_IF(!limit || limit >= self->heap.largest_free,
		"user_limit limits nothing here");
	ASSERT_EQ(0, allocate(self, limit, &alloc));
	EXPECT_EQ(-EDQUOT, allocate(self, 1, &alloc));
	EXPECT_EQ(DRAY_REASON_QUOTA, alloc.reason);
}

/* 0 told, 1 refused, or something else is wrong. */
static int asks_as_nobody(void *context)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = { .fd = *(int *)context,
					.segments = (uintptr_t)&segment,
					.room = 1 };
	int ret;

	STEP_OPEN_AS(node, NOBODY, OPENER);
	STEP_EQ(0, process_keep(0));
	ret = node_call(node, DRAY_IOC_ADDRESS, &address);
	return ret ? (ret == -EPERM ? 1 : 4) : 0;
}

TEST_F(heap, addresses_are_for_everybody_where_it_says_so)
{
	bool shared = self->heap.flags & DRAY_HEAP_SHARED;
	char told[32];

	parameter("addresses", told);
	READ_NODE(info);
	SKIP_IF(info.flags & DRAY_NODE_IOMMU,
		"behind an IOMMU that is another question");
	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	EXPECT_EQ(*told != 'Y' || shared,
		  process_run(asks_as_nobody, &buffer.fd));
}

TEST_F(dray, what_a_submission_may_have_is_told)
{
	READ_NODE(info);
	SKIP_IF(!(info.flags & DRAY_NODE_SUBMIT),
		"this kernel has no DMA engines");
	EXPECT_EQ(parameter_number("max_runs"), info.max_runs);
	EXPECT_EQ(parameter_number("max_bytes"), info.max_bytes);
}
