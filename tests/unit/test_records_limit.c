// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: exporter and importer at a limit of descriptors or of addresses.  The
 * importer hears it at once, what is open stays so, and a record for handing
 * over can be opened later.
 */
#include "memory/window.h"
#include "records_wire.h"

#define SIZE 20000

/* All descriptors that this process may have, but for @spare of them. */
static struct {
	struct rlimit before;
	int fds[1024];
	int n;
} taken;

static int take_descriptors(int spare)
{
	struct rlimit few;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &taken.before))
		return -1;
	few = taken.before;
	few.rlim_cur = (rlim_t)fd + 16;
	if (setrlimit(RLIMIT_NOFILE, &few))
		return -1;
	for (taken.n = 0; fd >= 0; fd = dup(0))
		taken.fds[taken.n++] = fd;
	if (errno != EMFILE || taken.n < spare)
		return -1;
	while (spare--)
		close(taken.fds[--taken.n]);
	return 0;
}

/* A broker of another fact that is about to end gives some back. */
static int limit_setup(void **state)
{
	becomes_true(threads() == 1);
	return records_setup(state);
}

#define LIMIT_FACT(name) FACT_WITH(name, limit_setup, NULL)

static void give_descriptors(void)
{
	while (taken.n)
		close(taken.fds[--taken.n]);
	setrlimit(RLIMIT_NOFILE, &taken.before);
}

/* As import_step(); e: 0 if the sentence is that of an exporter's limit */
static int limit_step(char what, const struct dray_ipc_record *record)
{
	if (what == 'e')
		return !strstr(dray_last_error(),
			       "accepts no more importers") ||
		       !strstr(dray_last_error(), strerror(EMFILE));
	return import_step(what, record);
}

LIMIT_FACT(an_exporter_at_its_limit_says_so)
{
	struct importer importer = start_importer(limit_step);
	unsigned char *first = take(pool, SIZE, 0);
	unsigned char *second = take(pool, SIZE, 0);
	struct dray_ipc_record open = export_of(first, SIZE, 0);
	struct dray_ipc_record record = export_of(second, SIZE, 0);

	first[0] = 3;
	assert_int_equal(tell(&importer, 'o', &open), 0);
	assert_int_equal(take_descriptors(0), 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(tell(&importer, 'o', &record), -EMFILE);
		assert_int_equal(tell(&importer, 'e', NULL), 0);
	}
	assert_int_equal(tell(&importer, 'k', NULL), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 3);
	give_descriptors();
	assert_int_equal(tell(&importer, 'o', &record), 0);
	stop_importer(&importer);
	dray_pool_free(pool, first);
	dray_pool_free(pool, second);
}

