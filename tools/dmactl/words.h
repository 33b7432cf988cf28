/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Words for what the kernel says in numbers and bits. */
#ifndef DMACTL_WORDS_H
#define DMACTL_WORDS_H

#include <stdint.h>

#define WORD_ROOM 16 /* for a number that has no word */

/* "cached", "write-combined", "coherent", or the number, written to @out */
const char *mode_word(uint32_t mode, char out[WORD_ROOM]);

/* "buffer", "pinned", "dma-buf", or the number, written to @out */
const char *kind_word(uint32_t kind, char out[WORD_ROOM]);

/* "reserved", "cma", "pages", or the number, written to @out */
const char *heap_type_word(uint32_t type, char out[WORD_ROOM]);

/* A word for each bit from the lowest on, ended by NULL. */
extern const char *const heap_flag_words[];
extern const char *const node_flag_words[];
extern const char *const channel_flag_words[];

/*
 * The words of the bits that are set, joined by commas, and those that have no
 * word as one number; "" where none is set.  To be given to free().
 */
char *flag_list(uint32_t flags, const char *const *words);

/* The user's name, or the number where it has none; to be given to free(). */
char *user_word(uint32_t uid);

#endif /* DMACTL_WORDS_H */
