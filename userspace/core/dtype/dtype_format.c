// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Texts of types in their one form, which dtype_parse.c reads: a typestr, a list
 * of fields, a dictionary, or a pair of a type and a shape.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dtype/dtype_text.h"
#include "base/error.h"
#include "base/holds.h"

void dray_text_print(struct dray_text *text, const char *format, ...)
{
	bool fits = text->length < text->room;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(fits ? text->to + text->length : NULL,
			   fits ? text->room - text->length : 0, format,
			   arguments);
	va_end(arguments);
	text->length += length > 0 ? (size_t)length : 0;
}

int dray_text_finish(struct dray_text *text)
{
	if (text->room && text->length >= text->room)
		text->to[text->room - 1] = 0;
	else if (text->room)
		text->to[text->length] = 0;
	if (text->length > INT_MAX)
		return dray_fail(-EOVERFLOW, "a text of %zu bytes",
				 text->length);
	return (int)text->length;
}

static void print_builtin(struct dray_text *text, dray_dtype dtype)
{
	char kind = dray_dtype_kind(dtype);
	unsigned int unit = dray_dtype_unit(dtype);

	dray_text_print(text, "%c%c%u", dray_dtype_order(dtype),
			kind == '?' ? 'b' : kind,
			dray_dtype_itemsize(dtype) /
				dray_dtype_unit_size(kind));
	if (unit >> 4 > 1)
		dray_text_print(text, "[%u%s]", unit >> 4,
				dray_unit_names[unit & 15]);
	else if (unit)
		dray_text_print(text, "[%s]", dray_unit_names[unit & 15]);
}

/* Prints a string of Python. */
static void print_quoted(struct dray_text *text, const char *string)
{
	const char *at;

	DRAY_HOLDS(string);
	dray_text_print(text, "'");
	for (at = string; *at; at++) {
		if (*at == '\'' || *at == '\\')
			dray_text_print(text, "\\%c", *at);
		else if (*at > 0 && (*at < ' ' || *at == 127))
			dray_text_print(text, "\\x%02x", (unsigned int)*at);
		else
			dray_text_print(text, "%c", *at);
	}
	dray_text_print(text, "'");
}

static void print_shape(struct dray_text *text, int ndim, const int64_t *shape)
{
	int i;

	dray_text_print(text, "(");
	for (i = 0; i < ndim; i++)
		dray_text_print(text, i ? ", %" PRId64 : "%" PRId64, shape[i]);
	dray_text_print(text, ndim == 1 ? ",)" : ")");
}

/* @describing: as dray_dtype_describe() */
static void print_type(struct dray_text *text, dray_dtype dtype,
		       bool describing);

static void print_subarray(struct dray_text *text,
			   const struct dray_dtype_subarray *subarray,
			   bool describing)
{
	dray_text_print(text, "(");
	print_type(text, subarray->base, describing);
	dray_text_print(text, ", ");
	print_shape(text, subarray->ndim, subarray->shape);
	dray_text_print(text, ")");
}

/* Whether fields are in order and apart, as a list can tell. */
static bool is_list(const struct dray_dtype_structure *structure)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < structure->count; i++) {
		if (structure->fields[i].offset < end)
			return false;
		end = (uint64_t)structure->fields[i].offset +
		      dray_dtype_itemsize(structure->fields[i].dtype);
	}
	return true;
}

/* Prints a comma except before the first, and a void if there is a gap. */
static void print_gap(struct dray_text *text, uint32_t *end, uint32_t offset,
		      bool *first)
{
	if (offset == *end)
		return;
	dray_text_print(text, "%s('', '|V%u')", *first ? "" : ", ",
			offset - *end);
	*end = offset;
	*first = false;
}

static void print_list_field(struct dray_text *text,
			     const struct dray_dtype_field *field,
			     bool describing)
{
	const struct dray_dtype_subarray *subarray =
		dray_dtype_as_subarray(field->dtype);

	dray_text_print(text, "(");
	if (field->title) {
		dray_text_print(text, "(");
		print_quoted(text, field->title);
		dray_text_print(text, ", ");
	}
	print_quoted(text, field->name);
	dray_text_print(text, field->title ? "), " : ", ");
	print_type(text, subarray ? subarray->base : field->dtype, describing);
	if (subarray) {
		dray_text_print(text, ", ");
		print_shape(text, subarray->ndim, subarray->shape);
	}
	dray_text_print(text, ")");
}

