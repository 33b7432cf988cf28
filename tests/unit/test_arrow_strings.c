// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arrow_strings: text and bytes of Arrow as arrays of strings, and back.  What a
 * producer has wrong is refused with a sentence and stays the producer's.
 */
#include <dray/array.h>

#include "arrow.h"

/* Four strings: "ab", a null, "", "cd\0"; another of two bytes is in front. */
struct producer {
	struct ArrowSchema schema;
	struct ArrowArray array;
	const void *buffers[6];
	union {
		int32_t narrow[6];
		int64_t wide[6];
	};
	struct {
		int32_t size;
		char begin[4];
		int32_t buffer, offset;
	} views[5];
	int64_t sizes[2];
	uint8_t bits[1];
	int released;
};

static const char bytes[] = "xxabcd\0";
static const char longer[] = "a string of more than twelve bytes";

static void release_schema(struct ArrowSchema *schema)
{
	schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
	++*(int *)array->private_data;
	array->release = NULL;
}

static void set_up_producer(struct producer *producer, const char *format)
{
	static const int ends[] = { 0, 2, 4, 4, 4, 7 };
	bool wide = format[0] == 'U' || format[0] == 'Z';

	*producer = (struct producer){
		.bits = { 0x1b },
		.schema = { .format = format, .release = release_schema },
		.array = { .length = 4,
			   .offset = 1,
			   .null_count = -1,
			   .n_buffers = 3,
			   .release = release_array },
		.views = { { .size = 2, .begin = "xx" },
			   { .size = 2, .begin = "ab" },
			   /* A null may be anything. */
			   { .size = -7, .buffer = 100, .offset = -1 },
			   { .size = 0 },
			   { .size = 3, .begin = "cd" } },
		.sizes = { sizeof(bytes), sizeof(longer) },
	};
	producer->array.private_data = &producer->released;
	producer->array.buffers = producer->buffers;
	producer->buffers[0] = producer->bits;
	for (int i = 0; i < 6; i++) {
		if (wide)
			producer->wide[i] = ends[i];
		else
			producer->narrow[i] = ends[i];
	}
	if (format[0] == 'v') {
		producer->array.n_buffers = 5;
		producer->buffers[1] = producer->views;
		producer->buffers[2] = bytes;
		producer->buffers[3] = longer;
		producer->buffers[4] = producer->sizes;
	} else {
		producer->buffers[1] = producer->wide;
		producer->buffers[2] = bytes;
	}
	/* Row 2 from the offset is the null: 0x1b is 11011. */
}

static void assert_string(const struct dray_block *strings, size_t index,
			  const char *text, size_t size)
{
	const char *begin = NULL, *end = NULL;

	assert_works(dray_strings_get(strings, index, &begin, &end));
	assert_int_equal(!begin, !text);
	assert_int_equal(end - begin, size);
	if (size)
		assert_memory_equal(begin, text, size);
}

static int import(struct producer *producer, struct dray_block **out)
{
	return dray_arrow_import_strings(&producer->schema, &producer->array,
					 -1, out);
}

static const char *const formats[] = { "u", "U", "z", "Z", "vu", "vz" };

FACT(every_format_is_read_in_place)
{
	struct dray_block *strings = NULL, *slice;
	struct producer producer;
	const char *begin, *end;

	for (int i = 0; i < 6; i++) {
		set_up_producer(&producer, formats[i]);
		assert_works(import(&producer, &strings));
		assert_null(producer.array.release);
		assert_int_equal(dray_strings_count(strings), 4);
		assert_string(strings, 0, "ab", 2);
		assert_string(strings, 1, NULL, 0);
		assert_string(strings, 2, "", 0);
		assert_string(strings, 3, "cd\0", 3);
		assert_works(dray_strings_get(strings, 0, &begin, &end));
		assert_ptr_equal(begin,
				 i < 4 ? &bytes[2] : producer.views[1].begin);
		assert_fails(dray_strings_append(strings, "x", 1), -EPERM,
			     "finished");
		assert_works(dray_strings_finish(strings));
		/* Any part keeps the producer's array. */
		assert_works(dray_strings_slice(strings, 0, 1, 1, &slice));
		dray_block_unref(strings);
		assert_int_equal(producer.released, 0);
		dray_block_unref(slice);
		assert_int_equal(producer.released, 1);
	}
}

