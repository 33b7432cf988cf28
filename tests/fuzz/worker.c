// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The processes and threads that make calls.  One process has the right to
 * unbind nodes, one has no rights at all.
 */
#include <grp.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "../selftests/importer.h"
#include "../selftests/node.h"
#include "board.h"
#include "run.h"

#define NOBODY 65534

struct job {
	struct thread thread;
	struct worker *worker;
	struct coverage coverage;
};

static call_function *const functions[KINDS] = {
	[KIND_OPEN] = run_open,
	[KIND_INFO] = run_info,
	[KIND_HEAP_INFO] = run_heap_info,
	[KIND_CHANNEL_INFO] = run_channel_info,
	[KIND_ALLOC] = run_alloc,
	[KIND_ADDRESS] = run_address,
	[KIND_SYNC] = run_sync,
	[KIND_SUBMIT] = run_submit,
	[KIND_LIST] = run_list,
	[KIND_BUFFER_INFO] = run_buffer_info,
	[KIND_EXPORT] = run_export,
	[KIND_ATTACH_USER] = run_attach_user,
	[KIND_ATTACH_DMABUF] = run_attach_dmabuf,
	[KIND_CANCEL] = run_cancel,
	[KIND_RECLAIM] = run_reclaim,
	[KIND_HEAP_MAP] = run_heap_map,
	[KIND_REGISTER_AREA] = run_register_area,
	[KIND_INTERRUPT_LINE] = run_interrupt_line,
	[KIND_UNKNOWN] = run_unknown,
	[KIND_TIMELINE] = run_timeline,
	[KIND_PACKET] = run_packet,
	[KIND_WAIT] = run_wait,
	[KIND_FRAMES] = run_frames,
	[KIND_RELEASE] = run_release,
	[KIND_POINTS] = run_points,
	[KIND_MMAP] = run_mmap,
	[KIND_MUNMAP] = run_munmap,
	[KIND_MADVISE] = run_madvise,
	[KIND_MPROTECT] = run_mprotect,
	[KIND_MREMAP] = run_mremap,
	[KIND_MLOCK] = run_mlock,
	[KIND_ANONYMOUS] = run_anonymous,
	[KIND_TOUCH] = run_touch,
	[KIND_COPY_IN] = run_copy_in,
	[KIND_COPY_OUT] = run_copy_out,
	[KIND_VMSPLICE] = run_vmsplice,
	[KIND_DIRECT] = run_direct,
	[KIND_RING] = run_ring,
	[KIND_CLOSE] = run_close,
	[KIND_DUP] = run_dup,
	[KIND_REOPEN] = run_reopen,
	[KIND_SEEK] = run_seek,
	[KIND_POLL] = run_poll,
	[KIND_SEND] = run_send,
	[KIND_RECEIVE] = run_receive,
	[KIND_CPU_SYNC] = run_cpu_sync,
	[KIND_SET_NAME] = run_set_name,
	[KIND_EXPORT_FENCE] = run_export_fence,
	[KIND_IMPORT_FENCE] = run_import_fence,
	[KIND_FENCE_WAIT] = run_fence_wait,
	[KIND_FENCE_MERGE] = run_fence_merge,
	[KIND_IMPORT] = run_import,
	[KIND_DETACH] = run_detach,
	[KIND_FOREIGN_MMAP] = run_foreign_mmap,
	[KIND_FOREIGN] = run_foreign,
	[KIND_FOREIGN_FENCE] = run_foreign_fence,
	[KIND_FORK] = run_fork,
	[KIND_REBIND] = run_rebind,
};

struct board *board;
struct settings settings;

uint64_t milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int call_run(struct thread *thread, const struct call *call)
{
	return functions[call->kind](thread, call);
}

void corpus_add(const struct input *input, uint32_t count)
{
	uint32_t at = atomic_fetch_add(&board->corpus_count, 1);

	if (at >= CORPUS) {
		atomic_store(&board->corpus_count, CORPUS);
		return;
	}
	board->corpus[at] = *input;
	board->corpus[at].count = count;
	atomic_store(&board->ready[at], true);
}

static bool corpus_pick(struct input *input, uint64_t *state)
{
	uint32_t count = atomic_load(&board->corpus_count), at;

	if (!count)
		return false;
	at = (uint32_t)pick(state, count < CORPUS ? count : CORPUS);
	if (!atomic_load(&board->ready[at]))
		return false;
	*input = board->corpus[at];
	return true;
}

