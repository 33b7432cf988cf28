// SPDX-License-Identifier: Apache-2.0 OR MIT
/* kernel: syncs, addresses, imports and pools, as they reach the module. */
#include "stand_in.h"

STAND_IN_FACT(regions_reach_the_module_as_they_are)
{
	struct dray_buffer *buffer;
	struct dray_region regions[40];

	assert_works(dray_buffer_alloc(*state, MIB, NULL, &buffer));
	for (uint32_t i = 0; i < 40; i++)
		regions[i] =
			(struct dray_region){ buffer, 100 * i, 10, 20, 1 + i };
	assert_works(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 40));
	assert_int_equal(module.syncs, 1);
	assert_int_equal(module.sync.target, DRAY_TARGET_NODE);
	assert_int_equal(module.sync.owner, DRAY_SYNC_FOR_CPU);
	assert_int_equal(module.sync.direction, DRAY_FROM_DEVICE);
	assert_int_equal(module.sync.count, 40);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(module.ranges[i].fd,
				 dray_buffer_descriptor(buffer));
		assert_int_equal(module.ranges[i].offset, 100 * i);
		assert_int_equal(module.ranges[i].width, 10);
		assert_int_equal(module.ranges[i].pitch, 20);
		assert_int_equal(module.ranges[i].rows, 1 + i);
	}
	module.calloc_fails = true;
	assert_fails(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 40),
		     -ENOMEM, "40 regions");
	module.calloc_fails = false;
	fail_with(DRAY_IOC_SYNC, EINVAL, DRAY_REASON_RANGE, 4096);
	assert_fails(dray_node_sync_target(*state, 0, DRAY_SYNC_FOR_CPU,
					   DRAY_FROM_DEVICE, regions, 3),
		     -EINVAL, "outside the buffer of 4096 bytes");
	dray_buffer_unref(buffer);
}

STAND_IN_FACT(buffers_that_are_not_cached_are_not_synced)
{
	struct dray_buffer_options options = { .mode = DRAY_MODE_COHERENT };
	struct dray_buffer *cached, *coherent;
	struct dray_region regions[2] = { { .width = 64, .rows = 1 },
					  { .width = 64, .rows = 1 } };

	assert_works(dray_buffer_alloc(*state, MIB, NULL, &cached));
	assert_works(dray_buffer_alloc(*state, MIB, &options, &coherent));
	regions[0].buffer = coherent;
	regions[1].buffer = coherent;
	assert_works(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 2));
	assert_int_equal(module.syncs, 0);
	regions[1].buffer = cached;
	assert_works(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 2));
	assert_int_equal(module.syncs, 1);
	dray_buffer_unref(coherent);
	dray_buffer_unref(cached);
}

STAND_IN_FACT(a_node_that_needs_no_sync_is_not_called)
{
	struct dray_region region;
	struct dray_node *node;
	struct dray_buffer *buffer;

	assert_true(dray_node_needs_sync(*state));
	module.sync_flags = DRAY_SYNC_NOT_NEEDED;
	assert_works(dray_node_open("kernel:dray7", &node));
	assert_false(dray_node_needs_sync(node));
	assert_works(dray_buffer_alloc(node, MIB, NULL, &buffer));
	region = (struct dray_region){ buffer, 0, 1, 0, 1 };
	assert_works(dray_node_sync(node, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    &region, 1));
	assert_int_equal(module.syncs, 0);
	/* Its channels are devices of their own. */
	assert_works(dray_node_sync_target(node, 0, DRAY_SYNC_FOR_CPU,
					   DRAY_FROM_DEVICE, &region, 1));
	assert_int_equal(module.syncs, 1);
	dray_buffer_unref(buffer);
	dray_node_unref(node);

	/* One that does not say is taken to need it. */
	fail_with(DRAY_IOC_SYNC, EIO, 0, 0);
	assert_works(dray_node_open("kernel:dray7", &node));
	assert_true(dray_node_needs_sync(node));
	dray_node_unref(node);
}

