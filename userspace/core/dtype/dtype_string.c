// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Strings that name types, as NumPy's: typestrs with order, kind, size and unit;
 * letters and names of C types; sub-arrays by a shape in front; and structures
 * by commas.
 */
#include <errno.h>
#include <string.h>

#include "dtype/dtype_text.h"
#include "base/error.h"
#include "base/number.h"

/* A part of a string. */
struct string_span {
	const char *at, *end;
};

struct named {
	const char *name;
	char kind;
	uint8_t size;
};

#define LONG_DOUBLE ((uint8_t)sizeof(long double))

/* Letters and names with the size of a C type, or without a size. */
static const struct named names[] = {
	{ "?", '?', 1 },
	{ "b", 'i', 1 },
	{ "B", 'u', 1 },
	{ "h", 'i', sizeof(short) },
	{ "H", 'u', sizeof(short) },
	{ "i", 'i', sizeof(int) },
	{ "I", 'u', sizeof(int) },
	{ "l", 'i', sizeof(long) },
	{ "L", 'u', sizeof(long) },
	{ "q", 'i', 8 },
	{ "Q", 'u', 8 },
	{ "n", 'i', sizeof(void *) },
	{ "N", 'u', sizeof(void *) },
	{ "p", 'i', sizeof(void *) },
	{ "P", 'u', sizeof(void *) },
	{ "e", 'f', 2 },
	{ "f", 'f', 4 },
	{ "d", 'f', 8 },
	{ "g", 'f', LONG_DOUBLE },
	{ "F", 'c', 8 },
	{ "D", 'c', 16 },
	{ "G", 'c', 2 * LONG_DOUBLE },
	{ "c", 'S', 1 },
	{ "S", 'S', 0 },
	{ "a", 'S', 0 },
	{ "U", 'U', 0 },
	{ "V", 'V', 0 },
	{ "M", 'M', 8 },
	{ "m", 'm', 8 },
	/* Names are without an order; find_name() looks at letters alone then. */
	{ "bool", '?', 1 },
	{ "bool_", '?', 1 },
	{ "int8", 'i', 1 },
	{ "int16", 'i', 2 },
	{ "int32", 'i', 4 },
	{ "int64", 'i', 8 },
	{ "uint8", 'u', 1 },
	{ "uint16", 'u', 2 },
	{ "uint32", 'u', 4 },
	{ "uint64", 'u', 8 },
	{ "float16", 'f', 2 },
	{ "float32", 'f', 4 },
	{ "float64", 'f', 8 },
	{ "complex64", 'c', 8 },
	{ "complex128", 'c', 16 },
	{ "byte", 'i', 1 },
	{ "ubyte", 'u', 1 },
	{ "short", 'i', sizeof(short) },
	{ "ushort", 'u', sizeof(short) },
	{ "intc", 'i', sizeof(int) },
	{ "uintc", 'u', sizeof(int) },
	{ "int", 'i', sizeof(void *) },
	{ "int_", 'i', sizeof(void *) },
	{ "uint", 'u', sizeof(void *) },
	{ "intp", 'i', sizeof(void *) },
	{ "uintp", 'u', sizeof(void *) },
	{ "long", 'i', sizeof(long) },
	{ "ulong", 'u', sizeof(long) },
	{ "longlong", 'i', 8 },
	{ "ulonglong", 'u', 8 },
	{ "half", 'f', 2 },
	{ "single", 'f', 4 },
	{ "double", 'f', 8 },
	{ "float", 'f', 8 },
	{ "longdouble", 'f', LONG_DOUBLE },
	{ "csingle", 'c', 8 },
	{ "cdouble", 'c', 16 },
	{ "complex", 'c', 16 },
	{ "clongdouble", 'c', 2 * LONG_DOUBLE },
#if __SIZEOF_LONG_DOUBLE__ == 16
	{ "float128", 'f', 16 },
	{ "complex256", 'c', 32 },
#elif __SIZEOF_LONG_DOUBLE__ == 12
	{ "float96", 'f', 12 },
	{ "complex192", 'c', 24 },
#endif
	{ "bytes", 'S', 0 },
	{ "bytes_", 'S', 0 },
	{ "str", 'U', 0 },
	{ "str_", 'U', 0 },
	{ "unicode", 'U', 0 },
	{ "void", 'V', 0 },
	{ "datetime64", 'M', 8 },
	{ "timedelta64", 'm', 8 },
};

