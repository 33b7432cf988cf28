// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The device goes away while everybody calls: each call of the interface is
 * made again and again by a process of its own.  Each succeeds until the
 * device is gone, unbinding completes, and nothing is left over.
 */
#include "attach.h"
#include "fence.h"
#include "fixture_bound.h"
#include "foreign.h"

#define SIZE 4096

struct caller {
	int node;
	struct dray_info info;
	struct buffer buffer; /* of this process alone */
};

static int call_alloc(struct caller *caller)
{
	struct buffer buffer;
	int ret = buffer_open(caller->node, DRAY_HEAP_ANY, SIZE, &buffer);

	if (!ret)
		buffer_close(&buffer);
	return ret;
}

static int call_sync(struct caller *caller)
{
	return buffer_sync(caller->node, caller->buffer.fd,
			   DRAY_SYNC_FOR_DEVICE, DRAY_BIDIRECTIONAL, 0, SIZE);
}

static int submit(struct caller *caller)
{
	struct dray_transfer transfer = COPY_OF(
		caller->buffer.fd, caller->buffer.fd, 64, .dst_offset = 64);
	struct dray_submit args = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	int ret = node_call(caller->node, DRAY_IOC_SUBMIT, &args);

	return ret ? ret : args.fence_fd;
}

/* Every fence comes to an end. */
static int end(int fence)
{
	int ret = fence_wait(fence);

	close(fence);
	return ret == 1 || ret == -ENODEV || ret == -ECANCELED ? 0 : -EPROTO;
}

static int call_submit(struct caller *caller)
{
	int fence;

	if (!caller->info.channel_count)
		return call_sync(caller);
	fence = submit(caller);
	return fence < 0 ? fence : end(fence);
}

static int call_cancel(struct caller *caller)
{
	struct dray_cancel cancel = { .channel = DRAY_CHANNEL_ANY };
	int ret, ended;

	if (!caller->info.channel_count)
		return call_sync(caller);
	cancel.fence_fd = submit(caller);
	if (cancel.fence_fd < 0)
		return cancel.fence_fd;
	ret = node_call(caller->node, DRAY_IOC_CANCEL, &cancel);
	ended = end(cancel.fence_fd);
	return ended ? ended : ret;
}

static int call_address(struct caller *caller)
{
	struct dray_segment segment;
	struct dray_address address = { .fd = caller->buffer.fd,
					.segments = (uintptr_t)&segment,
					.room = 1 };

	return node_call(caller->node, DRAY_IOC_ADDRESS, &address);
}

static int call_export(struct caller *caller)
{
	struct dray_export export = { .buffer_fd = caller->buffer.fd,
				      .flags = DRAY_EXPORT_READ_ONLY };
	int ret = node_call(caller->node, DRAY_IOC_EXPORT, &export);

	if (!ret)
		close(export.fd);
	return ret;
}

/*
 * What was attached is synced, too, by the node that is going.  Each attachment
 * is of memory of its own: who lists it may be the one that ends it, some time
 * after it was closed, and until then its memory would be mapped twice.
 */
static int use_attachment(struct caller *caller, int fd,
			  const struct dray_attach *attach)
{
	int ret;

	if (fd < 0)
		return fd;
	ret = buffer_sync(caller->node, fd, DRAY_SYNC_FOR_DEVICE,
			  DRAY_TO_DEVICE, 0, attach->length);
	close(fd);
	return ret;
}

static int call_attach(struct caller *caller)
{
	struct dray_attach attach;
	uint8_t *memory = fresh_memory(SIZE);
	int fd, ret;

	fd = attach_memory(caller->node, memory, SIZE, 0, &attach);
	ret = use_attachment(caller, fd, &attach);
	munmap(memory, SIZE);
	return ret;
}

static int call_attach_dma_buf(struct caller *caller)
{
	struct dray_attach attach;
	int foreign = foreign_open(FOREIGN_VGEM, SIZE), fd, ret;

	if (foreign < 0)
		return call_attach(caller);
	fd = attach_dma_buf(caller->node, foreign, 0, &attach);
	ret = use_attachment(caller, fd, &attach);
	close(foreign);
	return ret;
}

static int call_list(struct caller *caller)
{
	int count = node_count(caller->node);

	return count < 0 ? count : count ? 0 : -EPROTO;
}

