// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory of the caller, pinned for a device: the module attaches it.  The host
 * has no device, and only checks that there is memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/number.h"
#include "memory/backend.h"
#include "memory/node.h"
#include "memory/reason.h"

static int pin_attach(struct dray_node *node, void *address, size_t size,
		      bool read_only, int *fd)
{
	struct dray_attach args = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER |
			 (read_only ? DRAY_ATTACH_READ_ONLY : 0),
		.address = (uintptr_t)address,
		.length = size,
	};

	while (ioctl(node->fd, DRAY_IOC_ATTACH, &args))
		if (errno != EINTR)
			return dray_fail_reason(-errno, args.reason, args.limit,
						"pinning %zu bytes at %p", size,
						address);
	*fd = dray_descriptor(args.fd);
	if (*fd < 0)
		return dray_fail(-errno, "pinning %zu bytes at %p: %s", size,
				 address, strerror(errno));
	return 0;
}

/* Whether every page from @start to @end is mapped. */
static int pin_look(uintptr_t start, uintptr_t end, size_t page)
{
	unsigned char there[256];
	size_t length;

	for (; start < end; start += length) {
		length = end - start;
		if (length > sizeof(there) * page)
			length = sizeof(there) * page;
		while (mincore((void *)start, length, there))
			if (errno != EAGAIN)
				return errno == ENOMEM ? -EFAULT : -errno;
	}
	return 0;
}

int dray_node_pin(struct dray_node *node, void *address, size_t size,
		  bool read_only, int *fd)
{
	uintptr_t start = (uintptr_t)address, end;
	size_t page = node->info.page_size;
	int ret;

	if (dray_add_overflow(start, size, &end) || end > UINTPTR_MAX - page)
		return dray_fail(-EFAULT,
				 "%zu bytes at %p reach beyond all addresses",
				 size, address);
	if (node->fd >= 0)
		return pin_attach(node, address, size, read_only, fd);
	ret = pin_look(start & ~(page - 1), (end + page - 1) & ~(page - 1),
		       page);
	if (ret)
		return dray_fail(ret, "not all of %zu bytes at %p is memory",
				 size, address);
	*fd = -1;
	return 0;
}
