/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * NULL where a function needs something, as <dray/base.h> has the rule: what
 * each may answer.
 */
#ifndef DRAY_TESTS_NULL_H
#define DRAY_TESTS_NULL_H

#include "pool.h"

static struct dray_node *node;
static struct dray_pool *pool;

static int set_up(void **state)
{
	node = open_shareable_node();
	return dray_pool_create(node, NULL, &pool);
}

static int tear_down(void **state)
{
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

/* A sentence that none of the calls leaves. */
static inline void forget(void)
{
	dray_dtype dtype;

	dray_dtype_parse("nothing was said", &dtype);
	errno = 0;
}

static inline bool is_said(void)
{
	return !strstr(dray_last_error(), "nothing was said");
}

#define expect(call, wanted, right)                               \
	do {                                                      \
		if (!(right))                                     \
			fail_msg("%s is not %s", #call, wanted);  \
		if (!is_said())                                   \
			fail_msg("%s leaves no sentence", #call); \
	} while (0)

#define refuses(call)                                       \
	do {                                                \
		int result;                                 \
                                                            \
		forget();                                   \
		result = (call);                            \
		expect(call, "-EINVAL", result == -EINVAL); \
	} while (0)

/* NULL, with errno for who knows no other way. */
#define gives_nothing(call)                                        \
	do {                                                       \
		const void *result;                                \
                                                                   \
		forget();                                          \
		result = (call);                                   \
		expect(call, "NULL", !result);                     \
		expect(call, "NULL with EINVAL", errno == EINVAL); \
	} while (0)

#define gives(value, call)                   \
	do {                                 \
		bool right;                  \
                                             \
		forget();                    \
		right = (call) == (value);   \
		expect(call, #value, right); \
	} while (0)

#define does_nothing(call)                  \
	do {                                \
		forget();                   \
		call;                       \
		expect(call, "said", true); \
	} while (0)

/* What is given back may be nothing, which is no failure. */
#define ignores(call)                                                       \
	do {                                                                \
		forget();                                                   \
		call;                                                       \
		if (is_said())                                              \
			fail_msg("%s says '%s'", #call, dray_last_error()); \
	} while (0)

/* NULL means something there, or nothing is needed. */
#define allows(function) ((void)(function))

#endif /* DRAY_TESTS_NULL_H */
