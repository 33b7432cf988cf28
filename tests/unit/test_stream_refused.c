// SPDX-License-Identifier: Apache-2.0 OR MIT
/* stream: wrong calls, each with its errno and a sentence. */
#include "streams.h"
#include "memory/node.h"

FACTS_ON(on_host)

/* An engine with limits, as boards have. */
static struct {
	uint32_t alignment, max_pieces;
	uint64_t max_bytes, max_segment;
} engine;

WRAPPED(int, dray_node_channel,
	(struct dray_node * node, uint32_t index,
	 struct dray_channel_info *info, size_t size))
{
	int ret = __real_dray_node_channel(node, index, info, size);

	if (engine.alignment)
		info->alignment = engine.alignment;
	if (engine.max_segment)
		info->max_segment = engine.max_segment;
	info->max_pieces = engine.max_pieces;
	if (index == 3 && engine.max_bytes == 1) /* no stream at all */
		info->flags = DRAY_CHANNEL_COPY;
	return ret;
}

WRAPPED(int, dray_node_info,
	(struct dray_node * node, struct dray_info *info, size_t size))
{
	int ret = __real_dray_node_info(node, info, size);

	if (engine.max_bytes)
		info->max_bytes = engine.max_bytes;
	return ret;
}

static unsigned char *block;

static int refused_setup(void **state)
{
	memset(&engine, 0, sizeof(engine));
	loop_setup(state);
	block = take(loop.pool, 65536, 4096);
	memset(block, 5, 65536);
	return 0;
}

static int refused_teardown(void **state)
{
	dray_pool_free(loop.pool, block);
	return loop_teardown(state);
}

#define REFUSED_FACT(name) FACT_WITH(name, refused_setup, refused_teardown)

static const struct {
	bool send, recv; /* refuses it */
	int ndim;
	int64_t shape[3];
	int64_t strides[3];
	uint32_t flags; /* that are unusual */
	int error;
	const char *part;
} views[] = {
	{ true, true, 1, { 0 }, { 1 }, 0, -EINVAL, "contains no bytes to" },
	{ true, true, 3, { 4, 0, 4 }, { 16, 4, 1 }, 0, -EINVAL, "no bytes" },
	{ false,
	  true,
	  1,
	  { 8 },
	  { 0 },
	  0,
	  -EINVAL,
	  "axis 0 of the view has 8 elements at one address (a stride of 0)" },
	{ false, true, 2, { 8, 8 }, { 8, 0 }, 0, -EINVAL, "axis 1 of the view" },
	{ false,
	  true,
	  2,
	  { 8, 8 },
	  { 1, 1 },
	  0,
	  -EINVAL,
	  "elements of the view share bytes with each other" },
	{ false,
	  true,
	  1,
	  { 8 },
	  { 1 },
	  DRAY_WRITE,
	  -EPERM,
	  "the view is read-only" },
	{ true, true, 1, { -1 }, { 1 }, 0, -EINVAL, "-1" },
	{ true, true, 1, { 8 }, { 1 }, 0x80, -EINVAL, "0x80" },
	{ true,
	  true,
	  1,
	  { 65536 },
	  { 2 },
	  0,
	  -EOPNOTSUPP,
	  "the engine cannot: the view leaves its block of 65536 bytes" },
	{ true, true, 1, { INT64_MAX }, { 2 }, 0, -EOVERFLOW, "63 bits" },
	{ true, true, 2, { INT64_MAX, 3 }, { 0, 0 }, 0, -EOVERFLOW, "63 bits" },
	{ true,
	  false,
	  2,
	  { 1 << 20, 1 << 20 },
	  { 0, 0 },
	  0,
	  -EOPNOTSUPP,
	  "1099511627776 bytes; the limit of a packet is 1073741824" },
	{ true,
	  false,
	  2,
	  { 1 << 15, 1 << 15 },
	  { 0, 0 },
	  0,
	  -EOPNOTSUPP,
	  "1073741824 contiguous pieces; the engine's limit is 65536; the packet allows no copy" },
};

static void check_refused(struct dray_stream *stream, bool sends,
			  const struct dray_view *view,
			  const struct dray_packet_options *options, int error,
			  const char *part)
{
	struct dray_event *event = NULL;
	int ret = sends ? dray_stream_send(stream, view, options, &event)
			: dray_stream_recv(stream, view, options, &event);

	assert_int_equal(ret, error);
	if (!strstr(dray_last_error(), part))
		fail_msg("'%s' does not say '%s'", dray_last_error(), part);
	assert_null(event);
	assert_int_equal(counts_of(stream).submitted, 0);
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

REFUSED_FACT(views_that_cannot_be_moved_are_refused_with_a_reason)
{
	for (size_t i = 0; i < COUNT(views); i++) {
		struct dray_view view = { .data = block,
					  .dtype = u1,
					  .ndim = views[i].ndim,
					  .flags = views[i].flags ^
						   (DRAY_READ | DRAY_WRITE) };

		memcpy(view.shape, views[i].shape, sizeof(views[i].shape));
		memcpy(view.strides, views[i].strides,
		       sizeof(views[i].strides));
		if (views[i].send)
			check_refused(loop.tx, true, &view, NULL,
				      views[i].error, views[i].part);
		if (views[i].recv)
			check_refused(loop.rx, false, &view, NULL,
				      views[i].error, views[i].part);
	}
}

static struct dray_view some_bytes(size_t offset, int64_t size)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, block + offset, u1, 1, &size, NULL));
	return view;
}