FACT(long_views_lie_in_buffers)
{
	struct dray_block *strings = NULL;
	struct producer producer;
	const char *begin, *end;

	set_up_producer(&producer, "vu");
	producer.views[1].size = 13;
	producer.views[1].buffer = 1;
	producer.views[1].offset = 2;
	producer.views[4].size = 12; /* the most without a buffer */
	assert_works(import(&producer, &strings));
	assert_works(dray_strings_get(strings, 0, &begin, &end));
	assert_ptr_equal(begin, longer + 2);
	assert_int_equal(end - begin, 13);
	assert_works(dray_strings_get(strings, 3, &begin, &end));
	assert_ptr_equal(begin, producer.views[4].begin);
	dray_block_unref(strings);
}

FACT(no_strings_need_no_buffers)
{
	struct dray_block *strings = NULL;
	struct producer producer;

	for (int i = 0; i < 6; i++) {
		set_up_producer(&producer, formats[i]);
		producer.array.length = producer.array.offset = 0;
		producer.array.n_buffers = 3;
		memset(producer.buffers, 0, sizeof(producer.buffers));
		assert_works(import(&producer, &strings));
		assert_int_equal(dray_strings_count(strings), 0);
		dray_block_unref(strings);
		assert_int_equal(producer.released, 1);
	}
}

/* Empty strings need no bytes, and are no nulls. */
FACT(empty_strings_need_no_bytes)
{
	struct dray_block *strings = NULL;
	struct producer producer;

	set_up_producer(&producer, "u");
	memset(producer.narrow, 0, sizeof(producer.narrow));
	producer.buffers[0] = producer.buffers[2] = NULL;
	assert_works(import(&producer, &strings));
	for (size_t i = 0; i < 4; i++)
		assert_string(strings, i, "", 0);
	dray_block_unref(strings);
	/* A number of 0 nulls is believed, whatever the bits say. */
	set_up_producer(&producer, "u");
	producer.array.null_count = 0;
	assert_works(import(&producer, &strings));
	assert_string(strings, 1, "", 0);
	dray_block_unref(strings);
}

#define CHANGE(name, ...)                           \
	static void name(struct producer *producer) \
	{                                           \
		__VA_ARGS__;                        \
	}                                           \
	struct producer
#define CASE(format, change, error, part)            \
	{                                            \
		format, change, #change, error, part \
	}

CHANGE(schema_released, producer->schema.release = NULL);
CHANGE(array_released, producer->array.release = NULL);
CHANGE(no_format, producer->schema.format = NULL);
CHANGE(numbers, producer->schema.format = "i");
CHANGE(long_format, producer->schema.format = "uuuuuuuuuuuuuuuuuuuuuuuuu");
CHANGE(two_buffers, producer->array.n_buffers = 2);
CHANGE(four_buffers, producer->array.n_buffers = 4);
CHANGE(most_buffers, producer->array.n_buffers = INT64_MAX);
CHANGE(no_buffers, producer->array.buffers = NULL);
CHANGE(a_child, producer->array.n_children = 1);
CHANGE(a_dictionary, producer->schema.dictionary = &producer->schema);
CHANGE(negative_length, producer->array.length = -1);
CHANGE(long_length, producer->array.length = INT64_MAX);
CHANGE(longest, producer->array.length = INT64_MAX; producer->array.offset = 0);
CHANGE(half_of_all, producer->array.length = INT64_MAX / 8);
CHANGE(nulls_without_bits, producer->array.null_count = 1;
       producer->buffers[0] = NULL);
CHANGE(no_offsets, producer->buffers[1] = NULL);
CHANGE(no_bytes, producer->buffers[2] = NULL);
CHANGE(decreasing, producer->narrow[3] = 3);
CHANGE(wide_decreasing, producer->wide[3] = 3);
CHANGE(beyond_the_last, producer->narrow[3] = 8);
CHANGE(negative, producer->narrow[1] = -1);
CHANGE(wide_negative, producer->wide[1] = INT64_MIN);
CHANGE(last_decreases, producer->narrow[5] = 1);
CHANGE(last_negative, producer->narrow[5] = INT32_MIN);
CHANGE(bytes_beyond_all, producer->wide[5] = 200;
       producer->buffers[2] = (const void *)(UINTPTR_MAX - 100));
