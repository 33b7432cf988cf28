// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads the blob once, so that later questions need no walk through it.  Offsets
 * and lengths come from libfdt, which has checked them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "flat.h"
#include "tree.h"

/* The place of a walk. */
struct tree_walk {
	struct tree *tree;
	struct tree_node *node; /* NULL: outside the root */
};

static void tree_add_node(struct tree_walk *walk, int offset)
{
	struct tree *tree = walk->tree;
	struct tree_node *node = &tree->nodes[tree->count++];
	const char *name = fdt_get_name(tree->blob, offset, NULL);

	*node = (struct tree_node){
		.tree = tree,
		.name = name ? name : "",
		.parent = walk->node,
		.properties = tree->properties + tree->property_count,
	};
	walk->node = node;
}

static void end_node(struct tree_walk *walk)
{
	if (!walk->node)
		return;
	walk->node->end = walk->tree->count;
	walk->node = (struct tree_node *)walk->node->parent;
}

static bool is_phandle(const struct tree_property *property)
{
	return property->size == 4 &&
	       (!strcmp(property->name, "phandle") ||
		!strcmp(property->name, "linux,phandle"));
}

/* Adds it to the node; one that comes behind a child is left out, as libfdt does. */
static void add_property(struct tree_walk *walk, int offset)
{
	struct tree *tree = walk->tree;
	struct tree_node *node = walk->node;
	struct tree_property *property;
	int size = 0;

	if (!node || node != &tree->nodes[tree->count - 1])
		return;
	property = &tree->properties[tree->property_count];
	property->data = fdt_getprop_by_offset(tree->blob, offset,
					       &property->name, &size);
	if (!property->data || !property->name || size < 0)
		return;
	property->size = (size_t)size;
	tree->property_count++;
	node->property_count++;
	if (is_phandle(property))
		node->phandle = tree_cell(node, property->name, 0, 0);
}

/* Calls nothing, but counts, if the nodes have no room yet. */
static void walk_tree(struct tree *tree, size_t *nodes, size_t *properties)
{
	struct tree_walk walk = { .tree = tree };
	int offset = 0, next = 0;
	uint32_t tag;

	do {
		tag = fdt_next_tag(tree->blob, offset, &next);
		if (next < 0)
			break;
		if (tag == FDT_BEGIN_NODE) {
			++*nodes;
			if (tree->nodes)
				tree_add_node(&walk, offset);
		} else if (tag == FDT_PROP) {
			++*properties;
			if (tree->nodes)
				add_property(&walk, offset);
		} else if (tag == FDT_END_NODE) {
			end_node(&walk);
		}
		offset = next;
	} while (tag != FDT_END);
	while (walk.node)
		end_node(&walk);
}

static int by_phandle(const void *a, const void *b)
{
	const struct tree_node *first = *(const struct tree_node *const *)a;
	const struct tree_node *second = *(const struct tree_node *const *)b;

	if (first->phandle != second->phandle)
		return first->phandle < second->phandle ? -1 : 1;
	return first < second ? -1 : first > second;
}

static void sort_handles(struct tree *tree)
{
	size_t i;

	for (i = 0; i < tree->count; i++)
		if (tree->nodes[i].phandle)
			tree->handles[tree->handle_count++] = &tree->nodes[i];
	if (tree->handle_count)
		qsort(tree->handles, tree->handle_count,
		      sizeof(struct tree_node *), by_phandle);
}

struct tree *tree_read(const void *blob)
{
	struct tree *tree = memory_new(1, sizeof(*tree));
	size_t nodes = 0, properties = 0, again = 0;

	tree->blob = blob;
	walk_tree(tree, &nodes, &properties);
	if (!nodes) {
		free(tree);
		return NULL;
	}
	tree->nodes = memory_new(nodes, sizeof(*tree->nodes));
	tree->properties =
		memory_new(properties + 1, sizeof(*tree->properties));
	tree->handles = memory_new(nodes, sizeof(struct tree_node *));
	walk_tree(tree, &again, &again);
	sort_handles(tree);
	return tree;
}

void tree_drop(struct tree *tree)
{
	if (!tree)
		return;
	free(tree->handles);
	free(tree->properties);
	free(tree->nodes);
	free(tree);
}

