// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pressure: who is asked before a request fails, how often, and what for. */
#include "pool.h"

#define MIB ((size_t)1 << 20)
#define SIZE MIB

struct asked {
	struct dray_pool *pool;
	void *spare; /* freed when asked */
	size_t size; /* of the last request */
	int times;
	bool says; /* true without having freed */
	bool closes;
	bool allocates;
};

/* A pool that can take no more, and what it had taken before. */
static int full_setup(void **state)
{
	struct dray_pool_options options = { .initial = SIZE, .limit = SIZE };
	struct asked *asked = calloc(1, sizeof(*asked));

	asked->pool = open_pool(test_spec(), &options);
	*state = asked;
	return 0;
}

static int full_teardown(void **state)
{
	struct asked *asked = *state;

	if (asked->pool)
		dray_pool_close(asked->pool);
	free(asked);
	return 0;
}

#define FULL_FACT(name) FACT_WITH(name, full_setup, full_teardown)

static bool ask(void *argument, size_t size, int error)
{
	struct asked *asked = argument;
	bool freed = asked->spare != NULL;

	asked->times++;
	asked->size = size;
	if (asked->allocates)
		assert_null(dray_pool_alloc(asked->pool, 2 * SIZE, 0));
	dray_pool_free(asked->pool, asked->spare);
	asked->spare = NULL;
	if (asked->closes)
		dray_pool_close(asked->pool);
	return freed || asked->says;
}

static struct asked *when_full(void **state)
{
	struct asked *asked = *state;

	dray_pool_set_pressure(asked->pool, ask, asked);
	asked->spare = take(asked->pool, SIZE, 0);
	assert_int_equal(asked->times, 0);
	return asked;
}

static void assert_no_memory(const struct asked *asked)
{
	errno = 0;
	assert_null(dray_pool_alloc(asked->pool, 100000, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "the limit of 1048576"));
}

FULL_FACT(what_is_freed_when_asked_is_given_out)
{
	struct asked *asked = when_full(state);
	void *block = take(asked->pool, 100000, 0);

	assert_int_equal(asked->times, 1);
	/* In granules, as it is looked for. */
	assert_in_range(asked->size, 100000, 100000 + 4095);
	dray_pool_free(asked->pool, block);
}

FULL_FACT(calloc_and_realloc_ask_too)
{
	struct asked *asked = when_full(state);
	void *block, *moved;

	block = dray_pool_calloc(asked->pool, 1, 100000);
	assert_non_null(block);
	assert_int_equal(asked->times, 1);
	asked->spare = take(asked->pool, SIZE - 200000, 0);
	moved = dray_pool_realloc(asked->pool, block, 500000);
	assert_non_null(moved);
	assert_int_equal(asked->times, 2);
	dray_pool_free(asked->pool, moved);
}

FULL_FACT(who_has_nothing_is_asked_once)
{
	struct asked *asked = when_full(state);
	void *block = asked->spare;

	asked->spare = NULL;
	/* What was said while asking is not the reason. */
	assert_no_memory(asked);
	assert_int_equal(asked->times, 1);
	/* Who says that there is memory, and there is none. */
	asked->says = true;
	assert_no_memory(asked);
	assert_int_equal(asked->times, 2);
	dray_pool_free(asked->pool, block);
}

FULL_FACT(a_request_made_when_asked_just_fails)
{
	struct asked *asked = when_full(state);

	asked->allocates = true;
	dray_pool_free(asked->pool, take(asked->pool, 100, 0));
	assert_int_equal(asked->times, 1);
	/* It left nothing behind: the next one is asked for again. */
	asked->spare = take(asked->pool, SIZE, 0);
	dray_pool_free(asked->pool, take(asked->pool, 100, 0));
	assert_int_equal(asked->times, 2);
}

FULL_FACT(the_sentence_is_that_of_the_request)
{
	struct asked *asked = when_full(state);
	void *block = asked->spare;

	asked->spare = NULL;
	asked->allocates = true;
	errno = 0;
	assert_null(dray_pool_alloc(asked->pool, 70000, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "70016 bytes asked"));
	assert_int_equal(dray_last_failure(), DRAY_FAILURE_NONE);
	dray_pool_free(asked->pool, block);
}

