// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pages: transparent huge ones, and those that the system has in reserve. */
#include "memory/node.h"
#include "memory/pages.h"
#include "pages.h"

FACT(private_memory_has_no_reserved_huge_pages)
{
	assert_fails(try_pages("host", .flags = DRAY_PAGES_HUGE), -EOPNOTSUPP,
		     "private memory");
}

/* What /proc/self/smaps says of the mappings in a range, by the line. */
struct smaps {
	FILE *file;
	uintptr_t low;
	uintptr_t high;
	bool within;
	char line[512];
};

static void smaps_open(struct smaps *smaps, const char *start, size_t size)
{
	*smaps = (struct smaps){ .file = fopen("/proc/self/smaps", "re"),
				 .low = (uintptr_t)start,
				 .high = (uintptr_t)start + size };
	assert_non_null(smaps->file);
}

/* At the end it closes the file. */
static bool smaps_next(struct smaps *smaps)
{
	uintptr_t from, to;

	while (fgets(smaps->line, sizeof(smaps->line), smaps->file)) {
		if (sscanf(smaps->line, "%" SCNxPTR "-%" SCNxPTR " ", &from,
			   &to) == 2)
			smaps->within = from < smaps->high && to > smaps->low;
		else if (smaps->within)
			return true;
	}
	fclose(smaps->file);
	return false;
}

/* A number, in KiB, of all mappings in the range. */
static size_t smaps_sum(const char *start, size_t size, const char *name)
{
	size_t length = strlen(name), kib, sum = 0;
	struct smaps smaps;

	smaps_open(&smaps, start, size);
	while (smaps_next(&smaps))
		if (!strncmp(smaps.line, name, length) &&
		    smaps.line[length] == ':' &&
		    sscanf(smaps.line + length + 1, "%zu", &kib) == 1)
			sum += kib;
	return sum;
}

/* Whether a mapping in the range has been advised to have huge pages. */
static bool is_advised(const char *start, size_t size)
{
	struct smaps smaps;
	bool found = false;

	smaps_open(&smaps, start, size);
	while (smaps_next(&smaps))
		if (!strncmp(smaps.line, "VmFlags:", 8))
			found |= strstr(smaps.line, " hg") != NULL;
	return found;
}

/* Whether this system has them, asked or unasked, for what the file is about. */
static bool has_transparent(const char *name)
{
	char path[64], line[128] = "[never]";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/mm/transparent_hugepage/%s",
		 name);
	file = fopen(path, "re");
	if (file) {
		assert_non_null(fgets(line, sizeof(line), file));
		fclose(file);
	}
	return !strstr(line, "[never]") && !strstr(line, "[deny]");
}

/* @kind has huge pages, counted by @counter, if @setting lets it. */
static void check_transparent(const char *kind, const char *setting,
			      const char *counter)
{
	struct dray_node *node = open_node(kind);
	struct dray_buffer *buffer =
		allocate(node, 32 * MIB, (struct dray_pages){ 0 });
	char *data = dray_buffer_data(buffer);

	memset(data, 1, 32 * MIB);
	if (has_transparent(setting))
		assert_true(smaps_sum(data, 32 * MIB, counter) > 0);
	else
		assert_int_equal(smaps_sum(data, 32 * MIB, counter), 0);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

BRIEF(FACT(private_memory_is_in_transparent_huge_pages),
      check_transparent("host", "enabled", "AnonHugePages"));
BRIEF(FACT(shareable_memory_where_the_system_lets_it),
      check_transparent("host:shareable", "shmem_enabled", "ShmemPmdMapped"));

/* What the hint does shows only there; that it was given shows everywhere. */
FACT(and_asks_for_them)
{
	struct dray_node *node = open_node("host:shareable");
	struct dray_buffer *buffer =
		allocate(node, 32 * MIB, (struct dray_pages){ 0 });

	if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
		skip();
	assert_true(is_advised(dray_buffer_data(buffer), 32 * MIB));
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

FACT(huge_pages_that_are_not_there_are_no_memory)
{
	uint64_t page = meminfo("Hugepagesize") << 10;
	uint64_t size = (meminfo("HugePages_Free") + 1) * page;
	const struct dray_pool_options options = {
		.initial = size,
		.pages.flags = DRAY_PAGES_HUGE,
	};
	struct dray_node *node = open_node("host:shareable");
	struct dray_pool *pool;

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

#define RESERVED_FACT(name) FACT_WITH(name, reserve_setup, reserve_teardown)

/* What every importer would refuse is refused where it is made. */
static void cannot_be_passed_on(void *data)
{
	const dray_dtype bytes = DRAY_DTYPE('u', '|', 1);
	struct dray_ipc_record record;
	struct dray_view view;
	int ends[2];
	char byte;

	assert_fails(dray_ipc_export(data, 1, 0, &record), -EOPNOTSUPP,
		     "reserved huge pages");
	assert_works(dray_view_init(&view, data, bytes, 0, NULL, NULL));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_fails(dray_view_send(ends[0], &view), -EOPNOTSUPP,
		     "reserved huge pages");
	/* Nothing was sent. */
	assert_int_equal(recv(ends[1], &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

RESERVED_FACT(a_shareable_buffer_can_be_of_huge_pages)
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
	assert_int_equal(smaps_sum(data, kib << 11, "KernelPageSize"), kib);
	assert_int_equal(smaps_sum(data, kib << 11, "Shared_Hugetlb") +
				 smaps_sum(data, kib << 11, "Private_Hugetlb"),
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

RESERVED_FACT(a_pool_can_be_of_huge_pages)
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

FACTS_ON(on_host)
