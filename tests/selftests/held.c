// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory whose address was given out, and what becomes of it when the process
 * that got the address has ended: it is held, until RECLAIM.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "harness.h"

#include "binding.h"
#include "ledger.h"
#include "node.h"
#include "process.h"
#include "setting.h"
#include "setup.h"

#define PAGES 4
#define ASKERS 16 /* processes that are told apart for a buffer */

FIXTURE(held)
{
	int node;
	size_t page;
	struct dray_heap_info heap;
	struct ledger before;
	char hold[PATH_MAX];
};

HEAP_VARIANTS(held);

static int reclaim(int node, uint64_t id, struct dray_reclaim *call)
{
	*call = (struct dray_reclaim){ .id = id };
	return node_call(node, DRAY_IOC_RECLAIM, call);
}

FIXTURE_SETUP(held)
{
	struct dray_info info;

	SETUP_NODE();
	SETUP_HEAP(variant->type);
	ASSERT_EQ(0, node_info(self->node, &info));
	if (info.flags & DRAY_NODE_IOMMU)
		SKIP(return, "nothing is held behind an IOMMU");
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, setting_of_node(self->hold, self->node, "hold"));
}

FIXTURE_TEARDOWN_PARENT(held)
{
	if (*self->hold) {
		EXPECT_EQ(0, setting_write(self->hold, 1));
	}
	EXPECT_EQ(0, node_reclaim());
	EXPECT_EQ(0, ledger_differences(&self->before));
}

enum asking {
	ASK, /* for the address */
	COUNT, /* only for the number of segments */
	NOTHING,
};

enum end {
	KILLED,
	EXITS, /* with all open */
	CLOSES, /* everything, and lives */
};

struct owner {
	uint32_t heap;
	size_t size;
	enum asking asking;
	enum end end;
	bool map; /* a mapping is all that is left */
	int socket; /* the buffer's descriptor goes there too; or -1 */
	int told;
};

static int own(void *context)
{
	const struct owner *owner = context;
	struct dray_segment segment;
	struct dray_address call = { .segments = (uintptr_t)&segment,
				     .room = owner->asking == ASK };
	struct buffer buffer;
	int node = node_open();

	if (node < 0 || buffer_open(node, owner->heap, owner->size, &buffer))
		return 2;
	call.fd = buffer.fd;
	if (owner->asking != NOTHING &&
	    node_call(node, DRAY_IOC_ADDRESS, &call))
		return 3;
	if (owner->socket >= 0 && send_descriptor(owner->socket, buffer.fd))
		return 4;
	if (owner->map)
		close(buffer.fd);
	if (owner->end == CLOSES)
		buffer_close(&buffer);
	if (write(owner->told, &buffer.id, sizeof(buffer.id)) !=
	    sizeof(buffer.id))
		return 5;
	if (owner->end == EXITS)
		return 0;
	for (;;)
		pause();
}

/* A process that got an address and ended; the buffer's id, or 0. */
static uint64_t run_owner(FIXTURE_DATA(held) * self, struct owner *owner)
{
	uint64_t id = 0;
	int told[2];
	pid_t child;

	if (pipe(told))
		return 0;
	owner->heap = self->heap.index;
	owner->size = PAGES * self->page;
	owner->told = told[1];
	child = process_start(own, owner);
	close(told[1]);
	if (read(told[0], &id, sizeof(id)) != sizeof(id))
		id = 0;
	close(told[0]);
	if (owner->end != EXITS)
		kill(child, SIGKILL);
	process_wait(child);
	return id;
}

/* The id of a buffer that is held now, or 0. */
static uint64_t hold_one(FIXTURE_DATA(held) * self)
{
	struct owner owner = { .socket = -1 };

	return run_owner(self, &owner);
}

static bool is_held(int node, uint64_t id)
{
	struct dray_buffer_info info;

	return !node_buffer_info(node, id, &info) &&
	       info.flags & DRAY_BUFFER_HELD;
}

