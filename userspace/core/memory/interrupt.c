// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Interrupts of a node's device.  The module masks an interrupt until its count is read:
 * a wait only polls, and the next wait reads, so that the program can end the cause
 * between both.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dray/registers.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/reply.h"
#include "memory/io.h"
#include "memory/reason.h"

struct dray_interrupt {
	_Atomic uint32_t references;
	struct dray_node *node; /* a reference */
	uint32_t process; /* that opened it, see dray_fork_process() */
	int fd;
	_Atomic bool masked; /* a wait returned since the last read */
	_Atomic uint64_t count; /* that were read */
	char name[DRAY_NAME_LEN];
};

int dray_node_interrupt_line(struct dray_node *node, uint32_t index,
			     struct dray_interrupt_line *line, size_t size)
{
	struct dray_interrupt_line known = { .index = index, .fd = -1 };
	int ret;

	if (!dray_given(node, __func__) || !dray_given(line, __func__))
		return -EINVAL;
	if (index >= node->info.interrupt_count)
		return dray_fail(-EINVAL, "interrupt %u of %s, which has %u",
				 index, node->info.name,
				 node->info.interrupt_count);
	ret = node->backend->line(node, &known);
	if (ret)
		return dray_fail_reason(ret, known.reason, known.limit,
					"interrupt %u of %s", index,
					node->info.name);
	dray_reply(line, size, &known, sizeof(known));
	return 0;
}

static uint32_t lines_count(const struct dray_node *node)
{
	return node->info.interrupt_count;
}

static int line_name(struct dray_node *node, uint32_t index,
		     char name[DRAY_NAME_LEN])
{
	struct dray_interrupt_line line;
	int ret = dray_node_interrupt_line(node, index, &line, sizeof(line));

	if (!ret)
		memcpy(name, line.name, DRAY_NAME_LEN);
	return ret;
}

static const struct dray_io_kind lines = {
	.plural = "interrupts",
	.property = "interrupts",
	.count = lines_count,
	.name = line_name,
};

static int open_interrupt(struct dray_node *node, uint32_t index,
			  struct dray_interrupt *interrupt)
{
	struct dray_interrupt_line args = { .index = index,
					    .flags = DRAY_INTERRUPT_OPEN,
					    .fd = -1 };
	int ret = node->backend->line(node, &args), error;

	if (ret)
		return dray_fail_reason(ret, args.reason, args.limit,
					"interrupts of %s", node->info.name);
	/* A clear must not wait. */
	if (fcntl(args.fd, F_SETFL, O_NONBLOCK)) {
		error = errno;
		close(args.fd);
		return dray_fail(-error, "interrupts of %s: %s",
				 node->info.name, strerror(error));
	}
	interrupt->fd = args.fd;
	memcpy(interrupt->name, args.name, sizeof(args.name) - 1);
	return 0;
}

int dray_interrupt_open(struct dray_node *node, const char *name,
			struct dray_interrupt **out)
{
	DRAY_NO_CANCEL;
	struct dray_interrupt *interrupt;
	uint32_t index = 0;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_io_find(node, &lines, name, &index);
	if (ret)
		return ret;
	interrupt = calloc(1, sizeof(*interrupt));
	if (!interrupt)
		return dray_fail(-ENOMEM, "no memory for an interrupt");
	ret = open_interrupt(node, index, interrupt);
	if (ret) {
		free(interrupt);
		return ret;
	}
	interrupt->process = dray_fork_process();
	atomic_init(&interrupt->references, 1);
	interrupt->node = dray_node_ref(node);
	*out = interrupt;
	return 0;
}

struct dray_interrupt *dray_interrupt_ref(struct dray_interrupt *interrupt)
{
	if (interrupt)
		atomic_fetch_add_explicit(&interrupt->references, 1,
					  memory_order_relaxed);
	return interrupt;
}

void dray_interrupt_unref(struct dray_interrupt *interrupt)
{
	DRAY_NO_CANCEL;

	if (!interrupt || atomic_fetch_sub_explicit(&interrupt->references, 1,
						    memory_order_acq_rel) != 1)
		return;
	close(interrupt->fd);
	dray_node_unref(interrupt->node);
	free(interrupt);
}

const char *dray_interrupt_name(const struct dray_interrupt *interrupt)
{
	return dray_given(interrupt, __func__) ? interrupt->name : NULL;
}

int dray_interrupt_fd(const struct dray_interrupt *interrupt)
{
	return dray_given(interrupt, __func__) ? interrupt->fd : -1;
}

static int interrupt_fail(const struct dray_interrupt *interrupt, int ret)
{
	if (ret == -ENODEV)
		return dray_fail(ret,
				 "interrupt %s: the device of %s is gone; "
				 "open the node again when it is back",
				 interrupt->name, interrupt->node->info.name);
	return dray_fail(ret, "interrupt %s of %s: %s", interrupt->name,
			 interrupt->node->info.name, strerror(-ret));
}

int dray_interrupt_clear(struct dray_interrupt *interrupt)
{
	DRAY_NO_CANCEL;
	uint64_t count;

	if (!dray_given(interrupt, __func__))
		return -EINVAL;
	if (interrupt->process != dray_fork_process())
		return dray_fail(
			-ECHILD,
			"interrupt %s was opened by the parent of this process; "
			"open it in the child after the parent closed it",
			interrupt->name);
	if (read(interrupt->fd, &count, sizeof(count)) < 0) {
		if (errno != EAGAIN)
			return interrupt_fail(interrupt, -errno);
		count = 0;
	}
	atomic_store(&interrupt->masked, false);
	atomic_fetch_add(&interrupt->count, count);
	return 0;
}

static int interrupt_poll(const struct dray_interrupt *interrupt,
			  int timeout_ms)
{
	struct pollfd file = { .fd = interrupt->fd, .events = POLLIN };
	int ret = poll(&file, 1, timeout_ms < 0 ? -1 : timeout_ms);

	if (ret < 0)
		return interrupt_fail(interrupt, -errno);
	if (!ret)
		return dray_fail(
			-ETIME,
			"interrupt %s of %s did not arrive within %d ms",
			interrupt->name, interrupt->node->info.name,
			timeout_ms);
	return file.revents & POLLIN ? 0 : interrupt_fail(interrupt, -ENODEV);
}

int dray_interrupt_wait(struct dray_interrupt *interrupt, int timeout_ms,
			uint64_t *count)
{
	DRAY_NO_CANCEL;
	int ret = 0;

	if (!dray_given(interrupt, __func__))
		return -EINVAL;
	if (atomic_load(&interrupt->masked) ||
	    interrupt->process != dray_fork_process())
		ret = dray_interrupt_clear(interrupt);
	if (!ret)
		ret = interrupt_poll(interrupt, timeout_ms);
	if (ret)
		return ret;
	atomic_store(&interrupt->masked, true);
	if (count)
		*count = atomic_load(&interrupt->count) + 1;
	return 0;
}
