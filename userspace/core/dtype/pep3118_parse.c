// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads formats of buffers of Python's PEP 3118, with the rules of NumPy: the
 * order '@' aligns items and the end of a structure, no other does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/dtype_text.h"
#include "base/error.h"
#include "base/holds.h"
#include "base/number.h"

#define NAME_ROOM 8 /* "f8191" */

struct pep3118_parser {
	const char *format; /* for sentences */
	char *text; /* a copy, in which names get their zeros */
	char *at;
	char order;
	int depth;
};

/* An item of a structure. */
struct item {
	dray_dtype dtype;
	uint32_t alignment;
	bool is_padding;
	char *name; /* NULL: none */
};

static int pep3118_parse_refuse(const struct pep3118_parser *parser,
				const char *why)
{
	return dray_fail(-EINVAL, "format '%.64s', byte %zu: %s",
			 parser->format, (size_t)(parser->at - parser->text),
			 why);
}

static bool pep3118_parse_take(struct pep3118_parser *parser, char wanted)
{
	if (*parser->at != wanted)
		return false;
	parser->at++;
	return true;
}

static int pep3118_parse_number(struct pep3118_parser *parser, uint32_t *number)
{
	*number = 0;
	if (!dray_is_digit(*parser->at))
		return pep3118_parse_refuse(parser, "no number");
	for (; dray_is_digit(*parser->at); parser->at++) {
		if (dray_mul_overflow(*number, 10u, number) ||
		    dray_add_overflow(*number, (uint32_t)(*parser->at - '0'),
				      number))
			return pep3118_parse_refuse(parser,
						    "a number above 32 bits");
	}
	return 0;
}

/* Parses "(2,3)" if it is there. */
static int pep3118_parse_shape(struct pep3118_parser *parser, int *ndim,
			       int64_t *shape)
{
	uint32_t extent;
	int ret;

	*ndim = 0;
	if (!pep3118_parse_take(parser, '('))
		return 0;
	do {
		if (*ndim == 64)
			return pep3118_parse_refuse(parser,
						    "more than 64 axes");
		ret = pep3118_parse_number(parser, &extent);
		if (ret)
			return ret;
		shape[(*ndim)++] = extent;
	} while (pep3118_parse_take(parser, ','));
	return pep3118_parse_take(parser, ')')
		       ? 0
		       : pep3118_parse_refuse(parser, "a shape does not end");
}

static void parse_order(struct pep3118_parser *parser)
{
	if (!*parser->at || !strchr("@=<>^!", *parser->at))
		return;
	parser->order = *parser->at == '!' ? '>' : *parser->at;
	parser->at++;
}

/* Whether NumPy uses the letter for the same type, with the C type's size. */
static bool parse_is_plain(const struct pep3118_parser *parser, char letter)
{
	bool native = parser->order == '@' || parser->order == '^';

	return strchr(native ? "?bBhHiIlLqQefdgc" : "?bBhHiIlLqQefdc", letter);
}

/* Finds the type of a letter: by its typestr, or at another size. */
static int parse_find_type(struct pep3118_parser *parser, uint32_t count,
			   dray_dtype *out)
{
	char letter = *parser->at, order = parser->order, text[16];
	bool native = order == '@' || order == '^', complex = letter == 'Z';

	if (complex)
		letter = *++parser->at;
	if (!letter || (complex ? !strchr(native ? "fdg" : "fd", letter)
				: !strchr("swx", letter) &&
					  !parse_is_plain(parser, letter)))
		return pep3118_parse_refuse(parser, "no type has this letter");
	if (complex)
		letter = (char)(letter - 'a' + 'A');
	else if (!native && (letter == 'l' || letter == 'L'))
		letter = (char)(letter - 'l' + 'i');
	parser->at++;
	if (native)
		order = DRAY_NATIVE_ORDER;
	if (letter == 's')
		snprintf(text, sizeof(text), "S%u", count);
	else if (letter == 'x')
		snprintf(text, sizeof(text), "V%u", count);
	else if (letter == 'w')
		snprintf(text, sizeof(text), "%cU%u", order, count);
	else
		snprintf(text, sizeof(text), "%c%c", order, letter);
	return dray_dtype_parse_string(text, out);
}

