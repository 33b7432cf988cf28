// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl dt show: the map of memory, the users of its parts, and the nodes of
 * dray with their heaps and channels.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob.h"
#include "check.h"
#include "base/document.h"
#include "escape.h"
#include "map.h"
#include "reference.h"
#include "base/table.h"

#define MAP_COLUMNS ">START >LAST >SIZE KIND HEAP ~NAME ~USERS"
#define NODE_COLUMNS "NODE ~HEAPS ~CHANNELS FLAGS"

/* Appends @text to a list with commas. */
static void show_append(char **list, const char *text)
{
	text_append(list, "%s%s", *list ? "," : "", text);
}

/* Puts a list of a stranger's names into a cell. */
static void cell_list(struct table *table, enum table_colour colour, char *list)
{
	table_name(table, colour, list ? list : "", list ? strlen(list) : 0);
	free(list);
}

static char *users_of(const struct node_map *map, const struct map_row *row)
{
	const struct tree_node *user;
	char *list = NULL;
	size_t i;

	for (i = 0; (user = map_user(map, row, i)); i++) {
		char *path = tree_path(user);

		show_append(&list, path);
		free(path);
	}
	return list;
}

static enum table_colour show_colour_of(const struct map_row *row)
{
	if (row->drays)
		return TABLE_GOOD;
	return row->kind == MAP_REGION || row->kind == MAP_RESERVE
		       ? TABLE_WARNING
		       : TABLE_PLAIN;
}

static void show_add_row(struct table *table, const struct request *request,
			 const struct node_map *map, const struct map_row *row)
{
	const char *name = row->node ? row->node->name : "";
	char bar[MAP_BAR_WIDTH + 1];

	if (row->placed) {
		table_cell(table, TABLE_PLAIN, "0x%" PRIx64, row->extent.start);
		table_cell(table, TABLE_PLAIN, "0x%" PRIx64, row->extent.last);
	} else {
		table_cell(table, TABLE_PLAIN, "-");
		table_cell(table, TABLE_PLAIN, "-");
	}
	table_size(table, request, row->size);
	table_cell(table, show_colour_of(row), "%s", map_word(row->kind));
	table_cell(table, TABLE_PLAIN, "%s", row->heap ? row->heap : "");
	table_name(table, show_colour_of(row), name, strlen(name));
	cell_list(table, TABLE_PLAIN, users_of(map, row));
	if (!request->terminal)
		return;
	if (row->kind != MAP_BANK) {
		table_cell(table, TABLE_PLAIN, "%s", "");
		return;
	}
	map_bar(map, row, bar);
	table_cell(table, TABLE_PLAIN, "[%s]", bar);
}

static char *heaps_of(const struct tree_node *node)
{
	struct reference entry = reference_heaps(node);
	char *list = NULL;

	while (reference_next(&entry)) {
		const char *name =
			tree_string(node, "memory-region-names", entry.index);

		if (!name)
			name = entry.target ? entry.target->name : "?";
		show_append(&list, name);
	}
	return list;
}

static char *channels_of(const struct tree_node *node)
{
	struct reference entry = reference_channels(node);
	char *list = NULL;

	while (reference_next(&entry)) {
		const char *name = tree_string(node, "dma-names", entry.index);
		char *both =
			text_format("%s:%s", name ? name : "?",
				    entry.target ? entry.target->name : "?");

		show_append(&list, both);
		free(both);
	}
	return list;
}

static void show_add_node(struct table *table, const struct tree_node *node)
{
	char *flags = NULL;

	if (tree_has(node, "dma-coherent"))
		show_append(&flags, "coherent");
	if (tree_cells(node, "iommus"))
		show_append(&flags, "iommu");
	if (!tree_is_enabled(node))
		show_append(&flags, "off");
	cell_list(table, TABLE_PLAIN, tree_path(node));
	cell_list(table, TABLE_PLAIN, heaps_of(node));
	cell_list(table, TABLE_PLAIN, channels_of(node));
	cell_list(table, TABLE_PLAIN, flags);
}

static void dt_show(const struct request *request, const struct node_map *map)
{
	struct table *table = table_create(
		request->terminal ? MAP_COLUMNS " FILL" : MAP_COLUMNS);
	struct table *nodes = table_create(NODE_COLUMNS);
	size_t i;

	for (i = 0; i < map->count; i++)
		show_add_row(table, request, map, &map->rows[i]);
	for (i = 0; i < map->tree->count; i++)
		if (check_is_node(&map->tree->nodes[i]))
			show_add_node(nodes, &map->tree->nodes[i]);
	table_print(table, request);
	if (table_rows(nodes)) {
		putchar('\n');
		table_print(nodes, request);
	}
	table_destroy(table);
	table_destroy(nodes);
}

