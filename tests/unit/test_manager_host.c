// SPDX-License-Identifier: Apache-2.0 OR MIT
/* manager: memory of the host, allocated for the node or pinned for it. */
#include "manager.h"

static const struct dray_memory_description *
describe(const struct dray_memory *memory)
{
	return dray_memory_describe(memory);
}

static uint32_t mode_of(struct dray_buffer *buffer)
{
	struct dray_buffer_info info = { 0 };

	assert_works(dray_node_buffer_info(dray_buffer_node(buffer),
					   dray_buffer_id(buffer), &info,
					   sizeof(info)));
	return info.mode;
}

/*
 * The mode that write-combined memory of @node has in effect: its own, or cached
 * where no device minds; below 0 where there is none.
 */
static int write_combined_on(struct dray_node *node)
{
	struct dray_heap_info heap;
	struct dray_info info;

	assert_works(dray_node_info(node, &info, sizeof(info)));
	for (uint32_t i = 0; i < info.heap_count; i++) {
		assert_works(dray_node_heap(node, i, &heap, sizeof(heap)));
		if (heap.modes & 1u << DRAY_MODE_WRITE_COMBINED)
			return DRAY_MODE_WRITE_COMBINED;
	}
	return info.flags & DRAY_NODE_COHERENT ? DRAY_MODE_CACHED : -1;
}

MANAGER_FACT(memhostalloc_gives_pinned_or_mapped_memory)
{
	static const struct {
		uint32_t flags, kind;
	} rows[] = {
		{ 0, DRAY_MEMORY_PINNED },
		{ DRAY_HOST_PORTABLE, DRAY_MEMORY_PINNED },
		{ DRAY_HOST_MAPPED, DRAY_MEMORY_MAPPED },
		{ DRAY_HOST_MAPPED | DRAY_HOST_PORTABLE, DRAY_MEMORY_MAPPED },
	};
	struct dray_memory *memory;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_works(dray_manager_memhostalloc(*state, 5000,
						       rows[i].flags, &memory));
		assert_int_equal(describe(memory)->kind, rows[i].kind);
		assert_int_equal(
			dray_manager_kind_of(*state,
					     (char *)describe(memory)->pointer +
						     4999),
			rows[i].kind);
		memset(describe(memory)->pointer, 1, 5000);
		dray_memory_unref(memory);
	}
	assert_fails(dray_manager_memhostalloc(*state, 1, 8, &memory), -EINVAL,
		     "unknown flags 0x8");
}

MANAGER_FACT(mapped_memory_has_an_address_for_the_device)
{
	struct dray_memory *memory, *part, *empty;
	struct dray_location where;
	struct dray_segment first;
	uint64_t address = 0;
	size_t count;

	assert_works(dray_manager_memhostalloc(*state, 5000, DRAY_HOST_MAPPED,
					       &memory));
	assert_works(dray_memory_view(memory, 4000, 1000, &part));
	assert_works(dray_memory_view(memory, 4000, 0, &empty));
	assert_fails(dray_memory_device_address(empty, &address), -EINVAL,
		     "0 bytes");
	if (!on_kernel()) {
		assert_fails(dray_memory_device_address(part, &address),
			     -EOPNOTSUPP, "no DMA addresses");
	} else {
		assert_works(dray_locate(describe(part)->pointer, &where));
		assert_works(dray_buffer_addresses(where.buffer, where.offset,
						   1000, &first, 1, &count));
		assert_works(dray_memory_device_address(part, &address));
		assert_int_equal(address, first.address);
		assert_works(dray_memory_device_address(memory, &address));
		assert_int_equal(address, first.address - 4000);
	}
	dray_memory_unref(empty);
	dray_memory_unref(part);
	dray_memory_unref(memory);
}

MANAGER_FACT(write_combined_memory_is_a_buffer_of_its_own)
{
	const uint32_t flags = DRAY_HOST_MAPPED | DRAY_HOST_WRITE_COMBINED;
	struct dray_node *node = open_node(test_spec());
	int mode = write_combined_on(node);
	struct dray_memory *memory = NULL;
	struct dray_location where;

	if (mode < 0) {
		assert_fails(dray_manager_memhostalloc(*state, 100, flags,
						       &memory),
			     -EOPNOTSUPP, "write-combined");
		assert_null(memory);
	} else {
		assert_works(
			dray_manager_memhostalloc(*state, 100, flags, &memory));
		assert_works(dray_locate(describe(memory)->pointer, &where));
		assert_null(where.pool);
		assert_int_equal(mode_of(where.buffer), mode);
		memset(describe(memory)->pointer, 1, 100);
		dray_memory_unref(memory);
	}
	dray_node_unref(node);
}