static int pep3118_parse_items(struct pep3118_parser *parser, bool nested,
			       dray_dtype *out, uint32_t *alignment);

static int pep3118_parse_nested(struct pep3118_parser *parser,
				struct item *item)
{
	int ret;

	if (parser->depth == DRAY_DTYPE_MAX_DEPTH)
		return pep3118_parse_refuse(parser, "structures lie too deep");
	parser->at += 2;
	parser->depth++;
	ret = pep3118_parse_items(parser, true, &item->dtype, &item->alignment);
	parser->depth--;
	return ret;
}

/* Parses ":name:", and ends it with a zero. */
static int parse_name(struct pep3118_parser *parser, char **name)
{
	char *end;

	*name = NULL;
	if (!pep3118_parse_take(parser, ':'))
		return 0;
	end = strchr(parser->at, ':');
	if (!end)
		return pep3118_parse_refuse(parser, "a name does not end");
	*name = parser->at;
	*end = 0;
	parser->at = end + 1;
	return 0;
}

/* Parses a type behind its shape, order and count. */
static int parse_type(struct pep3118_parser *parser, uint32_t *count,
		      struct item *item)
{
	char letter = *parser->at;
	int ret;

	item->is_padding = letter == 'x';
	if (letter == 'T' && parser->at[1] == '{')
		return pep3118_parse_nested(parser, item);
	ret = parse_find_type(parser, *count, &item->dtype);
	if (ret)
		return ret;
	item->alignment = dray_dtype_alignment(item->dtype);
	if (strchr("swx", letter))
		*count = 1;
	return 0;
}

static int pep3118_parse_item(struct pep3118_parser *parser, struct item *item)
{
	int64_t shape[64], repeat;
	uint32_t count = 1;
	int ndim, ret;

	ret = pep3118_parse_shape(parser, &ndim, shape);
	if (ret)
		return ret;
	parse_order(parser);
	if (dray_is_digit(*parser->at)) {
		ret = pep3118_parse_number(parser, &count);
		if (ret)
			return ret;
	}
	ret = parse_type(parser, &count, item);
	if (ret)
		return ret;
	repeat = count;
	if (count != 1)
		ret = dray_dtype_wrap(item->dtype, 1, &repeat, &item->dtype);
	if (!ret && ndim)
		ret = dray_dtype_wrap(item->dtype, ndim, shape, &item->dtype);
	if (ret)
		return ret;
	ret = parse_name(parser, &item->name);
	if (ret)
		dray_dtype_unref(item->dtype);
	return ret;
}

/* The items of a structure so far. */
struct items {
	struct dray_field_list fields;
	uint64_t end;
	uint32_t alignment;
};

static int pep3118_parse_add_item(struct pep3118_parser *parser,
				  struct items *items, const struct item *item)
{
	struct dray_dtype_field field = { item->name, NULL, item->dtype, 0 };

	if (parser->order == '@') {
		dray_round_up_overflow(items->end, item->alignment,
				       &items->end);
		if (item->alignment > items->alignment)
			items->alignment = item->alignment;
	}
	field.offset = (uint32_t)items->end;
	items->end += dray_dtype_itemsize(item->dtype);
	if (items->end > UINT32_MAX) {
		dray_dtype_unref(item->dtype);
		return pep3118_parse_refuse(parser,
					    "more than 32 bits of bytes");
	}
	if (!item->is_padding || item->name)
		return dray_field_list_add(&items->fields, &field);
	dray_dtype_unref(item->dtype);
	return 0;
}

static bool is_name(const struct items *items, const char *name)
{
	size_t i;

	for (i = 0; i < items->fields.count; i++) {
		const char *other = items->fields.fields[i].name;

		if (other && !strcmp(other, name))
			return true;
	}
	return false;
}

