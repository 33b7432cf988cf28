// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl arrays: the contents of the buffers of pools.  Only the library in the
 * process knows it, so the process is asked.  A number is a process if that
 * publishes, and else a buffer: then its holders are asked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "base/document.h"
#include "escape.h"
#include "base/gather.h"
#include "machine/holders.h"
#include "base/quantity.h"

static const struct command_option buffer_option = {
	.name = "buffer",
	.text = "the number is a buffer's, even if it is also a process's",
};

static const struct command_option limit_option = {
	.name = "limit",
	.value = "N",
	.text = "at most N rows",
};

static void command_print_json(const struct inside *inside,
			       const struct row_view *view)
{
	json_t *root = json_object();
	json_t *processes = json_array();
	size_t i;

	for (i = 0; i < inside->count; i++)
		document_set(processes, NULL,
			     arrays_document(&inside->processes[i], view,
					     inside_wants, inside));
	document_set(root, "processes", processes);
	document_print(root);
}

/* Keeps a snapshot. */
static void arrays_command_keep(struct inside *inside,
				const struct published *process)
{
	inside->processes = memory_resize(inside->processes, inside->count + 1,
					  sizeof(*inside->processes));
	inside->processes[inside->count++] = *process;
	if (!process->truncated)
		return;
	complain("the blocks of process %d exceed a snapshot of %llu MiB: "
		 "some are missing",
		 process->pid, (unsigned long long)(DRAY_PUBLISH_MOST >> 20));
	inside->status = EXIT_FAILED;
}

static void arrays_command_ask(struct inside *inside, int pid)
{
	struct published process;
	char *reason;

	if (published_read(pid, &process, &reason) == PUBLISHED_FINE) {
		arrays_command_keep(inside, &process);
		return;
	}
	complain("%s", reason);
	free(reason);
	inside->status = EXIT_FAILED;
}

static bool command_has_buffer(const struct inside *inside)
{
	size_t i;

	for (i = 0; i < inside->count; i++)
		if (inside_has(inside, &inside->processes[i]))
			return true;
	return false;
}

/* Asks all holders of a buffer that is there. */
static void ask_holders(struct inside *inside, const struct buffer_entry *entry)
{
	struct holder_list holders;
	size_t i;

	holders_find(entry->node->name, inside->buffer, &holders);
	for (i = 0; i < holders.count; i++)
		arrays_command_ask(inside, holders.entries[i].pid);
	if (!holders.count)
		complain(
			"no process that you may inspect holds buffer %" PRIu64,
			inside->buffer);
	else if (inside->count && !command_has_buffer(inside))
		complain("buffer %" PRIu64
			 " lies in no pool of the processes that publish",
			 inside->buffer);
	/* One answer is enough: an importer need not publish. */
	if (command_has_buffer(inside))
		inside->status = EXIT_FINE;
	else
		inside->status = EXIT_FAILED;
	holders_free(&holders);
}

static bool ask_about_buffer(const struct request *request,
			     struct inside *inside, const char *otherwise)
{
	struct buffer_list list;
	size_t i;

	if (!buffers_gather(request, &list))
		return false;
	for (i = 0; i < list.count; i++)
		if (list.entries[i].info.id == inside->buffer)
			break;
	if (i < list.count)
		ask_holders(inside, &list.entries[i]);
	else if (otherwise)
		complain("there is no buffer %" PRIu64 " that you may see, and "
			 "%s",
			 inside->buffer, otherwise);
	else
		complain("there is no buffer %" PRIu64 " that you may see",
			 inside->buffer);
	buffers_free(&list);
	return command_has_buffer(inside);
}

/* True if something can be shown. */
static bool arrays_command_find(const struct request *request, uint64_t number,
				struct inside *inside)
{
	struct published process;
	char *reason = NULL;
	size_t nodes = 0;
	bool found;

	if (!option_value(request, &buffer_option)) {
		switch (published_read(number, &process, &reason)) {
		case PUBLISHED_FINE:
			arrays_command_keep(inside, &process);
			inside->node = request->node;
			return true;
		case PUBLISHED_FAILED:
			complain("%s", reason);
			free(reason);
			return false;
		default:
			break;
		}
		if (dray_node_names(NULL, 0, &nodes) || !nodes) {
			complain("%s", reason);
			free(reason);
			return false;
		}
	}
	inside->buffer = number;
	found = ask_about_buffer(request, inside, reason);
	free(reason);
	return found;
}

static bool parse_operand(const struct request *request, uint64_t *number)
{
	const char *word = operand_at(request, 0);
	const char *end = parse_number(word, 10, number);

	if (end && !*end && *number)
		return true;
	complain("'%s' is neither the id of a buffer, which 'dmactl list' "
		 "shows, nor of a process: both are numbers from 1 on",
		 word);
	return false;
}

/* Reads --limit; UINT64_MAX without it. */
static bool parse_limit(const struct request *request, uint64_t *limit)
{
	const char *text = option_value(request, &limit_option);
	const char *end;

	*limit = UINT64_MAX;
	if (!text)
		return true;
	end = parse_number(text, 10, limit);
	if (end && !*end)
		return true;
	complain("arrays: '%s' is not a number of rows", text);
	return false;
}

static enum exit_code arrays_run(const struct request *request)
{
	struct inside inside = { .status = EXIT_FINE };
	struct row_view view;
	uint64_t number, limit;
	size_t i;

	if (!parse_operand(request, &number) || !parse_limit(request, &limit) ||
	    !row_view_make(request, array_columns, &view))
		return EXIT_USAGE;
	if (!arrays_command_find(request, number, &inside))
		inside.status = EXIT_FAILED;
	else if (request->json)
		command_print_json(&inside, &view);
	else
		inside_print(request, &inside, &view, limit);
	for (i = 0; i < inside.count; i++)
		published_free(&inside.processes[i]);
	free(inside.processes);
	return inside.status;
}

static const char description[] =
	"A row for each block in the buffers of a process's pools, or in one\n"
	"buffer; for each buffer its sums and a picture: '#' used, '+' partly\n"
	"used, '-' cached or parked, '.' free.  The process must publish its\n"
	"pools: with DRAY_PUBLISH=1 in its environment, or by a call.\n"
	"\n"
	"  BUFFER  its id, as in 'dmactl list'; without the module a number\n"
	"          of the process's own\n"
	"  OFFSET  bytes, from the start of the buffer\n"
	"  SIZE    bytes of the block\n"
	"  ASKED   bytes that were asked for, if the process knows\n"
	"  STATE   used; parked: freed, but an engine still uses it; with\n"
	"          --all also cached by a thread, and free.  Also the engine\n"
	"          of another library that it is lent to\n"
	"  KIND    'array' if the elements of an array lie in it, of dray or of\n"
	"          NumPy; 'block' otherwise\n"
	"  SITE    the caller, if it is tracked or DRAY_HANDLER=check is set\n"
	"\n"
	"--columns and --sort also know pid, pool, lent, and busy: transfers\n"
	"that use the block.  JSON lists all blocks, in the order of their offsets.\n";

static const struct command_option *const options[] = {
	&buffer_option, &arrays_all_option, &sort_option,
	&limit_option,	&columns_option,    &node_option,
	&json_option,	&no_header_option,  &bytes_option,
	NULL,
};

const struct command arrays_command = {
	.name = "arrays",
	.operands = "ID|PID",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "id",
	.options = options,
	.columns = array_columns,
	.summary = "shows blocks and arrays in the buffers of pools",
	.description = description,
	.run = arrays_run,
};
