// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fuzzes the module: processes with several threads make random calls on
 * random objects, in phases; after each phase, when all have gone, every heap
 * must have its bytes again.  Where the kernel has KCOV, what reaches a new
 * place of the module is kept and changed further.
 *
 *	fuzz [--calls N] [--seed S] [--corpus FILE]... [--save FILE] [--blind]
 *	     [--guide N] [--replay SEED] [--loud]
 *
 * --corpus does its inputs first, and keeps them; --save writes those that
 * reach something which none before them does; --guide looks at what one input
 * of N reaches, since looking costs more than most calls; --blind goes without
 * KCOV: what a thread does depends on its seed alone then; --replay does that
 * again in a single thread, --loud names each call.
 */
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "kselftest.h"

#include "../selftests/ledger.h"
#include "../selftests/loop_device.h"
#include "../selftests/node.h"
#include "../selftests/process.h"
#include "board.h"
#include "run.h"

#define PHASE 20000 /* calls */
#define STUCK 150000 /* milliseconds that no call takes */
#define DISK (1024 * 1024)
#define ENOUGH 100 /* calls of a kind, one of which works if any can */

static const char *save_path;
static uint64_t replay;
static int leaks; /* phases after which something was left */
static int broken; /* processes that did not end by themselves */
static bool stuck;

static void file_show(const char *path)
{
	char text[2048];
	FILE *file = fopen(path, "r");

	while (file && fgets(text, sizeof(text), file))
		ksft_print_msg("    %s", text);
	if (file)
		fclose(file);
}

/* What every thread did last, and where it is. */
static void workers_show(void)
{
	struct worker *worker;
	uint32_t i, j, count;
	char path[64];
	int sysrq;

	for (i = 0; i < PROCESSES * THREADS; i++) {
		worker = &board->workers[i];
		if (!atomic_load(&worker->task))
			continue;
		count = atomic_load(&worker->count);
		ksft_print_msg("thread %u, seed %" PRIu64 ", call %u%s\n", i,
			       worker->seed, count,
			       atomic_load(&worker->began) ? ", inside" : "");
		for (j = count > RECENT ? count - RECENT : 0; j < count; j++)
			call_print(&worker->recent[j % RECENT], stdout);
		snprintf(path, sizeof(path), "/proc/%d/stack",
			 atomic_load(&worker->task));
		file_show(path);
	}
	/* All that wait, in the kernel's log. */
	sysrq = open("/proc/sysrq-trigger", O_WRONLY);
	if (sysrq >= 0 && write(sysrq, "w", 1) == 1)
		close(sysrq);
}

static bool is_stuck(void)
{
	uint64_t now = milliseconds_now(), began;

	for (uint32_t i = 0; i < PROCESSES * THREADS; i++) {
		began = atomic_load(&board->workers[i].began);
		if (began && now > began && now - began > STUCK)
			return true;
	}
	return false;
}

/* Two machines may run at once, and say so in one place. */
static void progress(void)
{
	static struct utsname machine;
	static uint64_t shown;
	uint64_t calls = atomic_load(&board->calls);

	if (calls / (settings.calls / 20 + 1) == shown)
		return;
	shown = calls / (settings.calls / 20 + 1);
	uname(&machine);
	ksft_print_msg("progress %" PRIu64 " of %" PRIu64 " calls on %s\n",
		       calls < settings.calls ? calls : settings.calls,
		       settings.calls, machine.machine);
	fflush(stdout);
}

/* Waits for the processes of a phase. */
static void processes_wait(const pid_t *processes, uint32_t count)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	uint32_t i, left = count;
	pid_t ended;
	int status;

	while (left && !stuck) {
		ended = waitpid(-1, &status, WNOHANG);
		if (ended <= 0) {
			nanosleep(&pause, NULL);
			progress();
			stuck = is_stuck();
			continue;
		}
		for (i = 0; i < count; i++)
			if (processes[i] == ended)
				break;
		if (i == count)
			continue;
		left--;
		if (!status)
			continue;
		ksft_print_msg("process %u ended with status %x\n", i, status);
		broken++;
	}
	if (!stuck)
		return;
	workers_show();
	for (i = 0; i < count; i++)
		kill(processes[i], SIGKILL);
}

static void phase_end(const pid_t *processes, uint32_t count,
		      const struct ledger *before)
{
	processes_wait(processes, count);
	if (stuck)
		return;
	process_wait_all();
	for (uint32_t i = 0; i < PROCESSES * THREADS; i++) {
		atomic_store(&board->workers[i].task, 0);
		atomic_store(&board->workers[i].began, 0);
	}
	for (uint32_t i = 0; i < PROCESSES; i++)
		drop_descriptors(settings.inbox[i]);
	if (ledger_reclaimed_differences(before)) {
		ksft_print_msg("after %" PRIu64 " calls\n",
			       (uint64_t)atomic_load(&board->calls));
		leaks++;
	}
}

static void phase_fuzz(uint64_t seed, const struct ledger *before)
{
	uint32_t count = replay ? 1 : PROCESSES, i;
	pid_t processes[PROCESSES];

	fflush(stdout);
	for (i = 0; i < count; i++) {
		processes[i] = fork();
		if (!processes[i])
			process_fuzz(i, seed + i * THREADS);
	}
	phase_end(processes, count, before);
}

