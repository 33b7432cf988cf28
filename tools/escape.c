// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Makes text safe for a terminal and for columns.  Keeps a character if the
 * locale calls it printable and gives it a width.  Control characters, invalid
 * bytes, and marks without a width that change their neighbours (combining and
 * bidirectional ones) become \xNN.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "cli.h"
#include "escape.h"

/* Measures the first character; 0 columns if it must not be shown. */
static size_t first_character(const char *text, size_t length, size_t *columns)
{
	mbstate_t state = { 0 };
	wchar_t character;
	size_t bytes;
	int width;

	/* most text is ASCII, which all locales have */
	*columns = *text >= ' ' && *text <= '~';
	if (*columns)
		return 1;
	bytes = mbrtowc(&character, text, length, &state);
	if (bytes == (size_t)-1 || bytes == (size_t)-2 || bytes == 0)
		return 1;
	width = iswprint((wint_t)character) ? wcwidth(character) : 0;
	if (width > 0)
		*columns = (size_t)width;
	return bytes;
}

static bool escape_is_kept(const char *text, size_t columns,
			   enum escape_kind kind)
{
	if (!columns)
		return false;
	if (*text == '\\')
		return kind == ESCAPE_CONTROL;
	return *text != ' ' || kind != ESCAPE_WORD;
}

char *escape(const char *text, size_t length, enum escape_kind kind)
{
	static const char digits[] = "0123456789abcdef";
	size_t left = strnlen(text, length);
	/* one byte becomes at most four */
	char *safe = memory_resize(NULL, left + 1, 4);
	char *end = safe;
	size_t i;

	while (left) {
		size_t columns;
		size_t bytes = first_character(text, left, &columns);

		if (escape_is_kept(text, columns, kind)) {
			memcpy(end, text, bytes);
			end += bytes;
		} else {
			for (i = 0; i < bytes; i++) {
				unsigned char byte = (unsigned char)text[i];

				*end++ = '\\';
				*end++ = 'x';
				*end++ = digits[byte >> 4];
				*end++ = digits[byte & 15];
			}
		}
		text += bytes;
		left -= bytes;
	}
	*end = '\0';
	return safe;
}

/* Takes characters while they fit into *@columns, which it reduces. */
static size_t escape_take(const char *safe, size_t length, size_t *columns)
{
	size_t taken = 0;

	while (taken < length) {
		size_t width;
		size_t bytes =
			first_character(safe + taken, length - taken, &width);

		if (width > *columns)
			break;
		*columns -= width;
		taken += bytes;
	}
	return taken;
}

size_t escape_cut(const char *safe, size_t columns)
{
	return escape_take(safe, strlen(safe), &columns);
}

size_t escape_width(const char *safe, size_t length)
{
	size_t left = SIZE_MAX;

	escape_take(safe, length, &left);
	return SIZE_MAX - left;
}
