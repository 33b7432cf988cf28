// SPDX-License-Identifier: Apache-2.0 OR MIT
/* resource: the log, as RMM writes it and its readers expect it. */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <regex.h>
#include <sys/stat.h>

#include "child.h"
#include "manager.h"
#include "resource.h"

/* A folder of the test's own, which it is in. */
static int folder_setup(void **state)
{
	static char folder[] = "/tmp/dray-log-XXXXXX";

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	unsetenv("DRAY_MEMORY_LOG");
	return pool_setup(state);
}

static void remove_logs(void)
{
	glob_t logs;

	if (glob("log.csv*", 0, NULL, &logs))
		return;
	for (size_t i = 0; i < logs.gl_pathc; i++)
		unlink(logs.gl_pathv[i]);
	globfree(&logs);
}

static int folder_teardown(void **state)
{
	char folder[PATH_MAX];

	unsetenv("DRAY_MEMORY_LOG");
	remove_logs();
	assert_non_null(getcwd(folder, sizeof(folder)));
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
	return pool_teardown(state);
}

#define LOG_FACT(name) FACT_WITH(name, folder_setup, folder_teardown)

static char text[1 << 20];

static const char *contents(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = 0;
	fclose(file);
	return text;
}

static void assert_matches(const char *line, const char *pattern)
{
	regex_t regex;

	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&regex, line, 0, NULL, 0))
		fail_msg("'%s' is not '%s'", line, pattern);
	regfree(&regex);
}

#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{6}"

LOG_FACT(each_call_is_a_line_in_rmm_s_columns)
{
	struct dray_resource *log =
		STACK(*state, dray_resource_log(upstream, "log.csv", &top));
	void *block = NULL, *out;
	char pattern[300];

	assert_works(dray_resource_allocate(log, 100, 0, 7, &block));
	assert_int_equal(dray_resource_allocate(log, PTRDIFF_MAX, 0, 0, &out),
			 -ENOMEM);
	assert_int_equal(dray_resource_deallocate(log, block, 100, 7), 0);
	assert_works(dray_log_check(log));
	snprintf(pattern, sizeof(pattern),
		 "^Thread,Time,Action,Pointer,Size,Stream\n"
		 "%ld," TIME ",allocate,0x%" PRIxPTR ",100,7\n"
		 "%ld," TIME ",allocate failure,\\(nil\\),%td,0\n"
		 "%ld," TIME ",free,0x%" PRIxPTR ",100,7\n$",
		 syscall(SYS_gettid), (uintptr_t)block, syscall(SYS_gettid),
		 PTRDIFF_MAX, syscall(SYS_gettid), (uintptr_t)block);
	assert_matches(contents("log.csv"), pattern);
	dray_resource_unref(log);
}

LOG_FACT(each_call_is_a_line_of_twelve_columns)
{
	struct dray_resource *log = STACK(
		*state, dray_resource_log_wide(upstream, "log.csv", &top));
	static const char times[] =
		"[0-9]+,[0-9]+,%d,[0-9.]+,[0-9.]+,[0-9.]+,thread %ld\n";
	const long thread = syscall(SYS_gettid);
	char pattern[800], one[100], none[100];
	void *block = NULL, *out;

	assert_works(dray_resource_allocate(log, 100, 0, 7, &block));
	assert_int_equal(dray_resource_allocate(log, PTRDIFF_MAX, 0, 0, &out),
			 -ENOMEM);
	assert_int_equal(dray_resource_deallocate(log, block, 100, 7), 0);
	assert_works(dray_log_check(log));
	snprintf(one, sizeof(one), times, 1, thread);
	snprintf(none, sizeof(none), times, 0, thread);
	snprintf(pattern, sizeof(pattern),
		 "^Event Type,Device ID,Address,Stream,Size \\(bytes\\),"
		 "Free Memory,Total Memory,Current Allocs,Start,End,Elapsed,"
		 "Location\n"
		 "Alloc,0,0x%" PRIxPTR ",7,100,%s"
		 "Alloc failure,0,\\(nil\\),0,%td,%s"
		 "Free,0,0x%" PRIxPTR ",7,100,%s$",
		 (uintptr_t)block, one, PTRDIFF_MAX, one, (uintptr_t)block,
		 none);
	assert_matches(contents("log.csv"), pattern);
	dray_resource_unref(log);
}

LOG_FACT(a_line_is_there_when_the_call_returns)
{
	struct dray_resource *log =
		STACK(*state, dray_resource_log(upstream, "log.csv", &top));
	void *block = allocate(log, 1, 0);

	assert_non_null(strstr(contents("log.csv"), ",allocate,"));
	give_back(log, block, 1);
	assert_non_null(strstr(contents("log.csv"), ",free,"));
	dray_resource_unref(log);
}

