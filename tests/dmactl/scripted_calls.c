// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Buffers of the scripted nodes: those of the real library on the host, so that
 * commands have memory to work on.  An inherited memory file, sealed against
 * shrinking, counts as a descriptor of buffer 1.  scripted.c has the nodes'
 * answers about it.
 *
 * DRAY_FAULT	OFFSET:MASK, a fault of the memory: each sync for the CPU inverts
 *		these bits of this byte of the first region
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <dray/transfer.h>

#include "machine/identify.h"
#include "scripted.h"
#include "scripted_caches.h"

void *scripted_library(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

/* The node that buffers and queues really are of. */
static struct dray_node *host(void)
{
	static struct dray_node *node;
	int (*open)(const char *spec, struct dray_node **out) =
		scripted_library("dray_node_open");

	if (!node && open("host:shareable", &node))
		abort();
	return node;
}

const char *dray_last_error(void)
{
	const char *(*last)(void) = scripted_library("dray_last_error");

	return *scripted_sentence() ? scripted_sentence() : last();
}

uint64_t identify_own(const char *node, int fd)
{
	struct stat status;

	(void)node;
	return !fstat(fd, &status) && S_ISREG(status.st_mode);
}

int dray_buffer_alloc(struct dray_node *node, uint64_t size,
		      const struct dray_buffer_options *options,
		      struct dray_buffer **out)
{
	int (*alloc)(struct dray_node * node, uint64_t size,
		     const struct dray_buffer_options *options,
		     struct dray_buffer **out) =
		scripted_library("dray_buffer_alloc");
	struct dray_buffer_options plain = { .name = options->name };
	int error = scripted_failure("alloc", node->index);

	if (!error)
		error = alloc(host(), size, &plain, out);
	if (!error)
		caches_add(*out);
	return error;
}

int dray_buffer_import(struct dray_node *node, int fd, struct dray_buffer **out)
{
	int (*import)(struct dray_node * node, int fd,
		      struct dray_buffer **out) =
		scripted_library("dray_buffer_import");
	int error = scripted_failure("import", node->index);

	return error ? error : import(host(), fd, out);
}

int dray_queue_create(struct dray_node *node,
		      const struct dray_queue_options *options,
		      struct dray_queue **out)
{
	int (*create)(struct dray_node * node,
		      const struct dray_queue_options *options,
		      struct dray_queue **out) =
		scripted_library("dray_queue_create");
	int error = scripted_failure("queue", node->index);

	return error ? error : create(host(), options, out);
}

bool dray_node_needs_sync(const struct dray_node *node)
{
	return !node->index;
}

int dray_node_sync(struct dray_node *node, enum dray_sync_owner owner,
		   enum dray_direction direction,
		   const struct dray_region *regions, size_t count)
{
	const char *fault = getenv("DRAY_FAULT");
	unsigned int offset, mask;

	(void)direction;
	for (size_t i = 0; i < count; i++)
		caches_sync(&regions[i], owner);
	if (count && owner == DRAY_SYNC_FOR_CPU && fault &&
	    sscanf(fault, "%u:%x", &offset, &mask) == 2 &&
	    regions->offset <= offset &&
	    offset - regions->offset < regions->width) {
		unsigned char *data = dray_buffer_data(regions->buffer);

		data[offset] ^= (unsigned char)mask;
	}
	return scripted_failure("sync", node->index);
}
