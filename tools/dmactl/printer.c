// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Prints a JSON document piece by piece; jansson formats the pieces. */
#include <assert.h>
#include <stdio.h>

#include "printer.h"

static void put_line(size_t depth)
{
	putchar('\n');
	while (depth--)
		fputs("  ", stdout);
}

/* Goes to the place of the next value. */
static void put_place(struct printer *printer, const char *key)
{
	if (!printer->depth)
		return;
	if (printer->filled[printer->depth - 1])
		putchar(',');
	printer->filled[printer->depth - 1] = true;
	put_line(printer->depth);
	if (key)
		printf("\"%s\": ", key);
}

static void begin(struct printer *printer, const char *key, char start,
		  char end)
{
	assert(printer->depth < PRINTER_DEPTH);
	put_place(printer, key);
	putchar(start);
	printer->filled[printer->depth] = false;
	printer->ends[printer->depth++] = end;
}

void printer_object(struct printer *printer, const char *key)
{
	begin(printer, key, '{', '}');
}

void printer_array(struct printer *printer, const char *key)
{
	begin(printer, key, '[', ']');
}

void printer_end(struct printer *printer)
{
	assert(printer->depth);
	printer->depth--;
	if (printer->filled[printer->depth])
		put_line(printer->depth);
	putchar(printer->ends[printer->depth]);
	if (!printer->depth)
		putchar('\n');
}

/* Indents the lines of a piece; a string in it has no newline of its own. */
static int put_piece(const char *text, size_t length, void *depth)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (text[i] == '\n')
			put_line(*(const size_t *)depth);
		else
			putchar(text[i]);
	}
	return 0;
}

void printer_value(struct printer *printer, const char *key, json_t *value)
{
	put_place(printer, key);
	json_dump_callback(value, put_piece, &printer->depth,
			   JSON_INDENT(2) | JSON_ENSURE_ASCII |
				   JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);
	json_decref(value);
}

void printer_members(struct printer *printer, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
		printer_value(printer, key, json_incref(value));
	json_decref(object);
}
