// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Every allocation of a call fails once, and every copy from and to the program:
 * the first, then the second, until the call makes no more.  Each time the call
 * says why it failed, or has done its work without what it can do without;
 * nothing is left of it, and the next call works.  In the end the kernel's own
 * search finds no memory that was lost.
 *
 *	faults [--places LIST]
 *	faults --only SCENARIO
 *	faults --module FILE.ko PARAMETERS
 *
 * With --places the places of the LIST where none has failed until then are
 * aimed at; with --module it is the insertion of the module that they fail in.
 * With --only there is one scenario.
 */
#include "kselftest.h"

#include "../selftests/ledger.h"
#include "../selftests/node.h"
#include "../selftests/process.h"
#include "inject.h"
#include "place.h"
#include "scenario.h"

#define MOST 5000 /* allocations that a call makes */
#define TRANSFERS 200
#define KMEMLEAK "/sys/kernel/debug/kmemleak"

static bool is_absent[SCENARIOS]; /* scenarios that this machine has not */

static void progress(unsigned int done, unsigned int of, const char *what)
{
	ksft_print_msg("progress %u of %u %s\n", done, of, what);
	fflush(stdout);
}

static int files_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	if (!folder)
		return -1;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* What each injector is for, and what the call is to say. */
static const struct {
	const char *name;
	unsigned int flag;
	int error;
} injectors[] = {
	{ "failslab", SLAB, ENOMEM },
	{ "fail_page_alloc", PAGES, ENOMEM },
	{ "fail_usercopy", COPY, EFAULT },
};

/*
 * An allocation of which the log has nothing was made by who can do without it
 * more often than not.
 */
static bool is_right(int ret, const char *injector)
{
	if (scenario->replied && !scenario->replied(ret, injector))
		return false;
	if (ret && ret == -scenario->other)
		return true;
	if (!*injector)
		return !ret || ret == -ENOMEM;
	for (unsigned int i = 0; i < sizeof(injectors) / sizeof(injectors[0]);
	     i++)
		if (!strcmp(injector, injectors[i].name))
			return ret ? ret == -injectors[i].error
				   : scenario->does_without & injectors[i].flag;
	return false;
}

/*
 * What one failure led to, or, where it did not come to it, the call without;
 * false, and a line, where it is wrong.
 */
static bool one_works(unsigned int number, bool injected, int ret,
		      const struct ledger *before, int files)
{
	const char *name = scenario->name, *injector = place_injector();
	bool right = injected ? is_right(ret, injector) : !ret;

	scenario->undo();
	if (!right) {
		ksft_print_msg("%s, allocation %u (%s): %s\n", name, number,
			       !injected   ? "none"
			       : *injector ? injector
					   : "?",
			       ret ? strerror(-ret) : "done all the same");
		return false;
	}
	if (files_open() != files) {
		ksft_print_msg("%s, allocation %u: %d files open, were %d\n",
			       name, number, files_open(), files);
		return false;
	}
	if (ledger_differences(before)) {
		ksft_print_msg("%s, allocation %u: memory is left\n", name,
			       number);
		return false;
	}
	ret = scenario->prepare();
	if (!ret)
		ret = scenario->run();
	scenario->undo();
	if (ret)
		ksft_print_msg("%s, after allocation %u: %s\n", name, number,
			       strerror(-ret));
	return !ret;
}

static void scenario_test(const struct ledger *before)
{
	unsigned int number, refused = 0;
	bool injected = true, works = true;
	int ret, files = files_open();

	ret = scenario->prepare();
	if (!ret)
		ret = scenario->run();
	scenario->undo();
	if (ret == NOT_HERE || ret == -EOPNOTSUPP ||
	    scenario->heap >= before->heap_count) {
		is_absent[scenario - scenarios] = true;
		ksft_test_result_skip("%s: not on this machine\n",
				      scenario->name);
		return;
	}
	if (ret)
		ksft_print_msg("%s, without failures: %s\n", scenario->name,
			       strerror(-ret));
	for (number = 1; !ret && works && number < MOST; number++) {
		ret = scenario->prepare();
		if (ret)
			break;
		inject_nth(number);
		ret = scenario->run();
		injected = !inject_end();
		refused += ret != 0;
		works = one_works(number, injected, ret, before, files);
		ret = 0;
		if (!injected)
			break;
	}
	ksft_test_result(!ret && works && !injected,
			 "%s: %u allocations fail, %u calls with them\n",
			 scenario->name, number - 1, refused);
}

static void transfers_test(const struct ledger *before)
{
	int ret = transfers_run(TRANSFERS, 4);

	if (ret == NOT_HERE) {
		ksft_test_result_skip(
			"transfers while workers fail: not on this machine\n");
		return;
	}
	/* And then they work again. */
	if (!ret)
		ret = transfers_run(1, 0);
	if (ret)
		ksft_print_msg("transfers: %s\n", strerror(-ret));
	ksft_test_result(!ret && !ledger_differences(before),
			 "transfers end while the workers' allocations fail\n");
}

/* One scenario, in which what this place allocates first fails, if it does. */
static bool aim_hits(uint64_t offset, const struct ledger *before, bool *works)
{
	int files = files_open(), ret = scenario->prepare();
	bool injected = false;

	if (!ret)
		ret = inject_aim(offset);
	if (!ret) {
		inject_nth(1);
		ret = scenario->run();
		injected = !inject_end();
	}
	inject_aim_end();
	if (injected)
		*works &= one_works(1, true, ret, before, files);
	else
		scenario->undo();
	return injected;
}

