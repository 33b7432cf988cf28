// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Types of texts: decides which form a text has, and makes types of literals:
 * lists of fields, dictionaries, and pairs of a type and a shape.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/dtype_text.h"
#include "base/error.h"
#include "base/number.h"

/* Reads a number or a sequence of numbers. @ndim: as dray_dtype_wrap() */
static int parse_read_shape(const struct dray_literal *literal, int *ndim,
			    int64_t *shape)
{
	const struct dray_literal *item;

	*ndim = -1;
	shape[0] = literal->integer;
	if (literal->kind == DRAY_LITERAL_INTEGER)
		return 0;
	if (!dray_literal_is_sequence(literal) || literal->count > 64)
		return dray_fail(
			-EINVAL,
			"a sub-array's shape is not a number or a tuple of at most 64");
	*ndim = 0;
	for (item = literal->first; item; item = item->next) {
		if (item->kind != DRAY_LITERAL_INTEGER)
			return dray_fail(
				-EINVAL,
				"axis %d of a sub-array's shape is not a number",
				*ndim);
		shape[(*ndim)++] = item->integer;
	}
	return 0;
}

/* Makes the type of @literal, and with @shape the sub-array of it. */
static int from_pair(const struct dray_literal *literal,
		     const struct dray_literal *shape, dray_dtype *out)
{
	int64_t extents[64];
	dray_dtype base;
	int ndim = 0, ret;

	if (shape) {
		ret = parse_read_shape(shape, &ndim, extents);
		if (ret)
			return ret;
	}
	ret = dray_dtype_from_literal(literal, &base);
	return ret ? ret : dray_dtype_wrap(base, ndim, extents, out);
}

/* Reads 'name' or ('title', 'name'). */
static int read_name(const struct dray_literal *literal,
		     struct dray_dtype_field *field)
{
	const struct dray_literal *title = literal->first;

	field->title = NULL;
	if (literal->kind == DRAY_LITERAL_STRING) {
		field->name = literal->text;
		return 0;
	}
	if (literal->kind != DRAY_LITERAL_TUPLE || literal->count != 2 ||
	    title->kind != DRAY_LITERAL_STRING ||
	    title->next->kind != DRAY_LITERAL_STRING)
		return dray_fail(
			-EINVAL,
			"a field's name is not a string or a pair of title and name");
	field->title = title->text;
	field->name = title->next->text;
	return 0;
}

/* A void without a name, as NumPy writes the gaps of a list. */
static bool is_gap(const struct dray_dtype_field *field)
{
	return !field->name[0] && !field->title &&
	       dray_dtype_kind(field->dtype) == 'V' &&
	       !dray_dtype_as_structure(field->dtype);
}

/* Reads ('name', type) or ('name', type, shape). */
static int read_field(const struct dray_literal *literal,
		      struct dray_dtype_field *field)
{
	const struct dray_literal *type;
	int ret;

	if (literal->kind != DRAY_LITERAL_TUPLE || literal->count < 2 ||
	    literal->count > 3)
		return dray_fail(
			-EINVAL,
			"a field is not a tuple of a name, a type, and a shape or none");
	ret = read_name(literal->first, field);
	if (ret)
		return ret;
	type = literal->first->next;
	return from_pair(type, type->next, &field->dtype);
}

static int from_list(const struct dray_literal *literal, dray_dtype *out)
{
	struct dray_field_list list = { 0 };
	struct dray_dtype_field field;
	const struct dray_literal *item;
	uint32_t end = 0;
	int ret = 0;

	for (item = literal->first; item && !ret; item = item->next) {
		ret = read_field(item, &field);
		if (ret)
			break;
		field.offset = end;
		if (dray_add_overflow(end, dray_dtype_itemsize(field.dtype),
				      &end))
			ret = dray_fail(
				-EOVERFLOW,
				"the fields have more than 32 bits of bytes");
		if (ret || is_gap(&field))
			dray_dtype_unref(field.dtype);
		else
			ret = dray_field_list_add(&list, &field);
	}
	if (!ret)
		ret = dray_dtype_create_struct(list.fields, list.count,
					       DRAY_DTYPE_PLACED, end, out);
	dray_field_list_end(&list);
	return ret;
}

/* The lists of a dictionary, walked side by side. */
struct columns {
	const struct dray_literal *name, *format, *offset, *title;
};

/* Finds a list of @count items; NULL if the key is not there. */
static int parse_find_column(const struct dray_literal *dict, const char *key,
			     uint32_t count, const struct dray_literal **first)
{
	const struct dray_literal *list = dray_literal_find(dict, key);

	*first = NULL;
	if (!list)
		return 0;
	if (!dray_literal_is_sequence(list) || list->count != count)
		return dray_fail(-EINVAL,
				 "'%s' of a type is not a list of %u items",
				 key, count);
	*first = list->first;
	return 0;
}

static int find_columns(const struct dray_literal *dict,
			struct columns *columns)
{
	const struct dray_literal *names = dray_literal_find(dict, "names");
	int ret;

	if (!dray_literal_is_sequence(names) ||
	    !dray_literal_find(dict, "formats"))
		return dray_fail(
			-EINVAL,
			"a type's dictionary lacks lists of 'names' and 'formats'");
	columns->name = names->first;
	ret = parse_find_column(dict, "formats", names->count,
				&columns->format);
	if (!ret)
		ret = parse_find_column(dict, "offsets", names->count,
					&columns->offset);
	if (!ret)
		ret = parse_find_column(dict, "titles", names->count,
					&columns->title);
	return ret;
}