REFUSED_FACT(a_stream_has_one_direction)
{
	struct dray_view view = some_bytes(0, 8);

	check_refused(loop.rx, true, &view, NULL, -EINVAL,
		      "rx0 receives, it cannot send");
	check_refused(loop.tx, false, &view, NULL, -EINVAL,
		      "tx0 sends, it cannot receive");
}

static const struct {
	struct dray_packet_options options;
	int error;
	const char *part;
} called[] = {
	{ { .flags = 8 }, -EINVAL, "unknown flags 0x8 of a packet" },
	{ { .flags = DRAY_PACKET_STAGE | DRAY_PACKET_NO_SYNC },
	  -EINVAL,
	  "a packet without syncs is not for the CPU" },
	{ { .deadline_ns = DRAY_MAX_DEADLINE + 1 },
	  -EINVAL,
	  "600000000001 ns, the longest is 600000000000 ns" },
	{ { .deadline_ns = UINT64_MAX }, -EINVAL, "18446744073709551615 ns" },
	{ { .fence_count = 17 },
	  -EINVAL,
	  "17 in-fences; the limit of a packet is 16" },
	{ { .fence_count = 1 }, -EINVAL, "1 in-fence, and no list" },
};

REFUSED_FACT(options_are_checked)
{
	struct dray_view view = some_bytes(0, 8);

	for (size_t i = 0; i < COUNT(called); i++) {
		check_refused(loop.tx, true, &view, &called[i].options,
			      called[i].error, called[i].part);
		check_refused(loop.rx, false, &view, &called[i].options,
			      called[i].error, called[i].part);
	}
}

REFUSED_FACT(an_in_fence_is_needed)
{
	struct dray_fence *none = NULL;
	struct dray_packet_options options = { .fence_count = 1,
					       .fences = &none };
	struct dray_view view = some_bytes(0, 8);

	check_refused(loop.tx, true, &view, &options, -EINVAL,
		      "in-fence 0 is NULL");
}

REFUSED_FACT(views_of_one_receive_share_no_byte)
{
	struct dray_view a = some_bytes(0, 8), b = some_bytes(8, 8);
	struct dray_view c = some_bytes(15, 8);
	const struct dray_view *pieces[] = { &a, &b, &c };
	struct dray_event *event = NULL;

	assert_fails(dray_stream_recv_pieces(loop.rx, pieces, 3, NULL, &event),
		     -EINVAL, "view 1 and view 2 share bytes");
	assert_null(event);
	/* a source may be repeated */
	assert_works(dray_stream_send_pieces(loop.tx, pieces, 3, NULL, &event));
	dray_event_unref(event);
	assert_fails(dray_stream_send_pieces(loop.tx, pieces, 0, NULL, &event),
		     -EINVAL, "a packet of 0 views");
	pieces[1] = NULL;
	assert_fails(dray_stream_send_pieces(loop.tx, pieces, 3, NULL, &event),
		     -EINVAL, "NULL");
	b.shape[0] = 0;
	pieces[1] = &b;
	assert_fails(dray_stream_send_pieces(loop.tx, pieces, 3, NULL, &event),
		     -EINVAL, "view 1 contains no bytes to send");
}

REFUSED_FACT(the_bytes_of_all_views_fit_64_bits)
{
	struct dray_view half = { .data = block, .dtype = u1, .ndim = 2 };
	const struct dray_view *pieces[] = { &half, &half, &half };
	struct dray_event *event;

	half.shape[0] = INT64_MAX / 3;
	half.shape[1] = 3;
	assert_fails(dray_stream_send_pieces(loop.tx, pieces, 3, NULL, &event),
		     -EOVERFLOW, "the bytes of 3 views do not fit 64 bits");
}

REFUSED_FACT(too_many_views_are_refused_with_the_limit)
{
	const struct dray_view *pieces[65];
	struct dray_view view = some_bytes(0, 8);
	struct dray_event *event = NULL;

	for (int i = 0; i < 65; i++)
		pieces[i] = &view;
	assert_fails(dray_stream_send_pieces(loop.tx, pieces, 65, NULL, &event),
		     -EOPNOTSUPP, "65 views; the limit of a packet is 64");
	assert_works(
		dray_stream_send_pieces(loop.tx, pieces, 64, NULL, &event));
	dray_event_unref(event);
}

