// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * strings: arrays of strings of different lengths, and the blocks they are
 * made of.
 */
#include <dray/array.h>

#include "pool.h"

static const char *const words[] = { "", "DMA", "a", "contiguous memory",
				     "\xff" };

enum {
	WORDS = sizeof(words) / sizeof(words[0])
};

static struct dray_block *make(struct dray_pool *pool, size_t capacity)
{
	struct dray_block *strings = NULL;

	assert_works(dray_strings_create(pool, capacity, &strings));
	return strings;
}

static void assert_string(const struct dray_block *strings, size_t index,
			  const void *bytes, size_t size)
{
	const char *begin = NULL, *end = NULL;

	assert_works(dray_strings_get(strings, index, &begin, &end));
	assert_int_equal(end - begin, size);
	if (size)
		assert_memory_equal(begin, bytes, size);
}

POOL_FACT(c_strings_are_read_back)
{
	struct dray_block *strings;

	assert_works(dray_strings_from(*state, words, WORDS, &strings));
	assert_int_equal(dray_strings_count(strings), WORDS);
	for (size_t i = 0; i < WORDS; i++)
		assert_string(strings, i, words[i], strlen(words[i]));
	dray_block_unref(strings);
}

FACT(no_strings_are_an_array_too)
{
	struct dray_block *strings;
	const char *begin, *end;

	assert_works(dray_strings_from(NULL, NULL, 0, &strings));
	assert_int_equal(dray_strings_count(strings), 0);
	assert_fails(dray_strings_get(strings, 0, &begin, &end), -ERANGE,
		     "string 0 of 0");
	dray_block_unref(strings);
}

POOL_FACT(strings_have_any_byte)
{
	struct dray_block *strings = make(*state, 2);
	char all[256];

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	assert_works(dray_strings_append(strings, all, 256));
	assert_works(dray_strings_append(strings, "\0\0", 2));
	assert_string(strings, 0, all, 256);
	assert_string(strings, 1, "\0\0", 2);
	dray_block_unref(strings);
}

POOL_FACT(the_last_string_grows)
{
	struct dray_block *strings = make(*state, 2);
	char expected[30000];
	size_t length = 0;

	assert_works(dray_strings_append(strings, "first", 5));
	assert_works(dray_strings_append(strings, NULL, 0));
	for (int i = 0; length + 300 < sizeof(expected); i++) {
		memset(expected + length, i, (size_t)i % 300);
		assert_works(dray_strings_extend(strings, expected + length,
						 (size_t)i % 300));
		length += (size_t)i % 300;
	}
	assert_string(strings, 0, "first", 5);
	assert_string(strings, 1, expected, length);
	assert_int_equal(dray_strings_count(strings), 2);
	dray_block_unref(strings);
}

/* Its bytes move away while they are copied. */
POOL_FACT(a_string_is_doubled_with_itself)
{
	struct dray_block *strings = make(*state, 1);
	const char *begin, *end;
	size_t i, length;

	assert_works(dray_strings_append(strings, "0123456789", 10));
	for (length = 10; length < 100000; length *= 2) {
		assert_works(dray_strings_get(strings, 0, &begin, &end));
		assert_works(dray_strings_extend(strings, begin, length));
	}
	assert_works(dray_strings_get(strings, 0, &begin, &end));
	assert_int_equal(end - begin, length);
	for (i = 0; i < length; i++)
		assert_int_equal(begin[i], '0' + i % 10);
	dray_block_unref(strings);
}

POOL_FACT(finished_strings_are_immutable)
{
	struct dray_block *strings = make(*state, 2);

	assert_works(dray_strings_append(strings, "one", 3));
	assert_true(dray_block_writable(strings));
	assert_works(dray_strings_finish(strings));
	assert_int_equal(dray_block_as_array(strings)->flags,
			 DRAY_READ | DRAY_IMMUTABLE);
	assert_false(dray_block_writable(strings));
	assert_fails(dray_strings_append(strings, "two", 3), -EPERM,
		     "finished");
	assert_fails(dray_strings_extend(strings, "two", 3), -EPERM,
		     "finished");
	assert_works(dray_strings_finish(strings));
	assert_int_equal(dray_strings_count(strings), 1);
	assert_string(strings, 0, "one", 3);
	dray_block_unref(strings);
}

