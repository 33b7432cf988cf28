// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The mixed load; see load.h.  Nothing here waits for long and nothing is
 * cleaned up at an end: the end is SIGKILL, wherever it comes.
 */
#include "../selftests/importer.h"
#include "works.h"

const char *const work_names[WORKS] = {
	[WORK_ALLOC] = "allocations",
	[WORK_SYNC] = "syncs",
	[WORK_SUBMIT] = "transfers",
	[WORK_CHAIN] = "transfers after others",
	[WORK_FINISHED] = "transfers seen to end",
	[WORK_FORK] = "forks",
	[WORK_SEND] = "descriptors sent",
	[WORK_RECEIVE] = "descriptors received",
	[WORK_DIRECT_READ] = "direct reads",
	[WORK_DIRECT_WRITE] = "direct writes",
	[WORK_RING] = "buffers pinned by io_uring",
	[WORK_PIPE] = "pages given to a pipe",
	[WORK_IMPORT] = "imports",
	[WORK_EXPORT] = "read-only exports",
	[WORK_ATTACH] = "attachments",
	[WORK_CANCEL] = "cancellations",
	[WORK_ADDRESS] = "addresses",
	[WORK_REMAP] = "mappings moved",
	[WORK_ASK] = "questions",
	[WORK_STREAM] = "streams opened",
	[WORK_PACKET] = "packets",
	[WORK_FRAMES] = "rings",
};

struct worker me = { .node = -1, .streams = -1 };

uint64_t pick(uint64_t below)
{
	return next_random(&me.state) % below;
}

void count(enum work work, int ret)
{
	if (!ret)
		atomic_fetch_add(&me.load.board->done[work], 1);
	/* EBUSY: its channel is another driver's. */
	else if (ret == -ENOTTY || ret == -ENODEV || ret == -ENOSYS ||
		 ret == -EOPNOTSUPP || ret == -EBUSY)
		atomic_store(&me.load.board->absent[work], true);
}

struct buffer *any_buffer(void)
{
	struct buffer *buffer = &me.buffers[pick(BUFFERS)];

	return buffer->fd < 0 ? NULL : buffer;
}

/* Another opener, whose submissions end with the one before. */
static void work_reopen(void)
{
	if (pick(8) || me.node < 0)
		return;
	close(me.node);
	me.node = node_open();
}

static void (*const works[])(void) = {
	work_alloc,  work_alloc,   work_alloc,	 work_sync,   work_submit,
	work_submit, work_submit,  work_submit,	 work_fork,   work_send,
	work_send,   work_receive, work_receive, work_direct, work_direct,
	work_ring,   work_pipe,	   work_import,	 work_export, work_attach,
	work_cancel, work_address, work_remap,	 work_ask,    work_reopen,
	work_stream, work_packet,  work_packet,	 work_frames,
};

_Noreturn void load_run(const struct load *load)
{
	me.load = *load;
	me.state = load->seed;
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < BUFFERS; i++)
		me.buffers[i].fd = -1;
	for (int i = 0; i < FENCES; i++)
		me.fences[i] = -1;
	me.importer = importer_open();
	me.node = node_open();
	if (me.node < 0 || node_info(me.node, &me.info) ||
	    pipe2(me.pipe_ends, O_NONBLOCK | O_CLOEXEC))
		_exit(1);
	while (me.node >= 0) {
		works[pick(sizeof(works) / sizeof(works[0]))]();
		fences_look();
	}
	_exit(2);
}
