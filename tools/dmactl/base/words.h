/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Words for the numbers and flags of the kernel interface. */
#ifndef DMACTL_WORDS_H
#define DMACTL_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define WORD_ROOM 16 /* for a number without a word */

/*
 * Each returns a word such as "cached", "pinned" or "reserved"; a number without
 * a word is written to @out.
 */
const char *mode_word(uint32_t mode, char out[WORD_ROOM]);
const char *kind_word(uint32_t kind, char out[WORD_ROOM]);
const char *heap_type_word(uint32_t type, char out[WORD_ROOM]);

/* Reads the word of a mode; complains if it is none. */
bool parse_mode(const char *text, uint32_t *mode);

/* Returns "closed", "open" or "dead" for the flags of a channel. */
const char *channel_state_word(uint32_t flags);

/* Words for the bits from the lowest on, ended by NULL. */
extern const char *const heap_flag_words[];
extern const char *const node_flag_words[];
extern const char *const channel_flag_words[];

/*
 * Returns the words of the set bits, joined by commas, and bits without a word
 * as a single number; "" if none is set.  For free().
 */
char *flag_list(uint32_t flags, const char *const *words);

/* Returns "ENODEV" for this errno; "other" if there is no word for it. */
const char *errno_word(int error);

/* Returns the user's name, or the number if there is none; for free(). */
char *user_word(uint32_t uid);

#endif /* DMACTL_WORDS_H */
