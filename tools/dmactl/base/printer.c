// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Prints a JSON document piece by piece; jansson formats the pieces. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void printer_begin(struct printer *printer, const char *key, char start,
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
	printer_begin(printer, key, '{', '}');
}

void printer_array(struct printer *printer, const char *key)
{
	printer_begin(printer, key, '[', ']');
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

void printer_value(struct printer *printer, const char *key, json_t *value)
{
	char *text = json_dumps(value, JSON_INDENT(2) | JSON_ENSURE_ASCII |
					       JSON_PRESERVE_ORDER |
					       JSON_ENCODE_ANY);
	const char *line = text;
	size_t length;

	put_place(printer, key);
	/* a string in it has no newline of its own */
	while (line[length = strcspn(line, "\n")]) {
		fwrite(line, 1, length, stdout);
		put_line(printer->depth);
		line += length + 1;
	}
	fputs(line, stdout);
	free(text);
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
