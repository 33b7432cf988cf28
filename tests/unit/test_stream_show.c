// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: views on a display of the kernel back end, which a stand-in for the module
 * answers.
 */
#include "stand_in.h"

static struct dray_node *node;
static struct dray_stream *display;
static struct dray_buffer *buffer;

static int show_setup(void **state)
{
	with_node(state);
	dray_node_unref(*state);
	module.streams = module.display = true;
	assert_works(dray_node_open("kernel:dray7", &node));
	assert_works(dray_buffer_alloc(node, 1 << 20, NULL, &buffer));
	assert_works(dray_stream_open(node, "display0", NULL, &display));
	*state = node;
	return 0;
}

static int show_teardown(void **state)
{
	dray_stream_close(display);
	dray_buffer_unref(buffer);
	munmap(module.head, sizeof(*module.head));
	return without_node(state);
}

#define SHOW_FACT(name) FACT_WITH(name, show_setup, show_teardown)

/* A view of bytes, and the rows that the module gets, or the objection. */
struct picture {
	int64_t offset;
	int32_t rank;
	int64_t shape[3], strides[3];
	uint64_t run, rows;
	int64_t stride;
	const char *objection;
};

static struct dray_view view_of(const struct picture *picture)
{
	struct dray_view view;

	assert_works(dray_view_init(
		&view, (char *)dray_buffer_data(buffer) + picture->offset, u1,
		picture->rank, picture->shape, picture->strides));
	return view;
}

SHOW_FACT(the_first_axis_is_that_of_the_rows)
{
	static const struct picture pictures[] = {
		{ 0, 2, { 48, 64 }, { 1024, 1 }, 64, 48, 1024, NULL },
		{ 256, 3, { 48, 16, 4 }, { 128, 4, 1 }, 64, 48, 128, NULL },
		{ 512, 3, { 48, 16, 4 }, { 64, 4, 1 }, 64, 48, 64, NULL },
		{ 0, 3, { 1, 48, 64 }, { 9999, 64, 1 }, 64, 48, 64, NULL },
		{ 0, 1, { 4096 }, { 1 }, 4096, 0, 0, NULL },
	};

	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		const struct picture *picture = &pictures[i];
		struct dray_view view = view_of(picture);
		struct dray_event *event;

		assert_works(dray_stream_show(display, &view, NULL, &event));
		assert_int_equal(module.submit.channel, 3);
		assert_int_equal(module.submit.count, 1);
		assert_int_equal(module.submit.flags, DRAY_SUBMIT_NO_FENCE);
		assert_int_equal(module.transfers[0].op, DRAY_OP_SHOW);
		assert_int_equal(module.transfers[0].dst_fd, -1);
		assert_int_equal(module.transfers[0].src_fd,
				 dray_buffer_fd(buffer));
		assert_int_equal(module.transfers[0].src_offset,
				 picture->offset);
		assert_int_equal(module.transfers[0].run, picture->run);
		assert_int_equal(module.transfers[0].axes_count,
				 picture->rows > 0);
		if (picture->rows) {
			assert_int_equal(module.axes[0].count, picture->rows);
			assert_int_equal(module.axes[0].src_stride,
					 picture->stride);
			assert_int_equal(module.axes[0].dst_stride, 0);
		}
		assert_int_equal(dray_event_status(event), 0);
		publish(i + 1, 64, 0);
		assert_int_equal(dray_event_status(event), 1);
		dray_event_unref(event);
	}
}

SHOW_FACT(other_views_are_refused_or_copied)
{
	static const struct picture pictures[] = {
		{ 64,
		  2,
		  { 48, 64 },
		  { 64, 1 },
		  64,
		  48,
		  64,
		  "a first byte at a multiple of 256 bytes; the view begins at a multiple of 64" },
		{ 3072,
		  2,
		  { 4, 64 },
		  { -1024, 1 },
		  64,
		  4,
		  64,
		  "display0 shows rows of a single stride, not shorter than a row and at most 65536 bytes" },
		{ 0,
		  2,
		  { 4, 64 },
		  { 0, 1 },
		  64,
		  4,
		  64,
		  "rows of a single stride" },
		{ 0,
		  2,
		  { 2, 64 },
		  { 131072, 1 },
		  64,
		  2,
		  64,
		  "rows of a single stride" },
		{ 0,
		  3,
		  { 4, 16, 4 },
		  { 256, 8, 1 },
		  64,
		  4,
		  64,
		  "rows of a single stride" },
		{ 0,
		  2,
		  { 4, 64 },
		  { 66, 1 },
		  64,
		  4,
		  64,
		  "addresses and lengths in multiples of 4 bytes; the view is aligned to 2" },
	};
	const struct dray_packet_options staged = { .flags =
							    DRAY_PACKET_STAGE };

	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		const struct picture *picture = &pictures[i];
		struct dray_view view = view_of(picture);
		struct dray_event *none = NULL;

		assert_fails(dray_stream_show(display, &view, NULL, &none),
			     -EOPNOTSUPP, picture->objection);
		assert_null(none);
		assert_works(dray_stream_show(display, &view, &staged, NULL));
		assert_int_not_equal(module.transfers[0].src_fd,
				     dray_buffer_fd(buffer));
		assert_int_equal(module.transfers[0].run, picture->run);
		assert_int_equal(module.axes[0].count, picture->rows);
		assert_int_equal(module.axes[0].src_stride, picture->stride);
	}
}

