// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * random: long random work on pools and their handlers against a plain list of
 * what must be alive: where, how long, with which contents.
 *
 * DRAY_TEST_OPERATIONS makes it longer.
 */
#include "pool.h"
#include "pool/busy.h"
#include "progress.h"

#define BLOCKS 300

struct expected {
	unsigned char *address; /* NULL: none */
	size_t size; /* asked for */
	size_t alignment;
	unsigned char fill;
	int holds;
	bool freed; /* parked: the pool must leave it alone */
};

struct world {
	struct dray_pool *pool;
	const struct dray_allocator *allocator; /* of a handler */
	struct expected blocks[BLOCKS];
	uint64_t wrong; /* frees that are no frees */
	struct dice dice;
	size_t largest;
};

static long operations(void)
{
	const char *text = getenv("DRAY_TEST_OPERATIONS");

	return text ? atol(text) : 100000;
}

static void check(const struct expected *b)
{
	if (!all_bytes_are(b->address, b->fill, b->size))
		fail_msg("a block of %zu bytes has lost its contents", b->size);
}

static void fill(struct world *world, struct expected *b)
{
	b->fill = (unsigned char)roll(&world->dice, 256);
	memset(b->address, b->fill, b->size);
}

/* Nothing that is alive or parked has a byte in common with the new one. */
static void check_apart(const struct world *world, const struct expected *b)
{
	const unsigned char *end = b->address + b->size;
	int i;

	for (i = 0; i < BLOCKS; i++) {
		const struct expected *o = &world->blocks[i];

		if (o == b || !o->address)
			continue;
		assert_true(end <= o->address ||
			    o->address + o->size <= b->address);
	}
}

static size_t random_size(struct world *world)
{
	return roll(&world->dice, 1 + roll(&world->dice, world->largest));
}

static void allocate(struct world *world, struct expected *b)
{
	size_t size = random_size(world);
	size_t alignment = (size_t)1 << roll(&world->dice, 17);
	bool zero = roll(&world->dice, 3) == 0;

	if (zero || roll(&world->dice, 2))
		alignment = 0;
	b->size = size ? size : 1;
	b->alignment = alignment ? alignment : 64;
	if (zero)
		b->address = world->allocator->calloc(world->allocator->ctx,
						      size, 1);
	else if (!alignment)
		b->address =
			world->allocator->malloc(world->allocator->ctx, size);
	else
		b->address = dray_pool_alloc(world->pool, size, alignment);
	if (!b->address) {
		assert_int_equal(errno, ENOMEM);
		b->size = 0;
		return;
	}
	assert_int_equal((uintptr_t)b->address % b->alignment, 0);
	if (zero)
		assert_true(all_bytes_are(b->address, 0, b->size));
	check_apart(world, b);
	fill(world, b);
}

static void reallocate(struct world *world, struct expected *b)
{
	size_t size = random_size(world);
	size_t both = size && size < b->size ? size : b->size;
	unsigned char *moved;

	/* The old block of a busy one would live on beside the new one. */
	if (b->holds)
		return;
	moved = world->allocator->realloc(world->allocator->ctx, b->address,
					  size);
	if (!moved) {
		assert_int_equal(errno, ENOMEM);
		return;
	}
	if (!size)
		both = 1;
	b->address = moved;
	b->size = size ? size : 1;
	assert_int_equal((uintptr_t)moved % b->alignment, 0);
	assert_true(all_bytes_are(moved, b->fill, both));
	check_apart(world, b);
	fill(world, b);
}

static void release_hold(struct expected *b)
{
	check(b);
	dray_block_release(b->address + b->size / 2);
	if (!--b->holds && b->freed)
		*b = (struct expected){ .address = NULL };
}

static void let_go(struct world *world, struct expected *b)
{
	check(b);
	/* What it is told of the size is anything. */
	world->allocator->free(world->allocator->ctx, b->address,
			       roll(&world->dice, 2 * b->size));
	if (b->holds)
		b->freed = true;
	else
		*b = (struct expected){ .address = NULL };
}

