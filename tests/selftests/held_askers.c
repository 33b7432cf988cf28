// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory whose address several processes were told: it is held from the end of
 * one of them on, whatever the others do.
 */
#include "fixture_held.h"
#include "step.h"

#define ASKERS 16 /* processes that are told apart for a buffer */

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

	STEP_EQ(0, ask(asker));
	STEP_EQ(0, close(asker->fd));
	STEP_EQ(1, write(asker->socket, "", 1));
	for (;;)
		pause();
}

/* All is closed by it but the pipe, which cat sends back what it reads by. */
static int ask_and_execute(void *context)
{
	const struct asker *asker = context;

	STEP_EQ(0, ask(asker));
	STEP_EQ(STDIN_FILENO, dup2(asker->socket, STDIN_FILENO));
	STEP_EQ(STDOUT_FILENO, dup2(asker->socket, STDOUT_FILENO));
	STEP_EQ(0, execlp("cat", "cat", NULL));
	return 0;
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
	pid_t child;

	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
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
	pid_t child;

	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
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
