// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl free: ends the keepers of a buffer, and no other process.  The memory
 * is free when its last user lets go.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/document.h"
#include "escape.h"
#include "base/gather.h"
#include "machine/holders.h"
#include "keeper.h"
#include "base/quantity.h"

static const struct command_option all_option = {
	.name = "all",
	.text = "all buffers that dmactl keeps",
};

/* Ends the keepers among the holders; counts those that have ended. */
static size_t end_keepers(const struct holder_list *holders)
{
	size_t ended = 0, i;

	for (i = 0; i < holders->count; i++)
		if (is_keeper(holders->entries[i].pid) &&
		    keeper_end(holders->entries[i].pid))
			ended++;
	return ended;
}

/* Returns "python3, pid 7, and dmactl, pid 8", for free(). */
static char *names_of(const struct holder_list *holders)
{
	char *names = NULL;
	size_t i;

	for (i = 0; i < holders->count; i++)
		text_append(&names, "%s%s, pid %d", i ? ", and " : "",
			    holders->entries[i].comm, holders->entries[i].pid);
	return names;
}

/* Complains that the buffer is not from dmactl, and names its owner. */
static void complain_foreign(const struct dray_buffer_info *info,
			     const struct holder_list *holders)
{
	char *names = names_of(holders);

	complain("buffer %" PRIu64
		 " is not kept by dmactl: it belongs to %.*s, "
		 "pid %" PRId32 "%s%s",
		 (uint64_t)info->id, (int)sizeof(info->comm), info->comm,
		 info->pid, names ? "; held by " : "", names ? names : "");
	free(names);
}

/* Complains if another process has the buffer. */
static bool is_gone(const struct buffer_entry *entry)
{
	struct holder_list holders;
	struct dray_buffer_info now;
	char *names;

	if (dray_node_buffer_info(entry->node->node, entry->info.id, &now,
				  sizeof(now)) == -ENOENT)
		return true;
	if (now.flags & DRAY_BUFFER_HELD) {
		complain("buffer %" PRIu64
			 " has no user any more, but a device "
			 "may still write it; if none does: dmactl reclaim "
			 "%" PRIu64,
			 (uint64_t)now.id, (uint64_t)now.id);
		return false;
	}
	holders_find(entry->node->name, entry->info.id, &holders);
	names = names_of(&holders);
	complain("buffer %" PRIu64 " lives on: %s%s", (uint64_t)now.id,
		 names ? "held by " : "a mapping or a transfer keeps it",
		 names ? names : "");
	free(names);
	holders_free(&holders);
	return false;
}

/* Frees one buffer; 1 if it is free, 0 if it is not dmactl's, -1 after a complaint. */
static int free_one(const struct buffer_entry *entry, bool quiet)
{
	struct holder_list holders;
	int freed = 0;

	holders_find(entry->node->name, entry->info.id, &holders);
	if (end_keepers(&holders))
		freed = is_gone(entry) ? 1 : -1;
	else if (!quiet)
		complain_foreign(&entry->info, &holders);
	holders_free(&holders);
	return freed;
}

static bool read_target(const struct request *request, uint64_t *id)
{
	const char *word = operand_at(request, 0);
	bool all = option_value(request, &all_option);

	*id = 0;
	if (word && all)
		complain("free: give an ID or --all, not both");
	else if (!word && !all)
		complain("free: ID or --all is missing; 'dmactl list' shows "
			 "the buffers");
	else
		return all || parse_id(word, id);
	return false;
}

static void free_print_freed(const struct request *request, uint64_t count,
			     uint64_t bytes)
{
	char size[QUANTITY_ROOM];
	json_t *root;

	if (!request->json) {
		printf("freed: %" PRIu64 " %s, %s%s\n", count,
		       count == 1 ? "buffer" : "buffers",
		       quantity_size(size, bytes, request->bytes),
		       request->bytes ? " bytes" : "");
		return;
	}
	root = json_object();
	document_number(root, "buffers", count);
	document_number(root, "size", bytes);
	document_print(root);
}

/* Frees the buffer, or all if @id is 0. */
static enum exit_code free_listed(const struct request *request,
				  const struct buffer_list *list, uint64_t id)
{
	enum exit_code status = list->status;
	uint64_t count = 0, bytes = 0;
	bool found = !id;
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct buffer_entry *entry = &list->entries[i];
		int freed;

		if ((id && entry->info.id != id) || !is_buffer(&entry->info))
			continue;
		found = true;
		freed = free_one(entry, !id);
		if (freed > 0) {
			count++;
			bytes += entry->info.size;
		} else if (freed < 0 || id) {
			status = EXIT_FAILED;
		}
	}
	if (!found) {
		complain("no buffer %" PRIu64
			 "; 'dmactl list' shows those that "
			 "you may see",
			 id);
		return EXIT_FAILED;
	}
	if (count || !id)
		free_print_freed(request, count, bytes);
	return status;
}

static enum exit_code free_run(const struct request *request)
{
	struct buffer_list list;
	enum exit_code status;
	uint64_t id;

	if (!read_target(request, &id))
		return EXIT_USAGE;
	if (!buffers_gather(request, &list))
		return EXIT_FAILED;
	status = free_listed(request, &list, id);
	buffers_free(&list);
	return status;
}

static const char description[] =
	"Ends the background processes of 'dmactl alloc' and 'dmactl share' that\n"
	"keep a buffer.  Leaves processes of other programs alone, and names them\n"
	"if they have the buffer.\n"
	"\n"
	"  ID  the number that 'dmactl alloc' has printed\n";

static const struct command_option *const options[] = {
	&node_option, &all_option, &json_option, &bytes_option, NULL,
};

const struct command free_command = {
	.name = "free",
	.operands = "ID|--all",
	.operands_most = 1,
	.offers = "id",
	.options = options,
	.summary = "frees a buffer of 'dmactl alloc'",
	.description = description,
	.run = free_run,
};
