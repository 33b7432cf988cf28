// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An engine behind caches, for dmactl test: the memory that it reaches is a second
 * one behind each buffer, and only syncs carry bytes between them.
 *
 * DRAY_CACHES	"maintained"; "unmaintained", as if the node claimed coherence,
 *		so that no sync has an effect; "none": there is one memory
 */
#include <stdlib.h>
#include <string.h>

#include <dray/transfer.h>

#include "scripted.h"
#include "scripted_caches.h"

#define MOST 64 /* buffers of a process */

static struct cached {
	unsigned char *data;
	unsigned char *memory; /* behind the caches */
	uint64_t size;
} cached[MOST];

static unsigned int count;

static bool caches_are(const char *word)
{
	const char *caches = getenv("DRAY_CACHES");

	return caches && !strcmp(caches, word);
}

bool caches_claimed(void)
{
	return caches_are("unmaintained") || caches_are("none");
}

void caches_add(struct dray_buffer *buffer)
{
	struct cached *one = &cached[count];

	if (!getenv("DRAY_CACHES"))
		return;
	if (count++ == MOST)
		abort();
	one->data = dray_buffer_data(buffer);
	one->size = dray_buffer_size(buffer);
	one->memory = calloc(1, one->size);
}

/* A later buffer may have the address of one that was freed. */
static unsigned char *behind(const void *at)
{
	const unsigned char *byte = at;

	for (unsigned int i = count; i-- > 0;)
		if (byte >= cached[i].data &&
		    byte < cached[i].data + cached[i].size)
			return cached[i].memory + (byte - cached[i].data);
	abort();
}

void caches_sync(const struct dray_region *region, enum dray_sync_owner owner)
{
	unsigned char *data = dray_buffer_data(region->buffer);

	data += region->offset;
	if (!caches_are("maintained"))
		return;
	if (owner == DRAY_SYNC_FOR_DEVICE)
		memcpy(behind(data), data, region->width);
	else
		memcpy(data, behind(data), region->width);
}

/* With caches, views are of bytes, as the self-test's. */
int dray_copy(struct dray_queue *queue, const struct dray_view *dst,
	      const struct dray_view *src, unsigned int flags,
	      struct dray_fence **fence)
{
	int (*copy)(struct dray_queue * queue, const struct dray_view *dst,
		    const struct dray_view *src, unsigned int flags,
		    struct dray_fence **fence) = scripted_library("dray_copy");
	size_t size = (size_t)dst->shape[0];
	bool syncs = caches_are("maintained") && !(flags & DRAY_COPY_NO_SYNC);

	if (!getenv("DRAY_CACHES"))
		return copy(queue, dst, src, flags, fence);
	if (caches_are("none")) {
		memcpy(dst->data, src->data, size);
		return 0;
	}
	if (syncs)
		memcpy(behind(src->data), src->data, size);
	memcpy(behind(dst->data), behind(src->data), size);
	if (syncs)
		memcpy(dst->data, behind(dst->data), size);
	return 0;
}
