// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Headers of .npy files: six bytes of magic, two of the version, the length of
 * a text, and that text: a Python dictionary of the keys descr, fortran_order
 * and shape.  The text is Latin-1 in the versions 1 and 2, and UTF-8 in 3.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "file/npy.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH (sizeof(MAGIC) - 1)

/* Longer headers than this are refused, as NumPy's reader does by default. */
#define LONGEST ((size_t)1 << 20)

int dray_npy_measure(const char *start, size_t size, const char *name,
		     size_t *offset)
{
	const unsigned char *bytes = (const unsigned char *)start;
	size_t length, before;

	if (size < MAGIC_LENGTH + 4 || memcmp(start, MAGIC, MAGIC_LENGTH) != 0)
		return dray_fail(
			-EBADMSG,
			"%s is not in .npy format: it does not begin with \\x93NUMPY",
			name);
	if (bytes[6] < 1 || bytes[6] > 3 || bytes[7])
		return dray_fail(
			-EPROTO,
			"%s is of version %u.%u of the .npy format, this reads 1.0, 2.0 and 3.0",
			name, bytes[6], bytes[7]);
	length = bytes[8] | (size_t)bytes[9] << 8;
	before = MAGIC_LENGTH + 4;
	if (bytes[6] > 1) {
		if (size < MAGIC_LENGTH + 6)
			return dray_fail(-EBADMSG, "%s ends in its header",
					 name);
		length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
		before += 2;
	}
	if (length > LONGEST)
		return dray_fail(
			-EBADMSG,
			"%s begins with a header of %zu bytes, at most %zu are possible",
			name, length, LONGEST);
	*offset = before + length;
	/* So that the bytes read so far are all of the header. */
	if (*offset < DRAY_NPY_START)
		return dray_fail(
			-EBADMSG,
			"%s begins with a header of %zu bytes, too few for a dictionary",
			name, length);
	return 0;
}

static int header_read_shape(const struct dray_literal *shape, const char *name,
			     struct dray_npy_header *header)
{
	const struct dray_literal *item;

	if (!dray_literal_is(shape, DRAY_LITERAL_TUPLE))
		return dray_fail(
			-EBADMSG,
			"the 'shape' in the header of %s is not a tuple", name);
	if (shape->count > DRAY_MAX_NDIM)
		return dray_fail(
			-EBADMSG,
			"%s contains an array of %u axes, 0 to %d are possible",
			name, shape->count, DRAY_MAX_NDIM);
	for (item = shape->first; item; item = item->next) {
		if (!dray_literal_is(item, DRAY_LITERAL_INTEGER) ||
		    item->integer < 0)
			return dray_fail(
				-EBADMSG,
				"axis %d of %s is not a number of elements",
				header->ndim, name);
		header->shape[header->ndim++] = item->integer;
	}
	return 0;
}

static int read_keys(const struct dray_literal *dict, const char *name,
		     struct dray_npy_header *header)
{
	const struct dray_literal *descr = dray_literal_find(dict, "descr");
	const struct dray_literal *order =
		dray_literal_find(dict, "fortran_order");
	int ret;

	if (!descr || !dray_literal_is(order, DRAY_LITERAL_BOOL) ||
	    dict->count != 6)
		return dray_fail(
			-EBADMSG,
			"the keys in the header of %s must be 'descr', 'fortran_order' and 'shape'",
			name);
	header->fortran = order->integer;
	ret = header_read_shape(dray_literal_find(dict, "shape"), name, header);
	if (ret)
		return ret;
	ret = dray_dtype_from_literal(descr, &header->dtype);
	return ret == -ENOMEM || !ret
		       ? ret
		       : dray_fail_adding(-EBADMSG, " ('descr' of %s)", name);
}

/* Parses Latin-1. */
static int parse_latin_1(const char *bytes, size_t size, const char *subject,
			 struct dray_literal **out)
{
	char *text = malloc(2 * size), *to = text;
	size_t i;
	int ret;

	if (!text)
		return dray_fail(-ENOMEM, "no memory for a header");
	for (i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)bytes[i];

		if (byte >= 0x80)
			*to++ = (char)(0xc0 | byte >> 6);
		*to++ = (char)(byte < 0x80 ? byte : 0x80 | (byte & 0x3f));
	}
	ret = dray_literal_parse(text, (size_t)(to - text), subject, out);
	free(text);
	return ret;
}

int dray_npy_parse(const char *bytes, size_t offset, const char *name,
		   struct dray_npy_header *header)
{
	size_t before = MAGIC_LENGTH + (bytes[6] > 1 ? 6 : 4);
	struct dray_literal *dict;
	int ret;

	memset(header, 0, offsetof(struct dray_npy_header, shape));
	header->offset = offset;
	ret = (bytes[6] < 3 ? parse_latin_1 : dray_literal_parse)(
		bytes + before, offset - before, "the header of the file",
		&dict);
	if (ret)
		return ret == -ENOMEM
			       ? ret
			       : dray_fail_adding(-EBADMSG, " (%s)", name);
	ret = dray_literal_is(dict, DRAY_LITERAL_DICT)
		      ? read_keys(dict, name, header)
		      : dray_fail(-EBADMSG,
				  "the header of %s is not a dictionary", name);
	free(dict);
	return ret;
}

