// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Leaks a buffer, for dmactl to find.
 *
 *	dmactl-leaker WAY HEAP BYTES
 *
 * Prints the id of the buffer, the process that keeps it, and "ready"; gives it
 * back when its standard input ends.  The ways:
 *
 *	descriptor	the owner ends, a child has a file descriptor
 *	mapping		the owner ends, a child has a mapping and no descriptor
 *	message		the owner ends, the descriptor is in a message that a child
 *			has not received
 *	pipe		the buffer is freed, a page of it is in a pipe
 *	ring		the buffer is freed, its pages are registered with io_uring
 *	idle		the owner lives and does nothing
 *	busy		the owner lives, and asks for cache maintenance all the time
 *
 * DRAY_TEST_NODE is not used: it is /dev/dray0.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <linux/dray.h>
#include <linux/io_uring.h>

#include "input.h"

#define MOST_DESCRIPTORS 32

static int node;
static struct dray_alloc buffer = { .name = "leaked" };
static const char *way;
static void *bytes; /* a mapping, or NULL */

static bool is_way(const char *name)
{
	return !strcmp(way, name);
}

static void allocate(const char *heap, const char *size)
{
	struct dray_heap_info info = { 0 };

	buffer.size = strtoull(size, NULL, 0);
	for (;; info.index++) {
		if (ioctl(node, DRAY_IOC_HEAP_INFO, &info))
			err(1, "heap %s", heap);
		if (!strncmp(info.name, heap, sizeof(info.name)))
			break;
	}
	buffer.heap = info.index;
	if (ioctl(node, DRAY_IOC_ALLOC, &buffer))
		err(1, "ALLOC");
}

static void *map(void)
{
	bytes = mmap(NULL, buffer.size, PROT_READ | PROT_WRITE, MAP_SHARED,
		     buffer.fd, 0);
	if (bytes == MAP_FAILED)
		err(1, "mmap");
	return bytes;
}

/* Before the output ends, which tells the caller that all is given back. */
static void give_back(void)
{
	int fd;

	if (bytes)
		munmap(bytes, buffer.size);
	for (fd = 3; fd < MOST_DESCRIPTORS; fd++)
		close(fd);
}

/* Both ends stay open, so that the message stays in flight. */
static void send_descriptor(void)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec vector = { .iov_base = (char[]){ 'b' }, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int ends[2];

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &buffer.fd, sizeof(int));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    sendmsg(ends[0], &message, 0) != 1)
		err(1, "SCM_RIGHTS");
}

static void lend_to_a_pipe(void)
{
	struct iovec vector = { .iov_base = map(), .iov_len = 1 };
	int ends[2];

	if (pipe(ends) || vmsplice(ends[1], &vector, 1, 0) != 1)
		err(1, "vmsplice");
	munmap(bytes, buffer.size);
	bytes = NULL;
}

/* The ring's descriptor is closed by give_back(). */
static void register_with_a_ring(void)
{
	struct iovec vector = { .iov_base = map(), .iov_len = buffer.size };
	struct io_uring_params params = { 0 };
	long ring = syscall(SYS_io_uring_setup, 1, &params);

	if (ring < 0 || syscall(SYS_io_uring_register, (int)ring,
				IORING_REGISTER_BUFFERS, &vector, 1))
		err(1, "io_uring");
	munmap(bytes, buffer.size);
	bytes = NULL;
}

static void leak(void)
{
	pid_t child;

	if (is_way("mapping"))
		map();
	else if (is_way("message"))
		send_descriptor();
	else if (is_way("pipe"))
		lend_to_a_pipe();
	else if (is_way("ring"))
		register_with_a_ring();
	if (!is_way("descriptor") && !is_way("idle") && !is_way("busy"))
		close(buffer.fd);
	if (!is_way("descriptor") && !is_way("mapping") && !is_way("message"))
		return;
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child)
		_exit(0);
}

static void work(void)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START |
					      DMA_BUF_SYNC_RW };

	if (ioctl(buffer.fd, DMA_BUF_IOCTL_SYNC, &sync))
		err(1, "sync");
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	if (ioctl(buffer.fd, DMA_BUF_IOCTL_SYNC, &sync))
		err(1, "sync");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: WAY HEAP BYTES");
	way = argv[1];
	node = open("/dev/dray0", O_RDWR | O_CLOEXEC);
	if (node < 0)
		err(1, "/dev/dray0");
	allocate(argv[2], argv[3]);
	leak();
	printf("%" PRIu64 "\n%d\nready\n", (uint64_t)buffer.id, (int)getpid());
	fflush(stdout);
	while (!input_ended(is_way("busy") ? 1 : -1))
		if (is_way("busy"))
			work();
	give_back();
	return 0;
}