LOG_FACT(no_line_ends_up_in_a_file_of_the_program)
{
	struct dray_resource *log =
		STACK(*state, dray_resource_log(upstream, "log.csv", &top));
	struct stat file, now;
	int fd = 0;
	void *block;

	assert_int_equal(stat("log.csv", &file), 0);
	do
		fd++;
	while (fstat(fd, &now) || now.st_ino != file.st_ino ||
	       now.st_dev != file.st_dev);
	assert_int_equal(close(fd), 0);
	assert_int_equal(open("log.csv.own", O_RDWR | O_CREAT, 0600), fd);
	block = allocate(log, 1, 0);
	give_back(log, block, 1);
	assert_fails(dray_log_check(log), -EBADF, "the log is not complete");
	dray_resource_unref(log);
	assert_int_equal(fstat(fd, &now), 0);
	assert_int_equal(now.st_size, 0);
	close(fd);
}

LOG_FACT(a_log_that_cannot_be_written_is_named)
{
	struct dray_resource *upstream = pool_resource(*state), *log = NULL;

	assert_fails(dray_resource_log(upstream, "/there/is/none.csv", &log),
		     -ENOENT, "/there/is/none.csv: No such file");
	assert_fails(dray_resource_log(upstream, "/dev/full", &log), -ENOSPC,
		     "/dev/full: No space left");
	assert_null(log);
	assert_fails(dray_log_check(upstream), -EINVAL, "not of kind \"log\"");
	dray_resource_unref(upstream);
}

#define THREADS 4
#define PAIRS 500

static void *make_pairs(void *log)
{
	for (int i = 0; i < PAIRS; i++) {
		void *block;

		if (dray_resource_allocate(log, 64, 0, 0, &block) ||
		    dray_resource_deallocate(log, block, 64, 0))
			abort();
	}
	return NULL;
}

/* No address is allocated twice without a free between, line by line. */
static void assert_in_order(char *lines, int expected)
{
	static uintptr_t out[THREADS];
	int count = 0, i;
	char *line, *field;

	strsep(&lines, "\n");
	while ((line = strsep(&lines, "\n")) && *line) {
		bool frees = strstr(line, ",free,");
		uintptr_t pointer;

		field = strstr(line, ",0x");
		assert_non_null(field);
		pointer = strtoul(field + 1, NULL, 16);
		for (i = 0; i < THREADS; i++)
			if (out[i] == pointer)
				break;
		assert_int_equal(i < THREADS, frees);
		if (frees) {
			out[i] = 0;
		} else {
			for (i = 0; i < THREADS && out[i]; i++)
				;
			assert_true(i < THREADS);
			out[i] = pointer;
		}
		count++;
	}
	assert_int_equal(count, expected);
}

LOG_FACT(lines_of_threads_are_whole_and_in_order)
{
	struct dray_resource *log =
		STACK(*state, dray_resource_log(upstream, "log.csv", &top));
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, make_pairs, log), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	contents("log.csv");
	assert_in_order(text, 2 * THREADS * PAIRS);
	dray_resource_unref(log);
}