static void show_set_text(json_t *object, const char *key, const char *text)
{
	if (text)
		document_text(object, key, text, strlen(text));
	else
		document_set(object, key, json_null());
}

static void set_path(json_t *object, const char *key,
		     const struct tree_node *node)
{
	char *path = node ? tree_path(node) : NULL;

	show_set_text(object, key, path);
	free(path);
}

/* Sets an address, which has digits of 16 as everywhere in a tree. */
static void set_address(json_t *object, const char *key, bool known,
			uint64_t address)
{
	char *text = known ? text_format("0x%" PRIx64, address) : NULL;

	show_set_text(object, key, text);
	free(text);
}

static json_t *row_document(const struct node_map *map,
			    const struct map_row *row)
{
	json_t *object = json_object(), *users = json_array();
	const struct tree_node *user;
	size_t i;

	document_word(object, "kind", map_word(row->kind));
	set_address(object, "start", row->placed, row->extent.start);
	set_address(object, "last", row->placed, row->extent.last);
	document_number(object, "size", row->size);
	set_path(object, "path", row->node);
	show_set_text(object, "heap", row->heap);
	for (i = 0; (user = map_user(map, row, i)); i++)
		set_path(users, NULL, user);
	document_set(object, "users", users);
	return object;
}

/* Describes a list of phandles: each with its name in property @names. */
static json_t *list_document(struct reference entry, const char *names,
			     const char *key)
{
	json_t *list = json_array();

	while (reference_next(&entry)) {
		json_t *object = json_object();

		show_set_text(object, "name",
			      tree_string(entry.node, names, entry.index));
		set_path(object, key, entry.target);
		document_set(list, NULL, object);
	}
	return list;
}

static json_t *show_node_document(const struct tree_node *node)
{
	json_t *object = json_object();

	set_path(object, "path", node);
	document_set(object, "enabled", json_boolean(tree_is_enabled(node)));
	document_set(object, "coherent",
		     json_boolean(tree_has(node, "dma-coherent")));
	document_set(object, "iommu", json_boolean(tree_cells(node, "iommus")));
	document_set(object, "heaps",
		     list_document(reference_heaps(node), "memory-region-names",
				   "path"));
	document_set(object, "channels",
		     list_document(reference_channels(node), "dma-names",
				   "engine"));
	return object;
}

static void show_json(const char *source, const struct node_map *map)
{
	json_t *root = json_object(), *rows = json_array();
	json_t *nodes = json_array();
	size_t i;

	show_set_text(root, "source", source);
	for (i = 0; i < map->count; i++)
		document_set(rows, NULL, row_document(map, &map->rows[i]));
	for (i = 0; i < map->tree->count; i++)
		if (check_is_node(&map->tree->nodes[i]))
			document_set(nodes, NULL,
				     show_node_document(&map->tree->nodes[i]));
	document_set(root, "map", rows);
	document_set(root, "nodes", nodes);
	document_print(root);
}

static enum exit_code dt_show_run(const struct request *request)
{
	struct blob blob;
	struct tree *tree;
	struct node_map map;

	if (!blob_load(operand_at(request, 0), &blob))
		return EXIT_FAILED;
	tree = tree_read(blob.data);
	if (tree) {
		memory_map_read(tree, &map);
		if (request->json)
			show_json(blob.source, &map);
		else
			dt_show(request, &map);
		map_drop(&map);
	} else {
		complain("%s has no root node", blob.source);
	}
	blob_drop(&blob);
	if (!tree)
		return EXIT_FAILED;
	tree_drop(tree);
	return EXIT_FINE;
}

static const struct command_option *const options[] = {
	&json_option,
	&no_header_option,
	&bytes_option,
	NULL,
};

const struct command dt_show_command = {
	.name = "dt show",
	.operands = "FILE|live",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "live|file",
	.options = options,
	.summary = "draws the memory map of a device tree",
	.description =
		"One row for each bank of memory, region, and free part of a bank, by\n"
		"address, in a blob (.dtb) or in the tree of this system, 'live'.  Then\n"
		"one row for each node of dray.\n"
		"\n"
		"  HEAP   the kind of heap that dray makes of a region\n"
		"  USERS  nodes that name it in memory-region\n"
		"  FILL   on a terminal: # regions of dray, c memory of CMA,\n"
		"         x other regions, . free\n",
	.run = dt_show_run,
};
