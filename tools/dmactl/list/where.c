// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds the places of a buffer.  A mapping belongs to the buffer if its inode is
 * that of a descriptor which the module has identified.  If all descriptors are
 * closed, its mappings are only counted, by the module.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/document.h"
#include "escape.h"
#include "machine/identify.h"
#include "machine/machine.h"
#include "where.h"

/* Calls @look for each dma-buf of the buffer: the writable and the read-only. */
static void each_dmabuf(const struct where *where,
			void (*look)(const struct dmabuf *found, void *context),
			void *context)
{
	size_t i;

	for (i = 0; i < where->all.count; i++)
		if (where->all.entries[i].id == where->entry->info.id)
			look(&where->all.entries[i], context);
}

static void count_mappings(const struct dmabuf *found, void *context)
{
	struct where *where = context;
	size_t i;

	for (i = 0; i < found->holder_count; i++)
		where->mappings += (uint32_t)found->holders[i].mappings;
}

static void find_segments(const struct holder_list *holders,
			  struct where *where)
{
	int node = identify_open(where->entry->node->name);
	int copy = node < 0 ? -ENODEV : holders_copy(holders);
	int error = copy;

	if (copy >= 0) {
		error = identify_segments(node, copy, &where->segments,
					  &where->segment_count);
		close(copy);
	}
	if (node >= 0)
		close(node);
	if (error == -ENOENT)
		where->hidden = text_format("no process has a descriptor that "
					    "may be written");
	else if (error < 0)
		where->hidden = text_format("%s", strerror(-error));
}

void where_find(const struct buffer_entry *entry,
		const struct holder_list *holders, bool segments,
		struct where *where)
{
	const struct dray_buffer_info *info = &entry->info;

	*where = (struct where){ .entry = entry };
	if (info->pid && !(info->flags & DRAY_BUFFER_ORPHAN))
		where->command = process_command(machine_root(), info->pid);
	if (is_buffer(info)) {
		dmabufs_gather(machine_root(), &where->all);
		dmabufs_identify(&where->all);
		each_dmabuf(where, count_mappings, where);
	}
	if (segments)
		find_segments(holders, where);
}

void where_free(struct where *where)
{
	dmabufs_free(&where->all);
	free(where->command);
	free(where->segments);
	free(where->hidden);
}

static void print_found(const struct dmabuf *found, void *context)
{
	size_t i;

	(void)context;
	for (i = 0; i < found->holder_count; i++) {
		const struct dmabuf_holder *holder = &found->holders[i];
		char *comm = escape(holder->process.comm,
				    sizeof(holder->process.comm), ESCAPE_NAME);

		if (holder->mappings)
			printf("%-12s %s, pid %d, %zu %s\n", "mapped by:", comm,
			       holder->process.pid, holder->mappings,
			       holder->mappings == 1 ? "mapping" : "mappings");
		free(comm);
	}
	for (i = 0; i < found->device_count; i++) {
		char *device = escape(found->devices[i],
				      strlen(found->devices[i]), ESCAPE_NAME);

		printf("%-12s %s\n", "device:", device);
		free(device);
	}
}

/* Says why devices are not known. */
static void where_print_unread(const struct where *where)
{
	size_t i;

	for (i = 0; i < where->all.unread_count; i++) {
		const struct unread *unread = &where->all.unread[i];

		if (!where->all.devices_known &&
		    strstr(unread->path, "bufinfo"))
			printf("%-12s not visible: %s: %s\n",
			       "device:", unread->path,
			       strerror(unread->error));
	}
}

void where_print(const struct where *where)
{
	const struct dray_buffer_info *info = &where->entry->info;
	uint32_t i;

	each_dmabuf(where, print_found, NULL);
	if (is_buffer(info) && info->mapped > where->mappings)
		printf("%-12s processes that were not found, %" PRIu32 " %s\n",
		       "mapped by:", info->mapped - where->mappings,
		       info->mapped - where->mappings == 1 ? "mapping"
							   : "mappings");
	if (is_buffer(info) && info->attachments)
		where_print_unread(where);
	for (i = 0; i < where->segment_count; i++)
		printf("%-12s 0x%" PRIx64 ", %" PRIu64 " bytes\n",
		       "segment:", (uint64_t)where->segments[i].address,
		       (uint64_t)where->segments[i].length);
	if (where->hidden)
		printf("%-12s not visible: %s\n", "segment:", where->hidden);
}

struct arrays {
	json_t *mappings;
	json_t *devices;
};

static void document_found(const struct dmabuf *found, void *context)
{
	const struct arrays *arrays = context;
	size_t i;

	for (i = 0; i < found->holder_count; i++) {
		const struct dmabuf_holder *holder = &found->holders[i];
		json_t *object;

		if (!holder->mappings)
			continue;
		object = json_object();
		document_number(object, "pid", (uint64_t)holder->process.pid);
		document_text(object, "comm", holder->process.comm,
			      sizeof(holder->process.comm));
		document_number(object, "mappings", holder->mappings);
		document_set(arrays->mappings, NULL, object);
	}
	for (i = 0; i < found->device_count; i++)
		document_text(arrays->devices, NULL, found->devices[i],
			      strlen(found->devices[i]));
}

static json_t *segments_document(const struct where *where)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < where->segment_count; i++) {
		json_t *object = json_object();
		char address[32];

		/* in hexadecimal, because all 64 bits may be set */
		snprintf(address, sizeof(address), "0x%" PRIx64,
			 (uint64_t)where->segments[i].address);
		document_word(object, "address", address);
		document_number(object, "length", where->segments[i].length);
		document_set(array, NULL, object);
	}
	return array;
}

void where_document(const struct where *where, json_t *object)
{
	struct arrays arrays = { json_array(), json_array() };

	each_dmabuf(where, document_found, &arrays);
	if (where->command)
		document_text(object, "command", where->command,
			      strlen(where->command));
	else
		document_set(object, "command", json_null());
	document_set(object, "mappings", arrays.mappings);
	if (where->all.devices_known) {
		document_set(object, "devices", arrays.devices);
	} else {
		json_decref(arrays.devices);
		document_set(object, "devices", json_null());
	}
	document_set(object, "segments",
		     where->segments ? segments_document(where) : json_null());
	if (where->hidden)
		document_text(object, "segments_hidden", where->hidden,
			      strlen(where->hidden));
	else
		document_set(object, "segments_hidden", json_null());
}
