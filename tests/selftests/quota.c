// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Who is charged: the limits of a heap and of its users, locked memory, and
 * that every charge ends when the memory is back, also when 64 threads race.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include <linux/capability.h>

#include "harness.h"

#include "attach.h"
#include "fence.h"
#include "ledger.h"
#include "node.h"
#include "process.h"
#include "setting.h"
#include "setup.h"

#define NOBODY 65534
#define THREADS 64
#define MOST 256

/* A node for heaps that have a limit only while a test runs. */
FIXTURE(quota)
{
	int node;
	size_t page;
	uint64_t piece; /* bytes that the smallest buffer takes */
	struct dray_heap_info heap;
	struct ledger before;
	char limit[PATH_MAX];
	char user_limit[PATH_MAX];
};

HEAP_VARIANTS(quota);

FIXTURE_SETUP(quota)
{
	struct dray_heap_info now;
	struct buffer buffer;

	SETUP_NODE();
	SETUP_HEAP(variant->type);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	setting_of_heap(self->limit, self->heap.name, "limit");
	setting_of_heap(self->user_limit, self->heap.name, "user_limit");
	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	self->piece = now.used - self->heap.used;
	buffer_close(&buffer);
}

FIXTURE_TEARDOWN_PARENT(quota)
{
	if (*self->limit) {
		EXPECT_EQ(0, setting_write(self->limit, 0));
		EXPECT_EQ(0, setting_write(self->user_limit, 0));
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}

static int take(int node, uint32_t heap, struct dray_alloc *alloc)
{
	*alloc = (struct dray_alloc){ .size = 1, .heap = heap };
	return node_call(node, DRAY_IOC_ALLOC, alloc);
}

/* How many of the smallest buffers can be had, up to MOST; *@last refuses. */
static unsigned int take_all(int node, uint32_t heap, struct dray_alloc *last,
			     int *ret)
{
	int fds[MOST];
	unsigned int count = 0, i;

	while (count < MOST && !(*ret = take(node, heap, last)))
		fds[count++] = last->fd;
	for (i = 0; i < count; i++)
		close(fds[i]);
	return count;
}

static uint64_t user_used(int node, uint32_t heap)
{
	struct dray_heap_info info;

	return node_heap(node, heap, &info) ? UINT64_MAX : info.user_used;
}

TEST_F(quota, what_a_user_has_is_told_and_goes_with_the_buffer)
{
	struct buffer buffer;

	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	EXPECT_EQ(self->heap.user_used + self->piece,
		  user_used(self->node, self->heap.index));
	buffer_close(&buffer);
	EXPECT_EQ(self->heap.user_used,
		  user_used(self->node, self->heap.index));
}

TEST_F(quota, a_user_gets_its_limit_exactly_and_again_and_again)
{
	uint64_t limit = self->heap.user_used + 10 * self->piece;
	struct dray_heap_info now;
	struct dray_alloc last;
	int i, ret;

	ASSERT_EQ(0, setting_write(self->user_limit, limit));
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	EXPECT_EQ(limit, now.user_limit);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(10,
			  take_all(self->node, self->heap.index, &last, &ret));
		EXPECT_EQ(-EDQUOT, ret);
		EXPECT_EQ(DRAY_REASON_QUOTA, last.reason);
		EXPECT_EQ(limit, last.limit);
	}
}

TEST_F(quota, a_byte_less_is_a_buffer_less)
{
	struct dray_alloc last;
	int ret;

	ASSERT_EQ(0, setting_write(self->user_limit,
				   self->heap.user_used + 4 * self->piece - 1));
	EXPECT_EQ(3, take_all(self->node, self->heap.index, &last, &ret));
	EXPECT_EQ(-EDQUOT, ret);
}

struct taker {
	uint32_t heap;
	unsigned int count; /* of buffers that it should get */
	uint32_t reason; /* of the refusal after them */
	int error;
	rlim_t locked; /* bytes that it may lock; RLIM_INFINITY: as it is */
	uint64_t capabilities;
};

