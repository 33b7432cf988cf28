// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray_test_proxy.ko: one call for each transfer. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "contender.h"
#include "dray_test_proxy.h"

static struct {
	int file;
	const uint8_t *data;
	uint32_t frame_bytes;
	uint32_t buffer; /* the next one */
} proxy;

static int proxy_open(size_t frame_bytes)
{
	void *data;

	proxy.file = open("/dev/dray-test-proxy", O_RDWR | O_CLOEXEC);
	if (proxy.file < 0)
		return -errno;
	data = mmap(NULL, PROXY_BUFFERS * PROXY_SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED, proxy.file, 0);
	if (data == MAP_FAILED) {
		close(proxy.file);
		return -ENOMEM;
	}
	proxy.data = data;
	proxy.frame_bytes = (uint32_t)frame_bytes;
	proxy.buffer = 0;
	return 0;
}

static int proxy_next(struct frame *frame)
{
	struct proxy_transfer transfer = {
		.buffer = proxy.buffer,
		.length = proxy.frame_bytes,
	};

	if (ioctl(proxy.file, PROXY_RECEIVE, &transfer))
		return -errno;
	frame->data = proxy.data + proxy.buffer * PROXY_SIZE;
	frame->bytes = transfer.bytes;
	frame->time_ns = transfer.time_ns;
	proxy.buffer = (proxy.buffer + 1) % PROXY_BUFFERS;
	return 0;
}

static void proxy_close(void)
{
	munmap((void *)proxy.data, PROXY_BUFFERS * PROXY_SIZE);
	close(proxy.file);
}

const struct contender contender_proxy = {
	.name = "dma-proxy",
	.open = proxy_open,
	.next = proxy_next,
	.close = proxy_close,
};
