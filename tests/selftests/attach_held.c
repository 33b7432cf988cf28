// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Attached memory whose address was given out: what becomes of it when the
 * process that got the address has ended.  It stays pinned, and in LIST, until
 * RECLAIM.
 */
#include "attach.h"
#include "binding.h"
#include "foreign.h"
#include "ledger.h"
#include "pins.h"
#include "process.h"
#include "setting.h"
#include "setup.h"
#include "step.h"

#define PAGES 16

FIXTURE(held)
{
	int node;
	size_t page;
	long pins; /* pages that are pinned already */
	char hold[PATH_MAX];
	struct ledger before;
	struct binding binding;
};

FIXTURE_SETUP(held)
{
	SETUP_NODE();
	READ_NODE(info);
	SKIP_IF(info.flags & DRAY_NODE_IOMMU,
		"nothing is held behind an IOMMU");
	NEED_ATTACHING();
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, binding_find(self->node, &self->binding));
	ASSERT_EQ(0, setting_of_node(self->hold, self->node, "hold"));
	/* Tests before this one ended with addresses in their hands. */
	ASSERT_EQ(0, node_reclaim());
	self->pins = pins_count();
	ASSERT_LE(0, self->pins);
}

FIXTURE_TEARDOWN_PARENT(held)
{
	if (*self->hold) {
		EXPECT_EQ(0, setting_write(self->hold, 1));
		EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
	}
}

struct owner {
	size_t size;
	bool foreign; /* another driver's dma-buf */
	bool asks; /* for the address */
	bool closes; /* and lives */
	uint64_t id; /* out */
	int told;
};

static int attach_some(int node, const struct owner *owner,
		       struct dray_attach *attach)
{
	void *bytes;
	int fd;

	if (owner->foreign) {
		fd = foreign_open(FOREIGN_VGEM, owner->size);
		return fd < 0 ? fd : attach_dma_buf(node, fd, 0, attach);
	}
	bytes = mmap(NULL, owner->size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return attach_memory(node, bytes, owner->size, 0, attach);
}

static int own(void *context)
{
	const struct owner *owner = context;
	struct dray_segment segment;
	struct dray_address call = { .segments = (uintptr_t)&segment,
				     .room = 1 };
	struct dray_attach attach;
	int node = node_open();

	call.fd = node < 0 ? node : attach_some(node, owner, &attach);
	if (call.fd == -ENODEV)
		return ENODEV;
	STEP_LE(0, call.fd);
	if (owner->asks)
		STEP_EQ(0, node_call(node, DRAY_IOC_ADDRESS, &call));
	if (owner->closes)
		close(call.fd);
	STEP_EQ(sizeof(attach.id),
		write(owner->told, &attach.id, sizeof(attach.id)));
	for (;;)
		pause();
}

/*
 * A process that attached something, up to the moment before it is killed: its
 * id, or a negative errno.
 */
static pid_t start_owner(FIXTURE_DATA(held) * self, struct owner *owner)
{
	int told[2];
	pid_t child;

	if (pipe(told))
		return -errno;
	owner->size = PAGES * self->page;
	owner->told = told[1];
	child = process_start(own, owner);
	close(told[1]);
	if (read(told[0], &owner->id, sizeof(owner->id)) != sizeof(owner->id))
		child = -process_wait(child);
	close(told[0]);
	return child;
}

static int run_owner(FIXTURE_DATA(held) * self, struct owner *owner)
{
	pid_t child = start_owner(self, owner);

	if (child < 0)
		return child;
	kill(child, SIGKILL);
	return process_wait(child) == -SIGKILL ? 0 : -ECHILD;
}

TEST_F(held, what_a_killed_process_knew_the_address_of_stays_until_reclaim)
{
	struct owner owner = { .asks = true };
	struct dray_reclaim call = { 0 };

	ASSERT_EQ(0, run_owner(self, &owner));
	EXPECT_EQ(self->pins + PAGES, pins_count());
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_RECLAIM, &call));
	EXPECT_EQ(1, call.count);
	EXPECT_EQ(1, call.attachments);
	EXPECT_EQ(PAGES * self->page, call.bytes);
	EXPECT_EQ(self->pins, pins_count());
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_RECLAIM, &call));
	EXPECT_EQ(0, call.count);
}

static int reclaim(int node, uint64_t id, struct dray_reclaim *call)
{
	*call = (struct dray_reclaim){ .id = id };
	return node_call(node, DRAY_IOC_RECLAIM, call);
}