LOG_FACT(a_child_writes_nothing)
{
	struct dray_resource *log =
		STACK(*state, dray_resource_log(upstream, "log.csv", &top));
	void *block = allocate(log, 1, 0);
	size_t length = strlen(contents("log.csv"));
	int status;
	pid_t child = fork();

	if (!child)
		_exit(dray_resource_deallocate(log, block, 1, 0) != 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(strlen(contents("log.csv")), length);
	give_back(log, block, 1);
	dray_resource_unref(log);
}

/* That of a process, with @number behind it. */
static const char *log_name(pid_t process, const char *number)
{
	static char name[64];

	snprintf(name, sizeof(name), "log.csv.%d%s", (int)process, number);
	return name;
}

static const char *own_log(const char *number)
{
	return contents(log_name(getpid(), number));
}

LOG_FACT(the_environment_adds_a_log_to_managers)
{
	struct dray_manager *first, *second;
	char sentence[64];

	setenv("DRAY_MEMORY_LOG", "log.csv", 1);
	first = open_manager(test_spec(), NULL, NULL);
	dray_memory_unref(memalloc(first, 1234));
	second = open_manager(test_spec(), NULL, NULL);
	dray_memory_unref(memalloc(second, 4321));
	/* The free is late: it is the manager's end that brings it. */
	assert_null(strstr(own_log(""), ",free,"));
	dray_manager_unref(first);
	dray_manager_unref(second);
	assert_non_null(strstr(own_log(""), ",1234,0\n"));
	assert_non_null(strstr(text, ",free,"));
	assert_null(strstr(text, ",4321,"));
	assert_non_null(strstr(own_log(".1"), ",4321,0\n"));

	setenv("DRAY_MEMORY_LOG", "/there/is/none", 1);
	first = open_manager(test_spec(), NULL, NULL);
	snprintf(sentence, sizeof(sentence), "/there/is/none.%d: No such file",
		 (int)getpid());
	assert_fails(dray_manager_initialize(first), -ENOENT, sentence);
	dray_manager_unref(first);
}

/* A hundred allocations of @size bytes by a manager of its own. */
static void allocate_logged(size_t size)
{
	struct dray_manager *manager = open_manager(test_spec(), NULL, NULL);

	for (int i = 0; i < 100; i++)
		dray_memory_unref(memalloc(manager, size));
	dray_manager_unref(manager);
}

/* In all logs: how often @size was allocated. */
static int logged(size_t size)
{
	char end[64], *line, *lines;
	glob_t logs;
	int n = 0;

	snprintf(end, sizeof(end), ",%zu,0", size);
	assert_int_equal(glob("log.csv*", 0, NULL, &logs), 0);
	for (size_t i = 0; i < logs.gl_pathc; i++) {
		contents(logs.gl_pathv[i]);
		for (lines = text; (line = strsep(&lines, "\n"));)
			n += strstr(line, ",allocate,") && strstr(line, end);
	}
	globfree(&logs);
	return n;
}

/* This program anew, for allocations of @size; under Valgrind without it. */
static void become(const char *size)
{
	char self[PATH_MAX] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		execl(self, self, size, NULL);
	_exit(1);
}

/* Programs that have the environment from this one; each has its size. */
LOG_FACT(no_program_overwrites_the_log_of_another)
{
	struct dray_manager *before;
	pid_t child;

	setenv("DRAY_MEMORY_LOG", "log.csv", 1);
	before = open_manager(test_spec(), NULL, NULL);
	for (int i = 0; i < 100; i++)
		dray_memory_unref(memalloc(before, 1111));
	/* One that is started, twice, and one that a child becomes. */
	for (int i = 0; i < 2; i++) {
		child = fork();
		if (!child)
			become("2222");
		assert_int_equal(status_of(child), 0);
	}
	child = fork();
	if (!child) {
		allocate_logged(3333);
		become("4444");
	}
	assert_int_equal(status_of(child), 0);
	/* The second manager here comes after the first one of a child. */
	allocate_logged(5555);
	dray_manager_unref(before);
	assert_int_equal(logged(1111), 100);
	assert_int_equal(logged(2222), 200);
	assert_int_equal(logged(3333), 100);
	assert_int_equal(logged(4444), 100);
	assert_int_equal(logged(5555), 100);
}

LOG_FACT(handlers_are_logged_if_the_environment_asks)
{
	const struct dray_handler *handler;
	struct dray_pool *plain;
	char path[64];
	void *block;
	pid_t child;

	unsetenv("DRAY_HANDLER");
	assert_works(dray_log_handlers()); /* nobody asks */
	setenv("DRAY_MEMORY_LOG", "none/log.csv", 1);
	assert_fails(dray_log_handlers(), -ENOENT, "No such file");
	setenv("DRAY_MEMORY_LOG", "log.csv", 1);
	/* What is logged is logged until the process ends. */
	child = fork();
	if (!child) {
		plain = open_pool(test_spec(), NULL);
		handler = dray_handler_for(plain);
		assert_works(dray_log_handlers());
		assert_works(dray_log_handlers());
		block = dray_handler_alloc(handler, 100);
		block = dray_handler_realloc(handler, block, 9000);
		assert_null(dray_handler_alloc(handler, PTRDIFF_MAX));
		dray_handler_free(handler, block, 9000);
		_exit(0);
	}
	assert_int_equal(status_of(child), 0);
	snprintf(path, sizeof(path), "log.csv.%d", (int)child);
	assert_matches(contents(path),
		       "^Thread,Time,Action,Pointer,Size,Stream\n"
		       "[0-9]+," TIME ",allocate,0x[0-9a-f]+,100,0\n"
		       "[0-9]+," TIME ",free,0x[0-9a-f]+,[0-9]+,0\n"
		       "[0-9]+," TIME ",allocate,0x[0-9a-f]+,9000,0\n"
		       "[0-9]+," TIME ",allocate failure,\\(nil\\),[0-9]+,0\n"
		       "[0-9]+," TIME ",free,0x[0-9a-f]+,9000,0\n$");
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		allocate_logged((size_t)atoi(argv[1]));
		return 0;
	}
	return unit_run(NULL);
}
