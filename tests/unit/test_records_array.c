// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: records of arrays, with strides that never lead out of their memory. */
#include <dray/array.h>

#include "child.h"
#include "records.h"

struct array_fields {
	struct dray_ipc_record memory;
	uint32_t magic, version, flags, ndim;
	char kind, order;
	uint16_t reserved;
	uint32_t itemsize;
	uint64_t offset;
	int64_t axes[2 * DRAY_MAX_NDIM];
};

static struct dray_array *make_array(int64_t rows, int64_t columns)
{
	struct dray_array *array = NULL;

	assert_works(
		dray_array_create(pool, u2, 2, DIMS(rows, columns), &array));
	for (int64_t i = 0; i < rows * columns; i++)
		((uint16_t *)array->data)[i] = (uint16_t)i;
	return array;
}

static size_t export_view(const struct dray_view *view, uint32_t flags,
			  struct array_fields *fields)
{
	size_t size = 0;

	assert_works(
		dray_view_export(view, flags, fields, sizeof(*fields), &size));
	return size;
}

/* Opens it in another process, which says an error, or its sum. */
static int sum_elsewhere(const void *record, size_t size)
{
	pid_t child = fork();

	if (!child) {
		const struct dray_view *view;
		struct dray_array *array;
		unsigned int sum = 0;

		if (dray_array_open(record, size, NULL, &array))
			_exit(0);
		view = whole_view(array);
		for (int64_t i = 0; i < view->shape[0]; i++) {
			for (int64_t j = 0; j < view->shape[1]; j++)
				sum += *(uint16_t *)((char *)view->data +
						     i * view->strides[0] +
						     j * view->strides[1]);
		}
		_exit((int)(sum % 251) + 1);
	}
	return status_of(child) - 1;
}

