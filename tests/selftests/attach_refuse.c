// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ATTACH of what cannot be attached: no memory, too much of it, or a call that
 * makes no sense.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "step.h"

TEST_F(dray, no_memory_at_all_is_refused)
{
	struct dray_attach attach;
	uint8_t *bytes = fresh_memory(self->page);

	EXPECT_EQ(-EINVAL, attach_memory(self->node, bytes, 0, 0, &attach));
	EXPECT_EQ(DRAY_REASON_SIZE, attach.reason);
	EXPECT_LT(0, attach.limit);
}

TEST_F(dray, more_than_there_is_is_refused)
{
	struct dray_attach attach;
	uint8_t *bytes = fresh_memory(self->page);

	EXPECT_EQ(-EINVAL,
		  attach_memory(self->node, bytes, SIZE_MAX / 2, 0, &attach));
	EXPECT_EQ(DRAY_REASON_SIZE, attach.reason);
}

TEST_F(dray, memory_that_wraps_around_is_refused)
{
	struct dray_attach attach = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER,
		.address = -(uint64_t)self->page,
		.length = 2 * self->page,
	};

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
	EXPECT_EQ(DRAY_REASON_SIZE, attach.reason);
}

TEST_F(dray, the_kernels_memory_is_refused)
{
	struct dray_attach attach;

	EXPECT_EQ(-EFAULT, attach_memory(self->node,
					 (void *)-(uintptr_t)(16 * self->page),
					 self->page, 0, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
	EXPECT_EQ(0, attach.limit);
}

TEST_F(dray, the_null_page_is_refused)
{
	struct dray_attach attach;

	EXPECT_EQ(-EFAULT,
		  attach_memory(self->node, NULL, self->page, 0, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
}

TEST_F(dray, memory_with_a_hole_is_refused_and_the_reply_says_where)
{
	uint8_t *bytes = fresh_memory(8 * self->page);
	struct dray_attach attach;

	ASSERT_EQ(0, munmap(bytes + 5 * self->page, self->page));
	EXPECT_EQ(-EFAULT, attach_memory(self->node, bytes + 10, 7 * self->page,
					 0, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
	EXPECT_EQ(5 * self->page - 10, attach.limit);
}

TEST_F(dray, memory_without_access_is_refused)
{
	uint8_t *bytes = mmap(NULL, self->page, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_attach attach;

	EXPECT_EQ(-EFAULT,
		  attach_memory(self->node, bytes, self->page, 0, &attach));
	EXPECT_EQ(-EFAULT, attach_memory(self->node, bytes, self->page,
					 DRAY_ATTACH_READ_ONLY, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
}

/* A call that is right but for what a test changes. */
static struct dray_attach attach_of(void *bytes, size_t length)
{
	return (struct dray_attach){ .dmabuf_fd = -1,
				     .flags = DRAY_ATTACH_USER,
				     .address = (uintptr_t)bytes,
				     .length = length };
}

TEST_F(dray, unknown_flags_are_refused)
{
	uint8_t *bytes = fresh_memory(self->page);
	struct dray_attach attach;

	for (uint32_t bit = 2; bit < 32; bit++) {
		attach = attach_of(bytes, self->page);
		attach.flags |= 1u << bit;
		EXPECT_EQ(-EINVAL,
			  node_call(self->node, DRAY_IOC_ATTACH, &attach));
	}
}

TEST_F(dray, non_zero_padding_is_refused)
{
	struct dray_attach attach =
		attach_of(fresh_memory(self->page), self->page);

	attach.reserved = 1;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
}

TEST_F(dray, an_address_together_with_a_descriptor_is_refused)
{
	struct dray_attach attach =
		attach_of(fresh_memory(self->page), self->page);

	attach.dmabuf_fd = 0;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
	attach.flags = 0;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
}

TEST_F(dray, an_address_without_the_flag_for_one_is_refused)
{
	struct dray_attach attach =
		attach_of(fresh_memory(self->page), self->page);

	attach.flags = 0;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
}

TEST_F(dray, an_attachment_is_no_buffer)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	uint8_t *bytes = fresh_memory(self->page);

	ATTACH_MEMORY(attach, bytes, self->page, 0);
	export.buffer_fd = attach.fd;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_EXPORT, &export));
	EXPECT_EQ(DRAY_REASON_FOREIGN, export.reason);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, self->page, PROT_READ, MAP_SHARED, attach.fd, 0));
}

struct limited {
	int node;
	size_t page;
	size_t limit;
	size_t length;
};

/* 0 taken; else the errno, with 100 added where the reply says why. */
static int attaches_as_user(void *context)
{
	const struct limited *limited = context;
	struct rlimit limit = { limited->limit, limited->limit };
	uint8_t *bytes = fresh_memory(limited->length);
	struct dray_attach attach;
	int ret;

	STEP_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	STEP_EQ(0, process_become(65533, 0));
	ret = attach_memory(limited->node, bytes, limited->length, 0, &attach);
	if (ret >= 0)
		return 0;
	if (attach.reason == DRAY_REASON_MEMLOCK &&
	    attach.limit == limited->limit)
		return 100 - ret;
	return -ret;
}

TEST_F(dray, the_limit_of_locked_memory_is_kept)
{
	struct limited limited = { .node = self->node,
				   .page = self->page,
				   .limit = 8 * self->page };

	limited.length = 8 * self->page;
	EXPECT_EQ(0, process_run(attaches_as_user, &limited));
	limited.length = 8 * self->page + 1;
	EXPECT_EQ(100 + ENOMEM, process_run(attaches_as_user, &limited));
}

/* As often as fits, again after all were closed. */
static int attaches_twice_the_limit(void *context)
{
	const struct limited *limited = context;
	struct rlimit limit = { limited->limit, limited->limit };
	uint8_t *bytes = fresh_memory(limited->length);
	struct dray_attach attach;
	int i, first;

	STEP_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	STEP_EQ(0, process_become(65532, 0));
	for (i = 0; i < 20; i++) {
		first = attach_memory(limited->node, bytes, limited->length, 0,
				      &attach);
		STEP_LE(0, first);
		STEP_EQ(-ENOMEM, attach_memory(limited->node, bytes,
					       limited->length, 0, &attach));
		close(first);
	}
	return 0;
}

TEST_F(dray, closing_an_attachment_gives_back_its_charge)
{
	struct limited limited = { .node = self->node,
				   .page = self->page,
				   .limit = 8 * self->page,
				   .length = 5 * self->page };

	EXPECT_EQ(0, process_run(attaches_twice_the_limit, &limited));
}