STAND_IN_FACT(addresses_are_asked_for_the_range)
{
	struct dray_segment segments[2];
	struct dray_buffer *buffer;
	size_t count;

	assert_works(dray_buffer_alloc(*state, MIB, NULL, &buffer));
	assert_works(
		dray_buffer_addresses(buffer, 4096, 0, segments, 2, &count));
	assert_int_equal(count, 3);
	assert_int_equal(module.address.offset, 4096);
	assert_int_equal(module.address.length, MIB - 4096);
	assert_int_equal(module.address.room, 2);
	assert_true(dray_buffer_exposed(buffer));
	fail_with(DRAY_IOC_ADDRESS, EPERM, DRAY_REASON_PERMISSION, 0);
	assert_fails(dray_buffer_addresses(buffer, 0, 1, segments, 2, &count),
		     -EPERM, "CAP_SYS_RAWIO is missing");
	dray_buffer_unref(buffer);
}

STAND_IN_FACT(an_imported_buffer_is_asked_for_its_id)
{
	struct dray_buffer *buffer;
	struct stat status;
	int fd = memfd_create("theirs", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, 8192), 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_works(dray_buffer_import(*state, fd, &buffer));
	assert_int_equal(dray_buffer_id(buffer), 4711);
	assert_int_equal(dray_buffer_size(buffer), 8192);
	assert_true(dray_buffer_exposed(buffer));
	dray_buffer_unref(buffer);

	/* Another driver's: its inode, where no id of the module can be. */
	fail_with(DRAY_IOC_BUFFER_INFO, EINVAL, DRAY_REASON_FOREIGN, 0);
	assert_works(dray_buffer_import(*state, fd, &buffer));
	assert_int_equal(dray_buffer_id(buffer),
			 (uint64_t)status.st_ino | (uint64_t)1 << 63);
	dray_buffer_unref(buffer);

	module.mmap_fails = true;
	assert_int_equal(dray_buffer_import(*state, fd, &buffer), -ENOMEM);
	module.mmap_fails = false;
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EINVAL,
		     "has 100 bytes");
	close(fd);
}

STAND_IN_FACT(what_is_no_dma_buf_is_not_imported)
{
	struct dray_buffer *buffer;
	int fd = memfd_create("theirs", MFD_CLOEXEC), before;

	assert_int_equal(ftruncate(fd, 8192), 0);
	before = open_descriptors();
	module.dup_fails = true;
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EMFILE,
		     "duplicating file descriptor");
	module.is_dma_buf = false;
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EINVAL,
		     "is not a dma-buf");
	assert_int_equal(open_descriptors(), before);
	close(fd);
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EBADF,
		     "descriptor");
}

static struct dray_pool *pool_on(struct dray_node *node)
{
	struct dray_pool *pool = NULL;

	assert_works(dray_pool_create(node, NULL, &pool));
	return pool;
}

static struct dray_pool_stats stats_of(struct dray_pool *pool)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	assert_works(dray_pool_stats(pool, &stats));
	return stats;
}

