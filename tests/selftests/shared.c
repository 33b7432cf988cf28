// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What a buffer and a node share with others; see shared.h.
 */
#include "attach.h"
#include "foreign.h"
#include "importer.h"
#include "shared.h"

#define SEED_MEMORY 41
#define SEED_DMABUF 43

static int share_buffer(int node, const struct buffer *buffer,
			struct shared *shared)
{
	struct dray_export export = { .buffer_fd = buffer->fd,
				      .flags = DRAY_EXPORT_READ_ONLY };
	uint32_t handle;
	int ret = node_call(node, DRAY_IOC_EXPORT, &export);

	if (ret)
		return ret;
	shared->reader = export.fd;
	shared->seen = mmap(NULL, shared->size, PROT_READ, MAP_SHARED,
			    shared->reader, 0);
	if (shared->seen == MAP_FAILED)
		return -errno;
	shared->importer = importer_open();
	if (shared->importer < 0)
		return shared->importer;
	return importer_attach(shared->importer, buffer->fd, &handle);
}

static int share_memory(int node, struct shared *shared)
{
	int ret;

	shared->memory = fresh_memory(shared->size);
	if (shared->memory == MAP_FAILED)
		return -errno;
	fill_random(shared->memory, shared->size, SEED_MEMORY);
	ret = attach_memory(node, shared->memory, shared->size, 0,
			    &shared->user);
	return ret < 0 ? ret : 0;
}

static int share_dmabuf(int node, struct shared *shared)
{
	int ret;

	shared->foreign = foreign_open(FOREIGN_VGEM, shared->size);
	if (shared->foreign < 0)
		return shared->foreign;
	shared->bytes = mmap(NULL, shared->size, PROT_READ | PROT_WRITE,
			     MAP_SHARED, shared->foreign, 0);
	if (shared->bytes == MAP_FAILED)
		return -errno;
	fill_random(shared->bytes, shared->size, SEED_DMABUF);
	ret = attach_dma_buf(node, shared->foreign, 0, &shared->dmabuf);
	return ret < 0 ? ret : 0;
}

int shared_open(int node, const struct buffer *buffer, struct shared *shared)
{
	int ret;

	*shared = (struct shared){ .size = buffer->size };
	ret = share_buffer(node, buffer, shared);
	if (!ret)
		ret = share_memory(node, shared);
	return ret ? ret : share_dmabuf(node, shared);
}

static bool is_filled(const uint8_t *bytes, size_t size, uint64_t seed)
{
	static uint8_t expected[4096];
	size_t length = size < sizeof(expected) ? size : sizeof(expected);

	fill_random(expected, length, seed);
	return first_difference(expected, bytes, length) == -1;
}

/* What a node of its own does, and another refuses. */
static bool answers(int node, int fd, size_t size, bool anew)
{
	int ret = buffer_sync(node, fd, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE, 0,
			      size);

	return ret == (anew ? -EINVAL : 0);
}

const char *shared_change(int node, const struct buffer *buffer,
			  const struct shared *shared, bool anew)
{
	struct dray_buffer_info info;

	if (first_difference(buffer->bytes, shared->seen, shared->size) != -1)
		return "the read-only mapping shows something else";
	info = (struct dray_buffer_info){ .fd = shared->reader,
					  .flags = DRAY_BUFFER_BY_FD };
	if (node_call(node, DRAY_IOC_BUFFER_INFO, &info) ||
	    info.id != buffer->id || !(info.flags & DRAY_BUFFER_READ_ONLY))
		return "the read-only descriptor is no such";
	if (info.attachments != 1)
		return "the importer is not attached";
	if (buffer_sync(node, shared->reader, DRAY_SYNC_FOR_CPU,
			DRAY_FROM_DEVICE, 0, shared->size))
		return "the read-only descriptor is not maintained";
	if (node_lists(node, shared->user.id) != 1 ||
	    node_lists(node, shared->dmabuf.id) != 1)
		return "an attachment is not listed";
	if (!answers(node, shared->user.fd, shared->size, anew))
		return "attached memory answers otherwise";
	if (!answers(node, shared->dmabuf.fd, shared->size, anew))
		return "an attached dma-buf answers otherwise";
	if (!is_filled(shared->memory, shared->size, SEED_MEMORY))
		return "attached memory has other bytes";
	if (!is_filled(shared->bytes, shared->size, SEED_DMABUF))
		return "an attached dma-buf has other bytes";
	return "";
}

int shared_submit(int node, const struct buffer *to,
		  const struct shared *shared, int fences[2])
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_fd = to->fd,
					  .run = shared->size / 2 };
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	int i, ret;

	for (i = 0; i < 2; i++) {
		transfer.src_fd = i ? shared->dmabuf.fd : shared->user.fd;
		transfer.dst_offset = i ? transfer.run : 0;
		ret = node_call(node, DRAY_IOC_SUBMIT, &submit);
		if (ret)
			return ret;
		fences[i] = submit.fence_fd;
	}
	return 0;
}

bool shared_arrived(const struct buffer *to, const struct shared *shared)
{
	size_t half = shared->size / 2;

	return first_difference(shared->memory, to->bytes, half) == -1 &&
	       first_difference(shared->bytes, to->bytes + half, half) == -1;
}

void shared_close(struct shared *shared)
{
	close(shared->user.fd);
	close(shared->dmabuf.fd);
	munmap(shared->memory, shared->size);
	munmap(shared->bytes, shared->size);
	close(shared->foreign);
	close(shared->importer);
	munmap((void *)shared->seen, shared->size);
	close(shared->reader);
}
