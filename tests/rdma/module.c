// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Messages of the module's memory: engines, heaps that no card pins, the module's end. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "facts.h"

/* Of the engine for tests, which can be late. */
static const char *const delay =
	"/sys/module/dray_test_engine/parameters/delay_ms";

/* Finds a heap with all of @flags and @modes, and with none of @without. */
static int heap_find(struct dray_node *of, uint32_t from, uint32_t without,
		     uint32_t modes, struct dray_heap_info *heap)
{
	uint32_t i;

	for (i = from; !dray_node_heap(of, i, heap, sizeof(*heap)); i++)
		if (!(heap->flags & without) && (heap->modes & modes) == modes)
			return (int)i;
	return -1;
}

/* Returns whether the module has such a heap. */
static bool module_has(uint32_t without, uint32_t modes)
{
	struct dray_heap_info heap;
	struct dray_node *of;
	bool has;

	if (!pair_on_kernel() || dray_node_open(getenv("DRAY_TEST_NODE"), &of))
		return false;
	has = heap_find(of, 0, without, modes, &heap) >= 0;
	dray_node_unref(of);
	return has;
}

static const char *no_module(void)
{
	return pair_on_kernel() ? NULL : "the memory is not the module's";
}

static const char *no_engine(void)
{
	struct dray_channel_info channel;
	struct dray_node *of;
	const char *lack = "the node has no engine";

	if (no_module())
		return no_module();
	if (dray_node_open(getenv("DRAY_TEST_NODE"), &of))
		return "the node does not open";
	if (!dray_node_channel(of, 0, &channel, sizeof(channel)))
		lack = NULL;
	dray_node_unref(of);
	return lack;
}

static const char *no_unpinned_heap(void)
{
	return module_has(DRAY_HEAP_PINNABLE, 0)
		       ? NULL
		       : "all heaps can be pinned by a card's driver";
}

static const char *no_device_only_memory(void)
{
	return module_has(0, 1u << DRAY_MODE_DEVICE)
		       ? NULL
		       : "no heap has memory of DRAY_MODE_DEVICE";
}

/* Makes each part of later copies last @ms milliseconds, if this engine can. */
static bool engine_delay(const char *ms)
{
	int fd = open(delay, O_WRONLY);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, ms, strlen(ms)) > 0;
	close(fd);
	return done;
}

static void a_message_is_what_the_engine_in_flight_writes(void)
{
	const int64_t shape[] = { 4, 16384 }, strides[] = { 131072, 4 };
	unsigned char *data = memory_of(ROOM), *from = memory_of(ROOM);
	struct dray_ucx_request request;
	struct dray_view view, source;
	struct dray_fence *fence;
	struct dray_queue *queue;
	bool late;

	EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2, shape, strides));
	if (side) {
		EXPECT_OK(receive_view(&view));
		EXPECT_IS(view_wrong(&view, bytes_of(&view), 1, data, ROOM), 0);
		dray_pool_free(NULL, data);
		dray_pool_free(NULL, from);
		return;
	}
	EXPECT_OK(dray_view_init(&source, from, DRAY_INT32, 2, shape, NULL));
	view_number(&view, 2);
	view_number(&source, 1);
	EXPECT_OK(dray_queue_create(node, NULL, &queue));
	late = engine_delay("20");
	EXPECT_OK(dray_copy(queue, &view, &source, 0, &fence));
	if (late)
		EXPECT_IS(dray_fence_status(fence), 0); /* in flight */
	EXPECT_OK(dray_ucx_send(&peer, TAG, &view, &request));
	EXPECT_IS(dray_fence_status(fence), 1);
	engine_delay("0");
	EXPECT(dray_fence_fd(fence) >= 0); /* not the CPU */
	EXPECT_OK(dray_ucx_wait(&request, 20000));
	dray_fence_unref(fence);
	dray_queue_destroy(queue);
	dray_pool_free(NULL, data);
	dray_pool_free(NULL, from);
}

/* Checks that the message's block can be pinned, and by what it was gathered. */
static void gathered_block_is_pinnable(const struct dray_view *view)
{
	struct dray_explanation how = { .size = sizeof(how) };
	struct dray_location location;
	struct dray_buffer_info info;
	struct dray_heap_info heap;
	struct dray_view dense;

	EXPECT(peer.block);
	EXPECT_OK(dray_locate(peer.block, &location));
	EXPECT_OK(dray_node_buffer_info(node, dray_buffer_id(location.buffer),
					&info, sizeof(info)));
	EXPECT_OK(dray_node_heap(node, info.heap, &heap, sizeof(heap)));
	EXPECT(heap.flags & DRAY_HEAP_PINNABLE);
	printf("# gathered into the heap %s\n", heap.name);
	if (no_engine())
		return;
	EXPECT(peer.queue);
	EXPECT_OK(dray_view_init(&dense, peer.block, view->dtype, view->ndim,
				 view->shape, NULL));
	EXPECT_OK(dray_explain(peer.queue, &dense, view, 0, &how));
	if (!how.engine)
		note_failure(__FILE__, __LINE__, how.reason, 0);
}