static int call_buffer_info(struct caller *caller)
{
	struct dray_buffer_info info;

	return node_buffer_info(caller->node, caller->buffer.id, &info);
}

static int call_info(struct caller *caller)
{
	struct dray_info info;

	return node_info(caller->node, &info);
}

static int call_heap_info(struct caller *caller)
{
	struct dray_heap_info heap;

	return node_heap(caller->node, 0, &heap);
}

static int call_channel_info(struct caller *caller)
{
	struct dray_channel_info channel;

	if (!caller->info.channel_count)
		return call_info(caller);
	return node_channel(caller->node, 0, &channel);
}

static int call_reclaim(struct caller *caller)
{
	struct dray_reclaim reclaim = { 0 };

	return node_call(caller->node, DRAY_IOC_RECLAIM, &reclaim);
}

static int call_heap_map(struct caller *caller)
{
	struct dray_part parts[4];
	struct dray_heap_map map = { .parts = (uintptr_t)parts, .room = 4 };

	return node_call(caller->node, DRAY_IOC_HEAP_MAP, &map);
}

/* That works without a device; INFO tells when there is none. */
static int call_mmap(struct caller *caller)
{
	uint8_t *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      caller->buffer.fd, 0);

	if (bytes == MAP_FAILED)
		return -EPROTO;
	bytes[1]++;
	munmap(bytes, SIZE);
	return call_info(caller);
}

static const struct {
	const char *name;
	int (*call)(struct caller *caller);
} calls[] = {
	{ "INFO", call_info },
	{ "HEAP_INFO", call_heap_info },
	{ "CHANNEL_INFO", call_channel_info },
	{ "ALLOC", call_alloc },
	{ "ADDRESS", call_address },
	{ "SYNC", call_sync },
	{ "SUBMIT", call_submit },
	{ "CANCEL", call_cancel },
	{ "LIST", call_list },
	{ "BUFFER_INFO", call_buffer_info },
	{ "RECLAIM", call_reclaim },
	{ "HEAP_MAP", call_heap_map },
	{ "EXPORT", call_export },
	{ "ATTACH of memory", call_attach },
	{ "ATTACH of a dma-buf", call_attach_dma_buf },
	{ "mmap", call_mmap },
};

enum {
	CALLS = sizeof(calls) / sizeof(calls[0]),
	ROUNDS = 4,
};

struct errand {
	int call;
	int told; /* written to when the call was made once, or cannot be */
};

static int prepare(struct caller *caller)
{
	int ret;

	caller->node = node_open();
	if (caller->node < 0)
		return caller->node;
	ret = node_info(caller->node, &caller->info);
	if (ret)
		return ret;
	return buffer_open(caller->node, DRAY_HEAP_ANY, SIZE, &caller->buffer);
}

/*
 * Calls again and again until the device is gone: 0, or the errno of a call
 * that said something else.  What it knew an address of it lets go of itself,
 * so that nothing is held.
 */
static int keep_calling(void *context)
{
	const struct errand *errand = context;
	struct caller caller = { .buffer.fd = -1 };
	int ret = prepare(&caller);

	if (!ret)
		ret = calls[errand->call].call(&caller);
	if (write(errand->told, "", 1) != 1)
		return EPIPE;
	/* The device goes only when all have begun. */
	if (ret == -ENODEV)
		return ENODEV;
	while (!ret)
		ret = calls[errand->call].call(&caller);
	buffer_close(&caller.buffer);
	return ret == -ENODEV ? 0 : -ret;
}

TEST_F(bound, unbind_completes_while_everybody_calls)
{
	struct errand errand;
	pid_t child[CALLS];
	int round, i, told[2], ret;
	char byte;

	close(self->node);
	ASSERT_EQ(0, pipe(told));
	errand.told = told[1];
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CALLS; i++) {
			errand.call = i;
			child[i] = process_start(keep_calling, &errand);
			ASSERT_LT(0, child[i]);
		}
		for (i = 0; i < CALLS; i++)
			ASSERT_EQ(1, read(told[0], &byte, 1));
		EXPECT_EQ(0, binding_unbind(&self->binding));
		for (i = 0; i < CALLS; i++) {
			ret = process_wait(child[i]);
			EXPECT_EQ(0, ret)
			{
				TH_LOG("%s says %d", calls[i].name, ret);
			}
		}
		ASSERT_EQ(0, binding_bind(&self->binding));
	}
}
