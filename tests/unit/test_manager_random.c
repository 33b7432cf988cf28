// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * manager: long random work on one over a stack of resources, against a plain
 * model of what must be alive, what must wait and what is out below.
 *
 * The model is the queue as Numba's documents describe it: a list of sizes,
 * which is emptied when there are more than so many, or more bytes than so
 * much, outside of sections of deferral, and before an allocation is asked
 * for a second time.  DRAY_TEST_OPERATIONS makes it longer.
 */
#include "manager.h"
#include "progress.h"
#include "resource.h"

#define OBJECTS 60
#define LIMIT ((uint64_t)400000)
#define ENTRIES 10
#define PERCENT 20

struct expected {
	struct dray_memory *memory; /* NULL: none */
	unsigned char *pointer;
	size_t size;
	unsigned char fill;
	int base; /* of a view: the object that it is of, else -1 */
	int views; /* that keep it */
	bool dropped; /* but for its views */
};

struct world {
	struct dray_pool *pool;
	struct dray_resource *limit, *statistics, *tracking;
	struct dray_manager *manager;
	struct expected objects[OBJECTS];
	struct dice dice;
	uint64_t out; /* bytes below, as the limit counts */
	uint64_t blocks;
	uint64_t waiting, waiting_bytes, waiting_cost;
	uint64_t depth;
	uint64_t retries;
};

static long operations(void)
{
	const char *text = getenv("DRAY_TEST_OPERATIONS");

	return text ? atol(text) : rounds(100000);
}

static uint64_t cost(size_t size)
{
	return size ? size : 1;
}

static bool flush_model(struct world *world)
{
	bool any = world->waiting;

	world->out -= world->waiting_cost;
	world->blocks -= world->waiting;
	world->waiting = 0;
	world->waiting_bytes = 0;
	world->waiting_cost = 0;
	return any;
}

static bool too_many(const struct world *world)
{
	return !world->depth && (world->waiting > ENTRIES ||
				 world->waiting_bytes > LIMIT / 100 * PERCENT);
}

/* Whether the model has room, maybe after a flush. */
static bool fits(struct world *world, size_t size)
{
	if (cost(size) <= LIMIT - world->out)
		return true;
	if (world->depth || !flush_model(world))
		return false;
	world->retries++;
	return cost(size) <= LIMIT - world->out;
}

static void fill(struct world *world, struct expected *e)
{
	e->fill = (unsigned char)roll(&world->dice, 256);
	memset(e->pointer, e->fill, e->size);
}

static void allocate_one(struct world *world, struct expected *e)
{
	size_t size = roll(&world->dice, 1 + roll(&world->dice, 60000));
	bool expected = fits(world, size);
	int ret;

	if (roll(&world->dice, 2))
		ret = dray_manager_memalloc(world->manager, size, 1,
					    &e->memory);
	else
		ret = dray_manager_memhostalloc(world->manager, size,
						DRAY_HOST_MAPPED, &e->memory);
	assert_int_equal(ret, expected ? 0 : -ENOMEM);
	if (ret) {
		e->memory = NULL;
		return;
	}
	e->size = size;
	e->base = -1;
	e->pointer = dray_memory_describe(e->memory)->pointer;
	world->out += cost(size);
	world->blocks++;
	fill(world, e);
}

static void check(const struct world *world, const struct expected *e)
{
	const struct expected *whole =
		e->base < 0 ? e : &world->objects[e->base];

	assert_ptr_equal(dray_memory_describe(e->memory)->pointer, e->pointer);
	if (!all_bytes_are(e->pointer, whole->fill, e->size))
		fail_msg("%zu bytes have lost their contents", e->size);
}

static void view_of(struct world *world, int base, struct expected *e)
{
	struct expected *whole = &world->objects[base];
	size_t offset = roll(&world->dice, whole->size + 1);
	size_t size = roll(&world->dice, whole->size - offset + 1);

	assert_works(dray_memory_view(whole->memory, offset, size, &e->memory));
	e->size = size;
	e->base = base;
	e->pointer = whole->pointer + offset;
	whole->views++;
}

/* The object is without a reference now: it waits. */
static void wait_in_model(struct world *world, struct expected *e)
{
	world->waiting++;
	world->waiting_bytes += e->size;
	world->waiting_cost += cost(e->size);
	*e = (struct expected){ .memory = NULL };
	if (too_many(world))
		flush_model(world);
}

static void drop(struct world *world, struct expected *e)
{
	struct dray_memory *memory = e->memory;
	struct expected *whole;

	check(world, e);
	if (e->base < 0) {
		if (e->views)
			e->dropped = true;
		else
			wait_in_model(world, e);
	} else {
		whole = &world->objects[e->base];
		*e = (struct expected){ .memory = NULL };
		if (!--whole->views && whole->dropped)
			wait_in_model(world, whole);
	}
	dray_memory_unref(memory);
}

static void change_deferral(struct world *world)
{
	if (world->depth < 3 && roll(&world->dice, 2)) {
		dray_manager_defer_cleanup(world->manager);
		world->depth++;
	} else if (world->depth) {
		world->depth--;
		if (too_many(world))
			flush_model(world);
		assert_works(dray_manager_end_deferral(world->manager));
	} else {
		assert_fails(dray_manager_end_deferral(world->manager), -EINVAL,
			     "without its begin");
	}
}