/* Makes the structure; a field without a name gets the first free "f0", ... */
static int make_structure(struct items *items, dray_dtype *out)
{
	size_t count = items->fields.count, i;
	unsigned int next = 0;
	char(*names)[NAME_ROOM];
	int ret;

	if (count > DRAY_DTYPE_MAX_FIELDS)
		return dray_fail(-EINVAL, "a format of %zu fields", count);
	names = malloc(count * NAME_ROOM + 1);
	if (!names)
		return dray_fail(-ENOMEM, "no memory for %zu names", count);
	for (i = 0; i < count; i++) {
		if (items->fields.fields[i].name)
			continue;
		do
			snprintf(names[i], NAME_ROOM, "f%u", next++ % 100000);
		while (is_name(items, names[i]));
		items->fields.fields[i].name = names[i];
	}
	ret = dray_dtype_create_struct(items->fields.fields, count,
				       DRAY_DTYPE_PLACED, (uint32_t)items->end,
				       out);
	free(names);
	return ret;
}

/* Makes the type of all items: an item alone at the top is itself. */
static int parse_make_type(struct pep3118_parser *parser, struct items *items,
			   bool nested, dray_dtype *out)
{
	const struct dray_dtype_field *first = items->fields.fields;

	if (parser->order == '@')
		dray_round_up_overflow(items->end, items->alignment,
				       &items->end);
	if (items->end > UINT32_MAX)
		return pep3118_parse_refuse(parser,
					    "more than 32 bits of bytes");
	if (nested || items->fields.count > 1)
		return make_structure(items, out);
	if (!items->fields.count) {
		*out = DRAY_VOID(items->end);
		return 0;
	}
	DRAY_HOLDS(first);
	if (first->name || first->offset ||
	    dray_dtype_itemsize(first->dtype) != items->end)
		return make_structure(items, out);
	*out = dray_dtype_ref(first->dtype);
	return 0;
}

static int pep3118_parse_items(struct pep3118_parser *parser, bool nested,
			       dray_dtype *out, uint32_t *alignment)
{
	struct items items = { .alignment = 1 };
	struct item item;
	int ret = 0;

	while (!ret && *parser->at && !(nested && *parser->at == '}')) {
		if (pep3118_parse_take(parser, ' '))
			continue;
		ret = pep3118_parse_item(parser, &item);
		/* "(4)12x" alone is a sub-array of voids, not a gap. */
		if (!ret && !nested && !items.end && !*parser->at &&
		    dray_dtype_shape(item.dtype, NULL))
			item.is_padding = false;
		if (!ret)
			ret = pep3118_parse_add_item(parser, &items, &item);
	}
	if (!ret && nested && !pep3118_parse_take(parser, '}'))
		ret = pep3118_parse_refuse(parser, "a structure does not end");
	if (!ret)
		ret = parse_make_type(parser, &items, nested, out);
	*alignment = items.alignment;
	dray_field_list_end(&items.fields);
	return ret;
}

int dray_dtype_from_pep3118(const char *format, dray_dtype *out)
{
	struct pep3118_parser parser = { .format = format, .order = '@' };
	uint32_t alignment;
	dray_dtype made;
	int ret;

	if (!dray_given(format, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!*format ||
	    strnlen(format, DRAY_DTYPE_MAX_TEXT + 1) > DRAY_DTYPE_MAX_TEXT)
		return dray_fail(-EINVAL,
				 "a format is empty, or above %d bytes",
				 DRAY_DTYPE_MAX_TEXT);
	parser.text = strdup(format);
	if (!parser.text)
		return dray_fail(-ENOMEM, "no memory to read a format");
	parser.at = parser.text;
	ret = pep3118_parse_items(&parser, false, &made, &alignment);
	free(parser.text);
	if (!ret)
		*out = made;
	return ret;
}