CHANGE(view_negative, producer->views[1].size = -1);
CHANGE(view_of_no_buffer, producer->views[1].size = 13;
       producer->views[1].buffer = 2);
CHANGE(view_of_less_than_none, producer->views[1].size = 13;
       producer->views[1].buffer = -1);
CHANGE(view_before_its_buffer, producer->views[1].size = 13;
       producer->views[1].buffer = 1; producer->views[1].offset = -1);
CHANGE(view_behind_its_buffer, producer->views[1].size = 13;
       producer->views[1].buffer = 1;
       producer->views[1].offset = sizeof(longer) - 12);
CHANGE(longest_view, producer->views[1].size = INT32_MAX;
       producer->views[1].buffer = 1; producer->views[1].offset = INT32_MAX);
CHANGE(no_sizes, producer->buffers[4] = NULL);
CHANGE(no_view_buffer, producer->buffers[3] = NULL);
CHANGE(negative_size, producer->sizes[1] = -1);

FACT(wrong_structures_are_refused)
{
	static const struct {
		const char *format;
		void (*change)(struct producer *producer);
		const char *name;
		int error;
		const char *part;
	} cases[] = {
		CASE("u", schema_released, -EINVAL,
		     "the schema of Arrow was released"),
		CASE("u", array_released, -EINVAL,
		     "the array of Arrow was released"),
		CASE("u", no_format, -EINVAL, "lacks its format"),
		CASE("u", numbers, -EOPNOTSUPP,
		     "\"i\" is not a format of strings: u, U, z, Z, vu, vz"),
		CASE("u", long_format, -EOPNOTSUPP, "\"uuuuuuuuuuuuuuuuuuuu\""),
		CASE("u", two_buffers, -EINVAL, "2 buffers, not 3"),
		CASE("u", four_buffers, -EINVAL, "4 buffers, not 3"),
		CASE("vu", two_buffers, -EINVAL, "2 buffers, not 3"),
		CASE("vu", most_buffers, -EINVAL,
		     "9223372036854775807 buffers, not 2147483647"),
		CASE("u", no_buffers, -EINVAL, "lacks its buffers"),
		CASE("u", a_child, -EINVAL, "1 children, not 0"),
		CASE("u", a_dictionary, -EOPNOTSUPP, "decode the array first"),
		CASE("u", negative_length, -EINVAL, "a length of -1"),
		CASE("u", long_length, -EOVERFLOW, "63 bits"),
		CASE("U", longest, -EOVERFLOW, "address space"),
		CASE("vu", longest, -EOVERFLOW, "address space"),
		CASE("U", half_of_all, -EOVERFLOW, "address space"),
		CASE("u", nulls_without_bits, -EINVAL,
		     "states 1 nulls but no bits"),
		CASE("u", no_offsets, -EINVAL,
		     "4 strings lacks its buffer of offsets"),
		CASE("vz", no_offsets, -EINVAL,
		     "4 strings lacks its buffer of offsets or views"),
		CASE("u", no_bytes, -EINVAL, "5 bytes of strings lacks"),
		CASE("u", decreasing, -EINVAL,
		     "string 1 of Arrow begins at 4 and ends at 3"),
		CASE("Z", wide_decreasing, -EINVAL,
		     "string 1 of Arrow begins at 4 and ends at 3"),
		CASE("z", beyond_the_last, -EINVAL,
		     "begins at 4 and ends at 8; offsets must not decrease, "
		     "the last is 7"),
		CASE("u", negative, -EINVAL, "from -1 to 7"),
		CASE("U", wide_negative, -EINVAL,
		     "from -9223372036854775808 to 7"),
		CASE("u", last_decreases, -EINVAL, "from 2 to 1"),
		CASE("u", last_negative, -EINVAL, "to -2147483648"),
		CASE("U", bytes_beyond_all, -EOVERFLOW, "address space"),
		CASE("vu", view_negative, -EINVAL,
		     "string 0 of Arrow states -1 bytes"),
		CASE("vu", view_of_no_buffer, -EINVAL,
		     "13 bytes at 0 of buffer 2 of 2"),
		CASE("vu", view_of_less_than_none, -EINVAL, "buffer -1 of 2"),
		CASE("vu", view_before_its_buffer, -EINVAL, "13 bytes at -1"),
		CASE("vu", view_behind_its_buffer, -EINVAL, "13 bytes at 23"),
		CASE("vu", longest_view, -EINVAL, "2147483647 bytes"),
		CASE("vu", no_sizes, -EINVAL, "lacks the sizes of 2 buffers"),
		CASE("vu", no_view_buffer, -EINVAL, "no data"),
		CASE("vu", negative_size, -EINVAL, "-1"),
	};
	struct dray_block *none = NULL;
	struct producer producer;
	bool live;
	int ret;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up_producer(&producer, cases[i].format);
		cases[i].change(&producer);
		live = producer.array.release != NULL;
		ret = import(&producer, &none);
		if (ret != cases[i].error ||
		    !strstr(dray_last_error(), cases[i].part))
			fail_msg("%s: %d, %s", cases[i].name, ret,
				 dray_last_error());
		assert_int_equal(producer.array.release != NULL, live);
		assert_int_equal(producer.released, 0);
		assert_null(none);
	}
}