/* Each until a scenario comes there; what none does is the host's to judge. */
static void aims_test(const char *path, const struct ledger *before)
{
	char name[PLACE_LENGTH];
	bool works = true;
	uint64_t offset;
	unsigned int i, aims = 0, hits = 0;

	while (place_next(path, name, &offset)) {
		aims++;
		for (i = 0; i < scenario_count; i++) {
			scenario = &scenarios[i];
			if (is_absent[i] || !aim_hits(offset, before, &works))
				continue;
			place_add(name);
			hits++;
			break;
		}
	}
	ksft_test_result(works, "%u places aimed at, %u hit\n", aims, hits);
}

static int leaks_ask(const char *words)
{
	int fd = open(KMEMLEAK, O_WRONLY), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, words, strlen(words)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * The board's own engine driver loses what it has allocated for its
 * descriptors when the coherent memory behind them cannot be had.
 */
#define NOT_OURS "zynqmp_dma_alloc_chan_resources"

/* The reports, one for each object, that are about dray; printed. */
static int leaks_count(FILE *file)
{
	char line[256], report[4096] = "";
	int count = 0;
	bool more = true;

	while (more) {
		more = fgets(line, sizeof(line), file);
		if ((!more || !strncmp(line, "unreferenced", 12)) &&
		    report[0]) {
			bool ours = !strstr(report, NOT_OURS);

			ksft_print_msg("%s%s",
				       ours ? "" : "not dray's: ", report);
			count += ours;
			report[0] = 0;
		}
		if (more && strlen(report) + strlen(line) < sizeof(report))
			strcat(report, line);
	}
	return count;
}

static void leaks_test(void)
{
	/* What is younger than five seconds is not looked at. */
	const struct timespec age = { .tv_sec = 6 };
	int count = 0;
	FILE *file;

	nanosleep(&age, NULL);
	/* Twice, as the kernel's documents advise: pointers move. */
	if (leaks_ask("scan") || leaks_ask("scan")) {
		ksft_test_result_skip("this kernel does not look for leaks\n");
		return;
	}
	file = fopen(KMEMLEAK, "r");
	if (file) {
		count = leaks_count(file);
		fclose(file);
	}
	ksft_test_result(file && !count, "the kernel finds no leak\n");
}

static int module_insert(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, parameters, 0))
		ret = -errno;
	close(fd);
	return ret;
}

static bool module_goes(void *context)
{
	return !syscall(SYS_delete_module, "dray", O_NONBLOCK) ||
	       errno == ENOENT;
}

/*
 * Its parameters are copied, too; and platform_device_add() does not look whether
 * it has got memory for a name: device_add() finds none.
 */
static bool insertion_is_right(int ret)
{
	return !ret || ret == -ENOMEM || ret == -EFAULT || ret == -EINVAL;
}

static void module_test(const char *path, const char *parameters)
{
	unsigned int number = 1, refused = 0, count;
	bool injected = true, works;
	int ret, files = files_open();

	wait_for(module_goes, NULL);
	inject_nth(MOST);
	ret = module_insert(path, parameters);
	count = MOST - inject_end();
	works = !ret;
	if (ret)
		ksft_print_msg("insertion, without failures: %s\n",
			       strerror(-ret));
	wait_for(module_goes, NULL);
	for (; works && injected && number < MOST; number++) {
		if (number % 20 == 0)
			progress(number, count, "allocations of the insertion");
		inject_nth(number);
		ret = module_insert(path, parameters);
		injected = !inject_end();
		refused += ret != 0;
		works = files_open() == files && insertion_is_right(ret);
		/* A node that cannot be bound is not the module's end. */
		if (!ret)
			works &= wait_for(module_goes, NULL);
		if (!works)
			ksft_print_msg("insertion, allocation %u: %s\n", number,
				       strerror(-ret));
	}
	ksft_test_result(works && !injected,
			 "insertion: %u allocations fail, %u calls with them\n",
			 number - 2, refused);
	ret = module_insert(path, parameters);
	ksft_test_result(!ret && node_open() >= 0,
			 "then the module and its node are there\n");
}

int main(int argc, char **argv)
{
	const char *places = NULL, *only = NULL;
	struct ledger before;
	int ret;

	ksft_print_header();
	if (inject_open())
		ksft_exit_skip("this kernel has no fault injection\n");
	leaks_ask("clear");
	if (argc == 4 && !strcmp(argv[1], "--module")) {
		ksft_set_plan(3);
		module_test(argv[2], argv[3]);
		leaks_test();
		ksft_finished();
	}
	if (argc == 3 && !strcmp(argv[1], "--places"))
		places = argv[2];
	if (argc == 3 && !strcmp(argv[1], "--only"))
		only = argv[2];
	ksft_set_plan(only ? 2 : scenario_count + 2 + !!places);
	ret = scenarios_open();
	if (ret)
		ksft_exit_fail_msg("%s: %s\n", node_path(), strerror(-ret));
	ret = node_open();
	if (ledger_take(ret, &before))
		ksft_exit_fail_msg("%s cannot be asked\n", node_path());
	close(ret);
	for (unsigned int i = 0; i < scenario_count; i++) {
		scenario = &scenarios[i];
		if (only && strcmp(only, scenario->name))
			continue;
		progress(i, scenario_count, "calls");
		scenario_test(&before);
	}
	if (!only)
		transfers_test(&before);
	if (places)
		aims_test(places, &before);
	leaks_test();
	ksft_finished();
}
