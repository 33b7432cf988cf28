// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * udmabuf: a dma-buf over the pages of a memfd that cannot shrink.
 */
#include <linux/udmabuf.h>

#include "contender.h"

int udmabuf_open(struct contender *contender)
{
	contender->file = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	return contender->file < 0 ? -errno : 0;
}

static int udmabuf_allocate(const struct contender *contender, size_t size,
			    struct piece *piece)
{
	struct udmabuf_create create = {
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = size,
	};
	int ret;

	piece->backing = memfd_create("piece", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (piece->backing < 0)
		return -errno;
	create.memfd = (uint32_t)piece->backing;
	if (ftruncate(piece->backing, (off_t)size) ||
	    fcntl(piece->backing, F_ADD_SEALS, F_SEAL_SHRINK) ||
	    (piece->fd = ioctl(contender->file, UDMABUF_CREATE, &create)) < 0) {
		ret = -errno;
		close(piece->backing);
		return ret;
	}
	return 0;
}

static void udmabuf_free(const struct piece *piece)
{
	close(piece->fd);
	close(piece->backing);
}

const struct contender_ops udmabuf_ops = {
	.allocate = udmabuf_allocate,
	.free = udmabuf_free,
};
