// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: a kernel that cannot, or does no longer, do what caches need.  What it
 * can is asked once in a process, so each fact has one of its own.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool.h"
#include "pool/cache.h"

#define BLOCKS 20
/* Less than what a kernel's pool gives back when it is empty. */
#define SIZE ((size_t)8 << 20)

static struct {
	int barriers; /* that work before none does */
	int registrations;
	int wipes;
} allowed = { 1000, 1000, 1000 };

#define CMD_PRIVATE_EXPEDITED 8
#define CMD_REGISTER_PRIVATE_EXPEDITED 16
WRAPPED(long, syscall, (long number, ...))
{
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_membarrier) {
		int command = (int)arguments[0];

		errno = EPERM;
		if (command == CMD_PRIVATE_EXPEDITED && allowed.barriers-- <= 0)
			return -1;
		if (command == CMD_REGISTER_PRIVATE_EXPEDITED &&
		    allowed.registrations-- <= 0)
			return -1;
	}
	return __real_syscall(number, arguments[0], arguments[1], arguments[2],
			      arguments[3], arguments[4], arguments[5]);
}
WRAPPED(int, madvise, (void *address, size_t size, int advice))
{
	if (advice == MADV_WIPEONFORK && allowed.wipes-- <= 0) {
		errno = EINVAL;
		return -1;
	}
	return __real_madvise(address, size, advice);
}

/* In a child, where a failure has to end it. */
#define holds(fact)                                                          \
	do {                                                                 \
		if (!(fact)) {                                               \
			fprintf(stderr, "# line %d: %s\n", __LINE__, #fact); \
			_exit(1);                                            \
		}                                                            \
	} while (0)

static void in_a_child(void (*fact)(struct dray_pool *pool))
{
	struct dray_pool_options options = { .initial = SIZE, .limit = SIZE };
	struct dray_node *node;
	struct dray_pool *pool;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		holds(!dray_node_open(test_spec(), &node));
		holds(!dray_pool_create(node, &options, &pool));
		fact(pool);
		dray_pool_close(pool);
		dray_node_unref(node);
		exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static struct dray_pool_stats see(struct dray_pool *pool)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	holds(!dray_pool_stats(pool, &stats));
	return stats;
}

/* Takes some and frees them; they keep what was written meanwhile. */
static void use(struct dray_pool *pool)
{
	unsigned char *blocks[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = dray_pool_alloc(pool, 200, 0);
		holds(blocks[i]);
		memset(blocks[i], i, 200);
	}
	for (int i = 0; i < BLOCKS; i++) {
		holds(all_bytes_are(blocks[i], i, 200));
		dray_pool_free(pool, blocks[i]);
	}
}

static void has_no_caches(struct dray_pool *pool)
{
	use(pool);
	holds(see(pool).cached == 0);
	holds(see(pool).used == 0);
	holds(see(pool).largest_free == SIZE);
}

static void has_caches(struct dray_pool *pool)
{
	use(pool);
	holds(see(pool).cached > 0);
	holds(see(pool).used == 0);
}

BRIEF(FACT(where_the_kernel_can_there_are_caches), in_a_child(has_caches));

FACT(where_no_barrier_can_be_had_there_are_no_caches)
{
	allowed.registrations = 0;
	in_a_child(has_no_caches);
	allowed.registrations = 1000;
}

FACT(where_fork_would_copy_caches_there_are_none)
{
	allowed.wipes = 0;
	in_a_child(has_no_caches);
	allowed.wipes = 1000;
}

/* That a fork is seen, whether it can be done, the thread's, a cache. */
FACT(where_one_would_be_copied_the_thread_has_none)
{
	for (allowed.wipes = 1; allowed.wipes < 4; allowed.wipes++)
		in_a_child(has_no_caches);
	in_a_child(has_caches);
	allowed.wipes = 1000;
}

static struct dray_pool *shared;
static sem_t kept, go, gone, end;

static void wait_for(sem_t *what)
{
	while (sem_wait(what))
		;
}

/* Keeps blocks, comes back to the pool when it is told, and then waits. */
static void *keep_and_come_back(void *unused)
{
	use(shared);
	sem_post(&kept);
	wait_for(&go);
	use(shared);
	sem_post(&gone);
	wait_for(&end);
	return NULL;
}

static pthread_t start_keeper(struct dray_pool *pool)
{
	pthread_t keeper;

	shared = pool;
	sem_init(&kept, 0, 0);
	sem_init(&go, 0, 0);
	sem_init(&gone, 0, 0);
	sem_init(&end, 0, 0);
	holds(!pthread_create(&keeper, NULL, keep_and_come_back, NULL));
	wait_for(&kept);
	return keeper;
}

/* Its cache is left alone, its blocks are whole; then nobody has any. */
static void ends_its_caches(struct dray_pool *pool)
{
	pthread_t keeper = start_keeper(pool);

	use(pool);
	holds(!dray_caches_are_off());
	allowed.barriers = 0;
	/* What this thread keeps is its own to give. */
	holds(see(pool).cached > 0);
	holds(dray_caches_are_off());
	holds(see(pool).used > 0);
	holds(see(pool).cached == 0);
	use(pool);
	sem_post(&go);
	wait_for(&gone);
	holds(see(pool).used == 0);
	holds(see(pool).largest_free == SIZE);
	sem_post(&end);
	pthread_join(keeper, NULL);
	use(pool);
	holds(see(pool).cached == 0);
	holds(see(pool).used == 0);
}

BRIEF(FACT(without_a_barrier_caches_are_left_to_their_owners),
      in_a_child(ends_its_caches));

/* A thread that never comes back gives it back at its end. */
static void ends_with_its_thread(struct dray_pool *pool)
{
	pthread_t keeper = start_keeper(pool);

	allowed.barriers = 0;
	holds(see(pool).used > 0);
	sem_post(&go);
	sem_post(&end);
	pthread_join(keeper, NULL);
	holds(see(pool).used == 0);
	holds(see(pool).largest_free == SIZE);
}

BRIEF(FACT(what_could_not_be_drained_comes_back_with_the_thread),
      in_a_child(ends_with_its_thread));

/* Private memory: the child goes on with its copy of all of it. */
static void is_whole_in_a_child(struct dray_pool *pool)
{
	pthread_t keeper = start_keeper(pool);
	int status;
	pid_t child;

	allowed.barriers = 0;
	child = fork();
	holds(child >= 0);
	if (!child) {
		holds(see(pool).used == 0);
		has_no_caches(pool);
		_exit(0);
	}
	holds(waitpid(child, &status, 0) == child && status == 0);
	holds(see(pool).used > 0);
	sem_post(&go);
	sem_post(&end);
	pthread_join(keeper, NULL);
	holds(see(pool).used == 0);
}

FACT(what_could_not_be_drained_is_free_in_a_child)
{
	if (on_kernel()) /* a child takes nothing from its parent's there */
		skip();
	in_a_child(is_whole_in_a_child);
}