POOL_FACT(a_dump_names_the_type)
{
	struct dray_block *strings = make(*state, 3);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_works(dray_block_dump(strings, stream));
	fclose(stream);
	assert_non_null(strstr(text, " type: strided * string\n"));
	free(text);
	dray_block_unref(strings);
}

POOL_FACT(the_array_is_pairs_and_an_arena)
{
	struct dray_block *strings = make(*state, 3);
	struct dray_array *array = dray_block_as_array(strings);
	struct dray_strings_meta *meta = dray_array_meta(array);
	struct dray_string *pairs = array->data;
	struct dray_location where;
	dray_dtype dtype;
	struct dray_view view;

	assert_works(dray_strings_append(strings, "ab", 2));
	assert_int_equal(dray_block_type(strings), DRAY_BLOCK_ARRAY);
	dtype = array->dtype;
	assert_true(dray_dtype_is_builtin(dtype));
	assert_int_equal(dray_dtype_kind(dtype), DRAY_KIND_STRING);
	assert_int_equal(dray_dtype_itemsize(dtype),
			 sizeof(struct dray_string));
	assert_int_equal(dray_view_init(&view, pairs, dtype, 0, NULL, NULL),
			 -EINVAL);
	assert_int_equal(array->ndim, 1);
	assert_int_equal(dray_array_axes(array)->size, 1);
	assert_int_equal(dray_array_axes(array)->stride,
			 sizeof(struct dray_string));
	assert_int_equal(meta->capacity, 3);
	assert_int_equal(dray_block_type(meta->bytes), DRAY_BLOCK_POD);
	assert_ptr_equal(dray_strings_bytes(strings), meta->bytes);
	assert_memory_equal(pairs[0].begin, "ab", 2);
	assert_ptr_equal(pairs[0].end, pairs[0].begin + 2);
	assert_null(pairs[1].begin);
	assert_null(pairs[1].end);
	/* bytes in the pool, pointers not */
	assert_works(dray_locate(pairs[0].begin, &where));
	assert_ptr_equal(where.pool, *state);
	assert_int_equal(dray_locate(pairs, &where), -ENOENT);
	dray_block_unref(strings);
}

POOL_FACT(bytes_outlive_the_array)
{
	struct dray_block *strings, *bytes;
	const char *begin, *end;

	assert_works(dray_strings_from(*state, words, WORDS, &strings));
	assert_works(dray_strings_get(strings, 3, &begin, &end));
	bytes = dray_block_ref(dray_strings_bytes(strings));
	dray_block_unref(strings);
	assert_int_equal(dray_block_count(bytes), 1);
	assert_memory_equal(begin, words[3], strlen(words[3]));
	dray_block_unref(bytes);
}

POOL_FACT(what_does_not_fit_changes_nothing)
{
	struct dray_block *strings = make(*state, 1);

	assert_fails(dray_strings_extend(strings, "x", 1), -EINVAL,
		     "no string yet");
	assert_fails(dray_strings_append(strings, "x", SIZE_MAX), -EOVERFLOW,
		     "at most");
	assert_int_equal(dray_strings_count(strings), 0);
	assert_works(dray_strings_append(strings, "one", 3));
	assert_fails(dray_strings_append(strings, "two", 3), -ENOSPC,
		     "its capacity is 1");
	assert_fails(dray_strings_extend(strings, "x", SIZE_MAX), -EOVERFLOW,
		     "more");
	assert_fails(dray_strings_extend(strings, "x", PTRDIFF_MAX), -EOVERFLOW,
		     "at most");
	assert_fails(dray_strings_append(strings, NULL, 1), -EINVAL,
		     "1 byte at NULL");
	assert_fails(dray_strings_extend(strings, NULL, 1), -EINVAL,
		     "1 byte at NULL");
	assert_string(strings, 0, "one", 3);
	dray_block_unref(strings);
}