static void call_count(const struct call *call, int ret)
{
	atomic_fetch_add(&board->tried[call->kind], 1);
	if (!ret)
		atomic_fetch_add(&board->worked[call->kind], 1);
	else if (ret == -ENOTTY || ret == -EOPNOTSUPP || ret == -ENOSYS)
		atomic_fetch_add(&board->absent[call->kind], 1);
}

/*
 * The number of calls after which nothing new was reached; 0 where nobody
 * looks.
 */
static uint32_t input_run(struct job *job, const struct input *input,
			  bool guided)
{
	struct worker *worker = job->worker;
	const struct call *call;
	uint32_t i, count, last = 0;
	int ret;

	if (input->fresh)
		objects_clear();
	for (i = 0; i < input->count; i++) {
		call = &input->calls[i];
		count = atomic_load(&worker->count);
		worker->recent[count % RECENT] = *call;
		atomic_store(&worker->count, count + 1);
		if (settings.loud)
			call_print(call, stderr);
		if (guided)
			coverage_reset(&job->coverage);
		atomic_store(&worker->began, milliseconds_now());
		ret = call_run(&job->thread, call);
		atomic_fetch_add(&board->spent[call->kind],
				 milliseconds_now() - worker->began);
		atomic_store(&worker->began, 0);
		call_count(call, ret);
		if (guided && coverage_add(&job->coverage, board->seen))
			last = i + 1;
	}
	atomic_fetch_add(&board->calls, input->count);
	return last;
}

static void *thread_fuzz(void *context)
{
	struct job *job = context;
	struct input input, other;
	uint64_t *state = &job->thread.state;
	uint32_t last;
	bool guided;

	atomic_store(&job->worker->task, (int)syscall(SYS_gettid));
	while (atomic_load(&board->calls) < board->until) {
		if (object_fd(OBJECT_NODE, 0) >= 0 && pick(state, 3) &&
		    corpus_pick(&input, state)) {
			if (!corpus_pick(&other, state))
				other = input;
			input_change(&input, &other, state);
		} else {
			input_make(&input, state);
		}
		guided = settings.coverage && !pick(state, settings.guide);
		if (guided && coverage_begin(&job->coverage))
			_exit(3);
		last = input_run(job, &input, guided);
		if (guided && coverage_end(&job->coverage))
			_exit(3);
		if (last)
			corpus_add(&input, last);
	}
	return NULL;
}

/* All that is open before the objects are; threads need no memory later. */
static int job_make(struct job *job, uint32_t process, uint32_t index,
		    uint64_t seed)
{
	struct thread *thread = &job->thread;
	int ret = 0;

	job->worker = &board->workers[process * THREADS + index];
	job->worker->seed = seed;
	atomic_store(&job->worker->count, 0);
	thread->seed = seed;
	thread->state = seed;
	thread->rebinds = !process && !index;
	thread->inbox = settings.inbox[process];
	thread->outbox = settings.outbox[process];
	thread->disk = settings.disk;
	thread->importer = importer_open();
	if (pipe2(thread->pipe, O_NONBLOCK | O_CLOEXEC))
		return -errno;
	thread->area = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thread->area == MAP_FAILED ||
	    mprotect(thread->area + 2 * PAGE, PAGE, PROT_NONE))
		return -errno;
	thread->constant = thread->area + 3 * PAGE;
	if (settings.coverage)
		ret = coverage_make(&job->coverage);
	return ret;
}

static int become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	/* Its own files in /proc stay its own. */
	return prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

_Noreturn void process_fuzz(uint32_t process, uint64_t seed)
{
	static struct job jobs[THREADS];
	pthread_t threads[THREADS];
	uint32_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < THREADS; i++)
		if (job_make(&jobs[i], process, i, seed + i))
			_exit(2);
	if (objects_make() || (process == PROCESSES - 1 && become_nobody()))
		_exit(2);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_fuzz, &jobs[i]))
			_exit(2);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

_Noreturn void process_corpus(void)
{
	static struct job job;
	uint32_t count = atomic_load(&board->corpus_count), i;
	struct input input;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (job_make(&job, 0, 0, settings.seed) || objects_make() ||
	    (settings.coverage && coverage_begin(&job.coverage)))
		_exit(2);
	atomic_store(&job.worker->task, (int)syscall(SYS_gettid));
	for (i = 0; i < count; i++) {
		input = board->corpus[i];
		input.fresh = true;
		board->kept[i] = input_run(&job, &input, settings.coverage);
	}
	_exit(0);
}
