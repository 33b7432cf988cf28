// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views as text for people: elements in nested brackets and columns, the middle
 * of long axes left out, and a line with shape and type.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/cast.h>
#include <dray/element.h>

#include "private.h"

/* NumPy's defaults: an array with more elements shows so many of each end. */
#define MOST 1000
#define EDGE INT64_C(3)

#define LONGEST 120 /* bytes of an element's text, with its zero */

struct print {
	const struct dray_view *view;
	FILE *stream;
	bool shortened;
	bool measures; /* the longest text, and prints nothing */
	int width;
	int64_t position[DRAY_MAX_NDIM];
};

static size_t print_element(char *to, size_t room, dray_dtype dtype,
			    const char *element);

/* Prints bytes in quotes; others than printable bytes as \xNN. */
static size_t print_bytes(char *to, size_t room,
			  const struct dray_scalar_bytes *bytes)
{
	const unsigned char *at = bytes->data;
	size_t used = (size_t)snprintf(to, room, "'"), i;

	for (i = 0; i < bytes->size && used < room; i++) {
		bool plain = at[i] >= ' ' && at[i] < 0x7f && at[i] != '\'' &&
			     at[i] != '\\';

		used += (size_t)snprintf(to + used, room - used,
					 plain ? "%c" : "\\x%02x", at[i]);
	}
	return used < room
		       ? used + (size_t)snprintf(to + used, room - used, "'")
		       : used;
}

static size_t print_scalar(char *to, size_t room,
			   const struct dray_scalar *scalar)
{
	switch (scalar->kind) {
	case DRAY_SCALAR_BOOLEAN:
		return (size_t)snprintf(to, room,
					scalar->boolean ? "true" : "false");
	case DRAY_SCALAR_SIGNED:
		return (size_t)snprintf(to, room, "%" PRId64, scalar->integer);
	case DRAY_SCALAR_UNSIGNED:
		return (size_t)snprintf(to, room, "%" PRIu64, scalar->natural);
	case DRAY_SCALAR_REAL:
		return (size_t)snprintf(to, room, "%.8g", scalar->real);
	case DRAY_SCALAR_COMPLEX:
		return (size_t)snprintf(to, room, "%.8g%+.8gj",
					scalar->parts.real,
					scalar->parts.imaginary);
	default:
		return print_bytes(to, room, &scalar->bytes);
	}
}

/* Prints fields in parentheses, as many as there is room for. */
static size_t print_fields(char *to, size_t room, dray_dtype dtype,
			   const char *element)
{
	size_t used = (size_t)snprintf(to, room, "("), i;
	struct dray_dtype_field field;

	for (i = 0; i < dray_dtype_field_count(dtype) && used < room; i++) {
		if (i)
			used += (size_t)snprintf(to + used, room - used, ", ");
		if (used >= room || dray_dtype_get_field(dtype, i, &field))
			break;
		used += print_element(to + used, room - used, field.dtype,
				      element + field.offset);
	}
	if (used < room)
		used += (size_t)snprintf(to + used, room - used, ")");
	return used;
}

/* Prints a date, UCS-4 or a user's type by way of its conversion to text. */
static bool print_converted(char *to, size_t room, dray_dtype dtype,
			    const char *element)
{
	struct dray_cast cast;

	memset(to, 0, room);
	return !dray_cast_find(DRAY_BYTES(room - 1), dtype, &cast) &&
	       !dray_cast_run(&cast, to, 0, element, 0, 1);
}

/* Returns the length of the text, which may be more than there is room for. */
static size_t print_element(char *to, size_t room, dray_dtype dtype,
			    const char *element)
{
	const struct dray_dtype_functions *functions;
	struct dray_scalar scalar;

	if (dray_dtype_field_count(dtype))
		return print_fields(to, room, dtype, element);
	if ((strchr("mMU", dray_dtype_kind(dtype)) ||
	     dray_dtype_flags(dtype) & DRAY_DTYPE_USER) &&
	    print_converted(to, room, dtype, element))
		return strlen(to);
	functions = dray_dtype_functions(dtype);
	if (!functions || !functions->get ||
	    functions->get(dtype, element, &scalar))
		return (size_t)snprintf(to, room, "?");
	return print_scalar(to, room, &scalar);
}

