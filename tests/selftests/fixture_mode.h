/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests of cache modes: every mode on every kind of heap, and the
 * one that is in effect then.
 */
#ifndef SELFTEST_FIXTURE_MODE_H
#define SELFTEST_FIXTURE_MODE_H

#include "ledger.h"
#include "setup.h"

#define PAGES 5

FIXTURE(mode)
{
	int node;
	size_t page;
	struct dray_info info;
	struct dray_heap_info heap;
	struct ledger before;
	int effect; /* the mode in effect, or a negative errno */
};

FIXTURE_VARIANT(mode)
{
	uint32_t type;
	uint32_t mode;
};

#define MODE(name, heap_type, heap_mode)                                      \
	FIXTURE_VARIANT_ADD(mode, name)                                       \
	{                                                                     \
		.type = DRAY_HEAP_##heap_type, .mode = DRAY_MODE_##heap_mode, \
	}

/* clang-format off */
MODE(reserved_cached, RESERVED, CACHED);
MODE(reserved_write_combined, RESERVED, WRITE_COMBINED);
MODE(reserved_coherent, RESERVED, COHERENT);
MODE(reserved_device, RESERVED, DEVICE);
MODE(cma_cached, CMA, CACHED);
MODE(cma_write_combined, CMA, WRITE_COMBINED);
MODE(cma_coherent, CMA, COHERENT);
MODE(cma_device, CMA, DEVICE);
MODE(pages_cached, PAGES, CACHED);
MODE(pages_write_combined, PAGES, WRITE_COMBINED);
MODE(pages_coherent, PAGES, COHERENT);
MODE(pages_device, PAGES, DEVICE);
MODE(carveout_cached, CARVEOUT, CACHED);
MODE(carveout_write_combined, CARVEOUT, WRITE_COMBINED);
MODE(carveout_coherent, CARVEOUT, COHERENT);
MODE(carveout_device, CARVEOUT, DEVICE);
/* clang-format on */

/* What must be in effect on such a node. */
static inline int effect_of(bool coherent, uint32_t type, uint32_t mode)
{
	if (type == DRAY_HEAP_CARVEOUT)
		return mode == DRAY_MODE_CACHED ? -EOPNOTSUPP : (int)mode;
	if (mode == DRAY_MODE_DEVICE || mode == DRAY_MODE_CACHED)
		return (int)mode;
	if (coherent)
		return DRAY_MODE_CACHED;
	return type == DRAY_HEAP_CMA ? (int)mode : -EOPNOTSUPP;
}

FIXTURE_SETUP(mode)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	SETUP_HEAP(variant->type);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->effect = effect_of(self->info.flags & DRAY_NODE_COHERENT,
				 variant->type, variant->mode);
}

FIXTURE_TEARDOWN_PARENT(mode)
{
	EXPECT_EQ(0, ledger_differences(&self->before));
}

static inline int allocate(FIXTURE_DATA(mode) * self, uint32_t mode,
		    struct buffer *buffer)
{
	struct dray_alloc alloc = { .size = PAGES * self->page,
				    .heap = self->heap.index,
				    .mode = mode };
	int ret = node_call(self->node, DRAY_IOC_ALLOC, &alloc);

	*buffer = (struct buffer){ .fd = -1 };
	if (ret)
		return ret;
	buffer->fd = alloc.fd;
	buffer->id = alloc.id;
	buffer->size = alloc.size;
	return 0;
}

static inline int map(struct buffer *buffer)
{
	void *bytes = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, buffer->fd, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	buffer->bytes = bytes;
	return 0;
}

/* Declares a buffer of the variant's mode. */
#define OPEN_MODE(buffer)                                                      \
	struct buffer buffer;                                                  \
	SKIP_IF(self->effect < 0, "this heap does not have that mode");        \
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer))

#endif