TEST_F(held, what_a_killed_process_knew_the_address_of_is_held)
{
	struct dray_heap_info heap;
	struct dray_buffer_info info;
	uint64_t id = hold_one(self);

	ASSERT_NE(0, id);
	EXPECT_EQ(1, node_lists(self->node, id));
	ASSERT_EQ(0, node_buffer_info(self->node, id, &info));
	EXPECT_EQ(DRAY_BUFFER_HELD | DRAY_BUFFER_DISCLOSED | DRAY_BUFFER_ORPHAN,
		  info.flags);
	EXPECT_EQ(PAGES * self->page, info.size);
	EXPECT_EQ(0, info.mapped);
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &heap));
	EXPECT_EQ(self->heap.held + PAGES * self->page, heap.held);
	EXPECT_EQ(self->heap.used + PAGES * self->page, heap.used);
	EXPECT_EQ(self->heap.user_used + PAGES * self->page, heap.user_used);
}

TEST_F(held, an_exit_with_all_open_holds_too)
{
	struct owner owner = { .end = EXITS, .socket = -1 };
	uint64_t id = run_owner(self, &owner);

	ASSERT_NE(0, id);
	EXPECT_TRUE(is_held(self->node, id));
}

TEST_F(held, a_mapping_that_goes_with_its_process_holds_too)
{
	struct owner owner = { .map = true, .socket = -1 };
	uint64_t id = run_owner(self, &owner);

	ASSERT_NE(0, id);
	EXPECT_TRUE(is_held(self->node, id));
}

TEST_F(held, a_process_that_lives_and_closes_frees_at_once)
{
	struct owner owner = { .end = CLOSES, .socket = -1 };
	uint64_t id = run_owner(self, &owner);

	ASSERT_NE(0, id);
	EXPECT_EQ(0, node_lists(self->node, id));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, without_an_address_nothing_is_held)
{
	struct owner owner = { .asking = NOTHING, .socket = -1 };

	ASSERT_NE(0, run_owner(self, &owner));
	EXPECT_EQ(0, ledger_differences(&self->before));
	owner.asking = COUNT;
	ASSERT_NE(0, run_owner(self, &owner));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, a_node_that_does_not_hold_frees)
{
	ASSERT_EQ(0, setting_write(self->hold, 0));
	ASSERT_NE(0, hold_one(self));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, whoever_drops_the_last_reference_the_end_of_the_process_counts)
{
	struct owner owner = { 0 };
	int sockets[2], fd;
	uint64_t id;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	owner.socket = sockets[1];
	id = run_owner(self, &owner);
	ASSERT_NE(0, id);
	fd = receive_descriptor(sockets[0]);
	ASSERT_LE(0, fd);
	EXPECT_FALSE(is_held(self->node, id));
	close(fd);
	EXPECT_TRUE(is_held(self->node, id));
}

struct asker {
	int node;
	int fd; /* the buffer's */
	int socket; /* of a child: tells that it has asked */
};

static int ask(const struct asker *asker)
{
	struct dray_segment segment;
	struct dray_address call = { .fd = asker->fd,
				     .segments = (uintptr_t)&segment,
				     .room = 1 };

	return node_call(asker->node, DRAY_IOC_ADDRESS, &call);
}

static int ask_and_live(void *context)
{
	const struct asker *asker = context;

	if (ask(asker) || close(asker->fd))
		return 1;
	if (write(asker->socket, "", 1) != 1)
		return 2;
	for (;;)
		pause();
}

/* All is closed by it but the pipe, which cat sends back what it reads by. */
static int ask_and_execute(void *context)
{
	const struct asker *asker = context;

	if (ask(asker) || dup2(asker->socket, STDIN_FILENO) < 0 ||
	    dup2(asker->socket, STDOUT_FILENO) < 0)
		return 1;
	execlp("cat", "cat", NULL);
	return 2;
}