static bool is_order(struct string_span span)
{
	return span.at < span.end && *span.at && strchr("<>=|", *span.at);
}

/* Leaves a sentence that quotes the span. */
static int dtype_string_refuse(struct string_span span, const char *why)
{
	size_t length = (size_t)(span.end - span.at);

	return dray_fail(-EINVAL, "type '%.*s'%s %s",
			 length > 32 ? 32 : (int)length, span.at,
			 length > 32 ? "..." : "", why);
}

/* Reads digits; false above 32 bits, or without a digit. */
static bool string_take_number(struct string_span *span, uint32_t *number)
{
	bool fits = span->at < span->end && dray_is_digit(*span->at);

	*number = 0;
	for (; span->at < span->end && dray_is_digit(*span->at); span->at++)
		fits = fits && !dray_mul_overflow(*number, 10u, number) &&
		       !dray_add_overflow(*number, (uint32_t)(*span->at - '0'),
					  number);
	return fits;
}

static void string_skip_spaces(struct string_span *span)
{
	while (span->at < span->end && *span->at == ' ')
		span->at++;
}

static bool dtype_string_equals(struct string_span span, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(span.end - span.at) == length &&
	       !memcmp(span.at, text, length);
}

static const struct named *find_name(struct string_span span, bool letters)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (dtype_string_equals(span, names[i].name) &&
		    (!letters || !names[i].name[1]))
			return &names[i];
	}
	return NULL;
}

/* Parses "[25s]" up to the end.  @whole: for the sentence */
static int parse_unit(struct string_span span, struct string_span whole,
		      dray_dtype *bits)
{
	const char *why;

	*bits = 0;
	if (span.at == span.end)
		return 0;
	if (*span.at != '[' || span.end[-1] != ']' || span.end - span.at < 2)
		return dtype_string_refuse(whole, "goes on after its size");
	why = dray_unit_parse(span.at + 1, (size_t)(span.end - span.at) - 2,
			      bits);
	return why ? dtype_string_refuse(whole, why) : 0;
}

/* Reads the size that the digits in @span name. */
static int string_parse_size(struct string_span *span, struct string_span whole,
			     char kind, uint32_t *size)
{
	if (!string_take_number(span, size) ||
	    dray_mul_overflow(*size, dray_dtype_unit_size(kind), size))
		return dtype_string_refuse(whole, "has a size above 32 bits");
	return 0;
}

static bool has_unit(char kind)
{
	return kind == 'M' || kind == 'm';
}

/* Parses a name, or a typestr behind its order. */
static int parse_kind(struct string_span span, struct string_span whole,
		      char order, dray_dtype *out)
{
	const char *bracket =
		memchr(span.at, '[', (size_t)(span.end - span.at));
	struct string_span name = { span.at, bracket ? bracket : span.end };
	const struct named *named = find_name(name, order);
	uint32_t size = named ? named->size : 0;
	char kind = named ? named->kind : *span.at;
	dray_dtype unit = 0;
	int ret;

	if (named) {
		span.at = name.end;
	} else if (span.end - span.at > 1 && dray_is_digit(span.at[1])) {
		kind = (char)(kind == 'b' ? '?' : kind == 'a' ? 'S' : kind);
		if (*span.at == '?' || !dray_dtype_unit_size(kind))
			return dtype_string_refuse(whole, "is of no kind");
		span.at++;
		ret = string_parse_size(&span, whole, kind, &size);
		if (ret)
			return ret;
	} else {
		return dtype_string_refuse(whole, "is not understood");
	}
	if (has_unit(kind)) {
		ret = parse_unit(span, whole, &unit);
		if (ret)
			return ret;
	} else if (span.at < span.end) {
		return dtype_string_refuse(whole, "goes on after its size");
	}
	if (!order || order == '=' || order == '|')
		order = DRAY_NATIVE_ORDER;
	return dray_dtype_normalize(DRAY_DTYPE(kind, order, size) | unit, out);
}

