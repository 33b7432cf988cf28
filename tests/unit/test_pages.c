// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pages: what was asked of host memory's pages is what the kernel says of
 * them: fetched, bound to NUMA nodes, huge.
 */
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/node.h"
#include "memory/pages.h"
#include "memory/window.h"
#include "pool.h"

#define MIB ((size_t)1 << 20)
#define NODE_0 1 /* there is always one */

static const char *const kinds[] = { "host", "host:shareable" };
static int populate_error; /* 0: the kernel's own */

int __real_madvise(void *address, size_t size, int advice);
int __wrap_madvise(void *address, size_t size, int advice);
int __wrap_madvise(void *address, size_t size, int advice)
{
	if (advice == MADV_POPULATE_WRITE && populate_error) {
		errno = populate_error;
		return -1;
	}
	return __real_madvise(address, size, advice);
}

static struct dray_buffer *allocate(struct dray_node *node, size_t size,
				    struct dray_pages pages)
{
	struct dray_buffer_options options = { .pages = pages };
	struct dray_buffer *buffer = NULL;

	assert_works(dray_buffer_alloc(node, size, &options, &buffer));
	return buffer;
}

static int try_to_allocate(const char *spec, size_t size,
			   struct dray_pages pages)
{
	struct dray_buffer_options options = { .pages = pages };
	struct dray_node *node = open_node(spec);
	struct dray_buffer *buffer;
	size_t before = buffers_of(node), room = dray_window_room();
	int ret = dray_buffer_alloc(node, size, &options, &buffer);

	if (!ret)
		dray_buffer_unref(buffer);
	assert_int_equal(buffers_of(node), before);
	assert_int_equal(dray_window_room(), room);
	dray_node_unref(node);
	return ret;
}

/* Bytes of a range that are in memory. */
static size_t resident(const void *start, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i, bytes = 0;
	unsigned char *there = malloc(size / page);

	assert_int_equal(mincore((void *)start, size, there), 0);
	for (i = 0; i < size / page; i++)
		bytes += there[i] & 1 ? page : 0;
	free(there);
	return bytes;
}

static void check_fetched(size_t expected, uint32_t flags)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		struct dray_node *node = open_node(kinds[i]);
		struct dray_buffer *buffer = allocate(
			node, 8 * MIB, (struct dray_pages){ .flags = flags });
		char *data = dray_buffer_data(buffer);

		assert_int_equal(resident(data, 8 * MIB), expected);
		assert_true(all_bytes_are(data, 0, 8 * MIB));
		dray_buffer_unref(buffer);
		dray_node_unref(node);
	}
}

static void pages_come_when_they_are_touched(void **state)
{
	(void)state;
	check_fetched(0, 0);
}

static void or_at_once_where_that_is_asked_for(void **state)
{
	(void)state;
	check_fetched(8 * MIB, DRAY_PAGES_PREFAULT);
}

static void an_old_kernel_has_them_touched(void **state)
{
	(void)state;
	populate_error = EINVAL;
	check_fetched(8 * MIB, DRAY_PAGES_PREFAULT);
	populate_error = 0;
}

static void pages_that_cannot_be_fetched_are_no_memory(void **state)
{
	const struct dray_pages pages = { .flags = DRAY_PAGES_PREFAULT };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		populate_error = EFAULT;
		assert_fails(try_to_allocate(kinds[i], MIB, pages), -ENOMEM,
			     "fetching 1048576 bytes");
		populate_error = EHWPOISON;
		assert_fails(try_to_allocate(kinds[i], MIB, pages), -EHWPOISON,
			     "fetching 1048576 bytes");
	}
	populate_error = 0;
}

