// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Holds buffers, for dmactl to show.
 *
 *	dmactl-holder [--OPTION] HEAP [NAME BYTES]...
 *
 * Allocates the buffers, prints the id of each and "ready", and gives them
 * back when its standard input ends.  --orphan: the process that allocated
 * ends, a child of it keeps the buffers.  --churn: allocates and frees them
 * over and over until then.  --copy: lets an engine copy the first buffer to
 * the second before "ready".  --address: asks for the address of the first.
 * --read-only: has a second descriptor of the first, which is read-only.
 * --attach: attaches as much of its own memory as the first buffer has, asks
 * for the address of that, and prints its id behind the others.
 * DRAY_TEST_NODE is the node; that of EXPORT and ATTACH, which the library does
 * not have, is /dev/dray0.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/dray.h>

#include <dray/transfer.h>

#include "input.h"

#define MOST 16 /* buffers */

struct wish {
	const char *name;
	uint64_t bytes;
};

static struct dray_node *node;
static struct wish wishes[MOST];
static struct dray_buffer *held[MOST];
static uint64_t attached; /* id; 0: nothing is */
static int attachment = -1;
static int count;

static void take(const char *heap)
{
	for (int i = 0; i < count; i++) {
		struct dray_buffer_options options = {
			.heap = heap,
			.name = wishes[i].name,
		};

		if (dray_buffer_alloc(node, wishes[i].bytes, &options,
				      &held[i]))
			errx(1, "%s", dray_last_error());
	}
}

static void give_back(void)
{
	for (int i = 0; i < count; i++)
		dray_buffer_unref(held[i]);
}

static void say_ready(void)
{
	for (int i = 0; i < count; i++)
		printf("%" PRIu64 "\n", dray_buffer_id(held[i]));
	if (attached)
		printf("%" PRIu64 "\n", attached);
	printf("ready\n");
	if (fflush(stdout))
		err(1, "standard output");
}

static void view_of(const struct dray_buffer *buffer, struct dray_view *view)
{
	int64_t size = (int64_t)dray_buffer_size(buffer);

	if (dray_view_init(view, dray_buffer_data(buffer), DRAY_UINT8, 1, &size,
			   NULL))
		errx(1, "%s", dray_last_error());
}

static void copy_first_to_second(void)
{
	struct dray_view dst, src;
	struct dray_queue *queue;

	view_of(held[0], &src);
	view_of(held[1], &dst);
	if (dray_queue_create(node, NULL, &queue) ||
	    dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL))
		errx(1, "%s", dray_last_error());
	dray_queue_destroy(queue);
}

static void ask_for_address(void)
{
	struct dray_segment segment;
	size_t segments;

	if (dray_buffer_addresses(held[0], 0, 0, &segment, 1, &segments))
		errx(1, "%s", dray_last_error());
}

/* It stays open until the process ends. */
static void export_read_only(void)
{
	struct dray_export call = {
		.buffer_fd = dray_buffer_fd(held[0]),
		.flags = DRAY_EXPORT_READ_ONLY,
	};
	int fd = open("/dev/dray0", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, DRAY_IOC_EXPORT, &call))
		err(1, "EXPORT");
	close(fd);
}

/* It stays attached until the buffers are given back, or the process ends. */
static void attach_memory(void)
{
	uint64_t size = dray_buffer_size(held[0]);
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_attach attach = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER,
		.address = (uintptr_t)bytes,
		.length = size,
	};
	struct dray_segment segment;
	struct dray_address address = {
		.segments = (uintptr_t)&segment,
		.room = 1,
	};
	int fd = open("/dev/dray0", O_RDWR | O_CLOEXEC);

	if (fd < 0 || bytes == MAP_FAILED ||
	    ioctl(fd, DRAY_IOC_ATTACH, &attach))
		err(1, "ATTACH");
	address.fd = attach.fd;
	if (ioctl(fd, DRAY_IOC_ADDRESS, &address))
		err(1, "ADDRESS");
	attached = attach.id;
	attachment = attach.fd;
	close(fd);
}

/* The caller ends; a child goes on with all that it had. */
static void become_an_orphan(void)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child)
		_exit(0);
}

int main(int argc, char **argv)
{
	const char *spec = getenv("DRAY_TEST_NODE");
	const char *option =
		argc > 1 && !strncmp(argv[1], "--", 2) ? argv[1] : "";
	int first = *option ? 2 : 1;

	if (argc <= first || (argc - first - 1) / 2 > MOST)
		errx(2, "usage: [--OPTION] HEAP [NAME BYTES]...");
	for (int i = first + 1; i + 1 < argc; i += 2)
		wishes[count++] = (struct wish){
			.name = argv[i],
			.bytes = strtoull(argv[i + 1], NULL, 0),
		};
	if (dray_node_open(spec ? spec : "kernel", &node))
		errx(1, "%s", dray_last_error());
	take(argv[first]);
	if (!strcmp(option, "--orphan"))
		become_an_orphan();
	if (!strcmp(option, "--copy"))
		copy_first_to_second();
	if (!strcmp(option, "--address"))
		ask_for_address();
	if (!strcmp(option, "--read-only"))
		export_read_only();
	if (!strcmp(option, "--attach"))
		attach_memory();
	say_ready();
	if (!strcmp(option, "--churn")) {
		while (!input_ended(0)) {
			give_back();
			take(argv[first]);
		}
	} else {
		while (!input_ended(-1))
			continue;
	}
	give_back();
	if (attachment >= 0)
		close(attachment);
	dray_node_unref(node);
	return 0;
}
