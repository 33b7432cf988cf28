// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes formats of buffers as Python's PEP 3118 has them.  A builtin type in the
 * machine's order is a letter alone, which memoryview understands.  All else
 * says its order and its gaps, so that nothing is aligned behind its back.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "dtype/dtype_text.h"
#include "base/error.h"

struct format_writer {
	struct dray_text text;
	char order; /* that holds here */
};

/* The letters of a number of @kind and @size; NULL: none. */
static const char *find_letters(char kind, uint32_t size)
{
	static const struct {
		char kind;
		uint8_t size;
		const char *letters;
	} table[] = {
		{ '?', 1, "?" },
		{ 'i', 1, "b" },
		{ 'i', 2, "h" },
		{ 'i', 4, "i" },
		{ 'i', 8, "q" },
		{ 'u', 1, "B" },
		{ 'u', 2, "H" },
		{ 'u', 4, "I" },
		{ 'u', 8, "Q" },
		{ 'f', 2, "e" },
		{ 'f', 4, "f" },
		{ 'f', 8, "d" },
		{ 'f', sizeof(long double), "g" },
		{ 'c', 8, "Zf" },
		{ 'c', 16, "Zd" },
		{ 'c', 2 * sizeof(long double), "Zg" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].kind == kind && table[i].size == size)
			return table[i].letters;
	}
	return NULL;
}

static int no_format(dray_dtype dtype)
{
	char text[64];

	if (dray_dtype_format(dtype, text, sizeof(text)) < 0)
		text[0] = 0;
	return dray_fail(-EINVAL, "no buffer's format describes type %s", text);
}

/* Writes the order of a builtin type, unless it holds already or says nothing. */
static void write_order(struct format_writer *writer, char order, bool native)
{
	if (native)
		order = '^';
	if (order == '|' || order == writer->order)
		return;
	writer->order = order;
	dray_text_print(&writer->text, "%c", order);
}

static int write_builtin(struct format_writer *writer, dray_dtype dtype,
			 bool alone)
{
	char kind = dray_dtype_kind(dtype), order = dray_dtype_order(dtype);
	uint32_t size = dray_dtype_itemsize(dtype);
	const char *letters = find_letters(kind, size);
	bool long_double = letters && strchr(letters, 'g');
	bool sized = kind == 'S' || kind == 'V' || kind == 'U';

	if (!sized && (!letters || (long_double && order != DRAY_NATIVE_ORDER)))
		return no_format(dtype);
	if (!alone || order != DRAY_NATIVE_ORDER)
		write_order(writer, order, long_double);
	if (!sized)
		dray_text_print(&writer->text, "%s", letters);
	else
		dray_text_print(&writer->text, "%u%c",
				size / dray_dtype_unit_size(kind),
				kind == 'S'   ? 's'
				: kind == 'U' ? 'w'
					      : 'x');
	return 0;
}

static void write_gap(struct format_writer *writer, uint64_t bytes)
{
	if (bytes)
		dray_text_print(&writer->text, "%" PRIu64 "x", bytes);
}

/* @alone: it is all of the format */
static int write_type(struct format_writer *writer, dray_dtype dtype,
		      bool alone);

static int write_structure(struct format_writer *writer,
			   const struct dray_dtype_structure *structure)
{
	uint64_t end = 0;
	size_t i;
	int ret = 0;

	dray_text_print(&writer->text, "T{");
	for (i = 0; i < structure->count && !ret; i++) {
		const struct dray_dtype_field *field = &structure->fields[i];

		if (field->offset < end)
			return dray_fail(
				-EINVAL,
				"no buffer's format describes field '%.64s', which overlaps others or is out of order",
				field->name);
		if (strchr(field->name, ':'))
			return dray_fail(
				-EINVAL,
				"field '%.64s' has a colon, which ends a name in a buffer's format",
				field->name);
		write_gap(writer, field->offset - end);
		ret = write_type(writer, field->dtype, false);
		dray_text_print(&writer->text, ":%s:", field->name);
		end = (uint64_t)field->offset +
		      dray_dtype_itemsize(field->dtype);
	}
	write_gap(writer, structure->start.object.itemsize - end);
	dray_text_print(&writer->text, "}");
	return ret;
}

/* Writes the shapes of sub-arrays in one another as one; returns their base. */
static dray_dtype write_shapes(struct format_writer *writer, dray_dtype dtype)
{
	const struct dray_dtype_subarray *subarray;
	const char *before = "(";
	int i;

	while ((subarray = dray_dtype_as_subarray(dtype))) {
		for (i = 0; i < subarray->ndim; i++) {
			dray_text_print(&writer->text, "%s%" PRId64, before,
					subarray->shape[i]);
			before = ",";
		}
		dtype = subarray->base;
	}
	if (*before == ',')
		dray_text_print(&writer->text, ")");
	return dtype;
}

static int write_type(struct format_writer *writer, dray_dtype dtype,
		      bool alone)
{
	if (dray_dtype_as_subarray(dtype)) {
		dtype = write_shapes(writer, dtype);
		alone = false;
	}
	if (dray_dtype_is_builtin(dtype))
		return write_builtin(writer, dtype, alone);
	if (dray_dtype_as_structure(dtype))
		return write_structure(writer, dray_dtype_as_structure(dtype));
	return no_format(dtype);
}

int dray_dtype_to_pep3118(dray_dtype dtype, char *format, size_t room)
{
	struct format_writer writer = {
		.text = { .to = format, .room = room },
		.order = '@',
	};
	int ret;

	if (room && !dray_given(format, __func__))
		return -EINVAL;
	ret = dray_dtype_normalize(dtype, &dtype);
	if (!ret)
		ret = write_type(&writer, dtype, true);
	return ret ? ret : dray_text_finish(&writer.text);
}