static void phase_corpus(const struct ledger *before)
{
	pid_t process;

	fflush(stdout);
	process = fork();
	if (!process)
		process_corpus();
	phase_end(&process, 1, before);
}

static bool corpus_load(const char *path)
{
	FILE *file = fopen(path, "r");
	struct input input;
	uint32_t count = 0;

	if (!file)
		return false;
	while (input_read(&input, file)) {
		corpus_add(&input, input.count);
		count++;
	}
	fclose(file);
	ksft_print_msg("%s: %u inputs\n", path, count);
	return count;
}

/* Does all again, one after the other, and writes what is worth keeping. */
static void corpus_save(const struct ledger *before)
{
	uint32_t count = atomic_load(&board->corpus_count), i, kept = 0;
	FILE *file = fopen(save_path, "w");

	if (!file)
		return;
	memset(board->seen, 0, sizeof(board->seen));
	phase_corpus(before);
	fputs("# SPDX-License-Identifier: Apache-2.0 OR MIT\n", file);
	for (i = 0; i < count; i++) {
		if (!board->kept[i])
			continue;
		input_print(&board->corpus[i], file);
		kept++;
	}
	fclose(file);
	ksft_print_msg("%u inputs of %u are kept\n", kept, count);
}

static int settings_make(void)
{
	struct loop_device disk;
	int pair[2];

	settings.disk = loop_device_open(&disk, DISK) ? -1 : disk.direct;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
			       pair))
			return -errno;
		settings.inbox[i] = pair[0];
		settings.outbox[(i + 1) % PROCESSES] = pair[1];
	}
	return 0;
}

static uint32_t places_reached(void)
{
	uint32_t i, count = 0;

	for (i = 0; i < COVERAGE_SIZE; i++)
		count += board->seen[i];
	return count;
}

static void report(void)
{
	unsigned int tried, worked, i;

	ksft_test_result(!stuck, "no call is stuck\n");
	ksft_test_result(!broken, "no process of the fuzzer broke\n");
	ksft_test_result(!leaks, "nothing was left after any phase\n");
	for (i = 0; i < KINDS; i++) {
		tried = atomic_load(&board->tried[i]);
		worked = atomic_load(&board->worked[i]);
		if (tried && !worked &&
		    (i == KIND_UNKNOWN || atomic_load(&board->absent[i])))
			ksft_test_result_skip(
				"%s: %u calls, not on this machine\n",
				kind_names[i], tried);
		else if (!worked && tried < ENOUGH)
			ksft_test_result_skip(
				"%s: none of %u calls worked, too few to tell\n",
				kind_names[i], tried);
		else
			ksft_test_result(worked, "%s: %u of %u worked, %u ms\n",
					 kind_names[i], worked, tried,
					 atomic_load(&board->spent[i]));
	}
}

static void options(int argc, char **argv)
{
	const char *value;

	for (int i = 1; i < argc; i++) {
		value = i + 1 < argc ? argv[i + 1] : "";
		if (!strcmp(argv[i], "--blind")) {
			settings.coverage = false;
			continue;
		}
		if (!strcmp(argv[i], "--loud")) {
			settings.loud = true;
			continue;
		}
		i++;
		if (!strcmp(argv[i - 1], "--calls"))
			settings.calls = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i - 1], "--guide"))
			settings.guide = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i - 1], "--seed"))
			settings.seed = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i - 1], "--replay"))
			replay = settings.seed = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i - 1], "--save"))
			save_path = value;
		else if (strcmp(argv[i - 1], "--corpus") || !corpus_load(value))
			ksft_exit_fail_msg("%s %s: no\n", argv[i - 1], value);
	}
	if (replay)
		settings.coverage = false;
}

int main(int argc, char **argv)
{
	struct ledger before;
	uint64_t calls, seed;
	int node;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return KSFT_FAIL;
	settings.seed = (uint64_t)time(NULL) * 1000000;
	settings.calls = 100000;
	settings.guide = 1;
	settings.coverage = coverage_find();
	ksft_print_header();
	options(argc, argv);
	ksft_set_plan(3 + KINDS);
	ksft_print_msg("seed %" PRIu64 "%s\n", settings.seed,
		       settings.coverage ? ", guided by KCOV" : "");
	/* Children of the fuzzer's children must be seen to end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	node = node_open();
	if (node < 0 || ledger_take(node, &before) || nodes_find() < 1 ||
	    settings_make())
		ksft_exit_fail_msg("%s cannot be used\n", node_path());
	close(node);
	if (atomic_load(&board->corpus_count))
		phase_corpus(&before);

	calls = atomic_load(&board->calls);
	for (seed = settings.seed; calls < settings.calls && !stuck;
	     seed += PROCESSES * THREADS) {
		calls += settings.calls - calls < PHASE ? settings.calls - calls
							: PHASE;
		board->until = calls;
		phase_fuzz(seed, &before);
	}
	if (settings.coverage)
		ksft_print_msg("%u places reached, %u inputs reached them\n",
			       places_reached(),
			       atomic_load(&board->corpus_count));
	report();
	if (save_path && !stuck)
		corpus_save(&before);
	ksft_finished();
}
