// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Limits that 64 threads, or the processes of several users, race for: as many
 * win as there is room for, and afterwards the books are right.
 */
#include <pthread.h>

#include "attach.h"
#include "fixture_quota.h"
#include "step.h"

#define THREADS 64

struct race {
	int node;
	uint32_t heap;
	uint64_t limit;
	uint64_t room; /* buffers that the limit has room for */
	pthread_barrier_t start;
	pthread_barrier_t full;
	unsigned int taken;
	unsigned int wrong;
	unsigned int held; /* buffers that somebody surely has now */
};

/* Takes and gives back, then keeps one if it can while all others do. */
static void *run_race(void *context)
{
	struct race *race = context;
	struct dray_alloc alloc;
	int i, ret;

	pthread_barrier_wait(&race->start);
	for (i = 0; i < 50 / machine_slowness(); i++) {
		ret = take(race->node, race->heap, &alloc);
		if (ret && (ret != -EDQUOT || alloc.limit != race->limit))
			__atomic_add_fetch(&race->wrong, 1, __ATOMIC_SEQ_CST);
		if (user_used(race->node, race->heap) > race->limit)
			__atomic_add_fetch(&race->wrong, 1, __ATOMIC_SEQ_CST);
		if (!ret)
			close(alloc.fd);
	}
	/* nobody has any here */
	pthread_barrier_wait(&race->start);
	ret = take(race->node, race->heap, &alloc);
	if (!ret)
		__atomic_add_fetch(&race->taken, 1, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&race->full);
	if (!ret)
		close(alloc.fd);
	return NULL;
}

TEST_F(quota, of_64_threads_as_many_win_as_the_limit_allows)
{
	struct race race = { .node = self->node,
			     .heap = self->heap.index,
			     .room = 16 };
	pthread_t threads[THREADS];
	int i;

	race.limit = self->heap.user_used + race.room * self->piece;
	ASSERT_EQ(0, setting_write(self->user_limit, race.limit));
	pthread_barrier_init(&race.start, NULL, THREADS);
	pthread_barrier_init(&race.full, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0,
			  pthread_create(&threads[i], NULL, run_race, &race));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, race.wrong);
	EXPECT_EQ(race.room, race.taken);
	EXPECT_EQ(self->heap.user_used,
		  user_used(self->node, self->heap.index));
}

/* Users that race for what a heap has for all of them. */
#define USERS 12

struct user {
	struct race *race;
	uid_t uid;
};

/* What run_race() does, in a process of another user. */
static int race_as_user(void *context)
{
	const struct user *user = context;
	struct race *race = user->race;
	struct dray_alloc alloc;
	int i, node, ret;

	ret = process_become(user->uid, OPENER);
	node = ret ? ret : node_open();
	pthread_barrier_wait(&race->start);
	for (i = 0; i < 50 / machine_slowness(); i++) {
		ret = take(node, race->heap, &alloc);
		if (ret && (ret != -EDQUOT || alloc.limit != race->limit))
			__atomic_add_fetch(&race->wrong, 1, __ATOMIC_SEQ_CST);
		if (ret)
			continue;
		/* fewer are counted than there are */
		if (__atomic_add_fetch(&race->held, 1, __ATOMIC_SEQ_CST) >
		    race->room)
			__atomic_add_fetch(&race->wrong, 1, __ATOMIC_SEQ_CST);
		__atomic_sub_fetch(&race->held, 1, __ATOMIC_SEQ_CST);
		close(alloc.fd);
	}
	pthread_barrier_wait(&race->start);
	ret = take(node, race->heap, &alloc);
	if (!ret)
		__atomic_add_fetch(&race->taken, 1, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&race->full);
	return 0;
}

/* A race in memory that processes share, for so many of them. */
static struct race *shared_race(FIXTURE_DATA(quota) * self, uint64_t room)
{
	struct race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	if (race == MAP_FAILED)
		return NULL;
	race->heap = self->heap.index;
	race->room = room;
	race->limit = self->heap.used + room * self->piece;
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&race->start, &shared, USERS);
	pthread_barrier_init(&race->full, &shared, USERS);
	return race;
}

