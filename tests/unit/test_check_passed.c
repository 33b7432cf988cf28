// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * check_passed: a block that another process may be looking at keeps its bytes
 * when it is freed: the checking handler overwrites only what nobody else has.
 */
#include <dray/array.h>

#include "records.h"

static const struct dray_handler *handler;
static const struct dray_allocator *with;

static int check_set_up(void **state)
{
	int ret = set_up(state);

	if (!ret)
		ret = dray_handler_check(dray_handler_for(pool), NULL,
					 &handler);
	if (!ret)
		with = &handler->allocator;
	return ret;
}

static unsigned char *get(size_t size)
{
	unsigned char *block = with->malloc(with->ctx, size);

	if (!block)
		fail_msg("%zu bytes: %s", size, dray_last_error());
	memset(block, 5, size);
	return block;
}

static void put(void *block)
{
	with->free(with->ctx, block, 1);
}

static bool all_are(const unsigned char *bytes, int value, size_t size)
{
	size_t i = 0;

	while (i < size && bytes[i] == value)
		i++;
	return i == size;
}

/* Gives back everything that is kept. */
static void nothing_is_late(void)
{
	struct dray_check numbers = { .size = sizeof(numbers) };
	FILE *file = fopen("/dev/null", "we");

	assert_non_null(file);
	assert_works(dray_check_report(handler, file));
	fclose(file);
	assert_works(dray_check_get(handler, &numbers));
	assert_int_equal(numbers.late_writes, 0);
	assert_int_equal(numbers.blocks, 0);
}

static struct dray_array *send_and_receive(void *block, int64_t size)
{
	struct dray_array *array;
	struct dray_view view;
	int ends[2];

	assert_works(dray_view_init(&view, block, DRAY_UINT8, 1, &size, NULL));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_works(dray_view_send(ends[0], &view));
	assert_works(dray_array_receive(ends[1], NULL, &array));
	close(ends[0]);
	close(ends[1]);
	return array;
}

FACT(a_block_that_was_sent_keeps_its_bytes)
{
	struct dray_array *array;
	unsigned char *block, *other, *seen;

	block = get(1000);
	other = get(1000);
	array = send_and_receive(block, 1000);
	seen = array->data;
	assert_ptr_not_equal(seen, block);
	put(block);
	assert_true(all_are(seen, 5, 1000));
	/* The receiver may write it, whatever became of it here. */
	seen[10] = 6;
	/* Its neighbour in the same buffer was given to nobody. */
	put(other);
	assert_false(all_are(other, 5, 1000));
	dray_array_unref(array);
	nothing_is_late();
}

/* The mark ends with the block. */
FACT(a_sent_block_is_an_ordinary_one_when_it_is_new)
{
	unsigned char *block, *again[64];
	struct dray_array *array;
	bool found = false;

	block = get(1000);
	array = send_and_receive(block, 1000);
	put(block);
	dray_array_unref(array);
	nothing_is_late();
	for (size_t i = 0; i < 64; i++) {
		again[i] = get(1000);
		found |= again[i] == block;
	}
	assert_true(found);
	for (size_t i = 0; i < 64; i++) {
		put(again[i]);
		assert_false(all_are(again[i], 5, 1000));
	}
	nothing_is_late();
}

FACT(a_block_with_an_open_record_keeps_its_bytes)
{
	struct importer importer = start_importer(import_step);
	struct dray_ipc_record record;
	unsigned char *block = get(1000);

	record = export_of(block, 1000, 0);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	put(block);
	assert_true(all_are(block, 5, 1000));
	assert_int_equal(tell(&importer, 'w', NULL), 0);
	assert_int_equal(block[0], 0x5a);
	/* It hears of the free at once, though the pool does not. */
	assert_int_equal(tell(&importer, 'k', NULL), -ESTALE);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	stop_importer(&importer);
	nothing_is_late();
	becomes_true(stats_of(pool).blocks == 0);
}

FACT(a_record_that_nobody_has_open_ends_with_the_block)
{
	struct dray_ipc_memory *memory;
	struct dray_ipc_record record;
	unsigned char *block = get(1000);

	record = export_of(block, 1000, 0);
	put(block);
	assert_false(all_are(block, 5, 1000));
	assert_fails(dray_ipc_open(&record, NULL, &memory), -ECONNREFUSED, "");
	nothing_is_late();
	assert_int_equal(stats_of(pool).blocks, 0);
}

FACT(a_block_that_is_handed_over_keeps_its_bytes)
{
	struct dray_ipc_memory *memory;
	struct dray_ipc_record record;
	unsigned char *block = get(1000);

	record = export_of(block, 1000, DRAY_IPC_HANDOVER);
	put(block);
	nothing_is_late();
	assert_works(dray_ipc_open(&record, NULL, &memory));
	assert_true(all_are(dray_ipc_data(memory), 5, 1000));
	dray_ipc_close(memory);
	assert_int_equal(stats_of(pool).blocks, 0);
}

FACTS_SHARE(check_set_up, tear_down)