POOL_FACT(bad_arguments_make_no_strings)
{
	static const char *const texts[] = { "one", NULL };
	struct dray_block *strings = NULL;

	assert_fails(dray_strings_from(*state, texts, 2, &strings), -EINVAL,
		     "string 1 of 2 is NULL");
	assert_fails(dray_strings_from(*state, NULL, 2, &strings), -EINVAL,
		     "2 strings at NULL");
	assert_fails(dray_strings_from(*state, words, 1, NULL), -EINVAL,
		     "result pointer is NULL");
	assert_fails(dray_strings_create(*state, 1, NULL), -EINVAL,
		     "result pointer is NULL");
	assert_fails(dray_strings_create(*state, SIZE_MAX, &strings),
		     -EOVERFLOW, "strings");
	assert_fails(dray_strings_create(*state,
					 SIZE_MAX / 2 / sizeof(*words) / 2,
					 &strings),
		     -EOVERFLOW, "exceeds the address space");
	assert_null(strings);
}

POOL_FACT(what_is_no_array_of_strings_is_refused)
{
	struct dray_array_options options = { .ndim = 1, .bytes = 16 };
	struct dray_block *others[3] = { NULL };
	const char *begin, *end;
	struct dray_array *array;

	assert_works(dray_block_create_pooled(*state, 100, 0, &others[1]));
	assert_works(dray_array_make(&options, &array));
	others[2] = &array->block;
	for (int i = 0; i < 3; i++) {
		assert_fails(dray_strings_append(others[i], "x", 1), -EINVAL,
			     "not an array of strings");
		assert_fails(dray_strings_extend(others[i], "x", 1), -EINVAL,
			     "not an array of strings");
		assert_fails(dray_strings_finish(others[i]), -EINVAL,
			     "not an array of strings");
		assert_fails(dray_strings_get(others[i], 0, &begin, &end),
			     -EINVAL, "not an array of strings");
		assert_int_equal(dray_strings_count(others[i]), 0);
		assert_null(dray_strings_bytes(others[i]));
		dray_block_unref(others[i]);
	}
}

POOL_FACT(bounds_need_a_place)
{
	struct dray_block *strings;
	const char *end;

	assert_works(dray_strings_from(*state, words, WORDS, &strings));
	assert_fails(dray_strings_get(strings, 0, NULL, &end), -EINVAL,
		     "result pointer is NULL");
	assert_fails(dray_strings_get(strings, WORDS, &end, &end), -ERANGE,
		     "string 5 of 5");
	dray_block_unref(strings);
}

/* Against a model that is a plain copy of each string. */
POOL_FACT(many_strings_are_what_they_were_made)
{
	enum {
		STRINGS = 300,
		LONGEST = 400
	};
	static char model[STRINGS][LONGEST];
	static size_t lengths[STRINGS];
	struct dray_block *strings = make(*state, STRINGS);
	struct dice dice = { 362436069 };
	int i;

	for (i = 0; i < STRINGS; i++) {
		size_t at = 0, end = roll(&dice, LONGEST);

		assert_works(dray_strings_append(strings, NULL, 0));
		while (at < end) {
			size_t part = 1 + roll(&dice, end - at);

			memset(model[i] + at, (int)roll(&dice, 256), part);
			assert_works(dray_strings_extend(strings, model[i] + at,
							 part));
			at += part;
		}
		lengths[i] = end;
	}
	assert_works(dray_strings_finish(strings));
	for (i = 0; i < STRINGS; i++)
		assert_string(strings, (size_t)i, model[i], lengths[i]);
	dray_block_unref(strings);
}
