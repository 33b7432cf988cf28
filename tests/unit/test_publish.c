// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * publish: a process shows its pools to others only if it is asked to, all of
 * them, and to whom it may.
 */
#include <dray/array.h>

#include "child.h"
#include "descriptors.h"
#include "pool.h"
#include "published.h"

#define NOBODY 65534

static bool as_root(void)
{
	return !geteuid();
}

static int publish_setup(void **state)
{
	assert_works(dray_publish_start());
	return pool_setup(state);
}

static int publish_teardown(void **state)
{
	dray_publish_stop();
	return pool_teardown(state);
}

#define PUBLISH_FACT(name) FACT_WITH(name, publish_setup, publish_teardown)

POOL_FACT(nothing_is_published_unless_it_is_asked_for)
{
	assert_int_equal(published_connect(getpid()), -ECONNREFUSED);
}

static void publishes_with(const char *value, bool does)
{
	struct dray_pool *pool;

	setenv("DRAY_PUBLISH", value, 1);
	pool = open_pool(test_spec(), NULL);
	unsetenv("DRAY_PUBLISH");
	if (does) {
		struct snapshot_read seen = published();

		published_drop(&seen);
	} else {
		assert_int_equal(published_connect(getpid()), -ECONNREFUSED);
	}
	dray_publish_stop();
	dray_pool_close(pool);
	assert_int_equal(published_connect(getpid()), -ECONNREFUSED);
}

BRIEF(FACT(the_environment_starts_it), publishes_with("1", true));
BRIEF(FACT(other_values_do_not), {
	publishes_with("0", false);
	publishes_with("", false);
	publishes_with("yes", false);
});

FACT(a_second_start_and_a_second_stop_do_nothing)
{
	struct snapshot_read seen;

	assert_works(dray_publish_start());
	assert_works(dray_publish_start());
	seen = published();
	published_drop(&seen);
	dray_publish_stop();
	dray_publish_stop();
	assert_int_equal(published_connect(getpid()), -ECONNREFUSED);
	assert_works(dray_publish_start());
	dray_publish_stop();
}

FACT(a_name_that_is_taken_is_an_error)
{
	struct sockaddr_un address;
	socklen_t length = published_address(getpid(), &address);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(dray_publish_start(), -EADDRINUSE);
	assert_non_null(strstr(dray_last_error(), DRAY_PUBLISH_SOCKET));
	close(fd);
	assert_works(dray_publish_start());
	dray_publish_stop();
}

PUBLISH_FACT(an_empty_pool_is_shown_with_its_buffer)
{
	struct snapshot_read seen = published();

	assert_int_equal(seen.pools, 1);
	assert_string_equal(seen.pool.name, "pool");
	assert_string_equal(seen.pool.backend, on_kernel() ? "kernel" : "host");
	assert_true(seen.pool.granule >= 64);
	assert_int_equal(seen.pool.flags, 0);
	assert_int_equal(seen.regions, 1);
	assert_int_equal(seen.region.size, stats_of(*state).reserved);
	assert_int_equal(seen.count, 0);
	published_drop(&seen);
}

/* Shows how many blocks are lent, each to "mpi", and how many of them are parked. */
static void shows_lent(size_t lent, size_t parked)
{
	struct snapshot_read seen = published();

	for (size_t i = 0; i < seen.count; i++) {
		if (!seen.blocks[i].lent[0])
			continue;
		assert_string_equal(seen.blocks[i].lent, "mpi");
		assert_int_equal(seen.blocks[i].fixed.holds, 1);
		lent--;
		parked -= seen.blocks[i].fixed.state == DRAY_PUBLISH_PARKED;
	}
	assert_int_equal(lent, 0);
	assert_int_equal(parked, 0);
	published_drop(&seen);
}

PUBLISH_FACT(a_block_that_is_lent_names_the_engine)
{
	const struct dray_loan_options to = { .to = "mpi" };
	struct dray_view views[3];
	struct dray_loan *loans[2];

	for (int i = 0; i < 3; i++)
		assert_works(dray_view_init(&views[i], take(*state, 64, 0), u1,
					    1, DIMS(64), NULL));
	shows_lent(0, 0);
	for (int i = 0; i < 2; i++)
		assert_works(dray_view_lend(&views[i], DRAY_ACCESS_READ, 0, &to,
					    &loans[i]));
	dray_pool_free(*state, views[1].data);
	shows_lent(2, 1);
	dray_loan_end(loans[0]);
	shows_lent(1, 1);
	dray_loan_end(loans[1]);
	shows_lent(0, 0);
	dray_pool_free(*state, views[0].data);
	dray_pool_free(*state, views[2].data);
}

