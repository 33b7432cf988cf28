// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: records lead other processes to memory, for as long as it is there. */
#include <dirent.h>

#include "records.h"

#define SIZE 20000

RECORDS_FACT(another_process_opens_and_changes_memory)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 7);
	struct dray_ipc_record record = export_of(block + 100, 500, 0);

	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 7);
	assert_int_equal(tell(&importer, 'w', NULL), 0);
	assert_int_equal(block[100], 0x5a);
	assert_int_equal(block[99], 7);
	assert_int_equal(tell(&importer, 'k', NULL), 0);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

RECORDS_FACT(a_record_names_region_slot_generation_offset_and_size)
{
	unsigned char *block = take_filled(SIZE, 0);
	struct dray_ipc_record record = export_of(block + 64, 200, 0);
	struct fields fields = fields_of(&record);
	struct dray_location where;

	assert_works(dray_locate(block + 64, &where));
	assert_memory_equal(&fields.magic, "dryi", 4);
	assert_int_equal(fields.version, 3);
	assert_int_equal(fields.flags, 0);
	assert_int_equal(fields.offset, where.offset);
	assert_int_equal(fields.size, 200);
	assert_int_equal(fields.buffer, dray_buffer_id(where.buffer));
	dray_pool_free(pool, block);
}

static int count_entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

RECORDS_FACT(exports_that_end_at_once_share_a_thread_and_its_files)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 7);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	int files = count_entries("/proc/self/fd");
	int threads = count_entries("/proc/self/task");

	for (int i = 0; i < 3000; i++) {
		assert_works(dray_ipc_revoke(&record));
		if (i % 100 == 0)
			assert_int_not_equal(tell(&importer, 'o', &record), 0);
		record = export_of(block, SIZE, 0);
		assert_in_range(count_entries("/proc/self/fd"), 1, files);
		/* Threads that have closed their files may still be ending. */
		assert_in_range(count_entries("/proc/self/task"), 1,
				threads + 8);
	}
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 7);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

RECORDS_FACT(the_same_memory_has_the_same_record)
{
	unsigned char *block = take_filled(SIZE, 0);
	struct dray_ipc_record first = export_of(block, SIZE, 0);
	struct dray_ipc_record again = export_of(block, SIZE, 0);
	struct dray_ipc_record other = export_of(block, SIZE - 1, 0);

	assert_memory_equal(&first, &again, sizeof(first));
	assert_memory_not_equal(&first, &other, sizeof(first));
	dray_pool_free(pool, block);
}

RECORDS_FACT(a_record_ends_when_each_export_of_it_is_revoked)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 3);
	struct dray_ipc_record one = export_of(block, SIZE, 0);
	struct dray_ipc_record other = export_of(block, SIZE, 0);

	assert_memory_equal(&one, &other, sizeof(one));
	assert_works(dray_ipc_revoke(&one));
	assert_int_equal(tell(&importer, 'o', &other), 0);
	assert_int_equal(tell(&importer, 'k', NULL), 0);
	assert_works(dray_ipc_revoke(&other));
	assert_int_equal(tell(&importer, 'k', NULL), -ESTALE);
	assert_fails(dray_ipc_revoke(&other), -ESTALE, "freed");
	/* A later one begins anew. */
	one = export_of(block, SIZE, 0);
	assert_memory_not_equal(&one, &other, sizeof(one));
	assert_works(dray_ipc_revoke(&one));
	assert_int_equal(tell(&importer, 'o', &one), -ESTALE);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

RECORDS_FACT(a_block_that_is_freed_waits_for_its_importers)
{
	struct importer one = start_importer(import_step);
	struct importer two = start_importer(import_step);
	unsigned char *block, *others[50];
	struct dray_ipc_record record;
	uint64_t used;

	used = stats_of(pool).used;
	block = take_filled(SIZE, 9);
	record = export_of(block, SIZE, 0);
	assert_int_equal(tell(&one, 'o', &record), 0);
	assert_int_equal(tell(&two, 'o', &record), 0);
	dray_pool_free(pool, block);
	assert_true(stats_of(pool).parked >= SIZE);
	assert_int_equal(tell(&one, 'k', NULL), -ESTALE);
	for (int i = 0; i < 50; i++) {
		others[i] = take(pool, SIZE, 0);
		memset(others[i], 1, SIZE);
	}
	assert_int_equal(tell(&one, 'r', NULL), 9);
	assert_int_equal(tell(&two, 'r', NULL), 9);
	assert_int_equal(tell(&one, 'c', NULL), 0);
	assert_int_equal(tell(&two, 'r', NULL), 9);
	assert_true(stats_of(pool).parked >= SIZE);
	/* The other one hangs up without a word. */
	stop_importer(&two);
	becomes_true(stats_of(pool).parked == 0);
	for (int i = 0; i < 50; i++)
		dray_pool_free(pool, others[i]);
	assert_int_equal(stats_of(pool).used, used);
	stop_importer(&one);
}

