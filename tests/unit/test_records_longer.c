// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: importers that make the file behind the memory longer, so that it does
 * not fit any more into the addresses of others.  A dma-buf has one size.
 */
#include <dray/array/array.h>

#include <dray/array.h>

#include "records.h"

#define SIZE 20000
#define MIB ((uint64_t)1 << 20)

static int64_t wanted;

/* As import_step(); l: makes the buffer's file as long as is wanted */
static int longer_step(char what, const struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory;
	int ret;

	if (what != 'l')
		return import_step(what, record);
	ret = dray_ipc_open(record, NULL, &memory);
	if (ret)
		return ret;
	if (ftruncate(dray_buffer_fd(dray_ipc_buffer(memory)), (off_t)wanted))
		ret = -errno;
	dray_ipc_close(memory);
	return ret;
}

static int64_t length_of(const struct dray_buffer *buffer)
{
	return (int64_t)lseek(dray_buffer_fd(buffer), 0, SEEK_END);
}

/* Longer than the memory of any machine; the second is of no whole page. */
static const int64_t lengths[] = { INT64_C(1) << 50, (INT64_C(1) << 50) + 1 };

RECORDS_FACT(a_buffer_of_its_own_gets_no_longer)
{
	static const uint32_t flags[] = { DRAY_IPC_READ_ONLY, 0 };
	struct importer other;

	if (on_kernel())
		skip();
	other = start_importer(import_step);
	for (size_t i = 0; i < 4; i++) {
		struct dray_ipc_record record;
		struct dray_buffer *buffer;
		struct importer importer;

		assert_works(dray_buffer_alloc(node, SIZE, NULL, &buffer));
		*(unsigned char *)dray_buffer_data(buffer) = 9;
		record =
			export_of(dray_buffer_data(buffer), SIZE, flags[i % 2]);
		wanted = lengths[i / 2];
		importer = start_importer(longer_step);
		assert_int_equal(tell(&importer, 'l', &record), -EPERM);
		assert_int_equal(tell(&other, 'o', &record), 0);
		assert_int_equal(tell(&other, 'r', NULL), 9);
		stop_importer(&importer);
		dray_buffer_unref(buffer);
	}
	stop_importer(&other);
}

RECORDS_FACT(a_pool_s_buffer_that_is_made_longer_can_be_opened)
{
	if (on_kernel())
		skip();
	for (size_t i = 0; i < 2; i++) {
		struct dray_pool *own;
		struct importer importer, other = start_importer(import_step);
		struct dray_ipc_record record;
		struct dray_location where;
		unsigned char *block, *far;

		assert_works(dray_pool_create(node, NULL, &own));
		block = take(own, SIZE, 0);
		block[0] = 9;
		record = export_of(block, SIZE, 0);
		wanted = lengths[i];
		importer = start_importer(longer_step);
		assert_int_equal(tell(&importer, 'l', &record), 0);
		assert_works(dray_locate(block, &where));
		assert_int_equal(length_of(where.buffer), wanted);
		assert_int_equal(tell(&other, 'o', &record), 0);
		assert_int_equal(tell(&other, 'r', NULL), 9);
		/* And the pool grows in it. */
		far = take(own, 100 * MIB, 0);
		far[100 * MIB - 1] = 8;
		record = export_of(far + 100 * MIB - 1, 1, 0);
		assert_int_equal(tell(&other, 'o', &record), 0);
		assert_int_equal(tell(&other, 'r', NULL), 8);
		stop_importer(&importer);
		stop_importer(&other);
		dray_pool_free(own, block);
		dray_pool_free(own, far);
		becomes_true(stats_of(own).parked == 0);
		dray_pool_close(own);
	}
}

RECORDS_FACT(an_array_in_such_a_buffer_can_be_sent)
{
	const dray_dtype byte = DRAY_DTYPE('u', '|', 1);
	struct dray_view view = {
		.dtype = byte, .ndim = 1, .shape = { SIZE }, .strides = { 1 }
	};
	struct dray_location where;
	struct dray_array *array;
	unsigned char *block;
	int ends[2];

	if (on_kernel())
		skip();
	block = take_filled(SIZE, 7);
	view.data = block;
	assert_works(dray_locate(block, &where));
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ftruncate(dray_buffer_fd(where.buffer),
					   (off_t)lengths[i]),
				 0);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		assert_works(dray_view_send(ends[0], &view));
		assert_works(dray_array_receive(ends[1], node, &array));
		assert_int_equal(*(unsigned char *)array->data, 7);
		dray_array_unref(array);
		close(ends[0]);
		close(ends[1]);
	}
	dray_pool_free(pool, block);
}

FACTS_SHARE(set_up, tear_down)