static size_t index_of(const struct tree_node *node)
{
	return (size_t)(node - node->tree->nodes);
}

const struct tree_node *tree_first(const struct tree_node *node)
{
	return node->end > index_of(node) + 1 ? node + 1 : NULL;
}

const struct tree_node *tree_next(const struct tree_node *node)
{
	if (!node->parent || node->end >= node->parent->end)
		return NULL;
	return &node->tree->nodes[node->end];
}

/* The first @length bytes of @name are the node's, or those before its '@'. */
static bool tree_is_called(const struct tree_node *node, const char *name,
			   size_t length)
{
	if (strncmp(node->name, name, length) != 0)
		return false;
	return !node->name[length] ||
	       (node->name[length] == '@' && !memchr(name, '@', length));
}

static const struct tree_node *child_called(const struct tree_node *node,
					    const char *name, size_t length)
{
	const struct tree_node *child = tree_first(node);

	while (child && !tree_is_called(child, name, length))
		child = tree_next(child);
	return child;
}

const struct tree_node *tree_at(const struct tree *tree, const char *path)
{
	const struct tree_node *node = tree->nodes;

	if (*path != '/')
		return NULL;
	while (node) {
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (!length)
			return node;
		node = child_called(node, path, length);
		path += length;
	}
	return NULL;
}

const struct tree_node *tree_pointed(const struct tree *tree, uint32_t phandle)
{
	size_t low = 0, high = tree->handle_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tree->handles[middle]->phandle < phandle)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == tree->handle_count || tree->handles[low]->phandle != phandle)
		return NULL;
	return tree->handles[low];
}

char *tree_path(const struct tree_node *node)
{
	const struct tree_node *above;
	size_t length = 0;
	char *path, *end;

	if (!node->parent)
		return text_format("/");
	for (above = node; above->parent; above = above->parent)
		length += 1 + strlen(above->name);
	path = memory_new(length + 1, 1);
	end = path + length;
	for (above = node; above->parent; above = above->parent) {
		size_t part = strlen(above->name);

		end -= part;
		memcpy(end, above->name, part);
		*--end = '/';
	}
	return path;
}

const struct tree_property *tree_property(const struct tree_node *node,
					  const char *name)
{
	size_t i;

	for (i = 0; i < node->property_count; i++)
		if (!strcmp(node->properties[i].name, name))
			return &node->properties[i];
	return NULL;
}

bool tree_has(const struct tree_node *node, const char *name)
{
	return tree_property(node, name);
}

size_t tree_cells(const struct tree_node *node, const char *name)
{
	const struct tree_property *property = tree_property(node, name);

	return property ? property->size / 4 : 0;
}

uint32_t tree_cell(const struct tree_node *node, const char *name, size_t index,
		   uint32_t otherwise)
{
	const struct tree_property *property = tree_property(node, name);

	if (!property || index >= property->size / 4)
		return otherwise;
	return fdt32_ld((const fdt32_t *)(property->data + 4 * index));
}

/* Returns the next string at @at, which ends before @end, or NULL. */
static const char *string_at(const unsigned char *at, const unsigned char *end)
{
	if (at >= end || !memchr(at, '\0', (size_t)(end - at)))
		return NULL;
	return (const char *)at;
}

const char *tree_string(const struct tree_node *node, const char *name,
			size_t index)
{
	const struct tree_property *property = tree_property(node, name);
	const unsigned char *end;
	const char *text;

	if (!property)
		return NULL;
	end = property->data + property->size;
	text = string_at(property->data, end);
	while (text && index--)
		text = string_at((const unsigned char *)text + strlen(text) + 1,
				 end);
	return text;
}

size_t tree_strings(const struct tree_node *node, const char *name)
{
	size_t count = 0;

	while (tree_string(node, name, count))
		count++;
	return count;
}

bool tree_names(const struct tree_node *node, const char *property,
		const char *text)
{
	const char *word;
	size_t i;

	for (i = 0; (word = tree_string(node, property, i)); i++)
		if (!strcmp(word, text))
			return true;
	return false;
}

bool tree_is_enabled(const struct tree_node *node)
{
	for (; node; node = node->parent) {
		const char *status = tree_string(node, "status", 0);

		if (status && strcmp(status, "okay") != 0 &&
		    strcmp(status, "ok") != 0)
			return false;
	}
	return true;
}