LIMIT_FACT(at_its_limit_too_it_tells_what_is_wrong_with_a_record)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record stays = export_of(block, 1, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	struct fields forged = fields_of(&stays);
	struct dray_ipc_record other;

	forged.secret[1] ^= 1;
	other = record_of(&forged);
	assert_works(dray_ipc_revoke(&record));
	assert_int_equal(take_descriptors(0), 0);
	assert_int_equal(tell(&importer, 'o', &record), -ESTALE);
	assert_int_equal(tell(&importer, 'o', &other), -EACCES);
	assert_int_equal(tell(&importer, 'o', &stays), -EMFILE);
	give_descriptors();
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

static int silent_step(char what, const struct dray_ipc_record *record)
{
	if (what == 's')
		return connect_to(fields_of(record).broker) < 0;
	return import_step(what, record);
}

LIMIT_FACT(who_says_nothing_does_not_keep_others_from_hearing_it)
{
	struct importer importer = start_importer(silent_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	assert_int_equal(take_descriptors(0), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(tell(&importer, 's', &record), 0);
	assert_int_equal(tell(&importer, 'o', &record), -EMFILE);
	give_descriptors();
	assert_int_equal(tell(&importer, 'o', &record), 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

/* With ever more descriptors to spare, until it works: how many it needed. */
static int spare_step(char what, const struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory;
	size_t before = entries("/proc/self/fd");
	int spare, ret = -1;

	for (spare = 0; ret && spare < 12; spare++) {
		if (take_descriptors(spare))
			return -1;
		ret = dray_ipc_open(record, NULL, &memory);
		give_descriptors();
		if (ret && ret != -EMFILE)
			return ret;
		if (ret && !dray_last_error()[0])
			return -2;
		if (!ret)
			dray_ipc_close(memory);
		if (entries("/proc/self/fd") != before)
			return -3;
	}
	return ret ? ret : spare - 1;
}

LIMIT_FACT(an_importer_at_its_limit_hears_so_and_keeps_nothing)
{
	struct importer importer = start_importer(spare_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	/* The connection, and what came over it, at least. */
	assert_in_range(tell(&importer, 'o', &record), 3, 11);
	dray_pool_free(pool, block);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
}

/*
 * As import_step(); d: opens with ever more descriptors to spare, 0 if each open
 * but the last gave -EMFILE; f(ill the window), e(mpty it)
 */
static int handover_step(char what, const struct dray_ipc_record *record)
{
	static void *held[64];
	static int n;
	uint64_t size;
	int spare, ret = -EMFILE;

	switch (what) {
	case 'd':
		for (spare = 0; ret == -EMFILE && spare < 12; spare++) {
			if (take_descriptors(spare))
				return -1;
			ret = import_step('o', record);
			give_descriptors();
		}
		return spare < 3 ? -2 : ret;
	case 'f':
		for (size = dray_window_size(); size >= 4096; size /= 2)
			while (n < 64 && !dray_window_take(size, 1, &held[n]))
				n++;
		return n == 64;
	case 'e':
		while (n)
			dray_window_give(held[--n]);
		return 0;
	}
	return import_step(what, record);
}

LIMIT_FACT(an_importer_without_descriptors_opens_a_handover_later)
{
	struct importer importer = start_importer(handover_step);
	unsigned char *block = take_filled(SIZE, 7);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);

	dray_pool_free(pool, block);
	assert_int_equal(tell(&importer, 'd', &record), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 7);
	assert_works(dray_ipc_wait(0));
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
}

LIMIT_FACT(an_importer_without_addresses_opens_a_handover_later)
{
	struct importer importer = start_importer(handover_step);
	unsigned char *block = take_filled(SIZE, 7);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);

	dray_pool_free(pool, block);
	assert_int_equal(tell(&importer, 'f', NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tell(&importer, 'o', &record), -ENOMEM);
	assert_fails(dray_ipc_wait(0), -ETIMEDOUT, "1 records");
	assert_int_equal(tell(&importer, 'e', NULL), 0);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 7);
	assert_works(dray_ipc_wait(0));
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
}

/* Opens once more what is open, without a descriptor to ask anybody with. */
static int again_step(char what, const struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory, *again;
	int ret = dray_ipc_open(record, NULL, &memory);

	if (ret)
		return ret;
	if (take_descriptors(0))
		return -1;
	ret = dray_ipc_open(record, NULL, &again);
	give_descriptors();
	if (!ret) {
		ret = again == memory;
		dray_ipc_close(again);
	}
	dray_ipc_close(memory);
	return ret;
}

LIMIT_FACT(what_is_open_is_opened_again_without_asking)
{
	struct importer importer = start_importer(again_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	assert_int_equal(tell(&importer, 'o', &record), 1);
	dray_pool_free(pool, block);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
}

/* The first byte of a copy, with no descriptor to spare if @what is 'n'. */
static int copy_step(char what, const struct dray_ipc_record *record)
{
	size_t before = entries("/proc/self/fd");
	unsigned char bytes[SIZE] = { 0 };
	uint64_t size = 0;
	int ret;

	if (what == 'n' && take_descriptors(0))
		return -1;
	ret = dray_ipc_copy(record, bytes, sizeof(bytes), &size);
	if (what == 'n')
		give_descriptors();
	if (ret)
		return ret;
	if (size != SIZE || bytes[SIZE - 1] != bytes[0])
		return -2;
	return entries("/proc/self/fd") == before ? bytes[0] : -3;
}

LIMIT_FACT(an_importer_at_its_limit_copies_handovers)
{
	struct importer importer = start_importer(copy_step);
	unsigned char *block;
	struct dray_ipc_record record;

	for (int i = 1; i <= 3; i++) {
		block = take_filled(SIZE, i);
		record = export_of(block, SIZE, DRAY_IPC_HANDOVER);
		dray_pool_free(pool, block);
		assert_int_equal(tell(&importer, 'n', &record), i);
		becomes_true(stats_of(pool).parked == 0);
		assert_int_equal(tell(&importer, 'n', &record), -ECONNREFUSED);
	}
	stop_importer(&importer);
}

LIMIT_FACT(an_exporter_at_its_limit_is_copied_from)
{
	struct importer importer = start_importer(copy_step);
	unsigned char *block = take_filled(SIZE, 7);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	assert_int_equal(take_descriptors(0), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(tell(&importer, 'n', &record), 7);
	give_descriptors();
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

LIMIT_FACT(a_copy_needs_room_for_all_of_it)
{
	unsigned char *block = take_filled(SIZE, 7), bytes[SIZE];
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	uint64_t size = 0;

	assert_fails(dray_ipc_copy(&record, bytes, SIZE - 1, &size), -ENOSPC,
		     "20000 bytes");
	assert_int_equal(size, SIZE);
	/* A record of this process is one as any other. */
	assert_works(dray_ipc_copy(&record, bytes, SIZE, &size));
	assert_memory_equal(bytes, block, SIZE);
	dray_pool_free(pool, block);
}

LIMIT_FACT(who_has_no_descriptor_for_a_broker_exports_nothing)
{
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record;
	size_t before;
	int spare, ret = -EMFILE;

	becomes_true(threads() == 1);
	before = entries("/proc/self/fd");
	for (spare = 0; ret == -EMFILE && spare < 12; spare++) {
		assert_int_equal(take_descriptors(spare), 0);
		ret = dray_ipc_export(block, SIZE, 0, &record);
		give_descriptors();
		if (ret) {
			becomes_true(threads() == 1);
			assert_int_equal(entries("/proc/self/fd"), before);
		}
	}
	assert_works(ret);
	/* Socket, poller, wake and the one in reserve, at least. */
	assert_in_range(spare - 1, 4, 11);
	dray_pool_free(pool, block);
}

FACTS_SHARE(set_up, tear_down)