/* A child that was told and lives, and has the buffer no more. */
static pid_t start_asker(struct asker *asker, int (*main)(void *context))
{
	int sockets[2];
	pid_t child;
	char byte = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	asker->socket = sockets[1];
	child = process_start(main, asker);
	close(sockets[1]);
	if (child > 0 && (write(sockets[0], &byte, 1) != 1 ||
			  read(sockets[0], &byte, 1) != 1))
		child = -process_wait(child);
	/* Somebody who reads goes on doing so. */
	if (main == ask_and_execute)
		asker->socket = sockets[0];
	else
		close(sockets[0]);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	process_wait(child);
}

TEST_F(held, somebody_who_asks_later_makes_nobody_forget_the_first)
{
	struct asker asker = { .node = self->node };
	struct buffer buffer;
	pid_t child;

	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	asker.fd = buffer.fd;
	child = start_asker(&asker, ask_and_live);
	ASSERT_LT(0, child);
	EXPECT_EQ(0, ask(&asker));
	end_child(child);
	EXPECT_EQ(0, ask(&asker));
	EXPECT_FALSE(is_held(self->node, buffer.id));
	close(buffer.fd);
	EXPECT_TRUE(is_held(self->node, buffer.id));
}

/*
 * @count processes that asked and live, of which the caller is one.  Is the
 * buffer held when its last descriptor is closed?  Or a negative errno.
 */
static int close_among(FIXTURE_DATA(held) * self, int count)
{
	struct asker asker = { .node = self->node };
	pid_t children[ASKERS + 1];
	struct buffer buffer;
	int i, ret;

	ret = buffer_allocate(self->node, self->heap.index, self->page,
			      &buffer);
	if (ret)
		return ret;
	asker.fd = buffer.fd;
	for (i = 0; i < count - 1 && !ret; i++) {
		children[i] = start_asker(&asker, ask_and_live);
		if (children[i] <= 0)
			ret = -ECHILD;
	}
	if (!ret)
		ret = ask(&asker);
	close(buffer.fd);
	if (!ret)
		ret = node_lists(self->node, buffer.id);
	if (ret == 1 && !is_held(self->node, buffer.id))
		ret = -EBUSY;
	while (i-- > 0)
		if (children[i] > 0)
			end_child(children[i]);
	return ret;
}

TEST_F(held, while_all_live_who_asked_it_is_freed_at_once)
{
	EXPECT_EQ(0, close_among(self, 2));
	EXPECT_EQ(0, close_among(self, ASKERS));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, more_who_asked_than_are_told_apart_hold_it_in_any_case)
{
	EXPECT_EQ(1, close_among(self, ASKERS + 1));
	ASSERT_EQ(0, setting_write(self->hold, 0));
	EXPECT_EQ(0, close_among(self, ASKERS + 1));
}

TEST_F(held, execve_ends_the_program_that_asked)
{
	struct asker asker = { .node = self->node };
	struct buffer buffer;
	pid_t child;

	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	asker.fd = buffer.fd;
	child = start_asker(&asker, ask_and_execute);
	ASSERT_LT(0, child);
	EXPECT_FALSE(is_held(self->node, buffer.id));
	close(buffer.fd);
	EXPECT_TRUE(is_held(self->node, buffer.id));
	EXPECT_EQ(0, kill(child, 0));
	end_child(child);
	close(asker.socket);
}

TEST_F(held, a_buffer_tells_that_its_address_was_given_out)
{
	struct dray_segment segment;
	struct dray_address call = { .segments = (uintptr_t)&segment,
				     .room = 1 };
	struct dray_buffer_info info;
	struct buffer buffer;

	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(0, info.flags);
	call.fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &call));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(DRAY_BUFFER_DISCLOSED, info.flags);
	buffer_close(&buffer);
}

TEST_F(held, what_is_held_is_not_given_out)
{
	struct dray_heap_info heap;

	if (self->heap.flags & DRAY_HEAP_SHARED)
		SKIP(return, "others take from this heap too");
	ASSERT_NE(0, hold_one(self));
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &heap));
	EXPECT_EQ(self->heap.free - PAGES * self->page, heap.free);
}