PUBLISH_FACT(every_block_is_shown_with_its_place_and_state)
{
	static const size_t sizes[] = { 1, 64, 100, 5000, 70000, 1 << 20 };
	void *blocks[6], *freed = take(*state, 64, 0);
	struct snapshot_read seen;
	struct dray_location where;
	size_t i;

	for (i = 0; i < 6; i++)
		blocks[i] = take(*state, sizes[i], 0);
	dray_pool_free(*state, freed);
	seen = published();
	for (i = 0; i < 6; i++) {
		const struct seen_block *block =
			published_block(&seen, blocks[i]);

		assert_works(dray_locate(blocks[i], &where));
		assert_int_equal(block->fixed.offset, where.offset);
		assert_int_equal(block->fixed.size, where.block_size);
		assert_int_equal(block->fixed.state, DRAY_PUBLISH_USED);
		assert_int_equal(block->fixed.flags, 0);
		assert_int_equal(block->fixed.asked, 0);
		assert_int_equal(block->fixed.site_length, 0);
	}
	/* The rest is cached: the one freed, and others fetched with it. */
	assert_true(seen.count > 6);
	for (i = 0; i < seen.count; i++)
		if (seen.blocks[i].fixed.state == DRAY_PUBLISH_CACHED)
			seen.bytes -= seen.blocks[i].fixed.size;
	published_drop(&seen);
	assert_int_equal(seen.bytes, stats_of(*state).used);
	for (i = 0; i < 6; i++)
		dray_pool_free(*state, blocks[i]);
}

PUBLISH_FACT(a_pool_with_thousands_of_blocks_is_shown_whole)
{
	enum {
		MANY = 5000
	};
	static void *blocks[MANY];
	struct snapshot_read seen;
	size_t i;

	for (i = 0; i < MANY; i++)
		blocks[i] = take(*state, 5000, 0);
	seen = published();
	assert_int_equal(seen.flags, 0);
	assert_int_equal(seen.count, MANY);
	published_drop(&seen);
	for (i = 0; i < MANY; i++)
		dray_pool_free(*state, blocks[i]);
}

PUBLISH_FACT(all_pools_are_shown_and_closed_ones_say_so)
{
	const struct dray_pool_options options = { .name = "other" };
	struct dray_pool *other = open_pool(test_spec(), &options);
	void *block = take(other, 100, 0);
	struct snapshot_read seen;

	dray_pool_close(other);
	seen = published();
	assert_int_equal(seen.pools, 2);
	published_drop(&seen);
	dray_pool_free(NULL, block);
	seen = published();
	assert_int_equal(seen.pools, 1);
	published_drop(&seen);
}

PUBLISH_FACT(arrays_have_their_shape_and_type)
{
	struct dray_array *array, *scalar;
	struct snapshot_read seen;
	const struct seen_block *block;
	dray_dtype dtype;

	assert_works(dray_dtype_parse("i4,f8", &dtype));
	assert_works(dray_array_create(*state, dtype, 3, (int64_t[]){ 2, 3, 4 },
				       &array));
	assert_works(dray_array_create(*state, DRAY_FLOAT32, 0, NULL, &scalar));
	seen = published();
	block = published_block(&seen, array->data);
	assert_int_equal(block->fixed.flags, DRAY_PUBLISH_ARRAY);
	assert_int_equal(block->fixed.ndim, 3);
	assert_int_equal(block->shape[0], 2);
	assert_int_equal(block->shape[1], 3);
	assert_int_equal(block->shape[2], 4);
	assert_int_equal(block->fixed.asked, 24 * 12);
	assert_string_equal(block->type, "[('f0', '<i4'), ('f1', '<f8')]");
	block = published_block(&seen, scalar->data);
	assert_int_equal(block->fixed.flags, DRAY_PUBLISH_ARRAY);
	assert_int_equal(block->fixed.ndim, 0);
	assert_string_equal(block->type, "<f4");
	published_drop(&seen);
	dray_array_unref(array);
	dray_array_unref(scalar);
	dray_dtype_unref(dtype);
}

PUBLISH_FACT(an_array_that_ended_is_not_shown_at_its_block)
{
	struct dray_array *array;
	struct snapshot_read seen;
	void *data, *again;

	assert_works(dray_array_create(*state, DRAY_INT8, 1,
				       (int64_t[]){ 9000 }, &array));
	data = array->data;
	dray_array_unref(array);
	again = take(*state, 9000, 0);
	assert_ptr_equal(again, data);
	seen = published();
	assert_int_equal(published_block(&seen, again)->fixed.flags, 0);
	published_drop(&seen);
	dray_pool_free(*state, again);
}