SHOW_FACT(a_row_that_no_copy_helps_is_refused)
{
	const struct picture odd = { 0, 2, { 4, 6 }, { 6, 1 }, 0, 0, 0, NULL };
	const struct dray_packet_options staged = { .flags =
							    DRAY_PACKET_STAGE };
	struct dray_view view = view_of(&odd);

	assert_fails(dray_stream_show(display, &view, &staged, NULL),
		     -EOPNOTSUPP, "display0 moves multiples of 4 bytes, not 6");
}

SHOW_FACT(without_an_event_the_call_does_not_wait)
{
	const struct picture small = {
		0, 2, { 4, 64 }, { 64, 1 }, 0, 0, 0, NULL
	};
	struct dray_view view = view_of(&small);
	struct dray_stream_counts counts = { .size = sizeof(counts) };

	assert_works(dray_stream_show(display, &view, NULL, NULL));
	assert_int_equal(module.waits, 0);
	assert_works(dray_stream_counts(display, &counts));
	assert_int_equal(counts.in_flight, 1);
}

SHOW_FACT(what_is_shown_ends_if_no_show_behind_it_replaces_it)
{
	const struct picture small = {
		0, 2, { 4, 64 }, { 64, 1 }, 0, 0, 0, NULL
	};
	struct dray_packet_options options = { .flags = DRAY_PACKET_NONBLOCK };
	struct dray_view view = view_of(&small);
	struct dray_event *shown, *event;

	assert_works(dray_stream_show(display, &view, NULL, &shown));
	for (int i = 1; i < STAND_IN_POINTS; i++) {
		assert_works(dray_stream_show(display, &view, NULL, &event));
		assert_works(dray_event_cancel(event));
		dray_event_unref(event);
		module.head->completed = 0;
	}
	assert_int_equal(dray_event_status(shown), 0);
	assert_works(dray_stream_show(display, &view, &options, &event));
	assert_int_equal(module.cancel.point, 1);
	assert_fails(dray_event_status(shown), -ECANCELED, "packet 1");
	assert_int_equal(dray_event_status(event), 0);
	dray_event_unref(shown);
	dray_event_unref(event);
}

SHOW_FACT(frames_of_a_ring_are_shown)
{
	const struct picture pictures[] = {
		{ 0, 2, { 4, 64 }, { 64, 1 }, 64, 4, 64, NULL },
		{ 4096, 2, { 4, 64 }, { 128, 1 }, 64, 4, 128, NULL },
	};
	struct dray_view views[] = { view_of(&pictures[0]),
				     view_of(&pictures[1]) };
	const struct dray_view *frames[] = { &views[0], &views[1] };

	assert_works(dray_stream_ring(display, frames, 2, 0));
	assert_int_equal(module.ring.count, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(module.transfers[i].op, DRAY_OP_SHOW);
		assert_int_equal(module.transfers[i].src_fd,
				 dray_buffer_fd(buffer));
		assert_int_equal(module.transfers[i].run, pictures[i].run);
		assert_int_equal(module.transfers[i].axes_count, 1);
	}
	assert_fails(dray_stream_show(display, &views[0], NULL, NULL), -EBUSY,
		     "display0");
}

SHOW_FACT(a_display_only_shows)
{
	const struct picture small = {
		0, 2, { 4, 64 }, { 64, 1 }, 0, 0, 0, NULL
	};
	struct dray_view view = view_of(&small);
	struct dray_stream *tx;

	assert_fails(dray_stream_send(display, &view, NULL, NULL), -EINVAL,
		     "display0 shows, it cannot send");
	assert_fails(dray_stream_recv(display, &view, NULL, NULL), -EINVAL,
		     "display0 shows, it cannot receive");
	munmap(module.head, sizeof(*module.head));
	assert_works(dray_stream_open(node, "tx0", NULL, &tx));
	assert_fails(dray_stream_show(tx, &view, NULL, NULL), -EINVAL,
		     "tx0 sends, it cannot show");
	dray_stream_close(tx);
}