FULL_FACT(nobody_is_asked_for_what_is_impossible)
{
	struct asked *asked = when_full(state);
	void *block = asked->spare;

	assert_null(dray_pool_alloc(asked->pool, SIZE_MAX, 0));
	assert_null(dray_pool_calloc(asked->pool, SIZE_MAX / 2, 3));
	assert_null(dray_pool_alloc(asked->pool, 100, 3));
	assert_int_equal(asked->times, 0);
	dray_pool_close(asked->pool);
	assert_null(dray_pool_alloc(asked->pool, 100, 0));
	assert_int_equal(asked->times, 0);
	dray_pool_free(asked->pool, block);
	asked->pool = NULL;
}

FULL_FACT(nobody_is_asked_any_more)
{
	struct asked *asked = when_full(state);

	dray_pool_set_pressure(asked->pool, NULL, NULL);
	assert_no_memory(asked);
	assert_int_equal(asked->times, 0);
	dray_pool_free(asked->pool, asked->spare);
}

FULL_FACT(a_later_pool_has_nobody_to_ask)
{
	struct dray_pool_options options = { .initial = SIZE, .limit = SIZE };
	struct asked *asked = when_full(state);
	void *block;

	/* The object of the closed pool is used again. */
	dray_pool_free(asked->pool, asked->spare);
	asked->spare = NULL;
	dray_pool_close(asked->pool);
	asked->pool = open_pool(test_spec(), &options);
	block = take(asked->pool, SIZE, 0);
	assert_no_memory(asked);
	assert_int_equal(asked->times, 0);
	dray_pool_free(asked->pool, block);
}

FULL_FACT(who_is_asked_may_close_the_pool)
{
	struct asked *asked = when_full(state);

	asked->closes = true;
	errno = 0;
	assert_null(dray_pool_alloc(asked->pool, 100, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "closed"));
	asked->pool = NULL;
}

static bool fork_when_asked(void *argument, size_t size, int error)
{
	pid_t *child = argument;

	*child = fork();
	return false;
}

FACT(a_child_made_when_asked_can_end_the_pool)
{
	struct dray_pool_options options = { .initial = SIZE, .limit = SIZE };
	struct dray_node *node = open_node("host:shareable");
	struct dray_pool *pool;
	pid_t child = -1;
	int status;
	void *block;

	assert_works(dray_pool_create(node, &options, &pool));
	dray_pool_set_pressure(pool, fork_when_asked, &child);
	block = take(pool, SIZE, 0);
	assert_null(dray_pool_alloc(pool, 100, 0));
	if (!child) {
		dray_pool_free(pool, block);
		dray_pool_close(pool);
		_exit(buffers_of(node) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
	assert_int_equal(buffers_of(node), 0);
	dray_node_unref(node);
}

static pthread_barrier_t both;

/* Neither frees before the other is asked too. */
static bool ask_both(void *argument, size_t size, int error)
{
	void **spare = argument;
	struct dray_location where;
	static _Atomic int turn;
	int mine = turn++;

	pthread_barrier_wait(&both);
	if (dray_locate(spare[mine], &where))
		return false;
	dray_pool_free(where.pool, spare[mine]);
	return true;
}

static void *need(void *pool)
{
	return dray_pool_alloc(pool, SIZE / 2, 0);
}

FULL_FACT(two_threads_are_asked_at_once)
{
	struct asked *asked = *state;
	void *spare[2], *blocks[2];
	pthread_t threads[2];
	int i;

	pthread_barrier_init(&both, NULL, 2);
	for (i = 0; i < 2; i++)
		spare[i] = take(asked->pool, SIZE / 2, 0);
	dray_pool_set_pressure(asked->pool, ask_both, spare);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, need,
						asked->pool),
				 0);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], &blocks[i]);
	for (i = 0; i < 2; i++) {
		assert_non_null(blocks[i]);
		dray_pool_free(asked->pool, blocks[i]);
	}
	pthread_barrier_destroy(&both);
}
