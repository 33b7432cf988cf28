/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A device tree in memory: its nodes in the order of the blob, with their
 * properties.  Any blob that fdt_check_full() passes can be read; names and values
 * stay in the blob.  Property functions treat a missing property as empty.
 */
#ifndef DMACTL_DT_TREE_H
#define DMACTL_DT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_property {
	const char *name;
	const unsigned char *data;
	size_t size;
};

struct tree_node {
	const struct tree *tree;
	const char *name; /* with its unit address; "" for the root */
	const struct tree_node *parent; /* NULL for the root */
	size_t end; /* index of the first node that is not below it */
	const struct tree_property *properties;
	size_t property_count;
	uint32_t phandle; /* 0: none */
};

struct tree {
	const void *blob;
	struct tree_node *nodes; /* the root first */
	size_t count;
	struct tree_property *properties;
	size_t property_count;
	const struct tree_node *
		*handles; /* nodes with a phandle, by its number */
	size_t handle_count;
};

/* Reads @blob, which must stay; for tree_drop().  NULL if it lacks a root. */
struct tree *tree_read(const void *blob);
void tree_drop(struct tree *tree);

/* Return the first child, and the next child of the same parent, or NULL. */
const struct tree_node *tree_first(const struct tree_node *node);
const struct tree_node *tree_next(const struct tree_node *node);

/* Finds a node by its path from the root, or NULL. */
const struct tree_node *tree_at(const struct tree *tree, const char *path);

/* Finds a node by its phandle, or NULL. */
const struct tree_node *tree_pointed(const struct tree *tree, uint32_t phandle);

/* Returns the path, for free(). */
char *tree_path(const struct tree_node *node);

/* Finds a property, or NULL. */
const struct tree_property *tree_property(const struct tree_node *node,
					  const char *name);
bool tree_has(const struct tree_node *node, const char *name);

/* Counts the 32-bit cells of a property. */
size_t tree_cells(const struct tree_node *node, const char *name);

/* Returns cell @index of a property, or @otherwise if there are fewer cells. */
uint32_t tree_cell(const struct tree_node *node, const char *name, size_t index,
		   uint32_t otherwise);

/* Counts the strings of a property. */
size_t tree_strings(const struct tree_node *node, const char *name);

/* Returns string @index of a property, or NULL. */
const char *tree_string(const struct tree_node *node, const char *name,
			size_t index);

/* Whether a property lists the string @text. */
bool tree_names(const struct tree_node *node, const char *property,
		const char *text);

/* Whether neither the node nor a node above it is switched off. */
bool tree_is_enabled(const struct tree_node *node);

#endif /* DMACTL_DT_TREE_H */
