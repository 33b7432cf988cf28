// SPDX-License-Identifier: Apache-2.0 OR MIT
/* thread: which signals reach the library's own threads. */
#include <dray/array/executor.h>

#include <dray/array.h>

#include "base/thread.h"
#include "layout/layout_threads.h"
#include "unit.h"

static const int causes[] = { SIGSEGV, SIGBUS,	SIGFPE, SIGILL,
			      SIGTRAP, SIGABRT, SIGSYS };
static const int sent[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1 };

#define COUNT(of) (sizeof(of) / sizeof((of)[0]))

static pthread_t main_thread;
static atomic_int looked; /* threads other than the first */

/* In a thread of the library's. */
static void look(void)
{
	sigset_t blocked;

	if (pthread_equal(pthread_self(), main_thread))
		return;
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (size_t i = 0; i < COUNT(causes); i++)
		if (sigismember(&blocked, causes[i]))
			fail_msg("signal %d is blocked", causes[i]);
	for (size_t i = 0; i < COUNT(sent); i++)
		if (!sigismember(&blocked, sent[i]))
			fail_msg("signal %d is not blocked", sent[i]);
	looked++;
}

static void begin(void)
{
	main_thread = pthread_self();
	looked = 0;
}

static atomic_bool other_came;

/* Waits until another thread has a part, too. */
static int look_at_part(void *context, uint64_t at, uint64_t length)
{
	look();
	if (!pthread_equal(pthread_self(), main_thread))
		other_came = true;
	while (!other_came)
		sched_yield();
	return 0;
}

FACT(threads_of_a_copy_get_the_signals_of_faults_alone)
{
	begin();
	other_came = false;
	assert_works(dray_threads_run(1 << 20, 2, look_at_part, NULL));
	assert_int_not_equal(looked, 0);
}

static int look_in_loop(char *const *data, const int64_t *strides,
			int64_t count, void *context)
{
	look();
	return 0;
}

FACT(the_thread_of_a_queue_gets_the_signals_of_faults_alone)
{
	const struct dray_ufunc_loop loop = { .loop = look_in_loop };
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_call_queue *queue = NULL;
	struct dray_ufunc *ufunc = NULL;
	struct dray_view view;
	const struct dray_view *of = &view;
	char byte = 0;

	begin();
	assert_works(dray_view_init(&view, &byte, DRAY_UINT8, 0, NULL, NULL));
	assert_works(
		dray_ufunc_create("look", 1, 1, DRAY_IDENTITY_NONE, &ufunc));
	assert_works(dray_ufunc_set_loop(ufunc, dtypes, &loop));
	assert_works(dray_call_queue_create(NULL, 0, NULL, &queue));
	assert_works(dray_call_queue_submit(queue, ufunc, &of, &of, NULL, NULL,
					    NULL));
	dray_call_queue_destroy(queue);
	dray_ufunc_unref(ufunc);
	assert_int_equal(looked, 1);
}

static void *look_once(void *unused)
{
	look();
	return unused;
}

FACT(a_thread_keeps_signals_that_its_maker_has_blocked)
{
	sigset_t fault, before, now;
	pthread_t thread;

	begin();
	sigemptyset(&fault);
	sigaddset(&fault, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &fault, &before);
	assert_int_equal(dray_thread_create(&thread, NULL, look_once, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &before, &now);
	pthread_join(thread, NULL);
	assert_int_equal(looked, 1);
	assert_true(sigismember(&now, SIGUSR2));
	assert_false(sigismember(&now, SIGTERM));
}