TEST_F(held, what_is_held_is_listed_with_its_owner)
{
	struct owner owner = { .asks = true };

	ASSERT_EQ(0, run_owner(self, &owner));
	EXPECT_EQ(1, node_lists(self->node, owner.id));
	READ_BUFFER(info, owner.id);
	EXPECT_EQ(DRAY_KIND_USER, info.kind);
	EXPECT_EQ(DRAY_BUFFER_HELD | DRAY_BUFFER_DISCLOSED | DRAY_BUFFER_ORPHAN,
		  info.flags);
	EXPECT_EQ(PAGES * self->page, info.size);
	EXPECT_EQ(getuid(), info.uid);
	EXPECT_NE(0, info.pid);
	EXPECT_STRNE("", info.comm);
	EXPECT_STRNE("", info.node_name);
}

TEST_F(held, reclaim_by_id_ends_one_and_no_other)
{
	struct owner first = { .asks = true }, second = { .asks = true };
	struct dray_reclaim call;

	ASSERT_EQ(0, run_owner(self, &first));
	ASSERT_EQ(0, run_owner(self, &second));
	EXPECT_EQ(self->pins + 2 * PAGES, pins_count());
	ASSERT_EQ(0, reclaim(self->node, second.id, &call));
	EXPECT_EQ(1, call.count);
	EXPECT_EQ(1, call.attachments);
	EXPECT_EQ(PAGES * self->page, call.bytes);
	EXPECT_EQ(self->pins + PAGES, pins_count());
	EXPECT_EQ(0, node_lists(self->node, second.id));
	EXPECT_EQ(1, node_lists(self->node, first.id));
	EXPECT_EQ(-ENOENT, reclaim(self->node, second.id, &call));
	EXPECT_EQ(0, call.count);
	EXPECT_EQ(0, reclaim(self->node, first.id, &call));
	EXPECT_EQ(self->pins, pins_count());
}

TEST_F(held, a_live_attachment_is_not_reclaimed)
{
	struct owner owner = { .asks = true };
	pid_t child = start_owner(self, &owner);
	struct dray_reclaim call;

	ASSERT_LT(0, child);
	EXPECT_EQ(-ENOENT, reclaim(self->node, owner.id, &call));
	EXPECT_EQ(0, reclaim(self->node, 0, &call));
	EXPECT_EQ(0, call.count);
	EXPECT_EQ(self->pins + PAGES, pins_count());
	EXPECT_EQ(1, node_lists(self->node, owner.id));
	kill(child, SIGKILL);
	process_wait(child);
}

TEST_F(held, without_an_address_nothing_stays)
{
	struct owner owner = { 0 };

	ASSERT_EQ(0, run_owner(self, &owner));
	EXPECT_TRUE(wait_for(pins_are, &self->pins));
}

TEST_F(held, a_process_that_lives_and_closes_lets_go_at_once)
{
	struct owner owner = { .asks = true, .closes = true };
	pid_t child = start_owner(self, &owner);

	ASSERT_LT(0, child);
	EXPECT_TRUE(wait_for(pins_are, &self->pins));
	kill(child, SIGKILL);
	process_wait(child);
	EXPECT_EQ(self->pins, pins_count());
}

TEST_F(held, a_node_that_does_not_hold_lets_go)
{
	struct owner owner = { .asks = true };

	ASSERT_EQ(0, setting_write(self->hold, 0));
	ASSERT_EQ(0, run_owner(self, &owner));
	EXPECT_TRUE(wait_for(pins_are, &self->pins));
}

TEST_F(held, another_drivers_dma_buf_stays_until_reclaim)
{
	struct owner owner = { .asks = true, .foreign = true };
	struct dray_reclaim call;
	int ret = run_owner(self, &owner);

	NEED_VGEM(ret);
	ASSERT_EQ(0, ret);
	READ_BUFFER(info, owner.id);
	EXPECT_EQ(DRAY_KIND_DMABUF, info.kind);
	EXPECT_EQ(DRAY_BUFFER_HELD, info.flags & DRAY_BUFFER_HELD);
	ASSERT_EQ(0, reclaim(self->node, owner.id, &call));
	EXPECT_EQ(1, call.count);
	EXPECT_EQ(PAGES * self->page, call.bytes);
}

TEST_F(held, unbind_completes_and_the_memory_stays)
{
	struct owner owner = { .asks = true };
	struct dray_reclaim call;

	ASSERT_EQ(0, run_owner(self, &owner));
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(self->pins + PAGES, pins_count());
	ASSERT_EQ(0, binding_bind(&self->binding));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	EXPECT_EQ(self->pins + PAGES, pins_count());
	EXPECT_EQ(1, node_lists(self->node, owner.id));
	ASSERT_EQ(0, reclaim(self->node, owner.id, &call));
	EXPECT_EQ(self->pins, pins_count());
}