static void drop_owner(void *owner)
{
	++*(int *)owner;
}

MANAGER_FACT(mempin_keeps_the_owner_and_releases_it_at_once)
{
	struct dray_memory *memory = NULL, *second = NULL;
	struct dray_node *node = open_node(test_spec());
	size_t page = (size_t)sysconf(_SC_PAGESIZE), before;
	char *bytes = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int dropped = 0;
	uint64_t address;

	/* With a first buffer of its pool. */
	assert_works(dray_manager_initialize(*state));
	before = buffers_of(node);
	assert_works(dray_manager_mempin(*state, bytes + 10, page,
					 DRAY_HOST_MAPPED, &dropped, drop_owner,
					 &memory));
	assert_int_equal(describe(memory)->kind, DRAY_MEMORY_MAPPED);
	assert_ptr_equal(describe(memory)->pointer, bytes + 10);
	assert_ptr_equal(describe(memory)->owner, &dropped);
	assert_int_equal(dray_manager_kind_of(*state, bytes + 10),
			 DRAY_MEMORY_MAPPED);
	assert_int_equal(dray_manager_kind_of(*state, bytes),
			 DRAY_MEMORY_UNKNOWN);
	/* As the next pin of the range after an unpin that is late. */
	assert_works(dray_manager_mempin(*state, bytes, 3 * page, 0, NULL, NULL,
					 &second));
	assert_int_equal(describe(second)->kind, DRAY_MEMORY_PINNED);
	assert_fails(dray_memory_device_address(memory, &address), -EINVAL,
		     "in no buffer of dray");
	/* The host has nothing to pin it for. */
	assert_int_equal(buffers_of(node), before + (on_kernel() ? 2 : 0));
	dray_manager_defer_cleanup(*state);
	dray_memory_unref(memory);
	assert_int_equal(dropped, 1);
	assert_int_equal(buffers_of(node), before + (on_kernel() ? 1 : 0));
	dray_memory_unref(second);
	assert_int_equal(buffers_of(node), before);
	assert_int_equal(manager_stats(*state).pending, 0);
	assert_works(dray_manager_end_deferral(*state));
	munmap(bytes, 3 * page);
	dray_node_unref(node);
}

/* A device that writes would write what the process itself may not. */
MANAGER_FACT(memory_to_be_read_is_pinned_for_a_device_that_reads)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *bytes = mmap(NULL, page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_memory *memory = NULL;

	memset(bytes, 0x2d, page);
	assert_int_equal(mprotect(bytes, page, PROT_READ), 0);
	assert_works(dray_manager_mempin(*state, bytes, page,
					 DRAY_HOST_MAPPED | DRAY_HOST_READ_ONLY,
					 NULL, NULL, &memory));
	assert_int_equal(describe(memory)->kind, DRAY_MEMORY_MAPPED);
	assert_true(all_bytes_are(describe(memory)->pointer, 0x2d, page));
	dray_memory_unref(memory);
	memory = NULL;
	if (on_kernel())
		assert_int_equal(dray_manager_mempin(*state, bytes, page,
						     DRAY_HOST_MAPPED, NULL,
						     NULL, &memory),
				 -EFAULT);
	assert_null(memory);
	munmap(bytes, page);
}

MANAGER_FACT(mempin_refuses_what_is_no_memory)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *bytes = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_memory *memory = NULL;
	int dropped = 0;

	munmap(bytes + page, page);
	assert_int_equal(dray_manager_mempin(*state, bytes, page + 1, 0,
					     &dropped, drop_owner, &memory),
			 -EFAULT);
	assert_int_equal(dray_manager_mempin(*state, bytes, SIZE_MAX, 0,
					     &dropped, drop_owner, &memory),
			 -EFAULT);
	assert_fails(dray_manager_mempin(*state, bytes, 0, 0, &dropped,
					 drop_owner, &memory),
		     -EINVAL, "no bytes");
	assert_fails(dray_manager_mempin(*state, bytes, 1,
					 DRAY_HOST_WRITE_COMBINED, &dropped,
					 drop_owner, &memory),
		     -EINVAL, "unknown flags");
	assert_null(memory);
	assert_int_equal(dropped, 0);
	assert_int_equal(manager_stats(*state).objects, 0);
	munmap(bytes, page);
}
