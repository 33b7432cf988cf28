// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Texts of types: a text, a zero, and bytes of an element.  A type that a parser
 * made is written and read again, and is the same; its elements are printed,
 * compared, swapped and converted.
 */
#include "fuzzer.h"

/* Types of larger elements are only written and read. */
#define MAX_ITEM 4096u

/* Writes the text into exactly the room that it takes, and into less. */
static char *written(dray_dtype dtype,
		     int (*format)(dray_dtype dtype, char *text, size_t room))
{
	int length = format(dtype, NULL, 0);
	size_t room, less;
	char *text, *part;

	if (length < 0)
		return NULL;
	room = (size_t)length + 1;
	text = malloc(room);
	holds(text && format(dtype, text, room) == length);
	holds(strlen(text) == (size_t)length);
	less = room / 2 + 1;
	part = malloc(less);
	holds(part && format(dtype, part, less) == length);
	holds(strlen(part) == (less < room ? less : room) - 1 &&
	      !memcmp(part, text, strlen(part)));
	free(part);
	return text;
}

static void check_text(dray_dtype dtype)
{
	char *text = written(dtype, dray_dtype_format);
	dray_dtype again;

	if (!text)
		return;
	if (strlen(text) <= DRAY_DTYPE_MAX_TEXT) {
		holds(!dray_dtype_parse(text, &again));
		holds(dray_dtype_equal(dtype, again));
		dray_dtype_unref(again);
	}
	free(text);
}

/* Titles, and sub-arrays in sub-arrays, are not in such a format. */
static void check_pep3118(dray_dtype dtype)
{
	char *format = written(dtype, dray_dtype_to_pep3118), *second;
	dray_dtype again;

	if (!format)
		return;
	if (strlen(format) <= DRAY_DTYPE_MAX_TEXT) {
		holds(!dray_dtype_from_pep3118(format, &again));
		holds(dray_dtype_itemsize(again) == dray_dtype_itemsize(dtype));
		second = written(again, dray_dtype_to_pep3118);
		holds(second && !strcmp(format, second));
		free(second);
		dray_dtype_unref(again);
	}
	free(format);
}

static void check_parts(dray_dtype dtype)
{
	uint32_t alignment = dray_dtype_alignment(dtype);
	struct dray_dtype_field field;
	size_t i, count = dray_dtype_field_count(dtype), found;

	holds(alignment && !(alignment & (alignment - 1)));
	for (i = 0; i < count; i++) {
		holds(!dray_dtype_get_field(dtype, i, &field));
		holds((uint64_t)field.offset +
			      dray_dtype_itemsize(field.dtype) <=
		      dray_dtype_itemsize(dtype));
		holds(!dray_dtype_find_field(dtype, field.name, &found) &&
		      found == i);
	}
	holds(dray_dtype_get_field(dtype, count, &field));
}

static void check_order(dray_dtype dtype)
{
	dray_dtype swapped, back;

	holds(!dray_dtype_with_order(dtype, 's', &swapped));
	holds(!dray_dtype_with_order(swapped, 's', &back));
	holds(dray_dtype_equal(dtype, back));
	dray_dtype_unref(back);
	dray_dtype_unref(swapped);
}

static void check_rules(dray_dtype dtype)
{
	dray_dtype common;

	holds(dray_can_cast(dtype, dtype, DRAY_CASTING_NO));
	if (!dray_promote(dtype, dtype, &common)) {
		holds(dray_can_cast(dtype, common, DRAY_CASTING_SAFE));
		dray_dtype_unref(common);
	}
}

