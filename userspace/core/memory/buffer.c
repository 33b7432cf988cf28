// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Buffers: the counted object around one mapping.  Arguments are checked and
 * names resolved here; the back end allocates, and the window makes the
 * buffer findable from its addresses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/options.h"
#include "memory/backend.h"
#include "memory/node.h"
#include "memory/pages.h"
#include "memory/window.h"

/* The index of the heap with that name, or a sentence with those there are. */
static int buffer_find_heap(struct dray_node *node, const char *name,
			    uint32_t *index)
{
	char names[160] = "";
	size_t used = 0;
	uint32_t i;
	int ret;

	if (!name) {
		*index = DRAY_HEAP_ANY;
		return 0;
	}
	for (i = 0; i < node->info.heap_count; i++) {
		struct dray_heap_info heap = { .index = i };

		ret = node->backend->heap(node, &heap);
		if (ret)
			return ret;
		if (!strncmp(heap.name, name, DRAY_NAME_LEN)) {
			*index = i;
			return 0;
		}
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used,
						 sizeof(names) - used, "%s%.*s",
						 i ? ", " : "", DRAY_NAME_LEN,
						 heap.name);
	}
	return dray_fail(-EINVAL, "no heap \"%s\" on %s, which has: %s", name,
			 node->info.name, names);
}

static int make_request(struct dray_node *node, uint64_t size, uint64_t reserve,
			const struct dray_buffer_options *options,
			struct dray_request *request)
{
	uint64_t page;
	int ret;

	if (!size)
		return dray_fail(-EINVAL, "a buffer of 0 bytes");
	if (options->alignment && !dray_is_power_of_two(options->alignment))
		return dray_fail(-EINVAL,
				 "an alignment of %" PRIu64
				 " bytes is not a power of two",
				 options->alignment);
	if (options->mode > DRAY_MODE_DEVICE)
		return dray_fail(-EINVAL, "%u is not a cache mode: 0 to %d",
				 options->mode, DRAY_MODE_DEVICE);
	if (options->flags & ~DRAY_ALLOC_TOP)
		return dray_fail(-EINVAL, "unknown flags 0x%x",
				 options->flags & ~DRAY_ALLOC_TOP);
	ret = dray_pages_check(node, &options->pages, &page);
	if (ret)
		return ret;
	if (dray_round_up_overflow(size, page, &request->size) ||
	    request->size > PTRDIFF_MAX)
		return dray_fail(-EINVAL,
				 "a buffer of %" PRIu64
				 " bytes, at most %td can be mapped",
				 size, PTRDIFF_MAX);
	if (dray_round_up_overflow(reserve, page, &request->reserve) ||
	    request->reserve < request->size)
		request->reserve = request->size;
	request->alignment =
		options->alignment > page ? options->alignment : page;
	request->address_limit = options->address_limit;
	request->mode = options->mode;
	request->flags = options->flags;
	request->pages = options->pages;
	return buffer_find_heap(node, options->heap, &request->heap);
}

static struct dray_buffer *new_buffer(struct dray_node *node, const char *name)
{
	struct dray_buffer *buffer = calloc(1, sizeof(*buffer));
	if (!buffer) {
		dray_fail(-ENOMEM, "no memory for a buffer's object");
		return NULL;
	}
	buffer->node = dray_node_ref(node);
	buffer->fd = -1;
	buffer->created_ns = dray_clock_now();
	atomic_init(&buffer->references, 1);
	if (name)
		snprintf(buffer->name, sizeof(buffer->name), "%s", name);
	return buffer;
}

static void free_buffer(struct dray_buffer *buffer)
{
	dray_node_unref(buffer->node);
	free(buffer);
}

/* Ends the making of a buffer: lets its addresses lead to it, or frees it. */
static int buffer_finish(struct dray_buffer *buffer, int ret,
			 struct dray_buffer **out)
{
	if (ret) {
		free_buffer(buffer);
		return ret;
	}
	dray_span_measure(dray_window_find(buffer->data),
			  (size_t)dray_buffer_size(buffer));
	dray_window_publish(buffer->data, buffer);
	*out = buffer;
	return 0;
}