RECORDS_FACT(an_array_opens_with_its_shape_and_strides)
{
	struct dray_array *array = make_array(20, 30), *opened;
	const struct dray_view *there;
	struct array_fields fields;
	struct dray_view view;
	unsigned int sum = 0;
	size_t size;

	assert_works(dray_view_index(
		whole_view(array),
		(struct dray_index[]){ DRAY_SLICE(DRAY_OMIT, 3, -2),
				       DRAY_SLICE(1, 20, 3) },
		2, &view));
	size = export_view(&view, 0, &fields);
	assert_int_equal(size, 96 + 2 * 16);
	for (int i = 19; i > 3; i -= 2) {
		for (int j = 1; j < 20; j += 3)
			sum += (unsigned int)(i * 30 + j) & 0xffff;
	}
	assert_int_equal(sum_elsewhere(&fields, size), sum % 251);
	assert_works(dray_array_open(&fields, size, NULL, &opened));
	there = whole_view(opened);
	assert_ptr_equal(there->data, view.data);
	assert_int_equal(there->ndim, 2);
	assert_memory_equal(there->shape, view.shape, 16);
	assert_memory_equal(there->strides, view.strides, 16);
	assert_memory_equal(&there->dtype, &u2, sizeof(u2));
	/* It keeps the memory, as any that has it open. */
	dray_array_unref(array);
	assert_true(stats_of(pool).parked > 0);
	dray_array_unref(opened);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(a_slice_of_an_opened_array_keeps_its_memory)
{
	struct dray_array *array = make_array(4, 5), *opened, *slice, *inner;
	struct array_fields fields;
	struct dray_view view;
	size_t size = export_view(whole_view(array), 0, &fields);

	assert_works(dray_array_open(&fields, size, NULL, &opened));
	dray_array_unref(array);
	assert_works(
		dray_view_index(whole_view(opened), &DRAY_STEP(-2), 1, &view));
	assert_works(dray_array_over(&view, &opened->block, &slice));
	assert_int_equal(dray_block_type(slice->reference), DRAY_BLOCK_OPENED);
	dray_array_unref(opened);
	assert_works(dray_view_index(whole_view(slice), &DRAY_AT(1), 1, &view));
	assert_works(dray_array_over(&view, &slice->block, &inner));
	dray_array_unref(slice);
	assert_int_equal(*(uint16_t *)inner->data, 5);
	assert_true(stats_of(pool).parked > 0);
	/* The memory of the record ends before the fifth row. */
	assert_works(
		dray_view_init(&view, inner->data, u2, 2, DIMS(4, 5), NULL));
	assert_fails(dray_array_over(&view, &inner->block, &slice), -EINVAL,
		     "do not lie in block");
	dray_array_unref(inner);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(a_type_object_is_exported_as_its_text)
{
	struct dray_array *array, *opened;
	char record[DRAY_VIEW_RECORD_SIZE], bytes[400];
	struct dray_view copy;
	uint64_t needed;
	dray_dtype dtype;
	size_t size;

	assert_works(dray_dtype_parse("i4,(2,3)f8,S3", &dtype));
	assert_works(dray_array_create(pool, dtype, 1, DIMS(4), &array));
	assert_int_equal(dray_view_export(whole_view(array), 0, record, 112,
					  &size),
			 -ENOSPC);
	assert_works(dray_view_export(whole_view(array), 0, record,
				      sizeof(record), &size));
	assert_int_equal(size,
			 96 + 16 + 8 + dray_dtype_format(dtype, NULL, 0) + 1);
	assert_works(dray_array_open(record, size, NULL, &opened));
	assert_true(dray_dtype_equal(opened->dtype, dtype));
	dray_array_unref(opened);
	assert_works(dray_view_fetch(record, size, bytes, sizeof(bytes),
				     &needed, &copy));
	assert_true(dray_dtype_equal(copy.dtype, dtype));
	dray_dtype_unref(copy.dtype);
	assert_fails(dray_array_open(record, size - 1, NULL, &opened), -EBADMSG,
		     "not a text");
	assert_fails(dray_array_open(record, size + 1, NULL, &opened), -EBADMSG,
		     "for 1 axes");
	assert_fails(dray_array_open(record, 112, NULL, &opened), -EBADMSG,
		     "before its type");
	dray_array_unref(array);
	dray_dtype_unref(dtype);
}

RECORDS_FACT(a_type_that_is_too_long_for_a_record_is_not_exported)
{
	static struct dray_dtype_field fields[300];
	struct dray_array *array;
	char record[DRAY_VIEW_RECORD_SIZE];
	dray_dtype dtype;
	size_t size;

	for (int i = 0; i < 300; i++)
		fields[i].dtype = DRAY_INT32;
	assert_works(dray_dtype_create_struct(fields, 300, 0, 0, &dtype));
	assert_works(dray_array_create(pool, dtype, 1, DIMS(4), &array));
	assert_fails(dray_view_export(whole_view(array), 0, record,
				      sizeof(record), &size),
		     -E2BIG, "room for 4087");
	dray_array_unref(array);
	dray_dtype_unref(dtype);
}

RECORDS_FACT(an_array_of_its_own_shows_no_neighbour)
{
	struct dray_array *array = NULL;
	struct array_fields fields;
	struct dray_location where;
	size_t size, before = buffers_of(node);

	assert_works(dray_array_create_alone(node, u2, 2, DIMS(4, 5), &array));
	assert_true(all_bytes_are(array->data, 0, 40));
	assert_works(dray_locate(array->data, &where));
	assert_null(where.pool);
	assert_int_equal(where.offset, 0);
	size = export_view(whole_view(array), DRAY_IPC_READ_ONLY, &fields);
	*(uint16_t *)array->data = 77;
	assert_int_equal(sum_elsewhere(&fields, size), 77);
	dray_array_unref(array);
	assert_int_equal(sum_elsewhere(&fields, size), -1);
	assert_int_equal(buffers_of(node), before);
	assert_works(dray_array_create_alone(node, u2, 1, DIMS(0), &array));
	dray_array_unref(array);
	assert_fails(dray_array_create_alone(node, u2, 1, DIMS(-1), &array),
		     -EINVAL, "-1");
}

RECORDS_FACT(lies_about_an_array_are_refused)
{
	struct dray_array *array = make_array(4, 8), *opened;
	struct array_fields fields, lie;
	size_t size = export_view(whole_view(array), 0, &fields);

#define lies(change, length, error, part)                                  \
	do {                                                               \
		lie = fields;                                              \
		change;                                                    \
		assert_fails(dray_array_open(&lie, length, NULL, &opened), \
			     error, part);                                 \
		assert_int_equal(sum_elsewhere(&lie, length), -1);         \
	} while (0)

	assert_int_equal(fields.axes[0], 4);
	assert_int_equal(fields.axes[3], 2);
	lies(lie.magic++, size, -EBADMSG, "not a record of an array");
	lies(lie.version++, size, -EPROTO, "version 3");
	lies(lie.flags = 8, size, -EBADMSG, "flags are 0x8");
	lies(lie.kind = 0, size, -EBADMSG, "not a builtin");
	lies(lie.ndim = 3, size, -EBADMSG, "for 3 axes");
	lies(lie.ndim = UINT32_MAX, size, -EBADMSG, "axes");
	lies(lie.kind = 'O', size, -EBADMSG, "");
	lies(lie.itemsize = 3, size, -EBADMSG, "");
	lies(lie.offset = 65, size, -EBADMSG, "begins at 65");
	lies(lie.offset = 2, size, -EBADMSG, "around offset 2");
	lies(lie.offset = UINT64_MAX, size, -EBADMSG, "begins at");
	lies(lie.axes[0] = 5, size, -EBADMSG, "covers bytes 0 to 80");
	lies(lie.axes[0] = INT64_MAX, size, -EBADMSG, "");
	lies(lie.axes[0] = -1, size, -EBADMSG, "");
	lies(lie.axes[2] = -16, size, -EBADMSG, "covers bytes -48");
	lies(lie.axes[2] = INT64_MIN, size, -EBADMSG, "");
	lies(lie.axes[3] = 3, size, -EBADMSG, "covers bytes");
	lies(lie.memory.bytes[0]++, size, -EBADMSG, "no record of memory");
	dray_array_unref(array);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(a_truncated_record_opens_nothing)
{
	struct dray_array *array = make_array(4, 8), *opened;
	struct array_fields fields;
	size_t size = export_view(whole_view(array), 0, &fields);

	for (size_t cut = 0; cut < size; cut++) {
		/* Of its own, so that a sanitizer sees each read. */
		void *copy = malloc(cut ? cut : 1);

		memcpy(copy, &fields, cut);
		assert_fails(dray_array_open(copy, cut, NULL, &opened),
			     -EBADMSG, "a record of");
		free(copy);
	}
	assert_fails(dray_array_open(&fields, size + 1, NULL, &opened),
		     -EBADMSG, "for 2 axes");
	dray_array_unref(array);
}

RECORDS_FACT(what_has_no_record_is_told)
{
	struct dray_array *array = make_array(4, 8);
	struct array_fields fields;
	struct dray_view view;
	char local[64];
	size_t size;

	assert_fails(dray_view_export(whole_view(array), 0, &fields, 127,
				      &size),
		     -ENOSPC, "takes 128 bytes, there is room for 127");
	assert_works(dray_view_init(&view, local, u2, 1, DIMS(8), NULL));
	assert_fails(dray_view_export(&view, 0, &fields, sizeof(fields), &size),
		     -EINVAL, "no buffer of dray");
	dray_view_copy(&view, whole_view(array));
	view.shape[0] = 100000;
	assert_fails(dray_view_export(&view, 0, &fields, sizeof(fields), &size),
		     -EINVAL, "leave their block");
	view.shape[0] = -1;
	assert_fails(dray_view_export(&view, 0, &fields, sizeof(fields), &size),
		     -EINVAL, "-1");
	assert_fails(dray_view_export(whole_view(array), 1u << 20, &fields,
				      sizeof(fields), &size),
		     -EINVAL, "unknown flags");
	dray_array_unref(array);
}

RECORDS_FACT(read_only_views_stay_so)
{
	struct dray_array *array = make_array(4, 8), *opened;
	struct array_fields fields;
	struct dray_view view;
	size_t size;

	dray_view_copy(&view, whole_view(array));
	view.flags = DRAY_READ;
	size = export_view(&view, 0, &fields);
	assert_works(dray_array_open(&fields, size, NULL, &opened));
	assert_int_equal(opened->flags & PERMISSIONS, DRAY_READ);
	dray_array_unref(opened);
	dray_array_unref(array);
}

FACTS_SHARE(set_up, tear_down)