/* Reads @size bytes at @element as another type, and writes them back. */
static void convert(dray_dtype dtype, unsigned char *element, dray_dtype other)
{
	struct dray_view from, to;
	void *data = calloc(1, dray_dtype_itemsize(other));

	holds(data);
	holds(!dray_view_init(&from, element, dtype, 0, NULL, NULL));
	holds(!dray_view_init(&to, data, other, 0, NULL, NULL));
	from.flags |= DRAY_READ;
	to.flags |= DRAY_READ | DRAY_WRITE;
	if (!dray_view_convert(&to, &from, DRAY_CASTING_UNSAFE)) {
		from.flags |= DRAY_WRITE;
		dray_view_convert(&from, &to, DRAY_CASTING_UNSAFE);
	}
	free(data);
}

static void print(dray_dtype dtype, void *element)
{
	struct dray_view view;
	FILE *nowhere = fopen("/dev/null", "we");

	holds(nowhere);
	holds(!dray_view_init(&view, element, dtype, 0, NULL, NULL));
	view.flags |= DRAY_READ;
	holds(!dray_view_print(&view, nowhere));
	fclose(nowhere);
}

/* Whether no fields overlap: such are swapped twice. */
static bool swaps_back(dray_dtype dtype)
{
	struct dray_dtype_field field;
	size_t i;

	while (dray_dtype_shape(dtype, NULL))
		dtype = dray_dtype_base(dtype);
	if (!dray_dtype_is_packed(dtype))
		return false;
	for (i = 0; i < dray_dtype_field_count(dtype); i++) {
		dray_dtype_get_field(dtype, i, &field);
		if (!swaps_back(field.dtype))
			return false;
	}
	return true;
}

static void check_element(dray_dtype dtype, struct input bytes)
{
	static const dray_dtype others[] = {
		DRAY_BOOL,
		DRAY_INT8,
		DRAY_UINT32,
		DRAY_INT64,
		DRAY_UINT64,
		DRAY_FLOAT16,
		DRAY_FLOAT32,
		DRAY_FLOAT64,
		DRAY_COMPLEX128,
		DRAY_BYTES(9),
		DRAY_UNICODE(40),
		DRAY_DATETIME64(DRAY_UNIT_SECOND, 1),
		DRAY_DATETIME64(DRAY_UNIT_YEAR, 7),
		DRAY_TIMEDELTA64(DRAY_UNIT_ATTOSECOND, 1),
	};
	const struct dray_dtype_functions *functions =
		dray_dtype_functions(dtype);
	size_t size = dray_dtype_itemsize(dtype), i;
	unsigned char *element, *copy;
	struct dray_scalar value;

	if (!size || size > MAX_ITEM)
		return;
	element = calloc(2, size);
	holds(element);
	copy = element + size;
	memcpy(element, bytes.at, bytes.left < size ? bytes.left : size);
	functions->copyswap(dtype, copy, 0, element, 0, 1, true);
	functions->copyswap(dtype, copy, 0, copy, 0, 1, true);
	holds(!swaps_back(dtype) || !functions->compare(dtype, element, copy));
	holds(!swaps_back(dtype) || functions->nonzero(dtype, element) ==
					    functions->nonzero(dtype, copy));
	if (!functions->get(dtype, element, &value))
		functions->set(dtype, copy, &value);
	print(dtype, element);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		memcpy(element, bytes.at,
		       bytes.left < size ? bytes.left : size);
		convert(dtype, element, others[i]);
	}
	free(element);
}

static void check(dray_dtype dtype, struct input bytes)
{
	check_text(dtype);
	check_pep3118(dtype);
	check_parts(dtype);
	check_order(dtype);
	check_rules(dtype);
	check_element(dtype, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = strnlen((const char *)data, size);
	char *text = malloc(length + 1);
	struct input bytes = { data + length, size - length };
	dray_dtype dtype;

	holds(text);
	memcpy(text, data, length);
	text[length] = 0;
	input_number(&bytes, 1);
	if (!dray_dtype_parse(text, &dtype)) {
		check(dtype, bytes);
		dray_dtype_unref(dtype);
	}
	if (!dray_dtype_from_pep3118(text, &dtype)) {
		check(dtype, bytes);
		dray_dtype_unref(dtype);
	}
	free(text);
	return 0;
}