static void a_pool_has_its_pages_before_its_blocks(void **state)
{
	const struct dray_pool_options options = {
		.initial = MIB,
		.pages.flags = DRAY_PAGES_PREFAULT,
	};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct dray_pool *pool = open_pool(kinds[i], &options);
		char *small = take(pool, MIB / 2, 0);
		char *large = take(pool, 80 * MIB, 0);

		assert_int_equal(resident(small, MIB / 2), MIB / 2);
		assert_int_equal(resident(large, 80 * MIB), 80 * MIB);
		/* They stay, whatever is freed, until somebody says so. */
		memset(large, 1, 80 * MIB);
		dray_pool_free(pool, large);
		assert_int_equal(resident(large, 80 * MIB), 80 * MIB);
		assert_true(dray_pool_trim(pool) >= 80 * MIB);
		assert_int_equal(resident(large, 80 * MIB), 0);
		dray_pool_free(pool, small);
		dray_pool_close(pool);
	}
}

static void a_pool_that_cannot_fetch_says_so(void **state)
{
	const struct dray_pool_options options = {
		.initial = MIB,
		.pages.flags = DRAY_PAGES_PREFAULT,
	};
	struct dray_pool *pool = open_pool("host", &options), *other;

	(void)state;
	populate_error = ENOMEM;
	assert_fails(dray_pool_create(dray_pool_node(pool), &options, &other),
		     -ENOMEM, "fetching");
	errno = 0;
	assert_null(dray_pool_alloc(pool, 2 * MIB, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "fetching"));
	assert_int_equal(stats_of(pool).reserved, MIB);
	populate_error = 0;
	dray_pool_free(pool, take(pool, 2 * MIB, 0));
	dray_pool_close(pool);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_fails(try_to_allocate(test_spec(), MIB,
				     (struct dray_pages){ .flags = 4 }),
		     -EINVAL, "unknown flags of pages 0x4");
	assert_fails(try_to_allocate(test_spec(), MIB,
				     (struct dray_pages){ .policy = 4 }),
		     -EINVAL, "4 names no NUMA policy");
	assert_fails(try_to_allocate(test_spec(), MIB,
				     (struct dray_pages){ .numa_nodes = 1 }),
		     -EINVAL, "one needs the other");
	assert_fails(try_to_allocate(
			     test_spec(), MIB,
			     (struct dray_pages){ .policy = DRAY_NUMA_BIND }),
		     -EINVAL, "one needs the other");
	assert_fails(try_to_allocate(test_spec(), MIB,
				     (struct dray_pages){
					     .policy = DRAY_NUMA_PREFERRED,
					     .numa_nodes = 3,
				     }),
		     -EINVAL, "one NUMA node can be preferred");
}

static void a_pool_refuses_the_same(void **state)
{
	const struct dray_pool_options options = { .pages.policy = 9 };
	struct dray_node *node = open_node(test_spec());
	struct dray_pool *pool;

	(void)state;
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "9 names no NUMA policy");
	dray_node_unref(node);
}

static void private_memory_has_no_reserved_huge_pages(void **state)
{
	(void)state;
	assert_fails(try_to_allocate(
			     "host", MIB,
			     (struct dray_pages){ .flags = DRAY_PAGES_HUGE }),
		     -EOPNOTSUPP, "private memory");
}

static void the_module_has_pages_of_its_own(void **state)
{
	struct dray_buffer *buffer;

	assert_fails(try_to_allocate(
			     test_spec(), MIB,
			     (struct dray_pages){ .flags = DRAY_PAGES_HUGE }),
		     -EOPNOTSUPP, "from its heaps");
	assert_fails(try_to_allocate(test_spec(), MIB,
				     (struct dray_pages){
					     .policy = DRAY_NUMA_BIND,
					     .numa_nodes = NODE_0,
				     }),
		     -EOPNOTSUPP, "from its heaps");
	/* All its memory is there from the start. */
	buffer = allocate(*state, MIB,
			  (struct dray_pages){ .flags = DRAY_PAGES_PREFAULT });
	dray_buffer_unref(buffer);
}

static void skip_without_numa(void)
{
	void *page = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long mask = NODE_0;
	long ret = syscall(SYS_mbind, page, MIB, MPOL_BIND, &mask, 65ul, 0);

	munmap(page, MIB);
	if (ret)
		skip();
}

