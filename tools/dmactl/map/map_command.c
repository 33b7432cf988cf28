// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl map: the range of a heap as text or JSON.  All maps are read before the
 * first is shown.
 */
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "map.h"
#include "base/printer.h"
#include "base/words.h"

struct maps {
	struct map *entries;
	size_t count;
	enum exit_code status;
	/* All heaps that nodes have, also those not asked for. */
	char (*names)[DRAY_NAME_LEN];
	size_t name_count;
};

static const char *const state_words[] = {
	[DRAY_PART_FREE] = "free",
	[DRAY_PART_BUFFER] = "buffer",
	[DRAY_PART_HELD] = "held",
	[DRAY_PART_QUARANTINED] = "quarantined",
	[DRAY_PART_CONDEMNED] = "condemned",
	[DRAY_PART_SYSTEM] = "system",
};

static const char *const by_words[] = {
	[MAP_BY_OWNER] = "owner",
	[MAP_BY_USER] = "user",
	[MAP_BY_STATE] = "state",
	[MAP_BY_AGE] = "age",
};

static const struct command_option by_option = {
	.name = "by",
	.value = "WORD",
	.offers = "owner|user|state|age",
	.text = "meaning of colours: owner, user, state or age;\n"
		"otherwise owner",
};

static bool parse_by(const struct request *request, enum map_by *by)
{
	const char *word = option_value(request, &by_option);

	*by = MAP_BY_OWNER;
	if (!word)
		return true;
	for (*by = MAP_BY_OWNER; *by <= MAP_BY_AGE; (*by)++)
		if (!strcmp(word, by_words[*by]))
			return true;
	complain("--by: '%s' is none of owner, user, state and age", word);
	return false;
}

/*
 * Notes the name of a heap; false if another node had it: nodes share heaps, and a
 * heap has one name in the whole module.
 */
static bool note_name(struct maps *maps, const struct dray_heap_info *heap)
{
	size_t i;

	for (i = 0; i < maps->name_count; i++)
		if (!strncmp(maps->names[i], heap->name, sizeof(heap->name)))
			return false;
	maps->names = memory_resize(maps->names, maps->name_count + 1,
				    sizeof(*maps->names));
	memcpy(maps->names[maps->name_count++], heap->name, sizeof(heap->name));
	return true;
}

static void complain_no_heap(const struct maps *maps, const char *name)
{
	char *list = NULL;
	size_t i;

	if (!name)
		complain("there is no heap");
	for (i = 0; i < maps->name_count; i++)
		text_append(&list, "%s%.*s", i ? ", " : "",
			    (int)sizeof(maps->names[i]), maps->names[i]);
	if (name)
		complain("no heap '%s': there %s %s", name,
			 maps->name_count == 1 ? "is only" : "are",
			 list ? list : "none");
	free(list);
}

/* Reads the heaps of a node, or the one that the request names. */
static void command_read_node(const struct request *request, enum map_by by,
			      const struct open_node *node, struct maps *maps)
{
	const char *name = operand_at(request, 0);
	uint32_t i;

	for (i = 0; i < node->info.heap_count; i++) {
		struct dray_heap_info heap;

		if (!node_heap(node, i, &heap)) {
			maps->status = EXIT_FAILED;
			return;
		}
		if (!note_name(maps, &heap) ||
		    (name && strncmp(name, heap.name, sizeof(heap.name)) != 0))
			continue;
		maps->entries = memory_resize(maps->entries, maps->count + 1,
					      sizeof(*maps->entries));
		if (map_read(node, &heap, by, &maps->entries[maps->count]))
			maps->count++;
		else
			maps->status = EXIT_FAILED;
	}
}

/* Leaves out heaps without a range, unless there are no others. */
static void drop_without_range(struct maps *maps)
{
	size_t kept = 0, i;

	for (i = 0; i < maps->count; i++)
		kept += maps->entries[i].size != 0;
	if (!kept)
		return;
	for (i = kept = 0; i < maps->count; i++) {
		if (maps->entries[i].size)
			maps->entries[kept++] = maps->entries[i];
		else
			map_free(&maps->entries[i]);
	}
	maps->count = kept;
}

static void command_set_owner(json_t *part, const struct dray_buffer_info *info)
{
	char *user = user_word(info->uid);

	document_text(part, "name", info->name, sizeof(info->name));
	document_set(part, "pid",
		     info->pid ? json_integer(info->pid) : json_null());
	document_text(part, "comm", info->comm, sizeof(info->comm));
	document_set(part, "owner_gone",
		     json_boolean(info->flags & DRAY_BUFFER_ORPHAN));
	document_number(part, "uid", info->uid);
	document_text(part, "user", user, strlen(user));
	document_number(part, "age_ns", info->age_ns);
	free(user);
}