REFUSED_FACT(memory_that_the_node_does_not_reach_is_refused)
{
	unsigned char local[64] = { 0 };
	struct dray_node *other = open_node("host:shareable");
	struct dray_buffer *buffer;
	struct dray_view view;

	assert_works(dray_view_init(&view, local, u1, 1, DIMS(64), NULL));
	check_refused(loop.tx, true, &view, NULL, -EOPNOTSUPP,
		      "the view lies outside of dray's memory");
	assert_works(dray_buffer_alloc(other, 4096, NULL, &buffer));
	view.data = dray_buffer_data(buffer);
	check_refused(loop.rx, false, &view, NULL, -EOPNOTSUPP,
		      "the view is of another node");
	dray_buffer_unref(buffer);
	dray_node_unref(other);
}

REFUSED_FACT(read_only_memory_is_not_received_into)
{
	struct dray_node *node = open_node("host:shareable");
	struct dray_buffer *buffer, *seen;
	struct dray_view view;
	int fd;

	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	assert_works(dray_buffer_share(buffer, true, &fd));
	assert_works(dray_buffer_import(node, fd, &seen));
	assert_works(dray_view_init(&view, dray_buffer_data(seen), u1, 1,
				    DIMS(64), NULL));
	check_refused(loop.rx, false, &view, NULL, -EPERM,
		      "the view lies in read-only buffer");
	close(fd);
	dray_buffer_unref(seen);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

/* Opens both ends again, by an engine with other limits. */
static void open_again(void)
{
	dray_stream_close(loop.tx);
	dray_stream_close(loop.rx);
	loop.tx = open_stream("tx0", NULL);
	loop.rx = open_stream("rx0", NULL);
}

REFUSED_FACT(an_alignment_that_the_engine_lacks_is_named_with_the_value)
{
	struct dray_view view = some_bytes(4, 8);

	engine.alignment = 8;
	open_again();
	check_refused(loop.tx, true, &view, NULL, -EOPNOTSUPP,
		      "multiples of 8 bytes; the view is aligned to 4");
	view = some_bytes(8, 12);
	check_refused(loop.rx, false, &view, NULL, -EOPNOTSUPP,
		      "rx0 moves multiples of 8 bytes, not 12");
	view = some_bytes(8, 16);
	dray_event_unref(send_view(&view));
}

REFUSED_FACT(the_engine_takes_so_many_pieces_and_no_more)
{
	struct dray_view view = some_bytes(0, 4);

	view.strides[0] = 2;
	engine.max_pieces = 3;
	open_again();
	check_refused(loop.tx, true, &view, NULL, -EOPNOTSUPP,
		      "4 contiguous pieces; the engine's limit is 3");
	view.shape[0] = 3;
	dray_event_unref(send_view(&view));
	/* a long run takes several */
	engine.max_segment = 100;
	open_again();
	view = some_bytes(0, 301);
	check_refused(loop.tx, true, &view, NULL, -EOPNOTSUPP,
		      "301 bytes are 4 descriptors; the engine's limit is 3");
	view.shape[0] = 300;
	dray_event_unref(send_view(&view));
}

REFUSED_FACT(a_channel_of_another_kind_serves_no_stream)
{
	struct dray_stream *stream = NULL;

	engine.max_bytes = 1;
	assert_fails(
		dray_stream_open(loop.node, "rx1", NULL, &stream), -EINVAL,
		"channel \"rx1\" of host serves no stream; those are: tx0, rx0, tx1");
	assert_null(stream);
}

REFUSED_FACT(what_would_be_refused_is_explained_so)
{
	struct dray_packet_options staged = { .flags = DRAY_PACKET_STAGE };
	struct dray_view view = some_bytes(0, 4);
	const struct dray_view *pieces[] = { &view, &view };
	struct dray_explanation said = { .size = sizeof(said) };

	view.strides[0] = 2;
	engine.max_pieces = 4;
	open_again();
	assert_works(dray_stream_explain(loop.tx, pieces, 1, NULL, &said));
	assert_int_equal(said.engine, 1);
	assert_int_equal(said.descriptors, 4);
	assert_int_equal(said.threshold, 4);
	assert_int_equal(said.elements, 4);
	assert_int_equal(said.bytes, 4);
	assert_int_equal(said.run, 1);
	assert_int_equal(said.axes, 1);
	assert_string_equal(said.reason,
			    "4 descriptors are within the engine's limit of 4");
	assert_fails(dray_stream_explain(loop.tx, pieces, 2, NULL, &said),
		     -EOPNOTSUPP,
		     "8 contiguous pieces; the engine's limit is 4");
	assert_works(dray_stream_explain(loop.tx, pieces, 2, &staged, &said));
	assert_int_equal(said.engine, 0);
	assert_int_equal(said.descriptors, 8);
	assert_string_equal(said.reason,
			    "8 contiguous pieces; the engine's limit is 4");
	assert_fails(dray_stream_explain(loop.rx, pieces, 2, &staged, &said),
		     -EINVAL, "view 0 and view 1 share bytes");
	assert_int_equal(counts_of(loop.tx).submitted, 0);
	view.strides[0] = 1;
	assert_works(dray_stream_explain(loop.tx, pieces, 1, NULL, &said));
	assert_string_equal(said.reason,
			    "1 descriptor is within the engine's limit of 4");
}
