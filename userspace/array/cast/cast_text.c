// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Loops between texts and raw data of different sizes, and access to texts. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cast/cast.h"
#include "cast/cast_text.h"
#include "private.h"

static bool is_wide(dray_dtype dtype)
{
	return dray_dtype_kind(dtype) == 'U';
}

static bool is_swapped(dray_dtype dtype)
{
	return dray_dtype_order(dtype) != DRAY_NATIVE_ORDER;
}

static uint32_t read_wide(const char *src, bool swapped)
{
	uint32_t character;

	memcpy(&character, src, sizeof(character));
	return swapped ? __builtin_bswap32(character) : character;
}

static void write_wide(char *dst, uint32_t character, bool swapped)
{
	if (swapped)
		character = __builtin_bswap32(character);
	memcpy(dst, &character, sizeof(character));
}

size_t dray_text_room(dray_dtype dtype)
{
	return dray_dtype_itemsize(dtype) / (is_wide(dtype) ? 4 : 1);
}

void dray_text_write(dray_dtype to, char *dst, const char *text, size_t length)
{
	const size_t room = dray_text_room(to);
	size_t i;

	if (length > room)
		length = room;
	if (!room)
		return;
	if (!is_wide(to)) {
		memcpy(dst, text, length);
		memset(dst + length, 0, room - length);
		return;
	}
	for (i = 0; i < room; i++)
		write_wide(dst + 4 * i, i < length ? (unsigned char)text[i] : 0,
			   is_swapped(to));
}

size_t dray_text_read(dray_dtype from, const char *src,
		      char out[DRAY_TEXT_ROOM + 1])
{
	const size_t room = dray_text_room(from);
	size_t i, length = 0;

	for (i = 0; i < room; i++) {
		const uint32_t character =
			is_wide(from) ? read_wide(src + 4 * i, is_swapped(from))
				      : (unsigned char)src[i];

		if (character)
			length = i + 1;
		if (i < DRAY_TEXT_ROOM)
			out[i] = (char)(character < 128 ? character : '?');
	}
	out[length < DRAY_TEXT_ROOM ? length : DRAY_TEXT_ROOM] = 0;
	return length;
}

int dray_text_fail(const char *text, dray_dtype to)
{
	char name[DRAY_DTYPE_TYPESTR_SIZE];

	return dray_fail(-EINVAL, "'%.64s' is not a value of type %s", text,
			 dray_dtype_text(to, name));
}

/* Copies bytes; cuts them, or fills up with zeros. */
int dray_loop_resize(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	const struct dray_cast *cast = context;
	const size_t to = dray_dtype_itemsize(cast->to);
	const size_t from = dray_dtype_itemsize(cast->from);
	const size_t copied = to < from ? to : from;
	int64_t i;

	for (i = 0; to && i < count; i++) {
		char *dst = data[0] + i * strides[0];

		if (copied)
			memcpy(dst, data[1] + i * strides[1], copied);
		memset(dst + copied, 0, to - copied);
	}
	return 0;
}

/* Raw data has the characters in the machine's byte order. */
int dray_loop_unicode_to_void(char *const *data, const int64_t *strides,
			      int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const size_t to = dray_dtype_itemsize(cast->to);
	const size_t from = dray_dtype_itemsize(cast->from);
	int64_t i;
	size_t k;

	for (i = 0; i < count; i++) {
		const char *src = data[1] + i * strides[1];
		char *dst = data[0] + i * strides[0];

		for (k = 0; k < to; k++)
			dst[k] = (char)(k < from ? src[k ^ 3] : 0);
	}
	return 0;
}

int dray_loop_bytes_to_bool(char *const *data, const int64_t *strides,
			    int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const size_t size = dray_dtype_itemsize(cast->from);
	int64_t i;
	size_t k;

	for (i = 0; i < count; i++) {
		const char *src = data[1] + i * strides[1];
		char any = 0;

		for (k = 0; k < size; k++)
			any |= src[k];
		data[0][i * strides[0]] = any != 0;
	}
	return 0;
}

static int fail_character(uint32_t character, size_t at)
{
	return dray_fail(
		-EILSEQ,
		"character U+%04" PRIX32
		" at position %zu is not ASCII: bytes (S) have only that",
		character, at);
}

/* Refuses characters that bytes do not have, before any is written. */
static int check_ascii(dray_dtype from, const char *src)
{
	const size_t room = dray_text_room(from);
	size_t i;

	for (i = 0; i < room; i++) {
		const uint32_t character =
			is_wide(from) ? read_wide(src + 4 * i, is_swapped(from))
				      : (unsigned char)src[i];

		if (character > 127)
			return fail_character(character, i);
	}
	return 0;
}

/* Texts of characters, of which one side at least is UCS-4. */
int dray_loop_characters(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const bool to_wide = is_wide(cast->to), from_wide = is_wide(cast->from);
	const bool swap_to = is_swapped(cast->to);
	const bool swap_from = is_swapped(cast->from);
	const size_t to = dray_text_room(cast->to);
	const size_t from = dray_text_room(cast->from);
	int64_t i;
	size_t k;

	for (i = 0; i < count; i++) {
		const char *src = data[1] + i * strides[1];
		char *dst = data[0] + i * strides[0];

		if (to_wide != from_wide && check_ascii(cast->from, src))
			return -EILSEQ;
		for (k = 0; k < to; k++) {
			uint32_t character = 0;

			if (k < from)
				character = from_wide ? read_wide(src + 4 * k,
								  swap_from)
						      : (unsigned char)src[k];
			if (to_wide)
				write_wide(dst + 4 * k, character, swap_to);
			else
				dst[k] = (char)character;
		}
	}
	return 0;
}
