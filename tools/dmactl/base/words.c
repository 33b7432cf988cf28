// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Words for the numbers and flags of the kernel interface.  Unknown numbers are
 * shown as they are: the module may be newer.
 */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/dray.h>

#include "cli.h"
#include "words.h"

#define USERS 64 /* names that user_word() keeps */

const char *const heap_flag_words[] = { "shared", "pinnable", "default", NULL };
const char *const node_flag_words[] = { "coherent", "iommu",   "virtual",
					"submit",   "address", NULL };
const char *const channel_flag_words[] = { "copy", "fill",   "open",
					   "dead", "send",   "receive",
					   "show", "repeat", NULL };

static const char *number_word(uint32_t number, char out[WORD_ROOM])
{
	snprintf(out, WORD_ROOM, "%" PRIu32, number);
	return out;
}

const char *mode_word(uint32_t mode, char out[WORD_ROOM])
{
	switch (mode) {
	case DRAY_MODE_CACHED:
		return "cached";
	case DRAY_MODE_WRITE_COMBINED:
		return "write-combined";
	case DRAY_MODE_COHERENT:
		return "coherent";
	case DRAY_MODE_DEVICE:
		return "device";
	}
	return number_word(mode, out);
}

const char *kind_word(uint32_t kind, char out[WORD_ROOM])
{
	switch (kind) {
	case DRAY_KIND_BUFFER:
		return "buffer";
	case DRAY_KIND_USER:
		return "pinned";
	case DRAY_KIND_DMABUF:
		return "dma-buf";
	}
	return number_word(kind, out);
}

const char *heap_type_word(uint32_t type, char out[WORD_ROOM])
{
	switch (type) {
	case DRAY_HEAP_RESERVED:
		return "reserved";
	case DRAY_HEAP_CMA:
		return "cma";
	case DRAY_HEAP_PAGES:
		return "pages";
	case DRAY_HEAP_CARVEOUT:
		return "carveout";
	}
	return number_word(type, out);
}

const char *channel_state_word(uint32_t flags)
{
	if (flags & DRAY_CHANNEL_DEAD)
		return "dead";
	return flags & DRAY_CHANNEL_OPEN ? "open" : "closed";
}

char *flag_list(uint32_t flags, const char *const *words)
{
	char *list = text_format("%s", "");
	size_t i;

	for (i = 0; words[i]; i++)
		if (flags & 1u << i)
			text_append(&list, "%s%s", *list ? "," : "", words[i]);
	flags &= ~((1u << i) - 1);
	if (flags)
		text_append(&list, "%s0x%" PRIx32, *list ? "," : "", flags);
	return list;
}

/* Thousands of buffers have few users: each is looked up once. */
char *user_word(uint32_t uid)
{
	static struct {
		uint32_t uid;
		char *word;
	} known[USERS];
	static size_t count;
	const struct passwd *user;
	char *word;
	size_t i;

	for (i = 0; i < count; i++)
		if (known[i].uid == uid)
			return text_format("%s", known[i].word);
	user = getpwuid(uid);
	word = user ? text_format("%s", user->pw_name)
		    : text_format("%" PRIu32, uid);
	if (count < USERS) {
		known[count].uid = uid;
		known[count++].word = text_format("%s", word);
	}
	return word;
}
