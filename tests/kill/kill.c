// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Kills processes of a mixed load at random points, again and again, and
 * looks whether anything of them is left: a buffer, a byte of a heap, or memory
 * that others get no more.
 *
 *	kill [--kills N] [--seed S]
 *
 * It goes on after N kills until every kind of work was seen, which takes longer
 * on a busy machine.
 *
 * What is left is looked for with a deadline, since pins drain some time after
 * a process has gone.  What a node holds because devices may still use it is
 * reclaimed first.
 */
#include <sys/prctl.h>

#include "kselftest.h"

#include "../selftests/ledger.h"
#include "../selftests/loop_device.h"
#include "../selftests/node.h"
#include "../selftests/process.h"
#include "../selftests/setting.h"
#include "load.h"
#include "supply.h"

#define PROCESSES 5
#define ROUND 20 /* kills until all are killed and nothing may be left */
#define DISK (1024 * 1024)

static struct board *board;
static struct load loads[PROCESSES];
static pid_t processes[PROCESSES];
static uint64_t state;
static int busy; /* kills of a process with a transfer in flight */
static int lost; /* processes that ended by themselves */
static uint64_t held; /* bytes, until they were reclaimed */

static int start(unsigned int i)
{
	loads[i].seed = next_random(&state);
	processes[i] = fork();
	if (processes[i] < 0)
		return -errno;
	if (!processes[i]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		load_run(&loads[i]);
	}
	return 0;
}

static void end(unsigned int i)
{
	busy += atomic_exchange(&board->in_flight[i], 0) > 0;
	kill(processes[i], SIGKILL);
	/* Orphaned children of the load are ours too: see main(). */
	if (process_wait(processes[i]) != -SIGKILL)
		lost++;
	processes[i] = 0;
}

/* Mostly while it works, sometimes while it starts. */
static void pause_random(void)
{
	struct timespec pause = { 0 };

	pause.tv_nsec = (long)(next_random(&state) %
			       (next_random(&state) % 4 ? 40000000 : 1000000));
	nanosleep(&pause, NULL);
}

/* Held bytes of all heaps now. */
static uint64_t held_bytes(const struct ledger *before)
{
	struct dray_heap_info heap;
	int node = node_open();
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < before->heap_count; i++)
		if (!node_heap(node, i, &heap))
			bytes += heap.held;
	close(node);
	return bytes;
}

/* The engine of streams, if there is one, has no descriptor. */
static bool engine_is_idle(void *context)
{
	int fd = open("/sys/module/dray_test_stream/parameters/out",
		      O_RDONLY | O_CLOEXEC);
	char text[64] = "0,0,0,0\n";

	if (fd < 0)
		return true;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return !strncmp(text, "0,0,0,0\n", 8);
}

/* Kills what is left of the load; the number of things that stay behind. */
static int settle(const struct ledger *before)
{
	for (unsigned int i = 0; i < PROCESSES; i++)
		if (processes[i])
			end(i);
	if (!process_wait_all()) {
		ksft_print_msg("a child of the load does not end\n");
		return 1;
	}
	for (unsigned int i = 0; i < PROCESSES; i++)
		drop_descriptors(loads[i].inbox);
	held += held_bytes(before);
	if (!wait_for(engine_is_idle, NULL)) {
		ksft_print_msg("the engine of streams has descriptors\n");
		return 1;
	}
	return ledger_reclaimed_differences(before) + (held_bytes(before) != 0);
}

static int loads_make(uint64_t seed)
{
	struct loop_device disk;
	int pair[2];

	state = seed;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return -errno;
	if (loop_device_open(&disk, DISK))
		disk.direct = -1;
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
			       pair))
			return -errno;
		loads[i].index = i;
		loads[i].board = board;
		loads[i].disk = disk.direct;
		loads[i].inbox = pair[0];
		loads[(i + 1) % PROCESSES].outbox = pair[1];
	}
	return 0;
}