STAND_IN_FACT(granules_are_what_a_node_that_is_not_coherent_needs)
{
	struct dray_pool *pool = pool_on(*state);
	void *block = dray_pool_alloc(pool, 1, 0);

	assert_int_equal(dray_usable_size(block), 128);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

/* A mark for each 64 bytes says what a block is: two do not share one. */
STAND_IN_FACT(granules_are_64_bytes_at_least_where_lines_are_shorter)
{
	struct dray_pool_options options = { .granule = 32 };
	struct dray_pool *pool = NULL;
	char *a, *b;

	module.cache_line = 32;
	assert_fails(dray_pool_create(*state, &options, &pool), -EINVAL,
		     "a granule of 32 bytes, it must be a power of two from 64 "
		     "to 2097152");
	options.granule = 64;
	assert_works(dray_pool_create(*state, &options, &pool));
	a = dray_pool_alloc(pool, 1, 0);
	b = dray_pool_alloc(pool, 1, 0);
	assert_int_equal(dray_usable_size(a), 64);
	dray_pool_free(pool, a);
	dray_pool_free(pool, b);
	dray_pool_close(pool);
	/* And no less than a line where those are longer. */
	module.cache_line = 128;
	assert_fails(dray_pool_create(*state, &options, &pool), -EINVAL,
		     "a granule of 64 bytes, it must be a power of two from "
		     "128 to");
}

STAND_IN_FACT(a_pool_doubles_and_gives_large_blocks_their_own)
{
	struct dray_pool *pool = pool_on(*state);
	void *small[40], *large;

	assert_int_equal(stats_of(pool).reserved, 4 * MIB);
	for (int i = 0; i < 40; i++) {
		small[i] = dray_pool_alloc(pool, MIB / 2, 0);
		assert_non_null(small[i]);
	}
	/* 4, 4, 8 and 16 MiB. */
	assert_int_equal(stats_of(pool).regions, 4);
	assert_int_equal(stats_of(pool).reserved, 32 * MIB);
	large = dray_pool_alloc(pool, 20 * MIB + 1, 0);
	assert_int_equal(module.alloc.size,
			 20 * MIB + (uint64_t)sysconf(_SC_PAGESIZE));
	dray_pool_free(pool, large);
	/* As much as half of the pool stays. */
	assert_int_equal(stats_of(pool).regions, 5);
	for (int i = 0; i < 40; i++)
		dray_pool_free(pool, small[i]);
	assert_true(stats_of(pool).reserved <= 20 * MIB);
	dray_pool_close(pool);
}

STAND_IN_FACT(what_is_kept_goes_back_before_a_pool_gives_up)
{
	struct dray_pool *pool = pool_on(*state);
	void *first = dray_pool_alloc(pool, 3 * MIB, 0);
	void *large = dray_pool_alloc(pool, 6 * MIB, 0);
	int before;

	dray_pool_free(pool, large);
	assert_true(stats_of(pool).reserved >= 10 * MIB);
	before = open_descriptors();
	fail_with(DRAY_IOC_ALLOC, ENOMEM, DRAY_REASON_FULL, 4096);
	errno = 0;
	assert_null(dray_pool_alloc(pool, 8 * MIB, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "4096 bytes are free"));
	assert_int_equal(stats_of(pool).reserved, 4 * MIB);
	assert_int_equal(open_descriptors(), before - 1);
	/* Smaller than the next region would be, and still not to be had. */
	assert_null(dray_pool_alloc(pool, MIB + 1, 65536));
	fail_with(0, 0, 0, 0);
	large = dray_pool_alloc(pool, 8 * MIB, 1 << 20);
	assert_non_null(large);
	assert_int_equal(module.alloc.alignment, 1 << 20);
	dray_pool_free(pool, large);
	dray_pool_free(pool, first);
	dray_pool_close(pool);
}

STAND_IN_FACT(a_heap_that_is_full_leaves_what_the_pool_has)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	struct dray_pool *pool;
	char words[80];
	void *block;

	assert_works(dray_pool_create(*state, NULL, &pool));
	/* A buffer with nothing in it would go back first. */
	block = dray_pool_alloc(pool, 1000, 0);
	assert_works(dray_pool_stats(pool, &stats));
	fail_with(DRAY_IOC_ALLOC, ENOMEM, DRAY_REASON_FULL, 12345);
	assert_null(dray_pool_alloc(pool, (size_t)stats.largest_free + 1, 0));
	assert_int_equal(errno, ENOMEM);
	snprintf(words, sizeof(words), "the largest free run has %" PRIu64,
		 stats.largest_free);
	assert_non_null(
		strstr(dray_last_error(), "is full, 12345 bytes are free"));
	assert_non_null(strstr(dray_last_error(), words));
	fail_with(0, 0, 0, 0);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

STAND_IN_FACT(a_node_that_is_gone_is_not_asked_again)
{
	struct dray_pool *pool = pool_on(*state);

	fail_with(DRAY_IOC_ALLOC, ENODEV, 0, 0);
	module.calls = 0;
	assert_null(dray_pool_alloc(pool, 64 * MIB, 1 << 20));
	assert_int_equal(module.calls, 1);
	assert_non_null(strstr(dray_last_error(), strerror(ENODEV)));
	dray_pool_close(pool);
}