TEST_F(held, reclaim_frees_one)
{
	uint64_t first = hold_one(self), second = hold_one(self);
	struct dray_reclaim call;

	ASSERT_NE(0, first);
	ASSERT_NE(0, second);
	ASSERT_EQ(0, reclaim(self->node, first, &call));
	EXPECT_EQ(1, call.count);
	EXPECT_EQ(PAGES * self->page, call.bytes);
	EXPECT_EQ(0, node_lists(self->node, first));
	EXPECT_TRUE(is_held(self->node, second));
	EXPECT_EQ(-ENOENT, reclaim(self->node, first, &call));
	ASSERT_EQ(0, reclaim(self->node, second, &call));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, reclaim_frees_all)
{
	struct dray_reclaim call;

	ASSERT_NE(0, hold_one(self));
	ASSERT_NE(0, hold_one(self));
	ASSERT_EQ(0, reclaim(self->node, 0, &call));
	EXPECT_EQ(2, call.count);
	EXPECT_EQ(2 * PAGES * self->page, call.bytes);
	EXPECT_EQ(0, ledger_differences(&self->before));
	ASSERT_EQ(0, reclaim(self->node, 0, &call));
	EXPECT_EQ(0, call.count);
}

TEST_F(held, reclaim_leaves_what_is_in_use)
{
	struct dray_reclaim call;
	struct buffer buffer;

	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, self->page,
				 &buffer));
	EXPECT_EQ(-ENOENT, reclaim(self->node, buffer.id, &call));
	EXPECT_EQ(-ENOENT, reclaim(self->node, UINT64_MAX, &call));
	EXPECT_EQ(0, reclaim(self->node, 0, &call));
	EXPECT_EQ(0, call.count);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	fill_random(buffer.bytes, buffer.size, 3);
}

TEST_F(held, reclaim_knows_no_flags)
{
	struct dray_reclaim call = { .flags = 1 };

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_RECLAIM, &call));
}

/* 1 refused with the right reason, else something went wrong */
static int reclaim_without_right(void *context)
{
	uint64_t *id = context;
	struct dray_reclaim call;
	int node = node_open();

	if (node < 0 || process_keep(CAPABILITY(CAP_SYS_ADMIN)))
		return 2;
	if (reclaim(node, *id, &call) != -EPERM ||
	    call.reason != DRAY_REASON_PERMISSION)
		return 3;
	if (reclaim(node, 0, &call) != -EPERM || call.count)
		return 4;
	return 1;
}

TEST_F(held, without_rawio_reclaim_is_refused)
{
	uint64_t id = hold_one(self);

	ASSERT_NE(0, id);
	EXPECT_EQ(1, process_run(reclaim_without_right, &id));
	EXPECT_TRUE(is_held(self->node, id));
}

static long module_references(void)
{
	FILE *file = fopen("/sys/module/dray/refcnt", "r");
	long count = -1;

	if (!file || fscanf(file, "%ld", &count) != 1)
		count = -1;
	if (file)
		fclose(file);
	return count;
}

TEST_F(held, the_module_stays_as_long_as_memory_is_held)
{
	long before = module_references();
	struct dray_reclaim call;
	uint64_t id = hold_one(self);

	ASSERT_LT(0, before);
	ASSERT_NE(0, id);
	EXPECT_EQ(before + 1, module_references());
	EXPECT_EQ(-1, syscall(SYS_delete_module, "dray", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, reclaim(self->node, id, &call));
	EXPECT_EQ(before, module_references());
}

TEST_F(held, unbind_completes_and_the_memory_is_held_on)
{
	struct dray_reclaim call;
	struct binding binding;
	uint64_t id = hold_one(self);

	ASSERT_NE(0, id);
	ASSERT_EQ(0, binding_find(self->node, &binding));
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&binding));
	ASSERT_EQ(0, binding_bind(&binding));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	EXPECT_TRUE(is_held(self->node, id));
	EXPECT_EQ(0, reclaim(self->node, id, &call));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_HARNESS_MAIN
