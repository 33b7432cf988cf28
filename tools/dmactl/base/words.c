// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Words for the numbers and flags of the kernel interface.  Unknown numbers are
 * shown as they are: the module may be newer.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/dray.h>

#include "cli.h"
#include "words.h"

#define USERS 64 /* names that user_word() keeps */

const char *const heap_flag_words[] = { "shared", "pinnable", "default", NULL };
const char *const node_flag_words[] = { "coherent", "iommu",   "virtual",
					"submit",   "address", "registers",
					NULL };
const char *const channel_flag_words[] = { "copy", "fill",   "open",
					   "dead", "send",   "receive",
					   "show", "repeat", NULL };

static const char *const mode_words[] = {
	[DRAY_MODE_CACHED] = "cached",
	[DRAY_MODE_WRITE_COMBINED] = "write-combined",
	[DRAY_MODE_COHERENT] = "coherent",
	[DRAY_MODE_DEVICE] = "device",
};

static const char *const kind_words[] = {
	[DRAY_KIND_BUFFER] = "buffer",
	[DRAY_KIND_USER] = "pinned",
	[DRAY_KIND_DMABUF] = "dma-buf",
};

static const char *const heap_type_words[] = {
	[DRAY_HEAP_RESERVED] = "reserved",
	[DRAY_HEAP_CMA] = "cma",
	[DRAY_HEAP_PAGES] = "pages",
	[DRAY_HEAP_CARVEOUT] = "carveout",
};

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static const char *word_of(const char *const *words, size_t count,
			   uint32_t number, char out[WORD_ROOM])
{
	if (number < count && words[number])
		return words[number];
	snprintf(out, WORD_ROOM, "%" PRIu32, number);
	return out;
}

const char *mode_word(uint32_t mode, char out[WORD_ROOM])
{
	return word_of(mode_words, COUNT_OF(mode_words), mode, out);
}

bool parse_mode(const char *text, uint32_t *mode)
{
	for (*mode = 0; *mode < COUNT_OF(mode_words); ++*mode)
		if (!strcmp(mode_words[*mode], text))
			return true;
	complain("no mode '%s': there are cached, write-combined, coherent and "
		 "device",
		 text);
	return false;
}

const char *kind_word(uint32_t kind, char out[WORD_ROOM])
{
	return word_of(kind_words, COUNT_OF(kind_words), kind, out);
}

const char *heap_type_word(uint32_t type, char out[WORD_ROOM])
{
	return word_of(heap_type_words, COUNT_OF(heap_type_words), type, out);
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

const char *errno_word(int error)
{
#define WORD(name)          \
	{                   \
		name, #name \
	}
	static const struct {
		int error;
		const char *word;
	} words[] = {
		WORD(ENODEV),	 WORD(EACCES),	   WORD(EPERM),	 WORD(ENOENT),
		WORD(ENXIO),	 WORD(EBUSY),	   WORD(ENOMEM), WORD(EINVAL),
		WORD(EMFILE),	 WORD(ENFILE),	   WORD(EPROTO), WORD(ENOSYS),
		WORD(ETIMEDOUT), WORD(EOPNOTSUPP), WORD(EIO),	 WORD(ENOTTY),
	};
#undef WORD
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].error == error)
			return words[i].word;
	return "other";
}