/* 0 when another user gets exactly what it should. */
static int take_as_nobody(void *context)
{
	const struct taker *taker = context;
	struct rlimit limit = { taker->locked, taker->locked };
	struct dray_alloc last;
	int node, ret;

	if (taker->locked != RLIM_INFINITY && setrlimit(RLIMIT_MEMLOCK, &limit))
		return 1;
	if (process_become(NOBODY,
			   CAPABILITY(CAP_DAC_OVERRIDE) | taker->capabilities))
		return 2;
	node = node_open();
	if (node < 0)
		return 3;
	if (take_all(node, taker->heap, &last, &ret) != taker->count)
		return 4;
	if (taker->count == MOST)
		return ret ? 5 : 0;
	if (ret != taker->error || last.reason != taker->reason)
		return 6;
	if (taker->reason == DRAY_REASON_MEMLOCK && last.limit != taker->locked)
		return 7;
	return 0;
}

TEST_F(quota, one_user_at_its_limit_leaves_another_its_own)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = 5,
			       .error = -EDQUOT,
			       .reason = DRAY_REASON_QUOTA,
			       .locked = RLIM_INFINITY,
			       .capabilities = CAPABILITY(CAP_IPC_LOCK) };
	struct dray_alloc alloc, last;
	int ret;

	ASSERT_EQ(0, setting_write(self->user_limit, 5 * self->piece));
	while (!(ret = take(self->node, self->heap.index, &alloc)))
		;
	EXPECT_EQ(-EDQUOT, ret);
	EXPECT_EQ(-EDQUOT, take(self->node, self->heap.index, &last));
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, the_limit_of_the_heap_is_for_all_users_together)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = 2,
			       .error = -EDQUOT,
			       .reason = DRAY_REASON_QUOTA,
			       .locked = RLIM_INFINITY,
			       .capabilities = CAPABILITY(CAP_IPC_LOCK) };
	struct dray_alloc alloc;
	int i;

	ASSERT_EQ(0, setting_write(self->limit,
				   self->heap.used + 6 * self->piece));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, take(self->node, self->heap.index, &alloc));
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, a_limit_below_what_is_taken_takes_nothing_away)
{
	struct buffer buffer;
	struct dray_alloc alloc;

	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, 4 * self->page,
				 &buffer));
	ASSERT_EQ(0, setting_write(self->user_limit, 1));
	EXPECT_EQ(-EDQUOT, take(self->node, self->heap.index, &alloc));
	fill_random(buffer.bytes, buffer.size, 1);
	ASSERT_EQ(0, setting_write(self->user_limit, 0));
	EXPECT_EQ(0, take(self->node, self->heap.index, &alloc));
}

TEST_F(quota, what_is_no_number_is_no_limit)
{
	int fd = open(self->user_limit, O_WRONLY);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, write(fd, "much", 4));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(fd, "-1", 2));
}

TEST_F(quota, any_heap_goes_on_to_the_next)
{
	struct dray_heap_info first;
	struct dray_alloc alloc;
	struct dray_info info;
	char path[PATH_MAX];

	ASSERT_EQ(0, node_info(self->node, &info));
	if (info.heap_count < 2 || self->heap.index)
		SKIP(return, "for the first of several heaps");
	ASSERT_EQ(0, node_heap(self->node, 0, &first));
	setting_of_heap(path, first.name, "user_limit");
	ASSERT_EQ(0, setting_write(path, 1));
	ASSERT_EQ(0, take(self->node, DRAY_HEAP_ANY, &alloc));
	EXPECT_NE(0, alloc.heap);
	EXPECT_EQ(DRAY_REASON_NONE, alloc.reason);
}

struct race {
	int node;
	uint32_t heap;
	uint64_t limit;
	uint64_t room; /* buffers that the limit has room for */
	pthread_barrier_t start;
	pthread_barrier_t full;
	unsigned int taken;
	unsigned int wrong;
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

/* How many threads of a user may attach a page at the same time; 255: broken */
static int attach_as_nobody(void *context)
{
	struct race *race = context;
	struct rlimit limit = { race->limit, race->limit };
	pthread_t threads[THREADS];
	int i;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || process_become(NOBODY, 0))
		return 255;
	pthread_barrier_init(&race->start, NULL, THREADS);
	pthread_barrier_init(&race->full, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_attach_race, race))
			return 255;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return race->wrong ? 255 : (int)race->taken;
}

