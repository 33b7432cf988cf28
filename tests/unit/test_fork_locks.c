// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fork: whichever lock of the library a thread holds, the process forks only
 * once it was given back, does not wait for ever, and the child can go on.
 *
 * A thread uses the whole library and is stopped when it has taken its first
 * lock, the next time its second, and so on; it goes on when the thread that
 * forks meets a lock that is taken.
 */
#include <semaphore.h>

#include "base/fork.h"
#include "simulated_engine.h"

#define BLOCK ((size_t)300 << 10)
#define POOL ((size_t)1 << 20)
#define LARGE ((size_t)100 << 20)

static _Thread_local bool watched, forks;
static _Thread_local int taken;
static int stop_at;
static atomic_bool holds;
static sem_t stopped, go_on;

static void let_go(void)
{
	if (atomic_exchange(&holds, false))
		sem_post(&go_on);
}

static void has_taken(void)
{
	if (!watched || ++taken != stop_at)
		return;
	atomic_store(&holds, true);
	sem_post(&stopped);
	while (sem_wait(&go_on))
		;
}
WRAPPED(int, pthread_mutex_trylock, (pthread_mutex_t * mutex))
{
	int error = __real_pthread_mutex_trylock(mutex);

	if (!error)
		has_taken();
	return error;
}
WRAPPED(int, pthread_mutex_lock, (pthread_mutex_t * mutex))
{
	int error;

	if (forks) {
		if (!__real_pthread_mutex_trylock(mutex))
			return 0;
		let_go();
	}
	error = __real_pthread_mutex_lock(mutex);
	has_taken();
	return error;
}

/* Off the main thread, and in a child, nothing can be asserted. */
static void need(bool fact, const char *what)
{
	if (fact)
		return;
	fprintf(stderr, "%s: %s\n", what, dray_last_error());
	abort();
}

static struct dray_view bytes_at(void *block)
{
	struct dray_view view;

	need(block, "a block");
	need(!dray_view_init(&view, block, u1, 1, DIMS(BLOCK), NULL), "a view");
	return view;
}

/* Transfers that a pool has to wait for, or finds done. */
static void use_queue(struct dray_node *node, struct dray_queue *queue)
{
	struct dray_pool_options options = { .initial = POOL, .limit = POOL };
	struct dray_fence *fence;
	struct dray_view dst, src;
	struct dray_pool *pool;

	need(!dray_pool_create(node, &options, &pool), "a pool");
	for (int done = 0; done < 2; done++) {
		dst = bytes_at(dray_pool_alloc(pool, BLOCK, 0));
		src = bytes_at(dray_pool_alloc(pool, BLOCK, 0));
		need(!dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, &fence),
		     "a copy");
		dray_pool_free(pool, dst.data);
		need(!dray_free_after(src.data, fence), "a free after it");
		if (done)
			engine_finish_all();
		dray_pool_free(pool, dray_pool_alloc(pool, 2 * BLOCK, 0));
		dray_fence_unref(fence);
	}
	dray_pool_close(pool);
}

static void use_manager(struct dray_node *node)
{
	struct dray_manager *manager;
	struct dray_memory *memory;

	need(!dray_get_manager(node, &manager), "a manager");
	need(!dray_manager_memalloc(manager, BLOCK, 0, &memory), "memory");
	dray_memory_unref(memory);
	dray_manager_unref(manager);
}

/* Its thread is there from the export to the free. */
static void use_records(struct dray_pool *pool)
{
	void *block = dray_pool_alloc(pool, BLOCK, 0);
	struct dray_ipc_memory *memory;
	struct dray_ipc_record record;

	need(!dray_ipc_export(block, BLOCK, 0, &record), "a record");
	need(!dray_ipc_open(&record, NULL, &memory), "what it leads to");
	dray_pool_free(pool, block);
	dray_ipc_close(memory);
}

/* The simulated engine answers for the host's channels too. */
static void use_stream(struct dray_node *node)
{
	struct dray_channel_info before = engine.channel;
	struct dray_stream_counts counts = { .size = sizeof(counts) };
	struct dray_stream *stream;
	struct dray_buffer *buffer;
	struct dray_event *event;
	struct dray_view view;

	engine.channel = (struct dray_channel_info){
		.flags = DRAY_CHANNEL_SEND,
		.alignment = 1,
		.name = "tx0",
	};
	need(!dray_stream_open(node, "tx0", NULL, &stream), "a stream");
	engine.channel = before;
	need(!dray_buffer_alloc(node, BLOCK, NULL, &buffer), "a buffer");
	view = bytes_at(dray_buffer_data(buffer));
	need(!dray_stream_send(stream, &view, NULL, &event), "a send");
	dray_buffer_unref(buffer);
	need(!dray_stream_counts(stream, &counts), "counts");
	need(!dray_event_cancel(event), "its end");
	need(dray_event_status(event) == -ECANCELED, "its status");
	dray_event_unref(event);
	dray_stream_close(stream);
}

