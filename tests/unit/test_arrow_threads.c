// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arrow_threads: one array that threads export, import and release at once, and the
 * fields of one import that threads drop; -Db_sanitize=thread finds accesses without
 * an order.
 */
#include <dray/array.h>

#include "arrow.h"
#include "node.h"

enum {
	THREADS = 4,
	ROUNDS = 1000
};

static struct dray_array *shared;
static struct dray_array *fields[THREADS];
static atomic_int failures;
static pthread_barrier_t start, end;

static void run(void *(*work)(void *number))
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
}

/* Whether the array of @schema goes out and comes in. */
static bool pass_on(const struct ArrowSchema *schema)
{
	struct dray_array *array;
	struct ArrowArray out;
	int ret, first;

	if (dray_arrow_export(shared, NULL, 0, -1, &out))
		return false;
	ret = dray_arrow_import(schema, &out, 0, -1, &array, NULL);
	if (ret) {
		out.release(&out);
		return false;
	}
	first = *(unsigned char *)array->data;
	dray_array_unref(array);
	return first == 7;
}

static void *pass_all_on(void *number)
{
	struct ArrowSchema schema;

	if (schema_of(shared, &schema)) {
		atomic_fetch_add(&failures, 1);
		return NULL;
	}
	for (int i = 0; i < rounds(ROUNDS); i++)
		if (!pass_on(&schema))
			atomic_fetch_add(&failures, 1);
	schema.release(&schema);
	return NULL;
}

FACT(threads_pass_one_array_on)
{
	shared = make("u1", 2, DIMS(5, 6));
	memset(shared->data, 7, 30);
	run(pass_all_on);
	assert_int_equal(dray_block_count(&shared->block), 1);
	dray_array_unref(shared);
}

static void *drop_fields(void *number)
{
	for (int i = 0; i < rounds(ROUNDS); i++) {
		pthread_barrier_wait(&start);
		dray_array_unref(fields[(uintptr_t)number]);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

/* Its own function, called once for each import, and by any of the threads. */
static void (*real_release)(struct ArrowArray *array);
static atomic_int released;

static void count_release(struct ArrowArray *array)
{
	atomic_fetch_add(&released, 1);
	real_release(array);
}

FACT(the_last_thread_releases_the_import)
{
	struct dray_array *records = make("u1,u1,u1,u1", 1, DIMS(3));
	pthread_t threads[THREADS];
	struct passed passed;

	pthread_barrier_init(&start, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, drop_fields,
						(void *)i),
				 0);
	for (int i = 0; i < rounds(ROUNDS); i++) {
		pass(records, NULL, DRAY_ARROW_COPY, &passed);
		real_release = passed.array.release;
		passed.array.release = count_release;
		assert_works(dray_arrow_import_fields(&passed.schema,
						      &passed.array, 0, -1,
						      THREADS, fields, NULL));
		pthread_barrier_wait(&start);
		pthread_barrier_wait(&end);
		assert_int_equal(atomic_load(&released), i + 1);
		drop(&passed);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start);
	pthread_barrier_destroy(&end);
	dray_array_unref(records);
}