/* The number of things that stayed behind, or a negative errno. */
static int kill_many(int kills, const struct ledger *before)
{
	int done, left = 0, ret;
	unsigned int i;

	for (done = 0; done < kills && !left; done++) {
		for (i = 0; i < PROCESSES; i++) {
			ret = processes[i] ? 0 : start(i);
			if (ret)
				return ret;
		}
		pause_random();
		end((unsigned int)(next_random(&state) % PROCESSES));
		if (done % ROUND == ROUND - 1 || done == kills - 1)
			left = settle(before);
		if (done % ROUND == ROUND - 1)
			ksft_print_msg("progress %d of %d kills\n", done + 1,
				       kills);
	}
	if (left)
		ksft_print_msg("after %d kills\n", done);
	return left;
}

static bool all_work_is_seen(void)
{
	for (unsigned int i = 0; i < WORKS; i++)
		if (!atomic_load(&board->done[i]) &&
		    !atomic_load(&board->absent[i]))
			return false;
	return true;
}

/* What main() tells at its end, and what is to be seen before. */
struct killing {
	struct ledger before;
	bool holds; /* the node does, so that work stays undone */
	bool transfers; /* the node has channels */
	int left;
};

static bool is_enough(const struct killing *killing)
{
	if (killing->left)
		return true;
	if (killing->holds)
		return held;
	return (busy || !killing->transfers) && all_work_is_seen();
}

static bool one_round_more_is_enough(void *context)
{
	struct killing *killing = context;

	if (!is_enough(killing))
		killing->left = kill_many(ROUND, &killing->before);
	return is_enough(killing);
}

static void report_work(void)
{
	unsigned int done, i;

	for (i = 0; i < WORKS; i++) {
		done = atomic_load(&board->done[i]);
		if (done || !atomic_load(&board->absent[i]))
			ksft_test_result(done, "%s: %u\n", work_names[i], done);
		else
			ksft_test_result_skip("%s: not on this machine\n",
					      work_names[i]);
	}
}

/* Does a new node hold what devices may still use? */
static bool node_holds(int node)
{
	char path[PATH_MAX], word = 0;
	int file;

	if (setting_of_node(path, node, "hold"))
		return false;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, &word, 1) != 1)
		word = 0;
	close(file);
	return word == '1';
}

int main(int argc, char **argv)
{
	uint64_t seed = (uint64_t)time(NULL);
	struct killing killing = { .left = 0 };
	struct dray_info info = { 0 };
	struct supply supply;
	int kills = 100, i, node;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--kills"))
			kills = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
	}
	ksft_print_header();
	ksft_print_msg("seed %" PRIu64 "\n", seed);
	/* Children of what is killed must be seen to end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	node = node_open();
	if (node < 0 || node_info(node, &info) ||
	    ledger_take(node, &killing.before))
		ksft_exit_fail_msg("%s cannot be asked\n", node_path());
	killing.holds = node_holds(node);
	killing.transfers = info.channel_count;
	close(node);
	/* What the load has done is told where nothing is held. */
	ksft_set_plan(killing.holds ? 4 : 4 + WORKS);
	if (supply_take(&supply) || loads_make(seed))
		ksft_exit_fail_msg("the load cannot be made\n");

	killing.left = kill_many(kills, &killing.before);
	wait_for(one_round_more_is_enough, &killing);
	ksft_test_result(!killing.left, "nothing is left after %d kills\n",
			 kills);
	ksft_test_result(supply_is_back(&supply),
			 "what others may take is there again\n");
	ksft_test_result(!lost, "no process ended before it was killed\n");
	if (killing.holds) {
		ksft_test_result(held, "%" PRIu64 " bytes were held\n", held);
		ksft_finished();
	}
	if (killing.transfers)
		ksft_test_result(busy, "transfers were in flight at %d kills\n",
				 busy);
	else
		ksft_test_result_skip("this node has no channels\n");
	report_work();
	ksft_finished();
}
