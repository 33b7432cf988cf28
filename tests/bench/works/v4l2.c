// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A camera, the kernel's virtual one (vivid), captures one picture into the
 * memory.  It shows the same picture each time, so the one that it captures
 * into memory of its own says what must be there.  Two of them are wanted: the
 * first takes any pages, the second, as a camera without an IOMMU, only
 * memory that is contiguous.
 */
#include <linux/videodev2.h>

#include "../../selftests/node.h"
#include "cell.h"

#define ANY_PAGES "platform:vivid-000"
#define CONTIGUOUS "platform:vivid-001"

/* vivid's own control: no counters in the picture */
#define OSD_TEXT_MODE (0x00f00000 | 0xf000 | 1)
#define OSD_NONE 2

#define DEADLINE_MS 20000

static int camera_find(const char *bus)
{
	struct v4l2_capability capability;
	char path[32];
	int i, fd;

	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "/dev/video%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, VIDIOC_QUERYCAP, &capability) &&
		    capability.device_caps & V4L2_CAP_VIDEO_CAPTURE &&
		    !strcmp((char *)capability.bus_info, bus))
			return fd;
		close(fd);
	}
	errno = ENODEV;
	return -1;
}

static int camera_open(const char *bus, size_t *size)
{
	struct v4l2_control control = { .id = OSD_TEXT_MODE,
					.value = OSD_NONE };
	struct v4l2_format format = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE };
	int camera = camera_find(bus);

	if (camera < 0 || ioctl(camera, VIDIOC_S_CTRL, &control) ||
	    ioctl(camera, VIDIOC_G_FMT, &format))
		return -1;
	format.fmt.pix.width = 320;
	format.fmt.pix.height = 180;
	format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
	/* no gap between lines */
	format.fmt.pix.bytesperline = 0;
	if (ioctl(camera, VIDIOC_S_FMT, &format))
		return -1;
	*size = format.fmt.pix.sizeimage;
	if (*size <= MEMORY_SIZE)
		return camera;
	errno = EFBIG;
	return -1;
}

static int camera_request(int camera, unsigned int kind, unsigned int count)
{
	struct v4l2_requestbuffers request = {
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = kind,
		.count = count,
	};

	if (ioctl(camera, VIDIOC_REQBUFS, &request))
		return -1;
	errno = ENOBUFS;
	return request.count >= count ? 0 : -1;
}

/* Two pictures: the camera wants to have a second buffer on some kernels. */
#define BUFFERS 2

/* One picture into whatever the buffers stand for. */
static enum outcome camera_capture(struct cell *cell, int camera,
				   struct v4l2_buffer *buffers)
{
	struct v4l2_buffer done = { .type = buffers[0].type,
				    .memory = buffers[0].memory };
	struct pollfd ready = { .fd = camera, .events = POLLIN };
	int type = V4L2_BUF_TYPE_VIDEO_CAPTURE, i, ret;

	for (i = 0; i < BUFFERS; i++) {
		cell_step(cell, "VIDIOC_QBUF");
		if (ioctl(camera, VIDIOC_QBUF, &buffers[i]))
			return cell_refused(cell);
	}
	cell_step(cell, "VIDIOC_STREAMON");
	if (ioctl(camera, VIDIOC_STREAMON, &type))
		return cell_refused(cell);
	for (i = 0; i < BUFFERS; i++) {
		cell_step(cell, "waiting for a picture");
		ret = poll(&ready, 1, DEADLINE_MS);
		errno = ret ? errno : ETIMEDOUT;
		if (ret != 1)
			return cell_refused(cell);
		cell_step(cell, "VIDIOC_DQBUF");
		if (ioctl(camera, VIDIOC_DQBUF, &done))
			return cell_refused(cell);
		cell_step(cell, "a picture with an error");
		errno = EIO;
		if (done.flags & V4L2_BUF_FLAG_ERROR)
			return cell_refused(cell);
	}
	cell_step(cell, "VIDIOC_STREAMOFF");
	return ioctl(camera, VIDIOC_STREAMOFF, &type) ? cell_refused(cell)
						      : WORKS;
}