#define TEXT(text, size)                                \
	{                                               \
		(char *)(text), (char *)(text) + (size) \
	}

static struct dray_block *copied(bool with_null)
{
	static char texts[] = "ab\0c\xc3\xa9";
	const struct dray_string strings[] = {
		TEXT(texts, 2),
		TEXT(texts, with_null ? 2 : 0),
		TEXT(texts + 2, 4),
		TEXT(texts, 0),
	};
	struct dray_string all[4];
	struct dray_block *out = NULL;

	memcpy(all, strings, sizeof(all));
	if (with_null)
		all[1] = (struct dray_string){ NULL, NULL };
	assert_works(dray_strings_copy(all, 4, &out));
	return out;
}

FACT(an_export_keeps_the_bytes)
{
	static const int64_t ends[] = { 0, 2, 2, 6, 6 };
	struct dray_block *strings;
	struct ArrowSchema schema;
	struct ArrowArray array;
	const char *begin, *end;

	for (int i = 0; i < 8; i++) {
		bool wide = i % 2;

		strings = copied(i < 4);
		assert_works(dray_arrow_export_strings(strings, formats[i % 4],
						       0, &array));
		assert_works(
			dray_arrow_schema_strings(formats[i % 4], &schema));
		assert_string_equal(schema.format, formats[i % 4]);
		assert_int_equal(schema.flags, ARROW_FLAG_NULLABLE);
		assert_int_equal(array.length, 4);
		assert_int_equal(array.offset, 0);
		assert_int_equal(array.null_count, i < 4);
		assert_int_equal(array.n_buffers, 3);
		assert_int_equal(array.n_children, 0);
		for (int j = 0; j < 5; j++)
			assert_int_equal(
				wide ? ((const int64_t *)array.buffers[1])[j]
				     : ((const int32_t *)array.buffers[1])[j],
				ends[j]);
		if (i < 4)
			assert_int_equal(*(const uint8_t *)array.buffers[0],
					 0x0d);
		else
			assert_null(array.buffers[0]);
		assert_works(dray_strings_get(strings, 0, &begin, &end));
		assert_ptr_equal(array.buffers[2], begin);
		dray_block_unref(strings);
		assert_memory_equal(array.buffers[2], "ab\0c\xc3\xa9", 6);
		/* And in again. */
		assert_works(dray_arrow_import_strings(&schema, &array, -1,
						       &strings));
		assert_string(strings, 1, i < 4 ? NULL : "", 0);
		assert_string(strings, 2, "\0c\xc3\xa9", 4);
		schema.release(&schema);
		dray_block_unref(strings);
	}
}

