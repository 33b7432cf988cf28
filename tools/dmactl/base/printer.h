/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints a large JSON document piece by piece, in the form of document_print(), so
 * that thousands of buffers need not be in memory at once.
 */
#ifndef DMACTL_PRINTER_H
#define DMACTL_PRINTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define PRINTER_DEPTH 8

struct printer {
	size_t depth;
	char ends[PRINTER_DEPTH]; /* of the open objects and arrays */
	bool filled[PRINTER_DEPTH]; /* there is a value in it */
};

/*
 * Opens an object or an array on standard output: the first of all, or a member
 * called @key, or an element of an array if @key is NULL.
 */
void printer_object(struct printer *printer, const char *key);
void printer_array(struct printer *printer, const char *key);

/* Ends the last one that is open. */
void printer_end(struct printer *printer);

/* Prints a value there, and drops it; @key as above. */
void printer_value(struct printer *printer, const char *key, json_t *value);

/* Prints the members of an object there, and drops it. */
void printer_members(struct printer *printer, json_t *object);

#endif /* DMACTL_PRINTER_H */
