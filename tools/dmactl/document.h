/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* JSON output: values that keep every bit, and one way to print it all. */
#ifndef DMACTL_DOCUMENT_H
#define DMACTL_DOCUMENT_H

#include <stdint.h>
#include <jansson.h>

#include "gather.h"

/* Once, before anything else: out of memory ends the program from then on. */
void document_begin(void);

/* Sets a member; takes the value, which is one of the functions below made. */
void document_set(json_t *object, const char *key, json_t *value);
void document_append(json_t *array, json_t *value);

/*
 * A number; a string of its decimal figures above 2^63 - 1, which JSON readers
 * would round.
 */
json_t *document_number(uint64_t number);

/* "0xffffffff": masks, which may have all 64 bits */
json_t *document_mask(uint64_t mask);

/* Up to @room bytes of text; what is no UTF-8 becomes U+FFFD, byte by byte. */
json_t *document_text(const char *text, size_t room);

/* An array of the words of the bits that are set; those of words.h. */
json_t *document_flags(uint32_t flags, const char *const *words);

/* All of one buffer. */
json_t *document_buffer(const struct buffer_entry *entry);

/* Prints to standard output and takes @document. */
void document_print(json_t *document);

#endif /* DMACTL_DOCUMENT_H */