static void flush(struct world *world)
{
	uint64_t expected = world->depth ? 0 : world->waiting;

	if (roll(&world->dice, 10) == 0) {
		assert_works(dray_manager_reset(world->manager));
		flush_model(world);
		return;
	}
	assert_int_equal(dray_manager_flush(world->manager), expected);
	if (!world->depth)
		flush_model(world);
}

static void misuse(struct world *world, const struct expected *e)
{
	struct dray_memory *view = NULL;
	int local;

	assert_int_equal(dray_memory_view(e->memory, e->size + 1, 0, &view),
			 -EINVAL);
	assert_int_equal(dray_resource_deallocate(world->tracking, &local, 4,
						  0),
			 -EINVAL);
	assert_null(view);
}

static void step(struct world *world)
{
	int number = (int)roll(&world->dice, OBJECTS);
	struct expected *e = &world->objects[number];
	int other;

	switch (roll(&world->dice, 40)) {
	case 0:
	case 1:
	case 2:
		change_deferral(world);
		return;
	case 3:
		flush(world);
		return;
	case 4:
		assert_works(dray_manager_initialize(world->manager));
		return;
	default:
		break;
	}
	if (e->memory && !e->dropped) {
		if (roll(&world->dice, 20) == 0)
			misuse(world, e);
		drop(world, e);
		return;
	}
	if (e->memory)
		return;
	other = (int)roll(&world->dice, OBJECTS);
	if (roll(&world->dice, 4) == 0 && world->objects[other].memory &&
	    !world->objects[other].dropped && world->objects[other].base < 0)
		view_of(world, other, e);
	else
		allocate_one(world, e);
}

static void compare(const struct world *world)
{
	struct dray_manager_stats stats = manager_stats(world->manager);
	struct dray_statistics numbers = { .size = sizeof(numbers) };
	struct dray_tracking tracking = { .size = sizeof(tracking) };
	struct dray_capacity capacity;
	uint64_t alive = 0, bytes = 0;

	for (int i = 0; i < OBJECTS; i++) {
		alive += world->objects[i].memory != NULL;
		if (world->objects[i].memory && world->objects[i].base < 0)
			bytes += world->objects[i].size;
	}
	assert_int_equal(stats.objects, alive);
	assert_int_equal(stats.bytes, bytes);
	assert_int_equal(stats.pending, world->waiting);
	assert_int_equal(stats.pending_bytes, world->waiting_bytes);
	assert_int_equal(stats.deferrals, world->depth);
	assert_int_equal(stats.retries, world->retries);
	assert_int_equal(stats.capacity, LIMIT);
	assert_works(dray_statistics_get(world->statistics, &numbers));
	assert_int_equal(numbers.bytes.now, bytes + world->waiting_bytes);
	assert_int_equal(numbers.blocks.now, world->blocks);
	assert_works(dray_tracking_get(world->tracking, &tracking));
	assert_int_equal(tracking.blocks, world->blocks);
	assert_int_equal(tracking.wrong_sizes, 0);
	assert_works(dray_resource_capacity(world->limit, &capacity));
	assert_int_equal(capacity.free, LIMIT - world->out);
}

static void open_world(struct world *world)
{
	struct dray_resource *source;

	world->pool = open_pool(test_spec(), NULL);
	source = pool_resource(world->pool);
	assert_works(dray_resource_limit(source, LIMIT, &world->limit));
	assert_works(
		dray_resource_statistics(world->limit, &world->statistics));
	assert_works(
		dray_resource_tracking(world->statistics, 2, &world->tracking));
	world->manager = open_manager(test_spec(), NULL, world->tracking);
	assert_works(dray_manager_initialize(world->manager));
	dray_resource_unref(source);
	world->dice.state = 20261122;
}

static void close_world(struct world *world)
{
	/* Views before what they are of, which they keep. */
	for (int i = 0; i < OBJECTS; i++)
		if (world->objects[i].memory && world->objects[i].base >= 0)
			drop(world, &world->objects[i]);
	for (int i = 0; i < OBJECTS; i++)
		if (world->objects[i].memory)
			drop(world, &world->objects[i]);
	compare(world);
	dray_manager_unref(world->manager);
	assert_int_equal(stats_of(world->pool).blocks, 0);
	assert_int_equal(stats_of(world->pool).bad_frees, 0);
	dray_resource_unref(world->tracking);
	dray_resource_unref(world->statistics);
	dray_resource_unref(world->limit);
	dray_pool_close(world->pool);
}

FACT(a_manager_agrees_with_a_plain_model)
{
	struct world *world = calloc(1, sizeof(*world));
	long i, count = operations();

	open_world(world);
	for (i = 0; i < count; i++) {
		show_progress(i, count, "operations on a manager");
		step(world);
		if (i % 8 == 0)
			compare(world);
	}
	/* It met what it is there for. */
	assert_true(world->retries > 10);
	close_world(world);
	free(world);
}