TEST_F_TIMEOUT(quota, of_64_threads_as_many_attach_as_may_be_locked, 120)
{
	struct race race = { .node = self->node, .room = 16 };

	if (!(self->heap.flags & DRAY_HEAP_SHARED))
		SKIP(return, "what is attached is of no heap: once is enough");
	if (node_copies())
		SKIP(return, "nothing is attached for a device that gets "
			     "copies");
	race.limit = race.room * self->page;
	EXPECT_EQ((int)race.room, process_run(attach_as_nobody, &race));
}

/* More than there can be, and less, at the same time. */
static void *run_beyond(void *context)
{
	struct race *race = context;
	struct dray_alloc alloc;
	int i;

	pthread_barrier_wait(&race->start);
	for (i = 0; i < 50 / machine_slowness(); i++) {
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

	if (sizeof(long) < 8)
		SKIP(return, "such a size is refused before any heap sees it");
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

/* Else a request for nearly all numbers would leave no room for others. */
TEST_F(quota, what_a_heap_never_has_is_refused_before_it_is_charged)
{
	struct dray_alloc alloc = { .size = self->heap.largest_request + 1,
				    .heap = self->heap.index };

	ASSERT_EQ(0, setting_write(self->user_limit, 1));
	EXPECT_EQ(-ENOMEM, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	EXPECT_EQ(variant->type == DRAY_HEAP_PAGES ? DRAY_REASON_ORDER
						   : DRAY_REASON_SIZE,
		  alloc.reason);
	EXPECT_EQ(self->heap.largest_request, alloc.limit);
	/* what it could have is */
	alloc.size = self->heap.largest_request;
	EXPECT_EQ(-EDQUOT, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
}

struct used {
	uint32_t heap;
	uint64_t value;
};

static bool user_has(void *context)
{
	struct used *used = context;
	int node = node_open();
	bool equal = user_used(node, used->heap) == used->value;

	close(node);
	return equal;
}

TEST_F(quota, what_a_pipe_holds_is_charged_until_it_lets_go)
{
	struct iovec iovec = { .iov_len = self->page };
	struct used used = { self->heap.index, self->heap.user_used };
	uint8_t *seen = malloc(self->page);
	struct buffer buffer;
	int pipes[2];

	if (variant->type != DRAY_HEAP_RESERVED)
		SKIP(return, "only reserved memory stays with its heap");
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, 4 * self->page,
				 &buffer));
	iovec.iov_base = buffer.bytes + self->page;
	ASSERT_EQ(self->page, vmsplice(pipes[1], &iovec, 1, 0));
	buffer_close(&buffer);
	/* three pages are back, one is not */
	EXPECT_EQ(used.value + self->page,
		  user_used(self->node, self->heap.index));
	ASSERT_EQ(self->page, read(pipes[0], seen, self->page));
	EXPECT_TRUE(wait_for(user_has, &used, LEDGER_DEADLINE));
}

TEST_F(quota, shared_memory_is_locked_memory_of_the_user)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = 8,
			       .error = -ENOMEM,
			       .reason = DRAY_REASON_MEMLOCK,
			       .locked = 8 * self->piece };
	int i;

	if (!(self->heap.flags & DRAY_HEAP_SHARED))
		SKIP(return, "dedicated memory is nobody's otherwise");
	/* each finds what the one before it gave back */
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, process_run(take_as_nobody, &taker));
	taker.locked = 8 * self->piece - 1;
	taker.count = 7;
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, who_may_lock_memory_is_not_bound_by_the_limit_of_locked_memory)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = MOST,
			       .locked = self->page,
			       .capabilities = CAPABILITY(CAP_IPC_LOCK) };

	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, dedicated_memory_is_not_locked_memory)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = MOST,
			       .locked = 0 };

	if (self->heap.flags & DRAY_HEAP_SHARED)
		SKIP(return, "this memory is not dedicated");
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

struct victim {
	uint32_t heap;
	int told;
};

/* Takes all that nobody may have, and waits for its end. */
static int take_and_wait(void *context)
{
	const struct victim *victim = context;
	struct dray_alloc alloc;
	int node;

	if (process_become(NOBODY, CAPABILITY(CAP_DAC_OVERRIDE) |
					   CAPABILITY(CAP_IPC_LOCK)))
		return 1;
	node = node_open();
	while (!take(node, victim->heap, &alloc))
		;
	if (write(victim->told, "", 1) != 1)
		return 2;
	for (;;)
		pause();
}