int dray_buffer_alloc_growing(struct dray_node *node, uint64_t size,
			      uint64_t reserve,
			      const struct dray_buffer_options *options,
			      struct dray_buffer **out)
{
	struct dray_buffer_options known;
	struct dray_request request;
	struct dray_buffer *buffer;
	int ret;

	ret = dray_options_read(&known, sizeof(known), options,
				DRAY_BUFFER_OPTIONS_SIZE_FIRST,
				"dray_buffer_alloc");
	if (!ret)
		ret = make_request(node, size, reserve, &known, &request);
	if (ret)
		return ret;
	buffer = new_buffer(node, known.name);
	if (!buffer)
		return -ENOMEM;
	return buffer_finish(buffer, node->backend->alloc(buffer, &request),
			     out);
}

int dray_buffer_alloc(struct dray_node *node, uint64_t size,
		      const struct dray_buffer_options *options,
		      struct dray_buffer **out)
{
	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	return dray_buffer_alloc_growing(node, size, 0, options, out);
}

int dray_buffer_import(struct dray_node *node, int fd, struct dray_buffer **out)
{
	return dray_buffer_import_bytes(node, fd, UINT64_MAX, out);
}

int dray_buffer_import_bytes(struct dray_node *node, int fd, uint64_t need,
			     struct dray_buffer **out)
{
	struct dray_buffer *buffer;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	buffer = new_buffer(node, NULL);
	if (!buffer)
		return -ENOMEM;
	/* The sender of the descriptor can write it too. */
	atomic_store_explicit(&buffer->exposed, true, memory_order_relaxed);
	return buffer_finish(buffer, node->backend->import(buffer, fd, need),
			     out);
}

struct dray_buffer *dray_buffer_ref(struct dray_buffer *buffer)
{
	if (buffer)
		atomic_fetch_add_explicit(&buffer->references, 1,
					  memory_order_relaxed);
	return buffer;
}

bool dray_buffer_ref_alive(struct dray_buffer *buffer)
{
	uint32_t references = atomic_load(&buffer->references);

	while (references) {
		if (atomic_compare_exchange_weak(&buffer->references,
						 &references, references + 1))
			return true;
	}
	return false;
}

void dray_buffer_on_end(struct dray_buffer *buffer, dray_buffer_end *end)
{
	atomic_store(&buffer->end, end);
}

void dray_buffer_unref(struct dray_buffer *buffer)
{
	dray_buffer_end *end;

	if (!buffer || atomic_fetch_sub_explicit(&buffer->references, 1,
						 memory_order_acq_rel) != 1)
		return;
	end = atomic_load(&buffer->end);
	if (end)
		end(buffer);
	buffer->node->backend->release(buffer);
	free_buffer(buffer);
}

int dray_buffer_grow(struct dray_buffer *buffer, uint64_t size)
{
	const struct dray_backend *backend = buffer->node->backend;

	if (!backend->grow)
		return dray_fail(-EOPNOTSUPP, "buffers of %s keep their size",
				 buffer->node->info.name);
	if (size > buffer->reserved)
		return dray_fail(-ENOMEM,
				 "%" PRIu64
				 " bytes, the buffer may have %" PRIu64,
				 size, buffer->reserved);
	return backend->grow(buffer, size);
}

int dray_buffer_punch(struct dray_buffer *buffer, uint64_t offset,
		      uint64_t length)
{
	const struct dray_backend *backend = buffer->node->backend;

	if (!backend->punch)
		return dray_fail(-EOPNOTSUPP,
				 "buffers of %s are given back whole",
				 buffer->node->info.name);
	return backend->punch(buffer, offset, length);
}

void dray_buffer_gather(struct dray_buffer *buffer, uint64_t offset,
			uint64_t length)
{
	const struct dray_backend *backend = buffer->node->backend;

	if (backend->gather)
		backend->gather(buffer, offset, length);
}

