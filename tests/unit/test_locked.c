// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Programs that lock all that they map: what the library only keeps addresses
 * for is not locked, and a low limit leaves pools that are small.  Each is a
 * child, which tells by its status which step was wrong.
 */
#include "child.h"
#include "pool.h"

#define MIB ((size_t)1 << 20)
#define LIMIT (8 * MIB) /* what most systems give */
#define NOBODY 65534

/* KiB of a line of the process's status. */
static uint64_t kib_of(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	uint64_t kib = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), "%" SCNu64, &kib);
	if (file)
		fclose(file);
	return kib;
}

/* KiB of what can be written and would be in a core file. */
static uint64_t kib_of_core(void)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	uint64_t size = 0, sum = 0;
	bool writable = false;
	char line[512], flags[6];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*x-%*x %5s", flags) == 1)
			writable = flags[1] == 'w';
		sscanf(line, "Size: %" SCNu64, &size);
		if (writable && !strncmp(line, "VmFlags:", 8) &&
		    !strstr(line, " dd"))
			sum += size;
	}
	if (file)
		fclose(file);
	return sum;
}

/* As an ordinary user; 0 where that cannot be had. */
static bool become_limited(int flags)
{
	struct rlimit limit = { LIMIT, LIMIT };

	return !setrlimit(RLIMIT_MEMLOCK, &limit) &&
	       (geteuid() || !setresuid(NOBODY, NOBODY, NOBODY)) &&
	       !mlockall(flags);
}

/* Pools come and go: what they had is given back, and no longer locked. */
static int use_pools(const char *spec)
{
	struct dray_node *node;
	struct dray_pool *pool;
	char *block;

	STEP_EQ(0, dray_node_open(spec, &node));
	for (int i = 0; i < 100; i++) {
		STEP_EQ(0, dray_pool_create(node, NULL, &pool));
		block = dray_pool_calloc(pool, 1, 100000);
		STEP_TRUE(block);
		memset(block, 1, 100000);
		block = dray_pool_realloc(pool, block, MIB);
		STEP_TRUE(block);
		STEP_EQ(1, block[99999]);
		dray_pool_free(pool, block);
		dray_pool_close(pool);
	}
	dray_node_unref(node);
	return 0;
}

static int use_little(const char *spec, int flags)
{
	if (!become_limited(flags))
		return 1;
	return use_pools(spec);
}

/* Their libraries answer mlockall() themselves, and lock nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_SANITIZED() skip()
#else
#define SKIP_SANITIZED()
#endif

FACT(a_low_limit_of_locked_memory_leaves_small_pools)
{
	static const char *const specs[] = { "host:private", "host:shareable" };
	pid_t child;
	size_t i;

	SKIP_SANITIZED();
	for (i = 0; i < 4; i++) {
		child = fork();
		if (!child)
			_exit(use_little(specs[i / 2],
					 i % 2 ? MCL_FUTURE | MCL_ONFAULT
					       : MCL_FUTURE));
		assert_int_equal(status_of(child), 0);
	}
}

static int ask_for_too_much(void)
{
	struct dray_node *node;
	struct dray_pool *pool;

	if (!become_limited(MCL_FUTURE))
		return 1;
	STEP_EQ(0, dray_node_open("host", &node));
	STEP_EQ(0, dray_pool_create(node, NULL, &pool));
	STEP_TRUE(!dray_pool_alloc(pool, 2 * LIMIT, 0));
	STEP_EQ(ENOMEM, errno);
	STEP_TRUE(strstr(dray_last_error(), "RLIMIT_MEMLOCK"));
	dray_pool_close(pool);
	return use_pools("host");
}

static int status_of_using(int (*use)(void))
{
	pid_t child = fork();

	if (!child)
		_exit(use());
	return status_of(child);
}

FACT(a_request_beyond_the_limit_says_so)
{
	SKIP_SANITIZED();
	assert_int_equal(status_of_using(ask_for_too_much), 0);
}

/* Whether all that is mapped may be locked, whatever the limit is. */
static bool has_no_limit(void)
{
	void *map = mmap(NULL, 1024 * MIB, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map != MAP_FAILED && !munmap(map, 1024 * MIB);
}

/* Without a limit nothing is fetched but the memory of the pool. */
static int use_much(void)
{
	struct dray_pool_options options = { .initial = 4 * MIB };
	struct dray_node *node;
	struct dray_pool *pool;
	uint64_t before;

	if (mlockall(MCL_FUTURE) || !has_no_limit())
		return 1;
	before = kib_of("VmRSS:");
	STEP_EQ(0, dray_node_open("host", &node));
	STEP_EQ(0, dray_pool_create(node, &options, &pool));
	STEP_GE(8 * MIB / 1024, kib_of("VmRSS:") - before);
	STEP_GE(LIMIT / 1024, kib_of("VmLck:"));
	return 0;
}

FACT(tables_take_memory_as_they_are_written)
{
	int status;

	SKIP_SANITIZED();
	status = status_of_using(use_much);
	if (status == 1)
		skip();
	assert_int_equal(status, 0);
}

static int use_a_block(const char *spec)
{
	struct dray_node *node;
	struct dray_pool *pool;
	uint64_t before = kib_of_core();
	char *block;

	STEP_EQ(0, dray_node_open(spec, &node));
	STEP_EQ(0, dray_pool_create(node, NULL, &pool));
	block = dray_pool_alloc(pool, 26 * MIB, 0);
	STEP_TRUE(block);
	memset(block, 1, 26 * MIB);
	/* What it uses, and the rest of the pool's first region */
	STEP_GE(kib_of_core() - before, 26 * MIB / 1024);
	STEP_GE(48 * MIB / 1024, kib_of_core() - before);
	return 0;
}

FACT(a_core_has_what_is_used_and_no_tables)
{
	static const char *const specs[] = { "host", "host:shareable" };

	SKIP_SANITIZED();
	for (size_t i = 0; i < 2; i++) {
		pid_t child = fork();

		if (!child)
			_exit(use_a_block(specs[i]));
		assert_int_equal(status_of(child), 0);
	}
}