static int parse_typestr(struct string_span span, struct string_span whole,
			 char order, dray_dtype *out)
{
	if (span.at == span.end)
		return dtype_string_refuse(
			whole, "is not an order, a kind and a size");
	if (*span.at == 'O' || dtype_string_equals(span, "object"))
		return dtype_string_refuse(
			whole,
			"names Python objects, which are pointers of one process");
	return parse_kind(span, whole, order, out);
}

/* Parses "(2, 3)" or "3", if it is there. @ndim: as dray_dtype_wrap() */
static int string_parse_shape(struct string_span *span,
			      struct string_span whole, int *ndim,
			      int64_t *shape)
{
	uint32_t extent;
	bool list = span->at < span->end && *span->at == '(';
	int n = 0;

	*ndim = 0;
	if (!list) {
		if (span->at == span->end || !dray_is_digit(*span->at))
			return 0;
		*ndim = -1;
		if (!string_take_number(span, &extent))
			return dtype_string_refuse(whole,
						   "repeats above 32 bits");
		shape[0] = extent;
		return 0;
	}
	for (span->at++;; span->at++) {
		string_skip_spaces(span);
		if (span->at < span->end && *span->at == ')')
			break;
		if (n == 64)
			return dtype_string_refuse(whole,
						   "has more than 64 axes");
		if (!string_take_number(span, &extent))
			return dtype_string_refuse(whole,
						   "has a shape that is none");
		shape[n++] = extent;
		string_skip_spaces(span);
		if (span->at < span->end && *span->at == ')')
			break;
		if (span->at == span->end || *span->at != ',')
			return dtype_string_refuse(whole,
						   "has a shape that is none");
	}
	span->at++;
	*ndim = n;
	return 0;
}

static bool orders_agree(char one, char other)
{
	one = (char)(one == '=' ? DRAY_NATIVE_ORDER : one);
	other = (char)(other == '=' ? DRAY_NATIVE_ORDER : other);
	return !one || !other || one == other || one == '|' || other == '|';
}

/* Parses an item: order, shape, order and the rest. */
static int string_parse_item(struct string_span span, dray_dtype *out)
{
	struct string_span whole = span, shaped;
	char order = 0, second = 0;
	int64_t shape[64];
	dray_dtype base = 0;
	int ndim, ret;

	if (is_order(span))
		order = *span.at++;
	shaped = span;
	string_skip_spaces(&shaped);
	ret = string_parse_shape(&shaped, whole, &ndim, shape);
	if (ret)
		return ret;
	if (shaped.at > span.at && shaped.at[-1] != ' ') {
		span = shaped;
		string_skip_spaces(&span);
		if (is_order(span))
			second = *span.at++;
		if (!orders_agree(order, second))
			return dtype_string_refuse(whole,
						   "has two byte orders");
	}
	ret = parse_typestr(span, whole, second ? second : order, &base);
	return ret ? ret : dray_dtype_wrap(base, ndim, shape, out);
}

/* The end of the item at @at: a comma outside of brackets, or the text's end. */
static const char *end_of_item(const char *at)
{
	int depth = 0;

	for (; *at && (*at != ',' || depth > 0); at++)
		depth +=
			(*at == '(' || *at == '[') - (*at == ')' || *at == ']');
	return at;
}

static int parse_trimmed(const char *at, const char *end, dray_dtype *out)
{
	struct string_span span = { at, end };

	string_skip_spaces(&span);
	while (span.end > span.at && span.end[-1] == ' ')
		span.end--;
	return string_parse_item(span, out);
}

static int parse_list(const char *text, dray_dtype *out)
{
	struct dray_field_list list = { 0 };
	struct dray_dtype_field field = { 0 };
	const char *at = text, *end;
	int ret = 0;

	while (*at && !ret) {
		end = end_of_item(at);
		ret = parse_trimmed(at, end, &field.dtype);
		if (!ret)
			ret = dray_field_list_add(&list, &field);
		at = *end ? end + 1 : end;
	}
	if (!ret)
		ret = dray_dtype_create_struct(list.fields, list.count, 0, 0,
					       out);
	dray_field_list_end(&list);
	return ret;
}

int dray_dtype_parse_string(const char *text, dray_dtype *out)
{
	const char *end = end_of_item(text);

	if (*end)
		return parse_list(text, out);
	return string_parse_item((struct string_span){ text, end }, out);
}