RECORDS_FACT(what_was_freed_opens_no_more)
{
	struct importer importer = start_importer(import_step);
	unsigned char *stays = take_filled(SIZE, 1),
		      *block = take_filled(SIZE, 2);
	struct dray_ipc_record kept = export_of(stays, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	struct dray_ipc_memory *memory = NULL;

	assert_int_equal(tell(&importer, 'o', &kept), 0);
	dray_pool_free(pool, block);
	becomes_true(stats_of(pool).parked == 0);
	assert_int_equal(tell(&importer, 'o', &record), -ESTALE);
	assert_fails(dray_ipc_open(&record, NULL, &memory), -ESTALE, "freed");
	assert_null(memory);
	assert_int_equal(tell(&importer, 'k', NULL), 0);
	stop_importer(&importer);
	dray_pool_free(pool, stays);
}

RECORDS_FACT(a_slot_that_is_used_again_has_another_generation)
{
	struct importer importer = start_importer(import_step);
	unsigned char *stays = take_filled(SIZE, 1),
		      *block = take_filled(SIZE, 2);
	struct dray_ipc_record kept = export_of(stays, SIZE, 0), old, new;
	uint32_t slot;
	int i;

	old = export_of(block, SIZE, 0);
	slot = fields_of(&old).slot;
	assert_works(dray_ipc_revoke(&old));
	/* Slots are used in turn. */
	for (i = 0; i < DRAY_IPC_MAX_EXPORTS; i++) {
		new = export_of(block, SIZE, 0);
		if (fields_of(&new).slot == slot)
			break;
		assert_works(dray_ipc_revoke(&new));
	}
	assert_int_equal(fields_of(&new).slot, slot);
	assert_int_not_equal(fields_of(&new).generation,
			     fields_of(&old).generation);
	assert_int_equal(tell(&importer, 'o', &old), -ESTALE);
	assert_int_equal(tell(&importer, 'o', &new), 0);
	assert_int_equal(tell(&importer, 'o', &kept), 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
	dray_pool_free(pool, stays);
}

RECORDS_FACT(a_record_that_is_revoked_stays_with_who_has_it)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 3);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_works(dray_ipc_revoke(&record));
	assert_fails(dray_ipc_revoke(&record), -ESTALE, "freed");
	assert_int_equal(tell(&importer, 'k', NULL), -ESTALE);
	assert_int_equal(tell(&importer, 'o', &record), -ESTALE);
	assert_int_equal(tell(&importer, 'r', NULL), 3);
	dray_pool_free(pool, block);
	assert_true(stats_of(pool).parked >= SIZE);
	stop_importer(&importer);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(opens_are_cached_and_counted)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 4);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_int_equal(tell(&importer, 's', NULL), 1);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	dray_pool_free(pool, block);
	assert_true(stats_of(pool).parked >= SIZE);
	assert_int_equal(tell(&importer, 'r', NULL), 4);
	/* Nor does the cache open what is stale. */
	assert_int_equal(tell(&importer, 'o', &record), -ESTALE);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
}

static int same_mapping(char what, const struct dray_ipc_record *record)
{
	static struct dray_ipc_memory *a, *b;
	struct dray_ipc_memory **which = a ? &b : &a;

	if (dray_ipc_open(record, NULL, which))
		return -1;
	return b && dray_ipc_buffer(a) == dray_ipc_buffer(b);
}

RECORDS_FACT(records_of_one_buffer_share_a_mapping)
{
	struct importer importer = start_importer(same_mapping);
	unsigned char *a = take_filled(SIZE, 1), *b = take_filled(SIZE, 2);
	struct dray_ipc_record first = export_of(a, SIZE, 0);
	struct dray_ipc_record second = export_of(b, SIZE, 0);

	assert_int_equal(tell(&importer, 'o', &first), 0);
	assert_int_equal(tell(&importer, 'o', &second), 1);
	stop_importer(&importer);
	dray_pool_free(pool, a);
	dray_pool_free(pool, b);
}