int dray_npy_place(const struct dray_npy_header *header, const char *name,
		   void *data, uint64_t room, struct dray_view *view)
{
	int64_t shape[DRAY_MAX_NDIM];
	size_t bytes;
	int ret, i;

	for (i = 0; i < header->ndim; i++)
		shape[i] = header->shape[header->fortran ? header->ndim - 1 - i
							 : i];
	if (dray_view_bytes(header->dtype, header->ndim, shape, &bytes))
		return -EBADMSG; /* With its sentence. */
	if (bytes > room)
		return dray_fail(-EBADMSG,
				 "%s contains %" PRIu64 " bytes of elements, "
				 "its shape needs %zu",
				 name, room, bytes);
	if (!data)
		return 0;
	ret = dray_view_init(view, data, header->dtype, header->ndim, shape,
			     NULL);
	if (!ret && header->fortran)
		ret = dray_view_transpose(view, NULL, view);
	return ret;
}

/* A text that grows. */
struct header_text {
	char *bytes;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static int
header_append(struct header_text *text, const char *format, ...)
{
	va_list args;
	char *longer;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	longer = realloc(text->bytes, text->length + (size_t)length + 1);
	if (!longer)
		return dray_fail(-ENOMEM, "no memory for a header");
	text->bytes = longer;
	va_start(args, format);
	vsnprintf(longer + text->length, (size_t)length + 1, format, args);
	va_end(args);
	text->length += (size_t)length;
	return 0;
}

static int append_type(struct header_text *text, dray_dtype dtype)
{
	int length = dray_dtype_describe(dtype, NULL, 0), ret;
	char *descr;

	if (length < 0)
		return length;
	if (dray_dtype_flags(dtype) & DRAY_DTYPE_LOCAL)
		return dray_fail(
			-EINVAL,
			"a user type means nothing to a reader of the file");
	descr = malloc((size_t)length + 1);
	if (!descr)
		return dray_fail(-ENOMEM, "no memory for a header");
	dray_dtype_describe(dtype, descr, (size_t)length + 1);
	/* A list and a sub-array's tuple are Python, a typestr is a string. */
	if (*descr == '{')
		ret = dray_fail(
			-EINVAL,
			"no list of fields describes a type with fields that overlap or are out of order");
	else if (*descr == '[' || *descr == '(')
		ret = header_append(text, "{'descr': %s", descr);
	else
		ret = header_append(text, "{'descr': '%s'", descr);
	free(descr);
	return ret;
}

static int append_keys(struct header_text *text, const struct dray_view *view,
		       bool fortran)
{
	int ret, i;

	ret = append_type(text, view->dtype);
	if (!ret)
		ret = header_append(text, ", 'fortran_order': %s, 'shape': (",
				    fortran ? "True" : "False");
	for (i = 0; i < view->ndim && !ret; i++)
		ret = header_append(text, "%s%" PRId64 "%s", i ? " " : "",
				    view->shape[i],
				    i + 1 < view->ndim || !i ? "," : "");
	return ret ? ret : header_append(text, "), }");
}

/* Makes UTF-8 Latin-1 where it can be; false, and the same text, where not. */
static bool to_latin_1(struct header_text *text)
{
	char *to = text->bytes;
	size_t i;

	for (i = 0; i < text->length; i++) {
		if ((unsigned char)text->bytes[i] > 0xc3)
			return false;
	}
	for (i = 0; i < text->length; i++) {
		const unsigned char byte = (unsigned char)text->bytes[i];

		/* 0xc2 or 0xc3 has the two upper bits of the next byte. */
		*to++ = (char)(byte < 0xc0
				       ? byte
				       : byte << 6 | (text->bytes[++i] & 0x3f));
	}
	text->length = (size_t)(to - text->bytes);
	return true;
}

/* Prepends magic and length, and pads with spaces and a line's end. */
static int npy_header_complete(struct header_text *text, size_t multiple)
{
	/* Room to grow the first axis in place, as NumPy leaves it. */
	size_t before = MAGIC_LENGTH + 4, whole, length;
	const bool latin_1 = to_latin_1(text);
	uint64_t rounded;
	unsigned char *bytes;

	dray_round_up_overflow(before + text->length + 1, multiple, &rounded);
	if (!latin_1 || rounded - before > UINT16_MAX) {
		before += 2;
		dray_round_up_overflow(before + text->length + 1, multiple,
				       &rounded);
	}
	whole = (size_t)rounded;
	length = whole - before;
	bytes = malloc(whole);
	if (!bytes)
		return dray_fail(-ENOMEM, "no memory for a header");
	memset(bytes, ' ', whole);
	memcpy(bytes, MAGIC, MAGIC_LENGTH);
	bytes[6] = !latin_1 ? 3 : before > MAGIC_LENGTH + 4 ? 2 : 1;
	bytes[7] = 0;
	bytes[8] = length & 0xff;
	bytes[9] = (unsigned char)(length >> 8);
	if (bytes[6] > 1) {
		bytes[10] = (unsigned char)(length >> 16);
		bytes[11] = (unsigned char)(length >> 24);
	}
	memcpy(bytes + before, text->bytes, text->length);
	bytes[whole - 1] = '\n';
	free(text->bytes);
	text->bytes = (char *)bytes;
	text->length = whole;
	return 0;
}

int dray_npy_format(const struct dray_view *view, size_t multiple, char **out,
		    size_t *size, bool *fortran)
{
	struct dray_view checked;
	struct header_text text = { 0 };
	int ret;

	/* Facts of a view are not trusted. */
	ret = dray_view_transpose(view, NULL, &checked);
	if (ret)
		return ret;
	*fortran = (checked.flags & DRAY_C_CONTIGUOUS) &&
		   !(checked.flags & DRAY_F_CONTIGUOUS);
	ret = append_keys(&text, view, *fortran);
	if (!ret)
		ret = npy_header_complete(&text, multiple);
	if (ret) {
		free(text.bytes);
		return ret;
	}
	*out = text.bytes;
	*size = text.length;
	return 0;
}
