// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * GStreamer in dray's memory: frames of dray enter appsrc, and appsink returns
 * frames of dray that an element wrote.  They are never copied.
 *
 * Each frame is a dma-buf of its own, or on the host a memfd.  A part of a larger
 * buffer would not do: GStreamer moves a frame to the start when it uses it again.
 */
#include <dray/array.h>
#include <gst/allocators/allocators.h>
#include <gst/app/app.h>
#include <stdio.h>
#include <string.h>

#define GRAY (320 * 240)
#define RGB (3 * GRAY)
#define RAW "video/x-raw,width=320,height=240,format="
#define IN "appsrc name=in caps=" RAW "GRAY8"
#define OUT " ! appsink name=out sync=0 caps="

static GstAllocator *allocator; /* of GStreamer's memory over a file */
static struct dray_node *node;
static GQuark its_array;
static gint alive; /* frames */

static void frame_end(gpointer array)
{
	dray_array_unref(array);
	g_atomic_int_add(&alive, -1);
}

/* Makes a frame; g_error() ends the program if there is no memory. */
static GstBuffer *frame_new(int64_t size)
{
	struct dray_location place;
	struct dray_array *array;
	GstMemory *memory;
	GstBuffer *frame;

	if (dray_array_create_alone(node, DRAY_UINT8, 1, &size, &array) ||
	    dray_locate(array->data, &place))
		g_error("%s", dray_last_error());
	/* The file stays dray's, which keeps it open as long as the array. */
	memory = gst_fd_allocator_alloc(allocator, dray_buffer_fd(place.buffer),
					size, GST_FD_MEMORY_FLAG_DONT_CLOSE);
	gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), its_array, array,
				  frame_end);
	g_atomic_int_inc(&alive);
	frame = gst_buffer_new();
	gst_buffer_append_memory(frame, memory);
	return frame;
}

/* Returns the array of a frame; NULL if the frame lies elsewhere. */
static struct dray_array *frame_array(GstBuffer *frame)
{
	return gst_mini_object_get_qdata(
		GST_MINI_OBJECT(gst_buffer_peek_memory(frame, 0)), its_array);
}

/* A pool of GStreamer's, from which an element gets frames to write to. */
typedef GstBufferPool Pool;
typedef GstBufferPoolClass PoolClass;
G_DEFINE_TYPE(Pool, pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn pool_alloc(GstBufferPool *pool, GstBuffer **out,
				GstBufferPoolAcquireParams *params)
{
	(void)pool, (void)params;
	*out = frame_new(RGB);
	return GST_FLOW_OK;
}

static void pool_class_init(PoolClass *class)
{
	class->alloc_buffer = pool_alloc;
}

static void pool_init(Pool *pool)
{
	(void)pool;
}

/* Offers such a pool to the element before the sink, which asks for it. */
static GstPadProbeReturn offer(GstPad *pad, GstPadProbeInfo *info,
			       gpointer pool)
{
	(void)pad;
	if (GST_QUERY_TYPE(info->data) != GST_QUERY_ALLOCATION)
		return GST_PAD_PROBE_OK;
	gst_query_add_allocation_pool(info->data, pool, RGB, 0, 0);
	return GST_PAD_PROBE_HANDLED;
}

/* Returns how many of 100 gray frames arrive with @size bytes as sent. */
static int run(const char *description, gsize size)
{
	g_autoptr(GstBufferPool) pool = g_object_new(pool_get_type(), NULL);
	g_autoptr(GstElement) line = gst_parse_launch(description, NULL);
	g_autoptr(GstElement) in = gst_bin_get_by_name(GST_BIN(line), "in");
	g_autoptr(GstElement) out = gst_bin_get_by_name(GST_BIN(line), "out");
	int value, right = 0, same = 0;
	gsize i;

	gst_pad_add_probe(out->sinkpads->data,
			  GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer, pool,
			  NULL);
	gst_element_set_state(line, GST_STATE_PLAYING);
	for (value = 0; value < 100; value++) {
		GstBuffer *frame = frame_new(GRAY);
		struct dray_array *given = frame_array(frame), *got;
		g_autoptr(GstSample) sample = NULL;

		memset(given->data, value, GRAY);
		gst_app_src_push_buffer(GST_APP_SRC(in), frame);
		sample = gst_app_sink_try_pull_sample(GST_APP_SINK(out),
						      10 * GST_SECOND);
		if (!sample)
			g_error("no frame came in ten seconds");
		got = frame_array(gst_sample_get_buffer(sample));
		for (i = 0; got && i < size; i++)
			if (((char *)got->data)[i] != value)
				break;
		right += got && i == size;
		same += got == given;
	}
	gst_element_set_state(line, GST_STATE_NULL);
	printf("%d frames are right, %d were passed on\n", right, same);
	return right;
}

int main(int argc, char **argv)
{
	int right;

	gst_init(&argc, &argv);
	its_array = g_quark_from_static_string("dray-array");
	/* Memory with a file: of the module's first node, or of the host. */
	if (dray_node_open("shareable", &node))
		g_error("%s", dray_last_error());
	allocator = strcmp(dray_node_backend(node), "kernel")
			    ? gst_fd_allocator_new()
			    : gst_dmabuf_allocator_new();
	right = run(IN " ! identity" OUT RAW "GRAY8", GRAY) +
		run(IN " ! videoconvert" OUT RAW "RGB", RGB);
	gst_object_unref(allocator);
	printf("%s: %d frames are left\n", dray_node_backend(node), alive);
	dray_node_unref(node);
	return right != 200 || alive;
}