static const char *print_address_of(const struct print *print)
{
	const struct dray_view *view = print->view;
	const char *at = view->data;
	int i;

	for (i = 0; i < view->ndim; i++)
		at = dray_address_add(at,
				      print->position[i] * view->strides[i]);
	return at;
}

static void put_element(struct print *print)
{
	char text[LONGEST];
	size_t length = print_element(text, sizeof(text), print->view->dtype,
				      print_address_of(print));

	if (length >= sizeof(text)) /* The text is cut short. */
		memcpy(text + sizeof(text) - 4, "...", 4);
	length = strlen(text);
	if (print->measures && (int)length > print->width)
		print->width = (int)length;
	if (!print->measures)
		fprintf(print->stream, "%*s", print->width, text);
}

/* Separates the parts of an axis: rows begin in the same column. */
static void put_gap(const struct print *print, int axis)
{
	int lines = print->view->ndim - 1 - axis, i;

	if (print->measures)
		return;
	if (!lines) {
		fputc(' ', print->stream);
		return;
	}
	for (i = 0; i < lines && i < 2; i++)
		fputc('\n', print->stream);
	fprintf(print->stream, "%*s", axis + 1, "");
}

static void print_put(const struct print *print, const char *text)
{
	if (!print->measures)
		fputs(text, print->stream);
}

/* Prints the elements of all axes from @axis on, at the position so far. */
static void put_axis(struct print *print, int axis)
{
	const struct dray_view *view = print->view;
	int64_t at, extent;

	if (axis == view->ndim) {
		put_element(print);
		return;
	}
	extent = view->shape[axis];
	print_put(print, "[");
	for (at = 0; at < extent; at++) {
		if (at)
			put_gap(print, axis);
		if (print->shortened && at == EDGE && extent > 2 * EDGE) {
			print_put(print, "...");
			at = extent - EDGE - 1;
			continue;
		}
		print->position[axis] = at;
		put_axis(print, axis + 1);
	}
	print_put(print, "]");
}

static void print_put_all(struct print *print, int64_t elements)
{
	/* As NumPy does: the axes in front of an empty axis may be very long. */
	if (!elements) {
		print_put(print, "[]");
		return;
	}
	print->measures = true;
	put_axis(print, 0);
	print->measures = false;
	put_axis(print, 0);
}

static int put_summary(const struct print *print)
{
	char shape[DRAY_SHAPE_TEXT], *type;
	int length = dray_dtype_format(print->view->dtype, NULL, 0);

	if (length < 0)
		return length;
	type = malloc((size_t)length + 1);
	if (!type)
		return dray_fail(-ENOMEM, "no memory for a type's text");
	dray_dtype_format(print->view->dtype, type, (size_t)length + 1);
	fprintf(print->stream, "\nshape %s, type %s\n",
		dray_shape_format(shape, print->view->ndim, print->view->shape),
		type);
	free(type);
	return 0;
}

int dray_view_print(const struct dray_view *view, FILE *stream)
{
	DRAY_NO_CANCEL;
	struct print print = { .view = view, .stream = stream };
	struct dray_extent extent;
	int ret;

	if (!dray_given(stream, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &extent);
	if (ret)
		return ret;
	if (!(view->flags & DRAY_READ))
		return dray_fail(-EPERM, "the view may not be read");
	print.shortened = extent.elements > MOST;
	print_put_all(&print, extent.elements);
	ret = put_summary(&print);
	if (!ret && (fflush(stream) || ferror(stream)))
		ret = dray_fail(-EIO,
				"the array could not be printed completely");
	return ret;
}