static json_t *part_document(const struct map *map, size_t i)
{
	const struct dray_part *part = &map->parts[i];
	json_t *object = json_object();
	size_t states = sizeof(state_words) / sizeof(state_words[0]);
	char number[16];

	snprintf(number, sizeof(number), "%u", part->state);
	document_number(object, "offset", part->offset);
	document_number(object, "length", part->length);
	document_word(object, "state",
		      part->state < states ? state_words[part->state] : number);
	if (part->id)
		document_number(object, "id", part->id);
	else
		document_set(object, "id", json_null());
	if (map->infos[i].id)
		command_set_owner(object, &map->infos[i]);
	return object;
}

static json_t *totals_document(const struct map *map)
{
	const struct dray_heap_info *heap = &map->heap;
	json_t *object = json_object();
	int fragmented = map_fragmentation(map);
	char type[WORD_ROOM];

	document_text(object, "node", map->node->name, sizeof(map->node->name));
	document_number(object, "index", heap->index);
	document_text(object, "heap", heap->name, sizeof(heap->name));
	document_word(object, "type", heap_type_word(heap->type, type));
	document_number(object, "buffers", heap->buffers);
	document_number(object, "total", heap->total);
	document_number(object, "used", heap->used);
	document_number(object, "free", heap->free);
	document_number(object, "size", map->size);
	document_number(object, "free_runs", map->free_runs);
	document_number(object, "longest_run", map->longest);
	document_set(object, "longest_run_offset",
		     map->free_runs
			     ? json_integer((json_int_t)map->longest_offset)
			     : json_null());
	document_set(object, "fragmented_percent",
		     map->free_runs && fragmented >= 0
			     ? json_integer(fragmented)
			     : json_null());
	document_set(object, "others_hidden", json_boolean(map_hides(map)));
	return object;
}

static void map_command_print_json(const struct maps *maps)
{
	struct printer printer = { 0 };
	size_t i, j;

	printer_object(&printer, NULL);
	printer_array(&printer, "heaps");
	for (i = 0; i < maps->count; i++) {
		const struct map *map = &maps->entries[i];

		printer_object(&printer, NULL);
		printer_members(&printer, totals_document(map));
		printer_array(&printer, "parts");
		for (j = 0; j < map->count; j++)
			printer_value(&printer, NULL, part_document(map, j));
		printer_end(&printer);
		printer_end(&printer);
	}
	printer_end(&printer);
	printer_end(&printer);
}

static void command_print_text(const struct maps *maps,
			       const struct request *request)
{
	size_t i;

	for (i = 0; i < maps->count; i++) {
		if (i)
			putchar('\n');
		map_print(&maps->entries[i], request);
	}
}

/* Shows the maps; a heap that is not there is a failure. */
static enum exit_code map_command_show(const struct maps *maps,
				       const struct request *request)
{
	if (!maps->count) {
		if (!maps->status)
			complain_no_heap(maps, operand_at(request, 0));
		return EXIT_FAILED;
	}
	if (request->json)
		map_command_print_json(maps);
	else
		command_print_text(maps, request);
	return EXIT_FINE;
}

static enum exit_code map_run(const struct request *request)
{
	struct maps maps = { 0 };
	struct open_nodes nodes;
	enum exit_code status;
	enum map_by by;
	size_t i;

	if (!parse_by(request, &by))
		return EXIT_USAGE;
	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	maps.status = nodes.status;
	for (i = 0; i < nodes.count; i++)
		command_read_node(request, by, &nodes.entries[i], &maps);
	if (!operand_at(request, 0))
		drop_without_range(&maps);
	status = map_command_show(&maps, request);
	for (i = 0; i < maps.count; i++)
		map_free(&maps.entries[i]);
	free(maps.entries);
	free(maps.names);
	nodes_close(&nodes);
	return status ? status : maps.status;
}

static const char description[] =
	"Shows the range of a heap: the owner of each part, and free runs.\n"
	"Without HEAP it shows all heaps that have a range.  A character is a\n"
	"piece of the range; of several buffers in it the largest is shown.\n"
	"With colours its height is the part that is in use.  Offsets count\n"
	"from the start of the heap.  Users without CAP_SYS_ADMIN see the\n"
	"buffers of others as 'others'.\n"
	"\n"
	"  A B C ...  buffers, by owner; small: several in that piece\n"
	"  +          more owners, beyond eight\n"
	"  o          buffers of others\n"
	"  #          held: a device may still write it, see reclaim\n"
	"  !          quarantine: freed, but its pages are still referenced\n"
	"  x          condemned: never given out again\n"
	"  ~          the system's, or free: the heap is shared\n"
	"  -          freed while dmactl was reading\n"
	"  .          free\n";

static const struct command_option *const options[] = {
	&node_option, &json_option, &bytes_option, &by_option, NULL,
};

const struct command map_command = {
	.name = "map",
	.operands = "[HEAP]",
	.operands_most = 1,
	.offers = "heap",
	.options = options,
	.summary = "draws the parts of a heap and their owners",
	.description = description,
	.run = map_run,
};