static void check_policy_at(const void *address, int expected)
{
	unsigned long mask[16] = { 0 };
	int mode = -1;

	assert_int_equal(syscall(SYS_get_mempolicy, &mode, mask,
				 8 * sizeof(mask), address, MPOL_F_ADDR),
			 0);
	assert_int_equal(mode, expected);
	assert_int_equal(mask[0], expected == MPOL_DEFAULT ? 0 : NODE_0);
}

/* What /proc/self/numa_maps has for the mapping that begins there. */
static void check_numa_maps(const void *start, const char *expected)
{
	FILE *file = fopen("/proc/self/numa_maps", "re");
	char line[512], policy[64];
	uintptr_t address;
	bool found = false;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%" SCNxPTR " %63s", &address, policy) ==
				2 &&
			address == (uintptr_t)start;
	fclose(file);
	assert_true(found);
	assert_string_equal(policy, expected);
}

static void a_policy_is_that_of_the_mapping(void **state)
{
	static const struct {
		uint32_t policy;
		int mode;
		const char *name;
	} policies[] = {
		{ DRAY_NUMA_PREFERRED, MPOL_PREFERRED, "prefer:0" },
		{ DRAY_NUMA_BIND, MPOL_BIND, "bind:0" },
		{ DRAY_NUMA_INTERLEAVE, MPOL_INTERLEAVE, "interleave:0" },
	};
	struct dray_buffer *buffer;
	size_t i, j;

	(void)state;
	skip_without_numa();
	for (i = 0; i < 6; i++) {
		struct dray_node *node = open_node(kinds[i % 2]);

		j = i / 2;
		buffer = allocate(node, MIB,
				  (struct dray_pages){
					  .policy = policies[j].policy,
					  .numa_nodes = NODE_0,
				  });
		check_policy_at(dray_buffer_data(buffer), policies[j].mode);
		check_numa_maps(dray_buffer_data(buffer), policies[j].name);
		dray_buffer_unref(buffer);
		/* The next one there has none of it. */
		buffer = allocate(node, MIB, (struct dray_pages){ 0 });
		check_policy_at(dray_buffer_data(buffer), MPOL_DEFAULT);
		dray_buffer_unref(buffer);
		dray_node_unref(node);
	}
}

static void a_pool_has_it_wherever_it_grows(void **state)
{
	const struct dray_pool_options options = {
		.initial = MIB,
		.pages = { .policy = DRAY_NUMA_BIND,
			   .numa_nodes = NODE_0,
			   .flags = DRAY_PAGES_PREFAULT },
	};
	size_t i;

	(void)state;
	skip_without_numa();
	for (i = 0; i < 2; i++) {
		struct dray_pool *pool = open_pool(kinds[i], &options);
		char *small = take(pool, MIB / 2, 0);
		char *large = take(pool, 40 * MIB, 0);

		check_policy_at(small, MPOL_BIND);
		check_policy_at(large, MPOL_BIND);
		check_policy_at(large + 40 * MIB - 1, MPOL_BIND);
		dray_pool_free(pool, small);
		dray_pool_free(pool, large);
		dray_pool_close(pool);
	}
}

static void a_node_that_is_not_there_is_named(void **state)
{
	(void)state;
	skip_without_numa();
	assert_fails(try_to_allocate("host", MIB,
				     (struct dray_pages){
					     .policy = DRAY_NUMA_BIND,
					     .numa_nodes = 1ull << 63,
				     }),
		     -EINVAL, "nodes 0x8000000000000000");
}

/* A number of /proc/self/smaps, in KiB, of all mappings in a range. */
static size_t smaps(const char *start, size_t size, const char *name)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	uintptr_t from, to, low = (uintptr_t)start;
	size_t length = strlen(name), kib, sum = 0;
	bool within = false;
	char line[512];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
			within = from < low + size && to > low;
		else if (within && !strncmp(line, name, length) &&
			 line[length] == ':' &&
			 sscanf(line + length + 1, "%zu", &kib) == 1)
			sum += kib;
	}
	fclose(file);
	return sum;
}

