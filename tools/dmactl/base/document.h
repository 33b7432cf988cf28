/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * JSON output with exact values.  Each function but the last three adds a value
 * to @target: under @key to an object, or to an array if @key is NULL.
 */
#ifndef DMACTL_DOCUMENT_H
#define DMACTL_DOCUMENT_H

#include <jansson.h>
#include <stdio.h>

#include "gather.h"

/* Lets jansson exit the program if memory runs out; called first. */
void document_begin(void);

/* Adds a value of jansson; its reference moves to @target. */
void document_set(json_t *target, const char *key, json_t *value);

/* Adds a number; above 2^63 - 1 a decimal string, as readers would round it. */
void document_number(json_t *target, const char *key, uint64_t number);

/* Adds up to @room bytes of text; bytes that are not UTF-8 become U+FFFD. */
void document_text(json_t *target, const char *key, const char *text,
		   size_t room);

/* Adds a word of dmactl's own, in ASCII. */
void document_word(json_t *target, const char *key, const char *word);

/* Adds an array of the words for the set bits; words.h declares the lists. */
void document_flags(json_t *target, const char *key, uint32_t flags,
		    const char *const *words);

/* Describes a buffer or an attachment. */
json_t *document_buffer(const struct buffer_entry *entry);

/* Prints to standard output and drops @document. */
void document_print(json_t *document);

/* Writes it as a single line to @stream, and drops it. */
void document_line(json_t *document, FILE *stream);

#endif /* DMACTL_DOCUMENT_H */
