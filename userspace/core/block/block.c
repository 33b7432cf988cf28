// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Blocks of any type: counts that end or go wrong, and questions to a block.
 * Each type's own operations are in the file that makes it.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/cancel.h"
#include "base/error.h"
#include "block/block.h"

void dray_block_free(struct dray_block *block)
{
	if (dray_given(block, __func__))
		dray_block_class(block)->destroy(block);
}

/*
 * As in the kernel's refcount_t: a wrong count moves to the middle, so that a
 * few concurrent changes never make it 0.
 */
void dray_block_miscounted(struct dray_block *block, uint32_t before)
{
	if (!dray_given(block, __func__))
		return;
	__atomic_store_n(&block->count, DRAY_BLOCK_SATURATED, __ATOMIC_RELAXED);
	if (!before)
		dray_fail(-EINVAL, "block %p was counted after it was freed",
			  (void *)block);
	else
		dray_fail(-EOVERFLOW,
			  "the count of block %p is at its limit of %u: it "
			  "will never be freed",
			  (void *)block, DRAY_BLOCK_COUNT_LIMIT);
}

const char *dray_block_type_name(uint32_t type)
{
	static const char *const names[] = {
		[DRAY_BLOCK_BUFFER] = "buffer",
		[DRAY_BLOCK_POOLED] = "pooled",
		[DRAY_BLOCK_EXTERNAL] = "external",
		[DRAY_BLOCK_POD] = "pod",
		[DRAY_BLOCK_ZEROED] = "zeroed",
		[DRAY_BLOCK_MAPPED] = "mapped",
		[DRAY_BLOCK_ARRAY] = "array",
		[DRAY_BLOCK_HANDLED] = "handled",
		[DRAY_BLOCK_OPENED] = "opened",
		[DRAY_BLOCK_DTYPE] = "dtype",
	};

	if (type >= sizeof(names) / sizeof(names[0]) || !names[type])
		return "unknown";
	return names[type];
}

static struct dray_block_range range_of(const struct dray_block *block)
{
	struct dray_block_range range = { 0 };

	if (block)
		dray_block_class(block)->range(block, &range);
	return range;
}

void *dray_block_data(const struct dray_block *block)
{
	return range_of(block).data;
}

size_t dray_block_size(const struct dray_block *block)
{
	return range_of(block).size;
}

bool dray_block_writable(const struct dray_block *block)
{
	return range_of(block).writable;
}

int dray_block_get_allocator(const struct dray_block *block,
			     const struct dray_block_allocator **out)
{
	const struct dray_block_allocator *allocator;

	if (!block || !out)
		return dray_fail(-EINVAL,
				 "the block or the result pointer is NULL");
	allocator = dray_block_class(block)->allocator;
	if (!allocator)
		return dray_fail(-EINVAL,
				 "block %p is of type %s, not an arena",
				 (const void *)block,
				 dray_block_type_name(block->type));
	*out = allocator;
	return 0;
}

int dray_block_dump(const struct dray_block *block, FILE *stream)
{
	DRAY_NO_CANCEL;
	struct dray_block_range range;

	if (!block || !stream)
		return dray_fail(-EINVAL, "the block or the stream is NULL");
	range = range_of(block);
	fprintf(stream, "------ %s\n address: %p\n count: %" PRIu32,
		dray_block_type_name(block->type), (const void *)block,
		dray_block_count(block));
	if (dray_block_count(block) >= DRAY_BLOCK_COUNT_LIMIT)
		fprintf(stream, " (saturated)");
	if (range.data)
		fprintf(stream, "\n data: %p", range.data);
	fprintf(stream, "\n size: %zu\n access: %s\n", range.size,
		range.writable ? "read write" : "read");
	if (dray_block_class(block)->dump)
		dray_block_class(block)->dump(block, stream);
	fprintf(stream, "------\n");
	if (fflush(stream) || ferror(stream))
		return dray_fail(-EIO,
				 "the dump could not be written completely");
	return 0;
}