TEST_F(quota, of_several_users_as_many_win_as_the_heap_allows)
{
	struct race *race = shared_race(self, 5);
	struct user user = { .race = race };
	pid_t children[USERS];

	ASSERT_NE(NULL, race);
	ASSERT_EQ(0, setting_write(self->limit, race->limit));
	for (int i = 0; i < USERS; i++) {
		user.uid = NOBODY - i;
		children[i] = process_start(race_as_user, &user);
		ASSERT_LT(0, children[i]);
	}
	for (int i = 0; i < USERS; i++)
		EXPECT_EQ(0, process_wait(children[i]));
	EXPECT_EQ(0, race->wrong);
	EXPECT_EQ(race->room, race->taken);
	ASSERT_EQ(0, ledger_differences(&self->before));
	READ_HEAP(heap, self->heap.index);
	EXPECT_EQ(self->heap.used, heap.used);
}

static int attach_one(const struct race *race, uint8_t *bytes)
{
	struct dray_attach attach;
	int ret = attach_memory(race->node, bytes, 1, 0, &attach);

	if (ret < 0 && (ret != -ENOMEM || attach.limit != race->limit ||
			attach.reason != DRAY_REASON_MEMLOCK))
		return -EIO;
	return ret;
}

/* The same with memory of the process, which RLIMIT_MEMLOCK is for. */
static void *run_attach_race(void *context)
{
	struct race *race = context;
	uint8_t *bytes = mmap(NULL, 1, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, fd;

	pthread_barrier_wait(&race->start);
	for (i = 0; i < 50; i++) {
		fd = attach_one(race, bytes);
		if (fd == -EIO)
			__atomic_add_fetch(&race->wrong, 1, __ATOMIC_SEQ_CST);
		if (fd >= 0)
			close(fd);
	}
	pthread_barrier_wait(&race->start);
	fd = attach_one(race, bytes);
	if (fd >= 0)
		__atomic_add_fetch(&race->taken, 1, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&race->full);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* How many threads of a user may attach a page at the same time. */
static int attach_as_nobody(void *context)
{
	struct race *race = context;
	struct rlimit limit = { race->limit, race->limit };
	pthread_t threads[THREADS];
	int i;

	STEP_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	STEP_EQ(0, process_become(NOBODY, 0));
	pthread_barrier_init(&race->start, NULL, THREADS);
	pthread_barrier_init(&race->full, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		STEP_EQ(0, pthread_create(&threads[i], NULL, run_attach_race,
					  race));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	STEP_EQ(0, race->wrong);
	return (int)race->taken;
}

TEST_F(quota, of_64_threads_as_many_attach_as_may_be_locked)
{
	struct race race = { .node = self->node, .room = 16 };

	SKIP_IF(!(self->heap.flags & DRAY_HEAP_SHARED),
		"what is attached is of no heap: once is enough");
	NEED_ATTACHING();
	race.limit = race.room * self->page;
	EXPECT_EQ((int)race.room, process_run(attach_as_nobody, &race));
}

/* More than there can be, and less, at the same time. */
static void *run_beyond(void *context)
{
	struct race *race = context;
	struct dray_alloc alloc;

	pthread_barrier_wait(&race->start);
	for (int i = 0; i < 50 / machine_slowness(); i++) {
		alloc = (struct dray_alloc){ .size = UINT64_C(1) << 63,
					     .heap = race->heap };
		if (!node_call(race->node, DRAY_IOC_ALLOC, &alloc))
			__atomic_add_fetch(&race->wrong, 1, __ATOMIC_SEQ_CST);
		if (take(race->node, race->heap, &alloc))
			__atomic_add_fetch(&race->wrong, 1, __ATOMIC_SEQ_CST);
		else
			close(alloc.fd);
	}
	return NULL;
}

TEST_F(quota, requests_beyond_all_memory_leave_the_books_right)
{
	struct race race = { .node = self->node, .heap = self->heap.index };
	pthread_t threads[THREADS];
	int i;

	SKIP_IF(sizeof(long) < 8,
		"such a size is refused before any heap sees it");
	pthread_barrier_init(&race.start, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0,
			  pthread_create(&threads[i], NULL, run_beyond, &race));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, race.wrong);
	EXPECT_EQ(self->heap.user_used,
		  user_used(self->node, self->heap.index));
}
