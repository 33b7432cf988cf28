// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * JSON by jansson.  Only ASCII is written, so that a name cannot reach a
 * terminal through this output either.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "message.h"
#include "words.h"

static void *take_memory(size_t size)
{
	return memory_resize(NULL, size, 1);
}

void document_begin(void)
{
	json_set_alloc_funcs(take_memory, free);
}

/* There is memory or no more program; only NULL for a value fails. */
void document_set(json_t *object, const char *key, json_t *value)
{
	int failed = json_object_set_new(object, key, value);

	assert(!failed);
	(void)failed;
}

void document_append(json_t *array, json_t *value)
{
	int failed = json_array_append_new(array, value);

	assert(!failed);
	(void)failed;
}

json_t *document_number(uint64_t number)
{
	char figures[32];

	if (number <= INT64_MAX)
		return json_integer((json_int_t)number);
	snprintf(figures, sizeof(figures), "%" PRIu64, number);
	return json_string(figures);
}

json_t *document_mask(uint64_t mask)
{
	char figures[32];

	snprintf(figures, sizeof(figures), "0x%" PRIx64, mask);
	return json_string(figures);
}

/* Bytes of the longest start of the text that is UTF-8. */
static size_t valid_bytes(const char *text, size_t length)
{
	/* jansson has the decoder; a character is four bytes at most */
	size_t valid = 0;

	while (valid < length) {
		size_t bytes;
		json_t *character = NULL;

		for (bytes = 1; bytes <= 4 && valid + bytes <= length;
		     bytes++) {
			character = json_stringn(text + valid, bytes);
			if (character)
				break;
		}
		if (!character)
			break;
		json_decref(character);
		valid += bytes;
	}
	return valid;
}

json_t *document_text(const char *text, size_t room)
{
	static const char replacement[3] = { '\xef', '\xbf', '\xbd' };
	size_t left = strnlen(text, room);
	/* one byte becomes three at most */
	char *fixed = memory_resize(NULL, left + 1, 3);
	char *end = fixed;
	json_t *string;

	while (left) {
		size_t valid = valid_bytes(text, left);

		memcpy(end, text, valid);
		end += valid;
		text += valid;
		left -= valid;
		if (left) {
			memcpy(end, replacement, sizeof(replacement));
			end += sizeof(replacement);
			text++;
			left--;
		}
	}
	string = json_stringn(fixed, (size_t)(end - fixed));
	free(fixed);
	return string;
}

json_t *document_flags(uint32_t flags, const char *const *words)
{
	json_t *array = json_array();
	char *list = flag_list(flags, words);
	char *rest = list;
	const char *word;

	while ((word = strsep(&rest, ",")))
		if (*word)
			document_append(array, json_string(word));
	free(list);
	return array;
}

static json_t *node_document(const struct buffer_entry *entry)
{
	const struct dray_buffer_info *info = &entry->info;

	if (!is_buffer(info))
		return document_text(info->node_name, sizeof(info->node_name));
	if (info->heap == DRAY_HEAP_ANY)
		return json_null();
	return document_text(entry->node->name, sizeof(entry->node->name));
}

/* Whatever has an id has an owner. */
static void set_owner(json_t *object, const struct dray_buffer_info *info)
{
	char *user = user_word(info->uid);

	document_set(object, "pid",
		     info->pid ? json_integer(info->pid) : json_null());
	document_set(object, "comm",
		     document_text(info->comm, sizeof(info->comm)));
	document_set(object, "owner_gone",
		     json_boolean(info->flags & DRAY_BUFFER_ORPHAN));
	document_set(object, "address_given",
		     json_boolean(info->flags & DRAY_BUFFER_DISCLOSED));
	document_set(object, "held",
		     json_boolean(info->flags & DRAY_BUFFER_HELD));
	document_set(object, "uid", json_integer(info->uid));
	document_set(object, "user", document_text(user, strlen(user)));
	free(user);
}

json_t *document_buffer(const struct buffer_entry *entry)
{
	const struct dray_buffer_info *info = &entry->info;
	bool buffer = is_buffer(info);
	json_t *object = json_object();
	char word[WORD_ROOM];

	document_set(object, "id", document_number(info->id));
	document_set(object, "kind", json_string(kind_word(info->kind, word)));
	document_set(object, "name",
		     document_text(info->name, sizeof(info->name)));
	document_set(object, "size", document_number(info->size));
	document_set(object, buffer ? "heap" : "exporter",
		     document_text(info->heap_name, sizeof(info->heap_name)));
	document_set(object, "node", node_document(entry));
	if (buffer)
		document_set(object, "mode",
			     json_string(mode_word(info->mode, word)));
	else
		document_set(object, "device_reads_only",
			     json_boolean(info->flags & DRAY_BUFFER_READ_ONLY));
	set_owner(object, info);
	if (buffer) {
		document_set(object, "mapped", json_integer(info->mapped));
		document_set(object, "attachments",
			     json_integer(info->attachments));
	}
	document_set(object, "transfers", json_integer(info->transfers));
	document_set(object, "age_ns", document_number(info->age_ns));
	if (buffer) {
		document_set(object, "sync_bytes",
			     document_number(info->sync_bytes));
		document_set(object, "sync_ns", document_number(info->sync_ns));
	}
	return object;
}

void document_print(json_t *document)
{
	json_dumpf(document, stdout,
		   JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(document);
}
