/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Included by every unit test: cmocka in its order, the headers of the C library
 * that most tests use, the library, and FACT.  A program has no main() and no
 * list: each fact registers itself, and unit.c runs them in the order of the file,
 * or those that match the pattern on its command line (as in
 * "./test_pool 'realloc_*'").
 */
#ifndef DRAY_TESTS_UNIT_H
#define DRAY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dray/dray.h>

struct unit_fact {
	struct CMUnitTest test;
	int line;
	bool (*where)(void); /* does it hold here? NULL: everywhere */
	struct unit_fact *next;
};

struct unit_group {
	CMFixtureFunction setup, teardown; /* around all facts; may be NULL */
	bool (*where)(void); /* does the file hold here? NULL: everywhere */
};

void unit_add(struct unit_fact *fact);
extern struct unit_group unit_group;

/* Runs all facts, or those whose names match @pattern; gives main()'s status. */
int unit_run(const char *pattern);

/* A fact with fixtures of its own, which holds only if @where() does. */
#define FACT_ON(where, name, setup, teardown)                                 \
	static void name(void **state);                                       \
	__attribute__((constructor)) static void unit_add_##name(void)        \
	{                                                                     \
		static struct unit_fact fact = {                              \
			{ #name, name, setup, teardown, NULL },               \
			__LINE__,                                             \
			where,                                                \
			NULL,                                                 \
		};                                                            \
                                                                              \
		unit_add(&fact);                                              \
	}                                                                     \
	static void name(void **state)

#define FACT_WITH(name, setup, teardown) FACT_ON(NULL, name, setup, teardown)
#define FACT(name) FACT_WITH(name, NULL, NULL)

/* A fact of one call. */
#define BRIEF(fact, call)  \
	fact               \
	{                  \
		call;      \
	}                  \
	struct unit_fact

/* Runs @setup before the facts of this file and @teardown after them. */
#define FACTS_SHARE(setup, teardown)                                  \
	__attribute__((constructor)) static void unit_share(void)     \
	{                                                             \
		unit_group = (struct unit_group){ setup, teardown,    \
						  unit_group.where }; \
	}

/* Leaves the facts of this file out unless @place() holds. */
#define FACTS_ON(place)                                          \
	__attribute__((constructor)) static void unit_place(void) \
	{                                                        \
		unit_group.where = place;                        \
	}

/* The code that is expected, and a sentence that holds @part. */
#define assert_fails(call, code, part)                                        \
	do {                                                                  \
		int result = (call);                                          \
                                                                              \
		assert_int_equal(result, (code));                             \
		if (!strstr(dray_last_error(), (part)))                       \
			fail_msg("'%s' does not say '%s'", dray_last_error(), \
				 (part));                                     \
	} while (0)

/* As assert_int_equal(call, 0), showing the sentence. */
#define assert_works(call)                                                     \
	do {                                                                   \
		int result = (call);                                           \
                                                                               \
		if (result)                                                    \
			fail_msg("%s: %d, %s", #call, result,                  \
				 dray_last_error());                           \
	} while (0)

/*
 * Heads the body of a function that replaces one of the library or the system.  If
 * meson.build wraps the name, __real_NAME() calls the original.
 */
#define WRAPPED(type, name, arguments) \
	type __real_##name arguments;  \
	type __wrap_##name arguments;  \
	type __wrap_##name arguments

/*
 * The deadline of every wait, in seconds: of alarm(), poll() and fences.  It only
 * ends a test that has failed, so no busy machine may reach it.
 */
#define DEADLINE 300
#define DEADLINE_NS (DEADLINE * UINT64_C(1000000000))

/* Clang says so by a feature, GCC by a name. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER true
#else
#define ADDRESS_SANITIZER false
#endif

/*
 * Skips a test that forks while other threads allocate: the address sanitizer's malloc()
 * holds its locks over fork() (libc's does not), and the child waits for them for ever.
 */
#define SKIP_IF_MALLOC_STAYS_LOCKED()  \
	do {                           \
		if (ADDRESS_SANITIZER) \
			skip();        \
	} while (0)

/* Skips a test whose children make threads, which the thread sanitizer forbids. */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SKIP_IF_CHILDREN_HAVE_NO_THREADS() skip()
#else
#define SKIP_IF_CHILDREN_HAVE_NO_THREADS() (void)0
#endif

/* Lets others run until @fact holds; fails at the deadline. */
#define becomes_true(fact)                                                  \
	do {                                                                \
		time_t until = time(NULL) + DEADLINE;                       \
                                                                            \
		while (!(fact)) {                                           \
			if (time(NULL) > until)                             \
				fail_msg("%s does not become true", #fact); \
			sched_yield();                                      \
		}                                                           \
	} while (0)

/* Types, shapes and strides. */
__attribute__((unused)) static const dray_dtype
	u1 = DRAY_UINT8,
	u2 = DRAY_UINT16,
	f4 = DRAY_FLOAT32;
#define DIMS(...) ((int64_t[]){ __VA_ARGS__ })

#define PERMISSIONS (DRAY_READ | DRAY_WRITE | DRAY_IMMUTABLE)

/* A view of the whole array, for the rest of the block. */
#define whole_view(array) \
	dray_array_view(array, &(struct dray_view){ .ndim = 0 })

/* Decimal digits of SIZE_MAX, as a sentence has them. */
#if SIZE_MAX > UINT32_MAX
#define SIZE_MAX_TEXT "18446744073709551615"
#else
#define SIZE_MAX_TEXT "4294967295"
#endif

/* Numbers that are the same in every run: xorshift. */
struct dice {
	uint64_t state;
};

static inline uint64_t roll(struct dice *dice, uint64_t sides)
{
	dice->state ^= dice->state << 13;
	dice->state ^= dice->state >> 7;
	dice->state ^= dice->state << 17;
	return dice->state % sides;
}

#endif /* DRAY_TESTS_UNIT_H */