/* The picture as the camera has it in memory of its own. */
static enum outcome camera_reference(struct cell *cell, int camera,
				     uint8_t *bytes, size_t size)
{
	struct v4l2_buffer buffers[BUFFERS] = { 0 };
	enum outcome outcome;
	uint8_t *picture;

	cell_step(cell, "VIDIOC_REQBUFS of the camera's own");
	if (camera_request(camera, V4L2_MEMORY_MMAP, BUFFERS))
		return ABSENT;
	for (unsigned int i = 0; i < BUFFERS; i++) {
		buffers[i].index = i;
		buffers[i].type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
		buffers[i].memory = V4L2_MEMORY_MMAP;
		if (ioctl(camera, VIDIOC_QUERYBUF, &buffers[i]))
			return ABSENT;
	}
	picture = mmap(NULL, buffers[0].length, PROT_READ | PROT_WRITE,
		       MAP_SHARED, camera, buffers[0].m.offset);
	if (picture == MAP_FAILED)
		return ABSENT;
	outcome = camera_capture(cell, camera, buffers);
	if (outcome != WORKS)
		return ABSENT;
	memcpy(bytes, picture, size);
	munmap(picture, buffers[0].length);
	cell_step(cell, "VIDIOC_REQBUFS that frees the camera's own");
	return camera_request(camera, V4L2_MEMORY_MMAP, 0) ? ABSENT : WORKS;
}

/*
 * The second buffer stands for the memory too: the camera then fills it twice,
 * with the same picture.
 */
static enum outcome capture(const struct memory *memory, struct cell *cell,
			    const char *bus, unsigned int kind)
{
	struct v4l2_buffer buffers[BUFFERS] = { 0 };
	uint8_t *wanted = cell_bytes(MEMORY_SIZE, 1);
	enum outcome outcome;
	size_t size;
	int camera;

	if (kind == V4L2_MEMORY_DMABUF && memory->fd < 0)
		return UNFIT;
	cell_step(cell, "a camera of vivid");
	camera = camera_open(bus, &size);
	if (camera < 0)
		return cell_absent(cell);
	if (camera_reference(cell, camera, wanted, size) != WORKS)
		return cell_absent(cell);
	cell_step(cell, "VIDIOC_REQBUFS");
	if (camera_request(camera, kind, BUFFERS))
		return cell_absent(cell);
	for (unsigned int i = 0; i < BUFFERS; i++) {
		buffers[i].index = i;
		buffers[i].type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
		buffers[i].memory = kind;
		buffers[i].length = MEMORY_SIZE;
		if (kind == V4L2_MEMORY_DMABUF)
			buffers[i].m.fd = memory->fd;
		else
			buffers[i].m.userptr = (uintptr_t)memory->bytes;
	}
	memory_begin(memory);
	fill_random(memory->bytes, memory->size, 2);
	memory_end(memory);
	outcome = camera_capture(cell, camera, buffers);
	if (outcome != WORKS)
		return outcome;
	memory_begin(memory);
	outcome = cell_compare(cell, memory->bytes, wanted, size);
	memory_end(memory);
	return outcome;
}

static enum outcome userptr(const struct memory *memory, struct cell *cell)
{
	return capture(memory, cell, ANY_PAGES, V4L2_MEMORY_USERPTR);
}

static enum outcome dmabuf(const struct memory *memory, struct cell *cell)
{
	return capture(memory, cell, ANY_PAGES, V4L2_MEMORY_DMABUF);
}

/*
 * vivid writes the picture with the CPU, and does not look whether the second
 * camera was given an address for that; the first one's QBUF does.
 */
static enum outcome contiguous(const struct memory *memory, struct cell *cell)
{
	enum outcome outcome =
		capture(memory, cell, ANY_PAGES, V4L2_MEMORY_DMABUF);

	if (outcome == REFUSED)
		return UNTRIED;
	if (outcome != WORKS)
		return outcome;
	return capture(memory, cell, CONTIGUOUS, V4L2_MEMORY_DMABUF);
}

const struct consumer v4l2_consumers[] = {
	{ "V4L2 USERPTR", userptr },
	{ "V4L2 DMABUF", dmabuf },
	{ "V4L2 DMABUF, contiguous", contiguous },
	{ 0 },
};