static void print_list(struct dray_text *text,
		       const struct dray_dtype_structure *structure,
		       bool describing)
{
	bool first = true;
	uint32_t end = 0;
	size_t i;

	dray_text_print(text, "[");
	for (i = 0; i < structure->count; i++) {
		const struct dray_dtype_field *field = &structure->fields[i];

		print_gap(text, &end, field->offset, &first);
		dray_text_print(text, first ? "" : ", ");
		first = false;
		print_list_field(text, field, describing);
		end += dray_dtype_itemsize(field->dtype);
	}
	print_gap(text, &end, structure->start.object.itemsize, &first);
	dray_text_print(text, "]");
}

static void print_dict(struct dray_text *text,
		       const struct dray_dtype_structure *structure,
		       bool describing)
{
	const struct dray_dtype_field *fields = structure->fields;
	bool titles = false;
	size_t i, count = structure->count;

	dray_text_print(text, "{'names': [");
	for (i = 0; i < count; i++) {
		dray_text_print(text, i ? ", " : "");
		print_quoted(text, fields[i].name);
		titles = titles || fields[i].title;
	}
	dray_text_print(text, "], 'formats': [");
	for (i = 0; i < count; i++) {
		dray_text_print(text, i ? ", " : "");
		print_type(text, fields[i].dtype, describing);
	}
	dray_text_print(text, "], 'offsets': [");
	for (i = 0; i < count; i++)
		dray_text_print(text, i ? ", %u" : "%u", fields[i].offset);
	dray_text_print(text, titles ? "], 'titles': [" : "");
	for (i = 0; i < count && titles; i++) {
		dray_text_print(text, i ? ", " : "");
		if (fields[i].title)
			print_quoted(text, fields[i].title);
		else
			dray_text_print(text, "None");
	}
	dray_text_print(text, "], 'itemsize': %u",
			structure->start.object.itemsize);
	if (structure->start.object.flags & DRAY_DTYPE_ALIGNED)
		dray_text_print(text, ", 'aligned': True");
	dray_text_print(text, "}");
}

static void print_type(struct dray_text *text, dray_dtype dtype,
		       bool describing)
{
	const struct dray_dtype_structure *structure =
		dray_dtype_as_structure(dtype);
	bool aligned = dray_dtype_flags(dtype) & DRAY_DTYPE_ALIGNED;

	if (dray_dtype_is_builtin(dtype)) {
		dray_text_print(text, "'");
		print_builtin(text, dtype);
		dray_text_print(text, "'");
	} else if (dray_dtype_as_user(dtype)) {
		print_quoted(text, dray_dtype_as_user(dtype)->name);
	} else if (!structure) {
		print_subarray(text, dray_dtype_as_subarray(dtype), describing);
	} else if (is_list(structure) && (describing || !aligned)) {
		print_list(text, structure, describing);
	} else {
		print_dict(text, structure, describing);
	}
}

static int dtype_format(dray_dtype dtype, char *to, size_t room,
			bool describing)
{
	struct dray_text text = { .to = to, .room = room };
	dray_dtype normal;
	int ret;

	if (room && !dray_given(to, __func__))
		return -EINVAL;
	ret = dray_dtype_normalize(dtype, &normal);
	if (ret)
		return ret;
	if (dray_dtype_is_builtin(normal))
		print_builtin(&text, normal);
	else if (dray_dtype_as_user(normal))
		dray_text_print(&text, "%s", dray_dtype_as_user(normal)->name);
	else
		print_type(&text, normal, describing);
	return dray_text_finish(&text);
}

int dray_dtype_format(dray_dtype dtype, char *text, size_t room)
{
	return dtype_format(dtype, text, room, false);
}

const char *dray_dtype_text(dray_dtype dtype,
			    char text[DRAY_DTYPE_TYPESTR_SIZE])
{
	return dray_dtype_format(dtype, text, DRAY_DTYPE_TYPESTR_SIZE) < 0
		       ? "a type without a text"
		       : text;
}

int dray_dtype_describe(dray_dtype dtype, char *text, size_t room)
{
	return dtype_format(dtype, text, room, true);
}