static void memory_that_no_card_pins_is_gathered_by_the_engine(void)
{
	const int64_t shape[] = { 256, 1024 };
	const int64_t strides[][2] = { { 4096, 4 }, { 8192, 4 } };
	struct dray_buffer_options options = { 0 };
	struct dray_heap_info heap;
	struct dray_buffer *buffer;
	struct dray_view view;
	int at = -1, layout;

	while ((at = heap_find(node, (uint32_t)at + 1, DRAY_HEAP_PINNABLE, 0,
			       &heap)) >= 0) {
		options.heap = heap.name;
		for (options.mode = 0; !(heap.modes & 1u << options.mode);)
			options.mode++;
		EXPECT_OK(dray_buffer_alloc(node, 2 * ROOM, &options, &buffer));
		for (layout = 0; layout < 2; layout++) {
			memset(dray_buffer_data(buffer), GUARD, 2 * ROOM);
			EXPECT_OK(dray_view_init(
				&view, dray_buffer_data(buffer), DRAY_INT32, 2,
				shape, strides[layout]));
			if (side) {
				EXPECT_OK(receive_view(&view));
				EXPECT_IS(view_wrong(&view, ROOM,
						     (uint64_t)layout,
						     view.data, 2 * ROOM),
					  0);
				continue;
			}
			view_number(&view, (uint64_t)layout);
			EXPECT_OK(send_view(&view));
			gathered_block_is_pinnable(&view);
		}
		dray_buffer_unref(buffer);
	}
}

static void device_only_memory_is_refused(void)
{
	struct dray_buffer_options options = { .mode = DRAY_MODE_DEVICE };
	struct dray_ucx_memory *memory;
	struct dray_ucx_request request;
	struct dray_heap_info heap;
	struct dray_buffer *buffer;
	struct dray_view view;

	EXPECT(heap_find(node, 0, 0, 1u << DRAY_MODE_DEVICE, &heap) >= 0);
	options.heap = heap.name;
	EXPECT_OK(dray_buffer_alloc(node, 65536, &options, &buffer));
	EXPECT_OK(dray_view_init(&view, dray_buffer_data(buffer), DRAY_INT32, 2,
				 square, NULL));
	EXPECT_IS(dray_ucx_map(context, buffer, &memory), -EOPNOTSUPP);
	EXPECT_IS(dray_ucx_send(&peer, TAG, &view, &request), -EOPNOTSUPP);
	EXPECT_IS(dray_ucx_recv(&peer, TAG, &view, &request), -EOPNOTSUPP);
	EXPECT_OK(dray_ucx_wait(&request, 0));
	dray_buffer_unref(buffer);
	/* The endpoint works still. */
	view_layout(&view, memory_of(ROOM), 1);
	EXPECT_OK(side ? send_view(&view) : receive_view(&view));
	dray_pool_free(NULL, view.data);
}

static void the_module_stays_while_memory_is_lent(void)
{
	unsigned char *data = memory_of(ROOM);
	struct dray_ucx_request request;
	struct dray_view view;

	view_layout(&view, data, 1);
	if (side) {
		view_number(&view, 1);
		pair_meet();
		EXPECT_OK(send_view(&view));
	} else {
		EXPECT_OK(dray_ucx_recv(&peer, TAG, &view, &request));
		EXPECT_IS(syscall(SYS_delete_module, "dray", O_NONBLOCK), -1);
		EXPECT_IS(errno, EWOULDBLOCK);
		pair_meet();
		EXPECT_OK(dray_ucx_wait(&request, 20000));
		EXPECT_IS(view_wrong(&view, bytes_of(&view), 1, data, ROOM), 0);
	}
	dray_pool_free(NULL, data);
}

const struct fact module_facts[] = {
	FACT_UNLESS(a_message_is_what_the_engine_in_flight_writes, no_engine),
	FACT_UNLESS(memory_that_no_card_pins_is_gathered_by_the_engine,
		    no_unpinned_heap),
	FACT_UNLESS(device_only_memory_is_refused, no_device_only_memory),
	FACT_UNLESS(the_module_stays_while_memory_is_lent, no_module),
	{ 0 },
};
