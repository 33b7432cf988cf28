// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * lock: one thread at a time has it; who finds it taken comes to it however long
 * that lasts, and sleeps meanwhile.
 */
#include "base/lock.h"
#include "unit.h"

#define THREADS 4
#define TURNS 20000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long turns; /* with the lock alone */
static atomic_int waiter; /* its thread's number */
static bool given_back, came_after;

static void *take_turns(void *argument)
{
	for (int turn = 0; turn < TURNS; turn++) {
		dray_lock(&lock);
		turns++;
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

FACT(one_thread_at_a_time_has_it)
{
	pthread_t threads[THREADS];
	int i;

	turns = 0;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, take_turns, NULL), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(turns, (long)THREADS * TURNS);
}

static void *wait_for_it(void *argument)
{
	atomic_store(&waiter, gettid());
	dray_lock(&lock);
	came_after = given_back;
	pthread_mutex_unlock(&lock);
	return argument;
}

static bool sleeps(int thread)
{
	char name[64], state = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", thread);
	file = fopen(name, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state == 'S';
}

FACT(who_waits_for_long_sleeps)
{
	pthread_t thread;

	dray_lock(&lock);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_it, NULL), 0);
	while (!atomic_load(&waiter) || !sleeps(atomic_load(&waiter)))
		sched_yield();
	given_back = true;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	assert_true(came_after);
}
