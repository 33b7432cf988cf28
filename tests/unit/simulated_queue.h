/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A queue on the simulated engine for each test, and squares of bytes to copy.
 * After each test nothing may be in a block, or parked.
 */
#ifndef DRAY_TESTS_SIMULATED_QUEUE_H
#define DRAY_TESTS_SIMULATED_QUEUE_H

#include "simulated_engine.h"

static struct dray_node *node;
static struct dray_pool *pool;
static struct dray_queue *queue;

static inline int set_up(void **state)
{
	engine_reset();
	node = open_node("host:shareable");
	assert_works(dray_pool_create(node, NULL, &pool));
	assert_works(dray_queue_create(node, NULL, &queue));
	*state = queue;
	return 0;
}

static inline int tear_down(void **state)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	engine.outcome = 1;
	dray_queue_destroy(queue);
	assert_works(dray_pool_stats(pool, &stats));
	assert_int_equal(stats.blocks, 0);
	assert_int_equal(stats.parked, 0);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

static inline uint64_t parked(void)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	assert_works(dray_pool_stats(pool, &stats));
	return stats.parked;
}

/* A square of bytes in a block of its own, all @value. */
static inline struct dray_view square(int value)
{
	struct dray_view view;
	void *block = dray_pool_alloc(pool, 64 * 64, 0);

	assert_non_null(block);
	memset(block, value, 64 * 64);
	assert_works(dray_view_init(&view, block, u1, 2, DIMS(64, 64),
				    NULL));
	return view;
}

/* Without every second column: rows do not become one run. */
static inline struct dray_view columns(const struct dray_view *view)
{
	struct dray_view out;

	assert_works(dray_view_index(
		view, (struct dray_index[]){ DRAY_ALL, DRAY_SLICE(0, 32, 1) },
		2, &out));
	return out;
}

static inline void discard(struct dray_view *view)
{
	dray_pool_free(pool, view->data);
}

/* Explains a copy that has to go to the CPU, with this in the sentence. */
static inline void explain_cpu(struct dray_queue *asked, const struct dray_view *dst,
			const struct dray_view *src, const char *part)
{
	struct dray_explanation explanation = { .size = sizeof(explanation) };

	assert_works(dray_explain(asked, dst, src, 0, &explanation));
	assert_int_equal(explanation.engine, 0);
	if (!strstr(explanation.reason, part))
		fail_msg("'%s' does not say '%s'", explanation.reason, part);
}

/* A test of its own queue. */
#define QUEUE_FACT(name) FACT_WITH(name, set_up, tear_down)

#endif /* DRAY_TESTS_SIMULATED_QUEUE_H */