static void private_memory_is_in_transparent_huge_pages(void **state)
{
	const char *path = "/sys/kernel/mm/transparent_hugepage/enabled";
	struct dray_node *node = open_node("host");
	struct dray_buffer *buffer;
	FILE *file = fopen(path, "re");
	char line[64] = "[never]";
	char *data;

	(void)state;
	if (file) {
		assert_non_null(fgets(line, sizeof(line), file));
		fclose(file);
	}
	buffer = allocate(node, 32 * MIB, (struct dray_pages){ 0 });
	data = dray_buffer_data(buffer);
	memset(data, 1, 32 * MIB);
	if (!strstr(line, "[never]"))
		assert_true(smaps(data, 32 * MIB, "AnonHugePages") > 0);
	else
		assert_int_equal(smaps(data, 32 * MIB, "AnonHugePages"), 0);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

static uint64_t meminfo(const char *name)
{
	uint64_t number;

	if (!dray_pages_meminfo(name, &number))
		skip();
	return number;
}

static void huge_pages_that_are_not_there_are_no_memory(void **state)
{
	uint64_t page = meminfo("Hugepagesize") << 10;
	uint64_t size = (meminfo("HugePages_Free") + 1) * page;
	const struct dray_pool_options options = {
		.initial = size,
		.pages.flags = DRAY_PAGES_HUGE,
	};
	struct dray_node *node = open_node("host:shareable");
	struct dray_pool *pool;

	(void)state;
	assert_fails(try_to_allocate("host:shareable", size, options.pages),
		     -ENOMEM, "vm.nr_hugepages");
	assert_fails(dray_pool_create(node, &options, &pool), -ENOMEM,
		     "vm.nr_hugepages");
	dray_node_unref(node);
}

#define RESERVED 8 /* huge pages */

static const char *const nr_hugepages = "/proc/sys/vm/nr_hugepages";
static uint64_t reserved_before;

static bool set_reserved(uint64_t count)
{
	FILE *file = fopen(nr_hugepages, "we");
	bool done;

	if (!file)
		return false;
	done = fprintf(file, "%" PRIu64, count) > 0;
	return !fclose(file) && done;
}

/* Some more of them; the fact is skipped where there are none to be had. */
static int reserve_setup(void **state)
{
	uint64_t now = 0;

	*state = NULL;
	if (!dray_pages_meminfo("HugePages_Total", &reserved_before) ||
	    !set_reserved(reserved_before + RESERVED))
		return 0;
	dray_pages_meminfo("HugePages_Total", &now);
	if (now == reserved_before + RESERVED)
		*state = &reserved_before;
	else
		set_reserved(reserved_before);
	return 0;
}

static int reserve_teardown(void **state)
{
	return *state && !set_reserved(reserved_before) ? -1 : 0;
}

#define RESERVED_FACT(name) \
	cmocka_unit_test_setup_teardown(name, reserve_setup, reserve_teardown)

/* What every importer would refuse is refused where it is made. */
static void cannot_be_passed_on(void *data)
{
	const struct dray_dtype bytes = { 'u', '|', 0, 1 };
	struct dray_ipc_record record;
	struct dray_view view;
	int ends[2];
	char byte;

	assert_fails(dray_ipc_export(data, 1, 0, &record), -EOPNOTSUPP,
		     "reserved huge pages");
	assert_works(dray_view_init(&view, data, bytes, 0, NULL, NULL));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_fails(dray_array_send(ends[0], &view), -EOPNOTSUPP,
		     "reserved huge pages");
	/* Nothing was sent. */
	assert_int_equal(recv(ends[1], &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

static void a_shareable_buffer_can_be_of_huge_pages(void **state)
{
	struct dray_node *node;
	struct dray_buffer *buffer, *same;
	uint64_t kib = meminfo("Hugepagesize");
	char *data;

	if (!*state)
		skip();
	node = open_node("host:shareable");
	buffer = allocate(node, (kib << 10) + 1,
			  (struct dray_pages){ .flags = DRAY_PAGES_HUGE |
							DRAY_PAGES_PREFAULT });
	data = dray_buffer_data(buffer);
	assert_int_equal(dray_buffer_size(buffer), kib << 11);
	assert_int_equal((uintptr_t)data % (kib << 10), 0);
	assert_int_equal(smaps(data, kib << 11, "KernelPageSize"), kib);
	assert_int_equal(smaps(data, kib << 11, "Shared_Hugetlb") +
				 smaps(data, kib << 11, "Private_Hugetlb"),
			 2 * kib);
	memset(data, 1, kib << 11);
	/* Who could take pages away must not have been given them. */
	assert_fails(dray_buffer_import(node, dray_buffer_fd(buffer), &same),
		     -EPERM, "MFD_HUGETLB");
	cannot_be_passed_on(data);
	assert_fails(dray_buffer_punch(buffer, 0, kib << 10), -EOPNOTSUPP,
		     "given back with their buffer");
	assert_int_equal(data[0], 1);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
	assert_int_equal(meminfo("HugePages_Free"), meminfo("HugePages_Total"));
}

static void a_pool_can_be_of_huge_pages(void **state)
{
	uint64_t page = meminfo("Hugepagesize") << 10;
	const struct dray_pool_options options = {
		.initial = 1,
		.pages.flags = DRAY_PAGES_HUGE,
	};
	uint64_t left = meminfo("HugePages_Free");
	struct dray_pool *pool;
	char *small, *large;

	if (!*state)
		skip();
	pool = open_pool("host:shareable", &options);
	assert_int_equal(stats_of(pool).reserved, page);
	small = take(pool, 1000, 0);
	/* It grows by what is needed where more cannot be had. */
	large = take(pool, (left - 1) * page, 0);
	memset(large, 1, (left - 1) * page);
	assert_int_equal(stats_of(pool).reserved, left * page);
	errno = 0;
	assert_null(dray_pool_alloc(pool, page, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "vm.nr_hugepages"));
	/* Nobody else gets the pages of a freed block, nor a SIGBUS. */
	dray_pool_free(pool, large);
	dray_pool_trim(pool);
	assert_int_equal(meminfo("HugePages_Free") - meminfo("HugePages_Rsvd"),
			 0);
	large = dray_pool_calloc(pool, left - 1, page);
	assert_non_null(large);
	assert_true(all_bytes_are(large, 0, (left - 1) * page));
	dray_pool_free(pool, large);
	dray_pool_free(pool, small);
	assert_int_equal(dray_pool_trim(pool), left * page);
	assert_int_equal(meminfo("HugePages_Free"), left);
	dray_pool_close(pool);
}

int main(void)
{
	const struct CMUnitTest both[] = {
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_pool_refuses_the_same),
	};
	const struct CMUnitTest kernel[] = {
		NODE_FACT(the_module_has_pages_of_its_own),
	};
	const struct CMUnitTest host[] = {
		cmocka_unit_test(pages_come_when_they_are_touched),
		cmocka_unit_test(or_at_once_where_that_is_asked_for),
		cmocka_unit_test(an_old_kernel_has_them_touched),
		cmocka_unit_test(pages_that_cannot_be_fetched_are_no_memory),
		cmocka_unit_test(a_pool_has_its_pages_before_its_blocks),
		cmocka_unit_test(a_pool_that_cannot_fetch_says_so),
		cmocka_unit_test(private_memory_has_no_reserved_huge_pages),
		cmocka_unit_test(a_policy_is_that_of_the_mapping),
		cmocka_unit_test(a_pool_has_it_wherever_it_grows),
		cmocka_unit_test(a_node_that_is_not_there_is_named),
		cmocka_unit_test(private_memory_is_in_transparent_huge_pages),
		cmocka_unit_test(huge_pages_that_are_not_there_are_no_memory),
		RESERVED_FACT(a_shareable_buffer_can_be_of_huge_pages),
		RESERVED_FACT(a_pool_can_be_of_huge_pages),
	};
	int failed = cmocka_run_group_tests(both, NULL, NULL);

	if (on_kernel())
		return failed + cmocka_run_group_tests(kernel, NULL, NULL);
	return failed + cmocka_run_group_tests(host, NULL, NULL);
}