/* Reads a number of 0 to 32 bits. */
static int parse_read_bytes(const struct dray_literal *literal,
			    const char *what, uint32_t *bytes)
{
	if (literal->kind != DRAY_LITERAL_INTEGER || literal->integer < 0 ||
	    literal->integer > UINT32_MAX)
		return dray_fail(
			-EINVAL,
			"%s of a type is not a number of bytes of 32 bits",
			what);
	*bytes = (uint32_t)literal->integer;
	return 0;
}

static int parse_read_row(const struct columns *row,
			  struct dray_dtype_field *field)
{
	int ret = read_name(row->name, field);

	if (ret)
		return ret;
	if (row->title && row->title->kind == DRAY_LITERAL_STRING)
		field->title = row->title->text;
	else if (row->title && row->title->kind != DRAY_LITERAL_NONE)
		return dray_fail(-EINVAL, "a title is not a string or None");
	if (row->offset) {
		ret = parse_read_bytes(row->offset, "an offset",
				       &field->offset);
		if (ret)
			return ret;
	}
	return dray_dtype_from_literal(row->format, &field->dtype);
}

static const struct dray_literal *
dtype_parse_next(const struct dray_literal *literal)
{
	return literal ? literal->next : NULL;
}

static int read_rows(struct columns row, struct dray_field_list *list)
{
	struct dray_dtype_field field = { 0 };
	int ret = 0;

	while (row.name && !ret) {
		ret = parse_read_row(&row, &field);
		if (!ret)
			ret = dray_field_list_add(list, &field);
		row.name = row.name->next;
		row.format = dtype_parse_next(row.format);
		row.offset = dtype_parse_next(row.offset);
		row.title = dtype_parse_next(row.title);
	}
	return ret;
}

/* Adds to @flags. */
static int read_flags(const struct dray_literal *dict, uint32_t *flags)
{
	const struct dray_literal *aligned = dray_literal_find(dict, "aligned");

	if (aligned && aligned->kind != DRAY_LITERAL_BOOL)
		return dray_fail(-EINVAL, "'aligned' is not True or False");
	if (aligned && aligned->integer)
		*flags |= DRAY_DTYPE_ALIGNED;
	if (dray_literal_find(dict, "offsets"))
		*flags |= DRAY_DTYPE_PLACED;
	return 0;
}

static int from_dict(const struct dray_literal *dict, dray_dtype *out)
{
	const struct dray_literal *size = dray_literal_find(dict, "itemsize");
	struct dray_field_list list = { 0 };
	struct columns columns = { 0 };
	uint32_t itemsize = 0, flags = 0;
	int ret = find_columns(dict, &columns);

	if (!ret)
		ret = read_flags(dict, &flags);
	if (!ret && size)
		ret = parse_read_bytes(size, "'itemsize'", &itemsize);
	if (!ret)
		ret = read_rows(columns, &list);
	if (!ret)
		ret = dray_dtype_create_struct(list.fields, list.count, flags,
					       itemsize, out);
	dray_field_list_end(&list);
	if (!ret && size && dray_dtype_itemsize(*out) != itemsize) {
		ret = dray_fail(-EINVAL,
				"the fields need %u bytes, the item size is 0",
				dray_dtype_itemsize(*out));
		dray_dtype_unref(*out);
	}
	return ret;
}

int dray_dtype_from_literal(const struct dray_literal *literal, dray_dtype *out)
{
	switch (literal->kind) {
	case DRAY_LITERAL_STRING:
		return dray_dtype_parse_string(literal->text, out);
	case DRAY_LITERAL_LIST:
		return from_list(literal, out);
	case DRAY_LITERAL_DICT:
		return from_dict(literal, out);
	case DRAY_LITERAL_TUPLE:
		if (literal->count == 2)
			return from_pair(literal->first, literal->first->next,
					 out);
		break;
	default:
		break;
	}
	return dray_fail(
		-EINVAL,
		"a type is not a string, a list, a dictionary, or a pair of a type and a shape");
}

/* Whether a text that starts with a parenthesis is a pair, not a shape. */
static bool is_pair(const char *text)
{
	text++;
	while (*text == ' ')
		text++;
	return *text && strchr("'\"([{ub", *text);
}

int dray_dtype_parse(const char *text, dray_dtype *out)
{
	struct dray_literal *literal;
	dray_dtype made;
	size_t size;
	int ret;

	if (!text)
		return dray_fail(-EINVAL, "the text of a type is NULL");
	if (!dray_given(out, __func__))
		return -EINVAL;
	size = strnlen(text, DRAY_DTYPE_MAX_TEXT + 1);
	if (size > DRAY_DTYPE_MAX_TEXT)
		return dray_fail(-EINVAL,
				 "the text of a type has more than %d bytes",
				 DRAY_DTYPE_MAX_TEXT);
	if (*text == '[' || *text == '{' || (*text == '(' && is_pair(text))) {
		ret = dray_literal_parse(text, size, "the text of a type",
					 &literal);
		if (ret)
			return ret;
		ret = dray_dtype_from_literal(literal, &made);
		free(literal);
	} else {
		ret = dray_dtype_parse_string(text, &made);
	}
	if (!ret)
		*out = made;
	return ret;
}
