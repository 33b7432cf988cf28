// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The memory around an address, for other rooms and programs. */
#include <errno.h>

#include "base/error.h"
#include "memory/window.h"
#include "pool/busy.h"
#include "pool/cache.h"
#include "pool/pool.h"

static int not_ours(const void *address)
{
	return dray_fail(-ENOENT, "%p lies in no memory of dray", address);
}

/*
 * A buffer without a pool: imported, or allocated directly.  It may end
 * meanwhile: the span holds all that is known of it.
 */
static int locate_buffer(const void *address, struct dray_location *out)
{
	struct dray_span *span = dray_window_find(address);
	struct dray_buffer *buffer;
	uint64_t offset;
	size_t size;

	if (!span || atomic_load_explicit(&span->owner, memory_order_acquire))
		return not_ours(address);
	buffer = dray_span_buffer(span, &size);
	offset = (uintptr_t)address - (uintptr_t)dray_span_start(span);
	if (!buffer || offset >= size)
		return not_ours(address);
	*out = (struct dray_location){
		.buffer = buffer,
		.offset = offset,
		.block = dray_span_start(span),
		.block_size = size,
	};
	return 0;
}

/* With the pool's lock held. */
static int refuse_parked(const struct dray_found *found, const void *address)
{
	if (dray_found_piece(found)->state != DRAY_PIECE_PARKED)
		return 0;
	return dray_fail(-ENOENT, "the block around %p was freed", address);
}

static int location_locate(const void *address, struct dray_location *out,
			   bool hold)
{
	struct dray_found found;
	int ret;

	if (!dray_find_around(address, &found)) {
		ret = locate_buffer(address, out);
		if (!ret && hold)
			dray_buffer_ref(out->buffer);
		return ret;
	}
	ret = hold ? dray_found_hold(&found, address)
		   : refuse_parked(&found, address);
	if (!ret)
		*out = (struct dray_location){
			.pool = found.pool,
			.buffer = found.region->buffer,
			.offset = (uintptr_t)address - found.region->base,
			.block = dray_found_address(&found),
			.block_size = (uint64_t)dray_found_piece(&found)->size
				      << found.pool->shift,
		};
	pthread_mutex_unlock(&found.pool->lock);
	return ret;
}

int dray_locate(const void *address, struct dray_location *out)
{
	return dray_given(out, __func__) ? location_locate(address, out, false)
					 : -EINVAL;
}

int dray_locate_hold(const void *address, struct dray_location *out)
{
	return location_locate(address, out, true);
}

void dray_locate_release(const struct dray_location *held)
{
	if (held->pool)
		dray_block_release(held->block);
	else
		dray_buffer_unref(held->buffer);
}

size_t dray_usable_size(const void *block)
{
	struct dray_found found;
	size_t size = dray_cache_size(block);

	if (size)
		return size;
	if (!dray_find_start(block, &found))
		return 0;
	if (dray_found_piece(&found)->state == DRAY_PIECE_LIVE)
		size = (size_t)dray_found_piece(&found)->size
		       << found.pool->shift;
	pthread_mutex_unlock(&found.pool->lock);
	return size;
}