RECORDS_FACT(in_its_own_process_a_record_leads_to_the_memory_itself)
{
	unsigned char *block = take_filled(SIZE, 5);
	struct dray_ipc_record record = export_of(block + 10, 20, 0);
	struct dray_ipc_memory *memory, *again;
	size_t before = buffers_of(node);

	assert_works(dray_ipc_open(&record, NULL, &memory));
	assert_ptr_equal(dray_ipc_data(memory), block + 10);
	assert_int_equal(dray_ipc_size(memory), 20);
	assert_true(dray_ipc_writable(memory));
	assert_works(dray_ipc_check(memory));
	assert_int_equal(buffers_of(node), before);
	assert_works(dray_ipc_open(&record, NULL, &again));
	assert_ptr_equal(memory, again);
	dray_pool_free(pool, block);
	assert_fails(dray_ipc_check(memory), -ESTALE, "freed");
	dray_ipc_close(again);
	assert_int_equal(block[10], 5);
	assert_true(stats_of(pool).parked >= SIZE);
	dray_ipc_close(memory);
	dray_ipc_close(NULL);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(a_buffer_of_its_own_ends_its_records)
{
	struct importer importer = start_importer(import_step);
	struct dray_ipc_record record, whole;
	struct dray_ipc_memory *memory;
	struct dray_buffer *buffer;
	unsigned char *data;

	assert_works(dray_buffer_alloc(node, 8192, NULL, &buffer));
	data = dray_buffer_data(buffer);
	data[8191] = 3;
	record = export_of(data + 8191, 1, 0);
	whole = export_of(data, 8192, 0);
	assert_works(dray_ipc_open(&whole, NULL, &memory));
	assert_int_equal(tell(&importer, 'o', &record), 0);
	dray_buffer_unref(buffer);
	/* This process still has it open. */
	assert_works(dray_ipc_check(memory));
	dray_ipc_close(memory);
	assert_int_equal(tell(&importer, 'k', NULL), -ESTALE);
	assert_int_equal(tell(&importer, 'r', NULL), 3);
	assert_int_equal(tell(&importer, 'o', &whole), -ESTALE);
	stop_importer(&importer);
}

RECORDS_FACT(the_broker_is_there_only_while_something_is_exported)
{
	size_t before, descriptors;
	unsigned char *block = take_filled(SIZE, 0);

	becomes_true(threads() == 1);
	before = threads();
	descriptors = entries("/proc/self/fd");
	export_of(block, SIZE, 0);
	assert_int_equal(threads(), before + 1);
	export_of(block, 1, 0);
	assert_int_equal(threads(), before + 1);
	dray_pool_free(pool, block);
	becomes_true(threads() == before);
	becomes_true(entries("/proc/self/fd") == descriptors);
}

RECORDS_FACT(what_cannot_be_exported_is_told)
{
	struct dray_ipc_record record;
	unsigned char *block = take_filled(SIZE, 0);
	struct dray_node *private_node;
	struct dray_pool *private_pool;
	void *theirs;

	assert_fails(dray_ipc_export(block, 1, 8, &record), -EINVAL,
		     "unknown flags 0x8");
	assert_fails(dray_ipc_export(&record, 1, 0, &record), -EINVAL,
		     "no buffer of dray");
	assert_fails(dray_ipc_export(block, UINT64_MAX, 0, &record), -EINVAL,
		     "leave their block");
	assert_fails(dray_ipc_export(block + 1, dray_usable_size(block), 0,
				     &record),
		     -EINVAL, "leave their block");
	assert_works(dray_node_open("host", &private_node));
	assert_works(dray_pool_create(private_node, NULL, &private_pool));
	theirs = take(private_pool, 100, 0);
	assert_fails(dray_ipc_export(theirs, 100, 0, &record), -EOPNOTSUPP,
		     "private host memory");
	dray_pool_free(private_pool, theirs);
	assert_int_equal(stats_of(private_pool).parked, 0);
	dray_pool_close(private_pool);
	dray_node_unref(private_node);
	dray_pool_free(pool, block);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(there_is_a_most_of_exports)
{
	struct dray_ipc_record record;
	struct dray_buffer *buffer;
	unsigned char *data;

	if (on_kernel()) /* nothing of it differs there, and it takes long */
		skip();
	assert_works(
		dray_buffer_alloc(node, DRAY_IPC_MAX_EXPORTS, NULL, &buffer));
	data = dray_buffer_data(buffer);
	for (int i = 0; i < DRAY_IPC_MAX_EXPORTS; i++)
		record = export_of(data + i, 1, 0);
	assert_fails(dray_ipc_export(data, 2, 0, &record), -ENOSPC, "16384");
	assert_works(dray_ipc_revoke(&record));
	export_of(data, 2, 0);
	dray_buffer_unref(buffer);
	assert_fails(dray_ipc_revoke(&record), -ESTALE, "no export");
}

FACTS_SHARE(set_up, tear_down)