static void look_up(struct world *world, const struct expected *b)
{
	struct dray_location where;
	size_t at = roll(&world->dice, b->size);

	if (b->freed) {
		assert_int_equal(dray_locate(b->address + at, &where), -ENOENT);
		return;
	}
	assert_works(dray_locate(b->address + at, &where));
	assert_ptr_equal(where.block, b->address);
	assert_true(where.block_size >= b->size);
	assert_int_equal(dray_usable_size(b->address), where.block_size);
}

static void free_wrongly(struct world *world, struct expected *b)
{
	dray_pool_free(world->pool, b->address + 1);
	dray_pool_free(world->pool, b);
	world->wrong += 2;
	if (b->freed) {
		dray_pool_free(world->pool, b->address);
		world->wrong++;
	}
}

static void step(struct world *world)
{
	struct expected *b = &world->blocks[roll(&world->dice, BLOCKS)];

	if (!b->address) {
		allocate(world, b);
		return;
	}
	switch (roll(&world->dice, 10)) {
	case 0:
	case 1:
		if (!b->freed)
			reallocate(world, b);
		break;
	case 2:
		if (!b->freed && !dray_block_hold(b->address + b->size - 1))
			b->holds++;
		break;
	case 3:
	case 4:
		if (b->holds)
			release_hold(b);
		break;
	case 5:
		look_up(world, b);
		break;
	case 6:
		free_wrongly(world, b);
		break;
	default:
		if (!b->freed)
			let_go(world, b);
		break;
	}
}

/* The pool's own numbers against those of the list. */
static void compare(const struct world *world)
{
	struct dray_pool_stats stats = stats_of(world->pool);
	uint64_t blocks = 0, least = 0, parked = 0;

	for (int i = 0; i < BLOCKS; i++) {
		const struct expected *b = &world->blocks[i];

		blocks += b->address != NULL;
		least += b->size;
		parked += b->freed;
	}
	assert_int_equal(stats.blocks, blocks);
	assert_int_equal(stats.bad_frees, world->wrong);
	assert_true(stats.used >= least);
	assert_true(stats.peak >= stats.used);
	assert_true(stats.reserved >= stats.used);
	assert_int_equal(!!stats.parked, !!parked);
}

static void work(const char *spec, size_t largest,
		 const struct dray_pool_options *options)
{
	struct world *world = calloc(1, sizeof(*world));
	long i, count = operations();

	world->pool = open_pool(spec, options);
	world->allocator = &dray_handler_for(world->pool)->allocator;
	world->dice.state = 20261120;
	world->largest = largest;
	for (i = 0; i < count; i++) {
		show_progress(i, count, "operations on a pool");
		step(world);
		if (i % 1000 == 0) {
			compare(world);
			dray_pool_trim(world->pool);
		}
	}
	compare(world);
	for (i = 0; i < BLOCKS; i++) {
		struct expected *b = &world->blocks[i];

		if (b->address && !b->freed)
			let_go(world, b);
		while (b->holds)
			release_hold(b);
	}
	compare(world);
	assert_int_equal(stats_of(world->pool).used, 0);
	dray_pool_trim(world->pool);
	assert_int_equal(stats_of(world->pool).reserved, 0);
	dray_pool_close(world->pool);
	free(world);
}

BRIEF(FACT(a_pool_agrees_with_a_list_of_what_is_alive),
      work(test_spec(), 100000, NULL));
BRIEF(FACT(so_does_one_of_small_blocks), work(test_spec(), 300, NULL));

FACT(so_does_one_that_is_often_full)
{
	struct dray_pool_options options = { .initial = 1 << 19,
					     .limit = 2 << 20 };

	work(test_spec(), 40000, &options);
}

BRIEF(FACT(so_does_one_of_shareable_memory),
      work("host:shareable", 100000, NULL));

FACT(so_does_one_of_large_granules)
{
	struct dray_pool_options options = { .granule = 4096 };

	work(test_spec(), 20000, &options);
}