POOL_FACT(an_array_from_before_the_start_is_a_block)
{
	struct dray_array *before, *after;
	struct snapshot_read seen;

	assert_works(dray_array_create(*state, DRAY_INT8, 1,
				       (int64_t[]){ 9000 }, &before));
	assert_works(dray_publish_start());
	assert_works(dray_array_create(*state, DRAY_INT8, 1,
				       (int64_t[]){ 8000 }, &after));
	seen = published();
	assert_int_equal(published_block(&seen, before->data)->fixed.flags, 0);
	assert_int_equal(published_block(&seen, after->data)->fixed.flags,
			 DRAY_PUBLISH_ARRAY);
	published_drop(&seen);
	dray_publish_stop();
	dray_array_unref(before);
	dray_array_unref(after);
}

PUBLISH_FACT(tracked_blocks_have_a_caller_and_a_size)
{
	struct dray_resource *pool, *tracking;
	struct snapshot_read seen;
	const struct seen_block *shown;
	void *block;

	assert_works(dray_resource_pool(*state, &pool));
	assert_works(dray_resource_tracking(pool, 8, &tracking));
	dray_resource_unref(pool);
	assert_works(dray_resource_allocate(tracking, 1234, 0, 0, &block));
	seen = published();
	shown = published_block(&seen, block);
	assert_int_equal(shown->fixed.asked, 1234);
	assert_true(shown->fixed.site_length > 0);
	published_drop(&seen);
	assert_works(dray_resource_deallocate(tracking, block, 1234, 0));
	dray_resource_unref(tracking);
	seen = published();
	published_drop(&seen);
}

FACT(checked_blocks_have_the_size_that_was_asked_for)
{
	const struct dray_handler *handler;
	struct dray_pool *pool;
	struct dray_array *array;
	struct snapshot_read seen;
	const struct seen_block *shown;
	void *block;

	assert_works(dray_publish_start());
	setenv("DRAY_HANDLER", "check", 1);
	pool = open_pool(test_spec(), NULL);
	unsetenv("DRAY_HANDLER");
	handler = dray_handler_for(pool);
	block = dray_handler_alloc(handler, 777);
	dray_set_handler(handler);
	assert_works(
		dray_array_empty(DRAY_INT16, 1, (int64_t[]){ 50 }, &array));
	seen = published();
	assert_int_equal(seen.pool.flags, DRAY_PUBLISH_POOL_CHECKED);
	shown = published_block(&seen, block);
	assert_int_equal(shown->fixed.asked, 777);
	assert_true(shown->fixed.site_length > 0);
	shown = published_block(&seen, array->data);
	assert_int_equal(shown->fixed.asked, 100);
	assert_string_equal(shown->type, "<i2");
	published_drop(&seen);
	dray_array_unref(array);
	dray_set_handler(NULL);
	dray_handler_free(handler, block, 777);
	dray_publish_stop();
	dray_pool_close(pool);
}

/* A runtime's arrays: in a block, too large for it, and elsewhere. */
static void *fits, *larger;

static void each(dray_publish_see *see, void *context)
{
	static const int64_t shape[] = { 10, 100 };
	char elsewhere[1000];

	see(context, fits, 1000, "<u1", 2, shape);
	see(context, larger, 1 << 20, "<u1", 2, shape);
	see(context, elsewhere, 1000, "<u1", 2, shape);
	see(context, fits, 1000, NULL, 2, shape);
	see(context, fits, 1000, "<u1", DRAY_PUBLISH_AXES + 1, shape);
}

PUBLISH_FACT(arrays_of_a_runtime_are_shown_if_they_fit)
{
	struct snapshot_read seen;
	const struct seen_block *block;

	fits = take(*state, 1000, 0);
	larger = take(*state, 1000, 0);
	dray_publish_set_arrays(each);
	seen = published();
	block = published_block(&seen, fits);
	assert_int_equal(block->fixed.flags, DRAY_PUBLISH_ARRAY);
	assert_int_equal(block->shape[1], 100);
	assert_string_equal(block->type, "<u1");
	assert_int_equal(published_block(&seen, larger)->fixed.flags, 0);
	published_drop(&seen);
	dray_publish_set_arrays(NULL);
	seen = published();
	assert_int_equal(published_block(&seen, fits)->fixed.flags, 0);
	published_drop(&seen);
	dray_pool_free(*state, fits);
	dray_pool_free(*state, larger);
}

