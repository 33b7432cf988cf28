// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * view_sync: which bytes are handed over, and in how many calls.  What would
 * go to the node is caught on its way (the linker's --wrap), for a node that
 * needs it and for one that does not; the real maintenance is tested with the
 * module, which counts it.
 */
#include "node.h"
#include "random_view.h"

#define ROOM 20000

static struct dray_node *node;
static struct dray_pool *pool;
static unsigned char *memory;

static struct {
	bool needed;
	unsigned int calls;
	size_t regions;
	size_t most; /* regions of one call */
	int error;
	enum dray_sync_owner owners[8];
	enum dray_direction directions[8];
	uint64_t width, rows, pitch; /* of the last region */
	unsigned char touched[ROOM]; /* bytes of memory */
} seen;
WRAPPED(bool, dray_node_needs_sync, (const struct dray_node *asked))
{
	return seen.needed;
}
WRAPPED(int, dray_node_sync,
	(struct dray_node * asked, enum dray_sync_owner owner,
	 enum dray_direction direction, const struct dray_region *regions,
	 size_t count))
{
	if (seen.calls < 8) {
		seen.owners[seen.calls] = owner;
		seen.directions[seen.calls] = direction;
	}
	seen.calls++;
	seen.regions += count;
	seen.most = count > seen.most ? count : seen.most;
	for (size_t i = 0; i < count; i++) {
		const unsigned char *row =
			(unsigned char *)dray_buffer_data(regions[i].buffer) +
			regions[i].offset;

		seen.width = regions[i].width;
		seen.rows = regions[i].rows;
		seen.pitch = regions[i].pitch;
		for (uint64_t r = 0; r < regions[i].rows; r++) {
			assert_true(row >= memory &&
				    row + regions[i].width <= memory + ROOM);
			memset(seen.touched + (row - memory), 1,
			       regions[i].width);
			row += regions[i].pitch;
		}
	}
	if (seen.error)
		return seen.error;
	return __real_dray_node_sync(asked, owner, direction, regions, count);
}

static int set_up(void **state)
{
	node = open_shareable_node();
	assert_works(dray_pool_create(node, NULL, &pool));
	memory = dray_pool_alloc(pool, ROOM, 0);
	assert_non_null(memory);
	return 0;
}

static int tear_down(void **state)
{
	dray_pool_free(pool, memory);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

static void start(bool needed)
{
	memset(&seen, 0, sizeof(seen));
	seen.needed = needed;
}

FACT(random_views_are_handed_over_to_the_byte)
{
	struct dice dice = { 161803 };
	int done = 0;

	while (done < rounds(4000)) {
		unsigned char expected[ROOM] = { 0 };
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 8);
		int64_t shape[4], position[4] = { 0 };
		int ndim = random_shape(&dice, shape);
		struct dray_view view;

		if (!random_view(&dice, &view, memory, ROOM, ndim, shape,
				 itemsize))
			continue;
		if (ndim && roll(&dice, 4) == 0)
			view.strides[roll(&dice, (uint64_t)ndim)] = 0;
		do {
			memset(expected + (walk_at(&view, position) - memory),
			       1, itemsize);
		} while (walk_on(&view, position));
		start(true);
		assert_works(dray_view_sync(&view, DRAY_SYNC_FOR_CPU,
					    DRAY_FROM_DEVICE));
		assert_memory_equal(seen.touched, expected, ROOM);
		done++;
	}
}

FACT(what_is_cleaned_goes_over_gaps_shorter_than_a_line)
{
	struct dray_view view;

	/* one plane of a picture of 3 planes, interleaved */
	assert_works(dray_view_init(&view, memory + 1, u1, 2, DIMS(20, 30),
				    DIMS(200, 3)));
	start(true);
	assert_works(
		dray_view_sync(&view, DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE));
	assert_int_equal(seen.regions, 1);
	assert_int_equal(seen.width, 88);
	assert_int_equal(seen.rows, 20);
	assert_int_equal(seen.pitch, 200);
	/* but what the CPU wrote into the gaps is not thrown away */
	start(true);
	assert_works(dray_view_sync(&view, DRAY_SYNC_FOR_DEVICE,
				    DRAY_BIDIRECTIONAL));
	assert_int_equal(seen.width, 1);
	assert_int_equal(seen.regions, 20);
}

FACT(a_crop_is_one_region_and_one_call)
{
	struct dray_view view;

	assert_works(
		dray_view_init(&view, memory, u1, 3, DIMS(40, 100, 3), NULL));
	assert_works(
		dray_view_index(&view,
				(struct dray_index[]){ DRAY_SLICE(10, 30, 1),
						       DRAY_SLICE(20, 60, 1) },
				2, &view));
	start(true);
	assert_works(
		dray_view_sync(&view, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE));
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.regions, 1);
	assert_int_equal(seen.width, 120);
	assert_int_equal(seen.rows, 20);
	assert_int_equal(seen.pitch, 300);
	assert_int_equal(seen.owners[0], DRAY_SYNC_FOR_CPU);
	assert_int_equal(seen.directions[0], DRAY_FROM_DEVICE);
}