static void use_all(void)
{
	struct dray_pool *pool;
	struct dray_queue *queue;
	struct dray_buffer *buffer;
	struct dray_node *node;
	struct dray_heap_info heap;

	need(!dray_node_open("host:shareable", &node), "a node");
	need(!dray_queue_create(node, NULL, &queue), "a queue");
	need(!dray_buffer_alloc(node, 65536, NULL, &buffer), "a buffer");
	need(!dray_node_heap(node, 0, &heap, sizeof(heap)), "a heap");
	dray_buffer_unref(buffer);
	use_queue(node, queue);
	use_stream(node);
	need(!dray_pool_create(node, NULL, &pool), "a pool");
	dray_pool_free(pool, dray_pool_alloc(pool, LARGE, 0));
	dray_pool_trim(pool);
	use_records(pool);
	dray_pool_close(pool);
	use_manager(node);
	dray_queue_destroy(queue);
	dray_node_unref(node);
}

static void *use_all_watched(void *unused)
{
	watched = true;
	taken = 0;
	use_all();
	/* What it takes as it ends would come after the last that is awaited. */
	watched = false;
	sem_post(&stopped);
	return NULL;
}

static void go_on_in_child(void)
{
	alarm(DEADLINE);
	forks = false;
	memset(&engine, 0, sizeof(engine));
	engine_reset();
	use_all();
	_exit(0);
}

/* False where the thread came to its end without so many locks. */
static bool fork_while_it_holds(int lock)
{
	bool stops, waited;
	pthread_t thread;
	int status;
	pid_t child;

	stop_at = lock;
	assert_int_equal(pthread_create(&thread, NULL, use_all_watched, NULL),
			 0);
	assert_int_equal(sem_wait(&stopped), 0);
	stops = atomic_load(&holds);
	forks = true;
	child = fork();
	if (!child)
		go_on_in_child();
	forks = false;
	waited = !atomic_load(&holds);
	let_go();
	assert_int_equal(pthread_join(thread, NULL), 0);
	if (stops)
		assert_int_equal(sem_wait(&stopped), 0);
	assert_true(child > 0);
	if (!waited) /* it may wait for the lock, which nobody gives back */
		kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!waited || status)
		fail_msg("lock %d: fork %s, the child ended with %d", lock,
			 waited ? "waited" : "did not wait", status);
	return stops;
}

FACT(a_fork_waits_for_every_lock)
{
	int lock = 1;

	assert_int_equal(sem_init(&stopped, 0, 0), 0);
	assert_int_equal(sem_init(&go_on, 0, 0), 0);
	engine_reset();
	/* Without an order of the locks this would have no end. */
	alarm(DEADLINE);
	use_all();
	while (fork_while_it_holds(lock)) {
		lock++;
		alarm(DEADLINE);
	}
	alarm(0);
	/* Each kind is taken at least once. */
	assert_true(lock > 20);
}

static char order[32];
static size_t steps;

static void step(char what)
{
	if (steps < sizeof(order) - 1)
		order[steps++] = what;
}

static void take_high(void)
{
	step('H');
}

static void give_high(void)
{
	step('h');
}

static void take_low(void)
{
	step('L');
}

static void give_low(void)
{
	step('l');
}

static void inherit_low(void)
{
	step('i');
}

static struct dray_fork_locks high = {
	.rank = DRAY_FORK_QUEUES,
	.take = take_high,
	.give = give_high,
};

static struct dray_fork_locks low = {
	.rank = DRAY_FORK_WINDOW,
	.take = take_low,
	.give = give_low,
	.inherit = inherit_low,
};

FACT(locks_are_taken_from_the_highest_down)
{
	int status;
	pid_t child;

	dray_fork_enlist(&low);
	dray_fork_enlist(&high);
	dray_fork_enlist(&low);
	dray_fork_enlist(&high);
	child = fork();
	if (!child)
		_exit(strcmp(order, "HLhi") != 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_string_equal(order, "HLhl");
}
