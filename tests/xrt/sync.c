// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Syncs of exactly the bytes asked for.  The emulated board has no caches, so this
 * looks at the calls that come to the driver, not at their effect.
 */
#include "board.h"

FACTS_SHARE(open_board, close_board)

struct sync {
	unsigned int count;
	char kind[16];
	unsigned int direction;
	uint64_t offset, size;
};

static struct sync last_sync(void)
{
	struct sync sync = { 0 };
	char text[128];

	read_parameter("synced", text, sizeof(text));
	assert_int_equal(sscanf(text, "%u %15s %u %" SCNu64 " %" SCNu64,
				&sync.count, sync.kind, &sync.direction,
				&sync.offset, &sync.size),
			 5);
	return sync;
}

/* Syncs, and compares the driver's one call with what is expected. */
static void syncs(struct dray_xrt_bo *bo, enum dray_sync_owner owner,
		  uint64_t offset, uint64_t size, const char *kind,
		  uint64_t driver_offset, uint64_t driver_size)
{
	unsigned int before = last_sync().count;
	struct sync last;

	assert_works(dray_xrt_sync(bo, owner, offset, size));
	last = last_sync();
	assert_int_equal(last.count, before + 1);
	assert_string_equal(last.kind, kind);
	assert_int_equal(last.direction, owner == DRAY_SYNC_FOR_CPU);
	assert_int_equal(last.offset, driver_offset);
	assert_int_equal(last.size, driver_size);
}

FACT(import_is_synced_by_xrt_for_these_bytes_only)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = import(buffer);

	syncs(bo, DRAY_SYNC_FOR_DEVICE, 0, 0, "import", 0, MIB);
	syncs(bo, DRAY_SYNC_FOR_DEVICE, 100, 28, "import", 100, 28);
	syncs(bo, DRAY_SYNC_FOR_CPU, MIB - 1, 1, "import", MIB - 1, 1);
	syncs(bo, DRAY_SYNC_FOR_CPU, 4096, 0, "import", 4096, MIB - 4096);
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}

FACT(part_is_synced_from_its_own_offset)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = import_part(buffer, 8192, 4096);

	syncs(bo, DRAY_SYNC_FOR_DEVICE, 0, 0, "import", 8192, 4096);
	syncs(bo, DRAY_SYNC_FOR_CPU, 64, 128, "import", 8192 + 64, 128);
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}

FACT(user_memory_and_memory_of_xrt_are_synced_by_xrt)
{
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *user = NULL, *own = alloc_bo(DRAY_XRT_CACHEABLE);

	assert_works(dray_xrt_import_user(device, dray_buffer_data(buffer), MIB,
					  NULL, &user));
	assert_int_equal(dray_xrt_side(user), DRAY_XRT_SIDE_XRT);
	assert_int_equal(dray_xrt_side(own), DRAY_XRT_SIDE_XRT);
	syncs(user, DRAY_SYNC_FOR_DEVICE, 32, 64, "user", 32, 64);
	syncs(own, DRAY_SYNC_FOR_CPU, 32, 64, "own", 32, 64);
	dray_xrt_bo_unref(user);
	dray_xrt_bo_unref(own);
	dray_buffer_unref(buffer);
}

FACT(memory_that_is_not_cached_needs_no_call)
{
	struct dray_buffer *buffer =
		alloc_in("carveout", DRAY_MODE_WRITE_COMBINED);
	struct dray_xrt_bo *bo = import(buffer);
	unsigned int before = last_sync().count;

	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0));
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, 0, 0));
	assert_int_equal(last_sync().count, before);
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}

FACT(bad_ranges_and_owners_are_refused_without_a_call)
{
	static const struct {
		int owner;
		uint64_t offset, size;
		const char *says;
	} bad[] = {
		{ DRAY_SYNC_FOR_DEVICE, MIB, 0, "leave a BO of 1048576" },
		{ DRAY_SYNC_FOR_DEVICE, 1, MIB, "leave a BO of 1048576" },
		{ DRAY_SYNC_FOR_CPU, UINT64_MAX, 2, "leave a BO of 1048576" },
		{ 0, 0, 0, "owner 0" },
		{ 3, 0, 0, "owner 3" },
	};
	struct dray_buffer *buffer = alloc_in("reserved", DRAY_MODE_CACHED);
	struct dray_xrt_bo *bo = import(buffer);
	unsigned int before = last_sync().count;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_fails(dray_xrt_sync(bo,
					   (enum dray_sync_owner)bad[i].owner,
					   bad[i].offset, bad[i].size),
			     -EINVAL, bad[i].says);
	assert_int_equal(last_sync().count, before);
	dray_xrt_bo_unref(bo);
	dray_buffer_unref(buffer);
}
