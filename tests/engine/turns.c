// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A channel takes turns of users, and the slots are a user's: with more openers
 * nobody gets more of either.  Needs dray_test_engine.ko, then dray.ko with
 * nodes=1 channels=2.
 */
#include <linux/sync_file.h>
#include <sched.h>

#include "../selftests/step.h"
#include "fixture_fault.h"

#define CROWD 20 /* openers of one user */
#define EACH 3 /* jobs of each */
#define VICTIM 65534

/* When the fence signalled, or 0 when it has not. */
static uint64_t signalled_at(int fence)
{
	struct sync_fence_info one = { 0 };
	struct sync_file_info info = { .num_fences = 1,
				       .sync_fence_info = (uintptr_t)&one };

	if (ioctl(fence, SYNC_IOC_FILE_INFO, &info) || info.status != 1)
		return 0;
	return one.timestamp_ns;
}

struct user {
	FIXTURE_DATA(fault) * fault;
	int fences[CROWD * EACH];
};

/* One piece, on channel 0 of the node that @node is open on. */
static int submit_one(FIXTURE_DATA(fault) * self, int node,
		      struct dray_submit *submit)
{
	struct dray_transfer transfer = whole(self);

	transfer.run = PIECE;
	*submit = (struct dray_submit)SUBMIT_OF(0, &transfer, 1,
						.flags = DRAY_SUBMIT_NONBLOCK);
	return node_call(node, DRAY_IOC_SUBMIT, submit);
}

/* Another user's job: how many of the crowd's were done before it. */
static int waits_for_its_turn(void *context)
{
	struct user *user = context;
	struct dray_submit submit;
	int before = 0, i, node;
	uint64_t own, other;

	STEP_EQ(0, process_become(VICTIM, OPENER));
	node = node_open();
	STEP_LE(0, node);
	STEP_EQ(0, submit_one(user->fault, node, &submit));
	STEP_EQ(0, knob("hang", 0));
	STEP_EQ(1, fence_wait(submit.fence_fd));
	own = signalled_at(submit.fence_fd);
	for (i = 0; i < CROWD * EACH; i++) {
		other = signalled_at(user->fences[i]);
		before += other && other < own;
	}
	return before;
}

TEST_F(fault, a_user_with_many_openers_does_not_keep_another_waiting)
{
	struct user user = { .fault = self };
	struct dray_submit submit;
	int nodes[CROWD], i;

	ASSERT_EQ(0, knob("hang", 1));
	for (i = 0; i < CROWD; i++) {
		nodes[i] = node_open();
		ASSERT_LE(0, nodes[i]);
	}
	for (i = 0; i < CROWD * EACH; i++) {
		ASSERT_EQ(0, submit_one(self, nodes[i / EACH], &submit));
		user.fences[i] = submit.fence_fd;
	}
	/* the one that was with the engine, and one more */
	EXPECT_GE(2, process_run(waits_for_its_turn, &user));
	for (i = 0; i < CROWD * EACH; i++)
		EXPECT_EQ(1, fence_wait(user.fences[i]));
}

/* Openers of one user take turns too. */
TEST_F(fault,
       an_opener_with_many_jobs_does_not_keep_another_of_its_user_waiting)
{
	int other = node_open(), before = 0, fences[10], i;
	struct dray_submit submit;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, knob("hang", 1));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, submit_one(self, self->node, &submit));
		fences[i] = submit.fence_fd;
	}
	ASSERT_EQ(0, submit_one(self, other, &submit));
	ASSERT_EQ(0, knob("hang", 0));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(1, fence_wait(fences[i]));
		before +=
			signalled_at(fences[i]) < signalled_at(submit.fence_fd);
	}
	EXPECT_GE(2, before);
}

/* 0, or what another user's SUBMIT is refused with. */
static int submits_as_another(void *context)
{
	FIXTURE_DATA(fault) *self = context;
	struct dray_submit submit;

	STEP_OPEN_AS(node, VICTIM, OPENER);
	return -submit_one(self, node, &submit);
}

TEST_F(fault, the_slots_are_a_users_and_not_an_openers)
{
	struct dray_submit submit;

	OPEN_NODE(other);
	ASSERT_EQ(0, knob("hang", 1));
	for (uint32_t i = 0; i < self->info.queue_depth; i++) {
		ASSERT_EQ(0, submit_one(self, i % 2 ? other : self->node,
					&submit));
		close(submit.fence_fd);
	}
	EXPECT_EQ(-EAGAIN, submit_one(self, other, &submit));
	EXPECT_EQ(DRAY_REASON_BUSY, submit.reason);
	EXPECT_EQ(self->info.queue_depth, submit.limit);
	EXPECT_EQ(0, process_run(submits_as_another, self));
	ASSERT_EQ(0, knob("hang", 0));
}

struct person {
	FIXTURE_DATA(fault) * fault;
	int ready[2], mapped[2]; /* pipes */
};

/* Fills the slots as uid 1 of a namespace; 0: uid 2 gets none. */
static int submits_as_two_uids(void *context)
{
	struct person *person = context;
	struct dray_submit submit;
	int nodes[2];
	char byte = 0;

	STEP_EQ(0, process_become(VICTIM, 0));
	STEP_EQ(0, unshare(CLONE_NEWUSER));
	STEP_EQ(1, write(person->ready[1], &byte, 1));
	STEP_EQ(1, read(person->mapped[0], &byte, 1));
	for (uid_t uid = 1; uid <= 2; uid++) {
		STEP_EQ(0, seteuid(uid));
		nodes[uid - 1] = node_open();
		STEP_LE(0, nodes[uid - 1]);
		STEP_EQ(0, seteuid(0));
	}
	for (uint32_t i = 0; i < person->fault->info.queue_depth; i++) {
		STEP_EQ(0, submit_one(person->fault, nodes[0], &submit));
		close(submit.fence_fd);
	}
	STEP_EQ(-EAGAIN, submit_one(person->fault, nodes[1], &submit));
	STEP_EQ(DRAY_REASON_BUSY, submit.reason);
	return 0;
}

TEST_F(fault, uids_of_a_namespace_share_the_slots_of_its_owner)
{
	struct person person = { .fault = self };
	char path[64], byte = 0;
	pid_t child;

	ASSERT_EQ(0, pipe(person.ready));
	ASSERT_EQ(0, pipe(person.mapped));
	ASSERT_EQ(0, chmod("/dev/dray0", 0666));
	ASSERT_EQ(0, knob("hang", 1));
	child = process_start(submits_as_two_uids, &person);
	close(person.ready[1]);
	ASSERT_EQ(1, read(person.ready[0], &byte, 1));
	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	ASSERT_EQ(0, write_text(path, "0 65534 1\n1 100000 2\n"));
	ASSERT_EQ(1, write(person.mapped[1], &byte, 1));
	EXPECT_EQ(0, process_wait(child));
	ASSERT_EQ(0, knob("hang", 0));
	ASSERT_EQ(0, chmod("/dev/dray0", 0600));
}