void *dray_buffer_data(const struct dray_buffer *buffer)
{
	return dray_given(buffer, __func__) ? buffer->data : NULL;
}

uint64_t dray_buffer_size(const struct dray_buffer *buffer)
{
	return dray_given(buffer, __func__)
		       ? atomic_load_explicit(&buffer->size,
					      memory_order_acquire)
		       : 0;
}

uint64_t dray_buffer_id(const struct dray_buffer *buffer)
{
	return dray_given(buffer, __func__) ? buffer->id : 0;
}

int dray_buffer_descriptor(const struct dray_buffer *buffer)
{
	return buffer->fd;
}

bool dray_buffer_mapped(const struct dray_buffer *buffer)
{
	return buffer->mode != DRAY_MODE_DEVICE;
}

enum dray_mode dray_buffer_mode(const struct dray_buffer *buffer)
{
	return (enum dray_mode)buffer->mode;
}

int dray_buffer_fd(const struct dray_buffer *buffer)
{
	struct dray_buffer *mutable = (struct dray_buffer *)buffer;
	const struct dray_backend *backend;

	if (!dray_given(buffer, __func__))
		return -1;
	backend = buffer->node->backend;
	if (!dray_buffer_exposed(buffer) && buffer->fd >= 0 && backend->expose)
		backend->expose(mutable);
	atomic_store_explicit(&mutable->exposed, true, memory_order_relaxed);
	return buffer->fd;
}

/* dray_buffer_import() would refuse it in the receiver. */
int dray_buffer_may_be_shared(const struct dray_buffer *buffer)
{
	if (buffer->fd < 0)
		return dray_fail(
			-EOPNOTSUPP,
			"private host memory cannot be passed on; \"host:shareable\" can");
	if (buffer->pages.flags & DRAY_PAGES_HUGE)
		return dray_fail(
			-EOPNOTSUPP,
			"buffer %" PRIu64
			" uses reserved huge pages and cannot be shared: its importers could take them away",
			buffer->id);
	return 0;
}

int dray_buffer_share(struct dray_buffer *buffer, bool read_only, int *fd)
{
	int ret = dray_buffer_may_be_shared(buffer);

	if (ret)
		return ret;
	if (!read_only && !buffer->writable)
		return dray_fail(
			-EPERM,
			"buffer %" PRIu64
			" is read-only: it cannot be passed on for writing",
			buffer->id);
	ret = buffer->node->backend->share(buffer, read_only, fd);
	if (!ret)
		atomic_store_explicit(&buffer->exposed, true,
				      memory_order_relaxed);
	return ret;
}

bool dray_buffer_exposed(const struct dray_buffer *buffer)
{
	return atomic_load_explicit(&buffer->exposed, memory_order_relaxed);
}

struct dray_node *dray_buffer_node(const struct dray_buffer *buffer)
{
	return dray_given(buffer, __func__) ? buffer->node : NULL;
}

bool dray_buffer_writable(const struct dray_buffer *buffer)
{
	return dray_given(buffer, __func__) && buffer->writable;
}

int dray_buffer_addresses(struct dray_buffer *buffer, uint64_t offset,
			  uint64_t length, struct dray_segment *segments,
			  size_t room, size_t *count)
{
	uint64_t size;
	int ret;

	if (!dray_given(buffer, __func__) || !dray_given(count, __func__) ||
	    (room && !dray_given(segments, __func__)))
		return -EINVAL;
	size = dray_buffer_size(buffer);
	if (offset >= size || length > size - offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " bytes at offset %" PRIu64
				 " leave buffer %" PRIu64 " of %" PRIu64
				 " bytes",
				 length, offset, buffer->id, size);
	if (!length)
		length = size - offset;
	ret = buffer->node->backend->addresses(buffer, offset, length, segments,
					       room, count);
	if (!ret)
		atomic_store_explicit(&buffer->exposed, true,
				      memory_order_relaxed);
	return ret;
}

uint64_t dray_buffer_age(const struct dray_buffer *buffer)
{
	return dray_clock_now() - buffer->created_ns;
}