TEST_F(quota, a_killed_process_leaves_no_charge)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = 6,
			       .error = -EDQUOT,
			       .reason = DRAY_REASON_QUOTA,
			       .locked = RLIM_INFINITY,
			       .capabilities = CAPABILITY(CAP_IPC_LOCK) };
	struct victim victim = { .heap = self->heap.index };
	int told[2], i;
	pid_t child;
	char byte;

	ASSERT_EQ(0, setting_write(self->user_limit, 6 * self->piece));
	ASSERT_EQ(0, pipe(told));
	victim.told = told[1];
	for (i = 0; i < 3; i++) {
		child = process_start(take_and_wait, &victim);
		ASSERT_LT(0, child);
		ASSERT_EQ(1, read(told[0], &byte, 1));
		kill(child, SIGKILL);
		ASSERT_EQ(-SIGKILL, process_wait(child));
		ASSERT_EQ(0, ledger_differences(&self->before));
		EXPECT_EQ(0, process_run(take_as_nobody, &taker));
	}
}

struct filler {
	rlim_t locked; /* bytes */
	uint32_t count; /* of fills */
	struct buffer *buffer;
};

/* 1 refused for locked memory, 0 done, else something went wrong */
static int fill_as_nobody(void *context)
{
	const struct filler *filler = context;
	struct rlimit limit = { filler->locked, filler->locked };
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];
	struct dray_submit submit = {
		.channel = DRAY_CHANNEL_ANY,
		.transfers = (uintptr_t)transfers,
		.count = filler->count,
	};
	int node, ret;
	uint32_t i;

	for (i = 0; i < filler->count; i++)
		transfers[i] = (struct dray_transfer){
			.op = DRAY_OP_FILL,
			.dst_fd = filler->buffer->fd,
			.src_fd = -1,
			.run = filler->buffer->size,
			.pattern_size = 2,
			.pattern = { 1, 2 },
		};
	if (setrlimit(RLIMIT_MEMLOCK, &limit) ||
	    process_become(NOBODY, CAPABILITY(CAP_DAC_OVERRIDE)))
		return 2;
	node = node_open();
	if (node < 0)
		return 3;
	ret = node_call(node, DRAY_IOC_SUBMIT, &submit);
	if (ret == -ENOMEM && submit.reason == DRAY_REASON_MEMLOCK &&
	    submit.limit == filler->locked)
		return 1;
	if (ret)
		return 4;
	return fence_wait(submit.fence_fd) == 1 ? 0 : 5;
}

static bool nobody_can_fill(void *context)
{
	return !process_run(fill_as_nobody, context);
}

TEST_F(quota, the_pattern_of_a_fill_is_locked_memory)
{
	struct buffer buffer;
	struct filler filler = { .count = 1, .buffer = &buffer };
	struct dray_info info;

	ASSERT_EQ(0, node_info(self->node, &info));
	if (!info.channel_count)
		SKIP(return, "this node has no DMA channel");
	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index,
				     4 * self->page, &buffer));
	EXPECT_EQ(1, process_run(fill_as_nobody, &filler));
	/* a page is enough, if it takes more descriptors */
	filler.locked = self->page;
	EXPECT_EQ(0, process_run(fill_as_nobody, &filler));
	/* the pattern goes a little after the fence has signalled */
	EXPECT_TRUE(wait_for(nobody_can_fill, &filler, LEDGER_DEADLINE));
	EXPECT_TRUE(wait_for(nobody_can_fill, &filler, LEDGER_DEADLINE));
}

TEST_F(quota, all_patterns_of_a_submission_share_their_pages)
{
	struct buffer buffer;
	struct filler filler = { .count = DRAY_MAX_TRANSFERS,
				 .buffer = &buffer };
	struct dray_info info;

	ASSERT_EQ(0, node_info(self->node, &info));
	if (!info.channel_count)
		SKIP(return, "this node has no DMA channel");
	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	filler.locked = 65536;
	EXPECT_EQ(0, process_run(fill_as_nobody, &filler));
	/* the least: 256 bytes for each */
	if (self->page < 16384)
		filler.locked = 16384;
	EXPECT_TRUE(wait_for(nobody_can_fill, &filler, LEDGER_DEADLINE));
	filler.locked--;
	EXPECT_EQ(1, process_run(fill_as_nobody, &filler));
}

TEST_HARNESS_MAIN