FACT(many_regions_take_several_calls)
{
	struct dray_view view;

	/* three axes that stay apart: 20 * 15 regions of 20 rows */
	assert_works(dray_view_init(&view, memory, u1, 3, DIMS(20, 15, 20),
				    DIMS(900, 50, 2)));
	start(true);
	assert_works(
		dray_view_sync(&view, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE));
	assert_int_equal(seen.regions, 300);
	assert_int_equal(seen.calls, 2);
	start(true);
	seen.error = -EIO;
	assert_int_equal(dray_view_sync(&view, DRAY_SYNC_FOR_CPU,
					DRAY_FROM_DEVICE),
			 -EIO);
	assert_int_equal(seen.calls, 1);
}

FACT(without_need_no_row_is_walked)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, memory, u1, 3, DIMS(20, 15, 20),
				    DIMS(900, 50, 2)));
	start(false);
	assert_works(
		dray_view_sync(&view, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE));
	assert_int_equal(seen.regions, 1);
	assert_int_equal(dray_view_sync(&view, (enum dray_sync_owner)9,
					DRAY_FROM_DEVICE),
			 -EINVAL);
	assert_int_equal(dray_view_sync(&view, DRAY_SYNC_FOR_CPU,
					(enum dray_direction)9),
			 -EINVAL);
}

FACT(memory_that_is_not_drays_is_refused)
{
	unsigned char own[16];
	struct dray_view view;

	start(true);
	assert_works(dray_view_init(&view, own, u1, 1, DIMS(16), NULL));
	assert_fails(dray_view_sync(&view, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE),
		     -EINVAL, "outside of dray's memory");
	assert_works(
		dray_view_init(&view, memory, u1, 1, DIMS(ROOM + 4096), NULL));
	assert_fails(dray_view_sync(&view, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE),
		     -EINVAL, "leaves its block");
	view.strides[0] = INT64_MAX;
	assert_fails(dray_view_sync(&view, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE),
		     -EOVERFLOW, "63 bits");
	view.shape[0] = 0;
	assert_works(
		dray_view_sync(&view, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE));
	assert_int_equal(seen.calls, 0);
}

/* As a device would: memory is read, and memory is written. */
FACT(a_copy_by_the_cpu_without_sync_looks_as_a_device_did_it)
{
	struct dray_view dst, src;
	struct dray_queue *queue;
	unsigned char own[64] = { 7 };

	assert_works(dray_queue_create(node, NULL, &queue));
	assert_works(dray_view_init(&dst, memory, u1, 1, DIMS(64), NULL));
	assert_works(dray_view_init(&src, memory + 128, u1, 1, DIMS(64), NULL));
	start(true);
	assert_works(dray_copy(queue, &dst, &src,
			       DRAY_COPY_CPU | DRAY_COPY_NO_SYNC, NULL));
	assert_int_equal(seen.calls, 3);
	assert_int_equal(seen.owners[0], DRAY_SYNC_FOR_CPU);
	assert_int_equal(seen.owners[1], DRAY_SYNC_FOR_CPU);
	assert_int_equal(seen.owners[2], DRAY_SYNC_FOR_DEVICE);
	assert_int_equal(seen.directions[2], DRAY_TO_DEVICE);
	assert_int_equal(seen.touched[0], 1);
	assert_int_equal(seen.touched[191], 1);
	/* what the CPU sees is copied to where the CPU sees it */
	start(true);
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_CPU, NULL));
	assert_int_equal(seen.calls, 0);
	/* no device is behind ordinary memory */
	src.data = own;
	assert_works(dray_copy(queue, &dst, &src,
			       DRAY_COPY_CPU | DRAY_COPY_NO_SYNC, NULL));
	assert_int_equal(seen.calls, 2);
	assert_int_equal(memory[0], 7);
	start(true);
	seen.error = -EIO;
	assert_int_equal(dray_copy(queue, &dst, &src,
				   DRAY_COPY_CPU | DRAY_COPY_NO_SYNC, NULL),
			 -EIO);
	dray_queue_destroy(queue);
}

FACTS_SHARE(set_up, tear_down)
