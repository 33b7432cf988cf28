// SPDX-License-Identifier: Apache-2.0 OR MIT
/* JSON by jansson.  Output is ASCII: no name can control a terminal. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "words.h"

static void *document_take_memory(size_t size)
{
	return memory_resize(NULL, size, 1);
}

void document_begin(void)
{
	json_set_alloc_funcs(document_take_memory, free);
}

/* Fails only if the value is NULL: memory cannot run out. */
void document_set(json_t *target, const char *key, json_t *value)
{
	int failed = key ? json_object_set_new(target, key, value)
			 : json_array_append_new(target, value);

	assert(!failed);
	(void)failed;
}

void document_word(json_t *target, const char *key, const char *word)
{
	document_set(target, key, json_string(word));
}

void document_number(json_t *target, const char *key, uint64_t number)
{
	char figures[32];

	if (number <= INT64_MAX) {
		document_set(target, key, json_integer((json_int_t)number));
		return;
	}
	snprintf(figures, sizeof(figures), "%" PRIu64, number);
	document_word(target, key, figures);
}

/* Returns the bytes of the longest start of the text that is UTF-8. */
static size_t valid_bytes(const char *text, size_t length)
{
	/* jansson decodes; a character has at most four bytes */
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

void document_text(json_t *target, const char *key, const char *text,
		   size_t room)
{
	static const char replacement[3] = { '\xef', '\xbf', '\xbd' };
	size_t left = strnlen(text, room);
	json_t *whole = json_stringn(text, left);
	char *fixed;
	char *end;

	if (whole) {
		document_set(target, key, whole);
		return;
	}
	/* one byte becomes at most three */
	fixed = memory_resize(NULL, left + 1, 3);
	end = fixed;
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
	document_set(target, key, json_stringn(fixed, (size_t)(end - fixed)));
	free(fixed);
}

void document_flags(json_t *target, const char *key, uint32_t flags,
		    const char *const *words)
{
	json_t *array = json_array();
	char *list = flag_list(flags, words);
	char *rest = list;
	const char *word;

	while ((word = strsep(&rest, ",")))
		if (*word)
			document_word(array, NULL, word);
	free(list);
	document_set(target, key, array);
}

static void set_node(json_t *object, const struct buffer_entry *entry)
{
	const struct dray_buffer_info *info = &entry->info;

	if (!is_buffer(info))
		document_text(object, "node", info->node_name,
			      sizeof(info->node_name));
	else if (info->heap == DRAY_HEAP_ANY)
		document_set(object, "node", json_null());
	else
		document_text(object, "node", entry->node->name,
			      sizeof(entry->node->name));
}

static void document_set_owner(json_t *object,
			       const struct dray_buffer_info *info)
{
	char *user = user_word(info->uid);

	document_set(object, "pid",
		     info->pid ? json_integer(info->pid) : json_null());
	document_text(object, "comm", info->comm, sizeof(info->comm));
	document_set(object, "owner_gone",
		     json_boolean(info->flags & DRAY_BUFFER_ORPHAN));
	document_set(object, "address_given",
		     json_boolean(info->flags & DRAY_BUFFER_DISCLOSED));
	document_set(object, "held",
		     json_boolean(info->flags & DRAY_BUFFER_HELD));
	document_number(object, "uid", info->uid);
	document_text(object, "user", user, strlen(user));
	free(user);
}

json_t *document_buffer(const struct buffer_entry *entry)
{
	const struct dray_buffer_info *info = &entry->info;
	bool buffer = is_buffer(info);
	json_t *object = json_object();
	char word[WORD_ROOM];

	document_number(object, "id", info->id);
	document_word(object, "kind", kind_word(info->kind, word));
	document_text(object, "name", info->name, sizeof(info->name));
	document_number(object, "size", info->size);
	document_text(object, buffer ? "heap" : "exporter", info->heap_name,
		      sizeof(info->heap_name));
	set_node(object, entry);
	if (buffer)
		document_word(object, "mode", mode_word(info->mode, word));
	else
		document_set(object, "device_reads_only",
			     json_boolean(info->flags & DRAY_BUFFER_READ_ONLY));
	document_set_owner(object, info);
	if (buffer) {
		document_number(object, "mapped", info->mapped);
		document_number(object, "attachments", info->attachments);
	}
	document_number(object, "transfers", info->transfers);
	document_number(object, "age_ns", info->age_ns);
	if (buffer) {
		document_number(object, "sync_bytes", info->sync_bytes);
		document_number(object, "sync_ns", info->sync_ns);
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

void document_line(json_t *document, FILE *stream)
{
	json_dumpf(document, stream,
		   JSON_COMPACT | JSON_ENSURE_ASCII | JSON_PRESERVE_ORDER);
	putc('\n', stream);
	json_decref(document);
}
