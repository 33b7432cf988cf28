// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sync: which regions are handed over, and which are refused. */
#include "node.h"
#include "memory/backend.h"
#include "memory/node.h"

#define SIZE 65536u

static int with_buffer(void **state)
{
	struct dray_node *node = open_node(test_spec());
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(node, SIZE, NULL, &buffer));
	dray_node_unref(node);
	*state = buffer;
	return 0;
}

static int without_buffer(void **state)
{
	dray_buffer_unref(*state);
	return 0;
}

static int sync_one(struct dray_buffer *buffer, uint64_t offset, uint64_t width,
		    uint64_t pitch, uint64_t rows)
{
	struct dray_region region = { buffer, offset, width, pitch, rows };

	return dray_node_sync(dray_buffer_node(buffer), DRAY_SYNC_FOR_DEVICE,
			      DRAY_BIDIRECTIONAL, &region, 1);
}

#define BUFFER_FACT(name) FACT_WITH(name, with_buffer, without_buffer)

BUFFER_FACT(ranges_and_rows_inside_are_synced)
{
	assert_works(sync_one(*state, 0, SIZE, 0, 1));
	assert_works(sync_one(*state, SIZE - 1, 1, 0, 1));
	assert_works(sync_one(*state, 100, 50, 1000, 65));
	assert_works(sync_one(*state, 0, 1, 1, SIZE));
	/* The pitch of a single row is not looked at. */
	assert_works(sync_one(*state, 0, 10, UINT64_MAX, 1));
}

BUFFER_FACT(both_owners_and_all_directions_work)
{
	struct dray_region region = { *state, 64, 64, 128, 8 };
	struct dray_node *node = dray_buffer_node(*state);
	int owner, direction;

	for (owner = DRAY_SYNC_FOR_DEVICE; owner <= DRAY_SYNC_FOR_CPU; owner++)
		for (direction = DRAY_TO_DEVICE;
		     direction <= DRAY_BIDIRECTIONAL; direction++)
			assert_works(dray_node_sync(
				node, (enum dray_sync_owner)owner,
				(enum dray_direction)direction, &region, 1));
}

BUFFER_FACT(what_leaves_the_buffer_is_refused)
{
	assert_fails(sync_one(*state, 1, SIZE, 0, 1), -EINVAL, "ends at 65537");
	assert_fails(sync_one(*state, 0, 64, 1024, 65), -EINVAL,
		     "at 65536 bytes");
	assert_fails(sync_one(*state, UINT64_MAX, 1, 0, 1), -EINVAL,
		     "more than 64 bits");
	assert_fails(sync_one(*state, 0, 1, UINT64_MAX / 2, 4), -EINVAL,
		     "more than 64 bits");
	assert_fails(sync_one(*state, 1, UINT64_MAX, 0, 1), -EINVAL,
		     "more than 64 bits");
}

BUFFER_FACT(empty_regions_are_refused)
{
	assert_fails(sync_one(*state, 0, 0, 1, 1), -EINVAL, "empty");
	assert_fails(sync_one(*state, 0, 1, 1, 0), -EINVAL, "empty");
}

BUFFER_FACT(rows_that_overlap_are_refused)
{
	assert_fails(sync_one(*state, 0, 10, 9, 2), -EINVAL,
		     "pitch of 9 below the width of 10");
}

BUFFER_FACT(the_wrong_region_is_named)
{
	struct dray_region regions[3] = {
		{ *state, 0, 1, 0, 1 },
		{ *state, 0, 1, 0, 1 },
		{ *state, SIZE, 1, 0, 1 },
	};

	assert_fails(dray_node_sync(dray_buffer_node(*state), DRAY_SYNC_FOR_CPU,
				    DRAY_FROM_DEVICE, regions, 3),
		     -EINVAL, "region 2");
}

BUFFER_FACT(a_buffer_of_another_node_is_refused)
{
	struct dray_region region = { *state, 0, 1, 0, 1 };
	struct dray_node *other = open_node("host:shareable");

	assert_fails(dray_node_sync(other, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    &region, 1),
		     -EINVAL, "another node");
	region.buffer = NULL;
	assert_fails(dray_node_sync(other, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    &region, 1),
		     -EINVAL, "another node");
	dray_node_unref(other);
}

BUFFER_FACT(another_handle_of_its_node_syncs_a_buffer)
{
	struct dray_region region = { *state, 0, SIZE, 0, 1 };
	struct dray_node *other = open_node(test_spec());

	assert_works(dray_node_sync(other, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    &region, 1));
	dray_node_unref(other);
}

BUFFER_FACT(words_that_name_nothing_are_refused)
{
	struct dray_region region = { *state, 0, 1, 0, 1 };
	struct dray_node *node = dray_buffer_node(*state);

	assert_fails(dray_node_sync(node, (enum dray_sync_owner)0,
				    DRAY_TO_DEVICE, &region, 1),
		     -EINVAL, "0 is not the owner of a sync: 1 or 2");
	assert_fails(dray_node_sync(node, DRAY_SYNC_FOR_CPU,
				    (enum dray_direction)4, &region, 1),
		     -EINVAL, "4 is not a direction: 1 to 3");
	assert_fails(dray_node_sync_target(node, 1000, DRAY_SYNC_FOR_CPU,
					   DRAY_TO_DEVICE, &region, 1),
		     -EINVAL, "channel 1000");
}

BUFFER_FACT(a_device_may_only_read_a_read_only_buffer)
{
	struct dray_buffer *buffer = *state;
	struct dray_region region = { buffer, 0, 64, 0, 1 };
	struct dray_node *node = dray_buffer_node(buffer);

	buffer->writable = false;
	assert_works(dray_node_sync(node, DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
				    &region, 1));
	assert_fails(dray_node_sync(node, DRAY_SYNC_FOR_DEVICE,
				    DRAY_FROM_DEVICE, &region, 1),
		     -EPERM, "read-only");
	buffer->writable = true;
}

BUFFER_FACT(more_regions_than_one_call_takes_are_synced)
{
	size_t count = 2 * DRAY_MAX_RANGES + 3, i;
	struct dray_region *regions = calloc(count, sizeof(*regions));

	for (i = 0; i < count; i++)
		regions[i] = (struct dray_region){ *state, i, 1, 0, 1 };
	assert_works(dray_node_sync(dray_buffer_node(*state),
				    DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
				    regions, count));
	regions[count - 1].offset = SIZE;
	assert_fails(dray_node_sync(dray_buffer_node(*state),
				    DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
				    regions, count),
		     -EINVAL, "region 8194");
	assert_works(dray_node_sync(dray_buffer_node(*state),
				    DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE, NULL,
				    0));
	free(regions);
}

FACT(a_host_has_no_engine_to_submit_to)
{
	struct dray_node *node = open_node("host");
	struct dray_submit args = { .count = 1 };

	assert_fails(dray_node_submit(node, &args), -EOPNOTSUPP,
		     "no DMA engine");
	dray_node_unref(node);
}
