// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of a camera (V4L2) straight into arrays: camera [DEVICE]
 *
 * The camera fills the memory of three arrays in turn.  It gets them as dma-bufs
 * if the kernel module is loaded, and as addresses on the host.  The program looks
 * at each frame in place, with the camera's gaps between lines.  The camera is
 * the kernel's virtual camera (vivid), which shows eight bars.
 */
#include <dray/array.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FRAMES 12
#define ARRAYS 3
#define BARS 8

/* Lines of 1024 bytes, of which 320 pixels fill 640. */
static struct v4l2_format format = {
	.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
	.fmt.pix = { 320, 180, V4L2_PIX_FMT_YUYV, .bytesperline = 1024 },
};
/* vivid's own: its first picture, without a text */
static struct v4l2_control bars = { 0x00f0f000, 0 };
static struct v4l2_control no_text = { 0x00f0f001, 2 };
static struct v4l2_buffer buffers[ARRAYS];
static struct dray_array *arrays[ARRAYS];
static int camera;

/* Whether a call of the camera fails, which it then prints. */
#define FAILS(request, argument) \
	(ioctl(camera, request, argument) ? (perror(#request), 1) : 0)

/* Makes an array [row, column, 2] in a buffer of its own, for the camera. */
static int make_array(struct dray_node *node, unsigned int i)
{
	const struct v4l2_pix_format *pix = &format.fmt.pix;
	const int64_t shape[] = { pix->height, pix->width, 2 };
	const int64_t strides[] = { pix->bytesperline, 2, 1 };
	struct dray_buffer *memory;
	int ret;

	ret = dray_buffer_alloc(node, pix->sizeimage, NULL, &memory);
	if (ret)
		return ret;
	buffers[i].index = i;
	buffers[i].type = format.type;
	buffers[i].length = (unsigned int)dray_buffer_size(memory);
	if (!strcmp(dray_node_backend(node), "kernel")) {
		buffers[i].memory = V4L2_MEMORY_DMABUF;
		buffers[i].m.fd = dray_buffer_fd(memory);
	} else {
		buffers[i].memory = V4L2_MEMORY_USERPTR;
		buffers[i].m.userptr = (unsigned long)dray_buffer_data(memory);
	}
	ret = dray_array_from_buffer(memory, 0, DRAY_UINT8, 3, shape, strides,
				     &arrays[i]);
	dray_buffer_unref(memory); /* The array keeps it. */
	return ret;
}

/* Says that the CPU begins to read and write, or ends. */
static void mark_access(const struct v4l2_buffer *buffer, uint64_t edge)
{
	struct dma_buf_sync sync = { edge | DMA_BUF_SYNC_RW };

	if (buffer->memory == V4L2_MEMORY_DMABUF)
		ioctl(buffer->m.fd, DMA_BUF_IOCTL_SYNC, &sync);
}

/* Prints the bars' brightness, the same in each row, and blackens them. */
static int look(const struct dray_array *frame)
{
	struct dray_view view;
	int64_t wide = dray_array_view(frame, &view)->shape[1] / BARS, row;
	const struct dray_index middles[] = {
		DRAY_ALL, DRAY_SLICE(wide / 2, DRAY_OMIT, wide), DRAY_AT(0)
	};
	int ret = dray_view_index(&view, middles, 3, &view), bar;

	for (bar = 0; !ret && bar < BARS; bar++) {
		unsigned char *top = view.data, brightness;

		top += bar * view.strides[1];
		brightness = *top;
		for (row = 0; row < view.shape[0]; row++) {
			if (top[row * view.strides[0]] != brightness)
				ret = -1;
			top[row * view.strides[0]] = 0;
		}
		printf(" %d", brightness);
	}
	return ret;
}

static int capture(void)
{
	struct v4l2_requestbuffers request = { .count = ARRAYS,
					       .type = format.type,
					       .memory = buffers[0].memory };
	struct v4l2_buffer done = buffers[0];
	int ret = FAILS(VIDIOC_REQBUFS, &request), i;

	for (i = 0; !ret && i < ARRAYS; i++)
		ret = FAILS(VIDIOC_QBUF, &buffers[i]);
	ret = ret || FAILS(VIDIOC_STREAMON, &format.type);
	printf("%d arrays as %s, lines of %u bytes\n", ARRAYS,
	       done.memory == V4L2_MEMORY_DMABUF ? "dma-bufs" : "addresses",
	       format.fmt.pix.bytesperline);
	for (i = 0; !ret && i < FRAMES && !FAILS(VIDIOC_DQBUF, &done); i++) {
		printf("frame %d in array %d:", i, done.index);
		mark_access(&buffers[done.index], DMA_BUF_SYNC_START);
		ret = look(arrays[done.index]);
		mark_access(&buffers[done.index], DMA_BUF_SYNC_END);
		puts(ret ? ", and another row differs" : "");
		ret = ret || FAILS(VIDIOC_QBUF, &buffers[done.index]);
	}
	return ret || i < FRAMES;
}

int main(int argc, char **argv)
{
	struct dray_node *node = NULL;
	int ret, i;

	camera = open(argc > 1 ? argv[1] : "/dev/video0", O_RDWR);
	if (camera < 0)
		perror("camera");
	ret = camera < 0 || FAILS(VIDIOC_S_FMT, &format) ||
	      FAILS(VIDIOC_S_CTRL, &bars) || FAILS(VIDIOC_S_CTRL, &no_text) ||
	      dray_node_open(NULL, &node);
	for (i = 0; !ret && i < ARRAYS; i++)
		ret = make_array(node, (unsigned int)i);
	if (!ret)
		ret = capture();
	if (*dray_last_error())
		fprintf(stderr, "camera: %s\n", dray_last_error());
	close(camera); /* It stops before its memory is freed. */
	for (i = 0; i < ARRAYS; i++)
		dray_array_unref(arrays[i]);
	dray_node_unref(node);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