FACT(an_export_of_other_bytes_needs_a_copy)
{
	struct dray_block *strings = copied(true), *slice = NULL;
	struct ArrowArray array = { 0 };
	int64_t length;

	/* With a step, or backwards, there are gaps; a part of the row has none. */
	assert_works(
		dray_strings_slice(strings, DRAY_OMIT, DRAY_OMIT, -1, &slice));
	assert_fails(dray_arrow_export_strings(slice, "u", 0, &array), -EAGAIN,
		     "do not lie side by side and need a copy");
	assert_null(array.release);
	assert_works(
		dray_arrow_export_strings(slice, "u", DRAY_ARROW_COPY, &array));
	dray_block_unref(slice);
	assert_memory_equal(array.buffers[2],
			    "\0c\xc3\xa9"
			    "ab",
			    6);
	assert_memory_equal(array.buffers[1], ((int32_t[]){ 0, 0, 4, 4, 6 }),
			    20);
	array.release(&array);
	assert_null(array.release);
	assert_works(dray_strings_slice(strings, 1, DRAY_OMIT, 1, &slice));
	assert_works(dray_arrow_export_strings(slice, "u", 0, &array));
	assert_memory_equal(array.buffers[2], "\0c\xc3\xa9", 4);
	array.release(&array);
	dray_block_unref(slice);
	assert_works(dray_strings_slice(strings, 0, 0, 1, &slice));
	assert_works(dray_arrow_export_strings(slice, "Z", 0, &array));
	length = 1;
	memcpy(&length, array.buffers[1], sizeof(length));
	assert_int_equal(length, 0);
	assert_non_null(array.buffers[2]);
	array.release(&array);
	dray_block_unref(slice);
	dray_block_unref(strings);
}

FACT(only_text_in_utf8_leaves_as_text)
{
	static const struct {
		const char *text;
		bool is_text;
	} rows[] = {
		{ "\x7f", true },
		{ "\x80", false },
		{ "\xc1\xbf", false },
		{ "\xc2\x80", true },
		{ "\xc2", false },
		{ "\xc2\xc2", false },
		{ "\xe0\x9f\xbf", false },
		{ "\xe0\xa0\x80", true },
		{ "\xed\x9f\xbf", true },
		{ "\xed\xa0\x80", false }, /* a lone surrogate */
		{ "\xef\xbf\xbf", true },
		{ "\xef\xbf", false },
		{ "\xf0\x8f\xbf\xbf", false },
		{ "\xf0\x90\x80\x80", true },
		{ "\xf4\x8f\xbf\xbf", true },
		{ "\xf4\x90\x80\x80", false },
		{ "\xf5\x80\x80\x80", false },
		{ "\xf0\x90\x80\xc0", false },
	};
	struct dray_block *strings = NULL;
	struct ArrowArray array;
	int ret;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_works(
			dray_strings_from(NULL, &rows[i].text, 1, &strings));
		ret = dray_arrow_export_strings(strings, "u", 0, &array);
		if (ret != (rows[i].is_text ? 0 : -EINVAL))
			fail_msg("row %zu: %d", i, ret);
		if (!ret)
			array.release(&array);
		else
			assert_non_null(strstr(dray_last_error(),
					       "string 0 is not UTF-8"));
		assert_works(
			dray_arrow_export_strings(strings, "z", 0, &array));
		array.release(&array);
		dray_block_unref(strings);
	}
}

FACT(exports_have_four_formats_and_offsets_a_limit)
{
	static char text[1];
	const struct dray_string huge = { text, text + 1 };
	struct dray_block *strings = NULL;
	struct dray_string *string;
	struct ArrowSchema schema;
	struct ArrowArray array;

	assert_works(dray_strings_copy(&huge, 1, &strings));
	assert_fails(dray_arrow_export_strings(strings, "vu", 0, &array),
		     -EOPNOTSUPP, "\"vu\" is only imported: export \"u\"");
	assert_fails(dray_arrow_export_strings(strings, "i", 0, &array),
		     -EOPNOTSUPP, "\"i\" is not a format of strings");
	assert_fails(dray_arrow_export_strings(strings, "u", 2, &array),
		     -EINVAL, "flags 0x2");
	assert_fails(dray_arrow_schema_strings("w:3", &schema), -EOPNOTSUPP,
		     "\"w:3\" is not a format of strings");
	/* Bytes are not read: those beyond need not exist. */
	string = dray_block_as_array(strings)->data;
	string->end = string->begin + INT32_MAX;
	assert_works(dray_arrow_export_strings(strings, "z", 0, &array));
	assert_int_equal(((const int32_t *)array.buffers[1])[1], INT32_MAX);
	array.release(&array);
	string->end++;
	assert_fails(dray_arrow_export_strings(strings, "z", 0, &array),
		     -EOVERFLOW,
		     "more than 2147483647 bytes: Arrow's formats U and Z");
	assert_works(dray_arrow_export_strings(strings, "Z", 0, &array));
	assert_int_equal(((const int64_t *)array.buffers[1])[1],
			 (int64_t)INT32_MAX + 1);
	array.release(&array);
	dray_block_unref(strings);
}