PUBLISH_FACT(nobody_can_change_a_snapshot)
{
	struct snapshot_read seen = published();

	assert_int_equal(write(seen.fd, "x", 1), -1);
	assert_int_equal(ftruncate(seen.fd, 0), -1);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			      seen.fd, 0),
			 MAP_FAILED);
	assert_int_equal(fcntl(seen.fd, F_GET_SEALS) & F_SEAL_SEAL,
			 F_SEAL_SEAL);
	published_drop(&seen);
}

PUBLISH_FACT(a_snapshot_leaves_no_file_descriptor_open)
{
	struct snapshot_read seen = published();
	int before;

	published_drop(&seen);
	/* The publisher closes its end of the last one in its own time. */
	dray_publish_stop();
	before = count_fds();
	assert_works(dray_publish_start());
	for (int i = 0; i < 50; i++) {
		seen = published();
		published_drop(&seen);
	}
	dray_publish_stop();
	assert_int_equal(count_fds(), before);
}

PUBLISH_FACT(peers_that_read_nothing_stop_nobody)
{
	enum {
		PEERS = 200
	};
	int sockets[PEERS];
	struct snapshot_read seen;
	int i;

	for (i = 0; i < PEERS; i++) {
		sockets[i] = published_connect(getpid());
		assert_true(sockets[i] >= 0);
		if (i % 2)
			send(sockets[i], "nonsense", 8, MSG_NOSIGNAL);
	}
	seen = published();
	published_drop(&seen);
	for (i = 0; i < PEERS; i++)
		close(sockets[i]);
}

static pid_t parent;

/* A child; the value of @act is its exit status. */
static int in_child(pid_t make(void), int (*act)(struct dray_pool *),
		    struct dray_pool *pool)
{
	pid_t child;

	parent = getpid();
	child = make();
	if (!child)
		_exit(act(pool));
	return status_of(child);
}

static int as_nobody(struct dray_pool *pool)
{
	struct snapshot_read seen;
	int socket;

	(void)pool;
	STEP_EQ(0, setuid(NOBODY));
	socket = published_connect(parent);
	STEP_LE(0, socket);
	STEP_EQ(0, published_receive(socket, &seen));
	STEP_EQ(-EACCES, seen.answer.error);
	STEP_EQ(-1, seen.fd);
	return 0;
}

FACT_ON(as_root, another_user_gets_nothing, publish_setup, publish_teardown)
{
	assert_int_equal(in_child(fork, as_nobody, *state), 0);
}

static int gets_snapshot_of(pid_t pid)
{
	struct snapshot_read seen;
	int socket = published_connect(pid);

	STEP_LE(0, socket);
	STEP_EQ(0, published_receive(socket, &seen));
	STEP_EQ(0, seen.answer.error);
	close(socket);
	close(seen.fd);
	return 0;
}

static int starts_anew(struct dray_pool *pool)
{
	STEP_EQ(-ECONNREFUSED, published_connect(getpid()));
	STEP_EQ(0, gets_snapshot_of(parent));
	STEP_EQ(0, dray_publish_start());
	return gets_snapshot_of(getpid());
}

PUBLISH_FACT(a_child_publishes_nothing_until_it_starts)
{
	struct snapshot_read seen;

	assert_int_equal(in_child(fork, starts_anew, *state), 0);
	seen = published();
	published_drop(&seen);
}

/* The size of a block tells its owner. */
static int shows_its_own(struct dray_pool *pool)
{
	void *own = dray_pool_alloc(pool, 50000, 0);
	struct snapshot_read seen;
	size_t large = 0;

	STEP_TRUE(own);
	STEP_EQ(0, dray_publish_start());
	seen = published();
	STEP_EQ(1, seen.regions);
	for (size_t i = 0; i < seen.count; i++) {
		STEP_NE(90048, seen.blocks[i].fixed.size);
		large += seen.blocks[i].fixed.size >= 50000;
	}
	STEP_EQ(1, large);
	return 0;
}

FACT(a_child_leaves_out_shared_memory_of_its_parent)
{
	struct dray_pool *pool =
		open_pool(on_kernel() ? test_spec() : "host:shareable", NULL);
	void *inherited = take(pool, 90048, 0);

	assert_works(dray_publish_start());
	assert_int_equal(in_child(fork, shows_its_own, pool), 0);
	dray_publish_stop();
	dray_pool_free(pool, inherited);
	dray_pool_close(pool);
}

/* Its next call of the library tells it that it is one. */
static int after_a_call(struct dray_pool *pool)
{
	STEP_TRUE(dray_pool_alloc(pool, 90000, 0));
	return starts_anew(pool);
}

PUBLISH_FACT(a_child_of_a_bare_clone_starts_anew_as_well)
{
	assert_int_equal(in_child(clone_without_handlers, after_a_call, *state),
			 0);
}
