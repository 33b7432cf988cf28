// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Nodes of dray: Linux makes a device of each, and the properties are those of the
 * binding.  A misspelt one would be ignored without a word.
 */
#include <ctype.h>
#include <string.h>

#include "check.h"

#define NAME_LENGTH (sizeof(CHECK_COMPATIBLE) - 1)
#define MISTAKES_MOST 2 /* letters by which a misspelt name may differ */
#define WORD_MOST 32

static const char *const known[] = {
	"compatible",
	"memory-region",
	"memory-region-names",
	"dmas",
	"dma-names",
	"dray,fifo-addresses",
	"dray,fifo-widths",
	"dray,fifo-bursts",
	"iommus",
	"dma-coherent",
	"dma-noncoherent",
	"status",
	"phandle",
	"linux,phandle",
	"name",
	"power-domains",
	"interconnects",
	"interconnect-names",
	"dma-ranges",
	"#address-cells",
	"#size-cells",
	NULL,
};

static size_t check_node_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts the letters to insert, drop or replace, without regard to case. */
static size_t check_node_distance(const char *a, const char *b)
{
	size_t row[WORD_MOST + 1], length = strlen(b), i, j;

	if (strlen(a) > WORD_MOST || length > WORD_MOST)
		return WORD_MOST;
	for (j = 0; j <= length; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (j = 1; j <= length; j++) {
			size_t same =
				corner + (tolower((unsigned char)a[i]) !=
					  tolower((unsigned char)b[j - 1]));

			corner = row[j];
			row[j] = check_node_least(
				same, check_node_least(row[j], row[j - 1]) + 1);
		}
	}
	return row[length];
}

static void check_spelling(const struct check *check,
			   const struct tree_node *node)
{
	const char *word;
	size_t i;

	for (i = 0; (word = tree_string(node, "compatible", i)); i++) {
		if (check_node_distance(word, CHECK_COMPATIBLE) > MISTAKES_MOST)
			continue;
		report(check->findings, SEVERITY_ERROR, "compatible", node,
		       "the compatible \"%s\" is nearly \"" CHECK_COMPATIBLE
		       "\": dray does not bind to it",
		       word);
		mend(check->findings,
		     "write compatible = \"" CHECK_COMPATIBLE "\"");
		return;
	}
}

static void check_property(const struct check *check,
			   const struct tree_node *node, const char *name)
{
	const char *nearest = NULL;
	size_t i;

	for (i = 0; known[i]; i++) {
		if (!strcmp(name, known[i]))
			return;
		if (!nearest &&
		    check_node_distance(name, known[i]) <= MISTAKES_MOST)
			nearest = known[i];
	}
	report(check->findings, SEVERITY_WARNING, "property-unknown", node,
	       "dray does not know the property %s", name);
	mend(check->findings, "%s%s",
	     nearest ? "it may have to be " : "see dts/dray,node.yaml",
	     nearest ? nearest : "");
}

/* Whether Linux makes devices of the children of @bus. */
static bool is_bus(const struct tree_node *bus)
{
	static const char *const buses[] = { "simple-bus", "simple-mfd", "isa",
					     "arm,amba-bus" };
	size_t i;

	if (!bus->parent)
		return true;
	for (i = 0; i < sizeof(buses) / sizeof(buses[0]); i++)
		if (tree_names(bus, "compatible", buses[i]))
			return true;
	return false;
}

static void check_bus(const struct check *check, const struct tree_node *node)
{
	const struct tree_node *bus = node->parent;

	while (bus && is_bus(bus))
		bus = bus->parent;
	if (!bus)
		return;
	report(check->findings, SEVERITY_ERROR, "bus", node,
	       "%s above it is not a simple-bus, so Linux does not make a device of it",
	       bus->name);
	mend(check->findings, "move the node to the root");
}

static void check_status(const struct check *check,
			 const struct tree_node *node)
{
	if (tree_is_enabled(node))
		return;
	report(check->findings, SEVERITY_WARNING, "status", node,
	       "it, or a node above it, is switched off: there will be no /dev/dray");
	mend(check->findings, "set status to \"okay\"");
}

static void check_tree_node(const struct check *check,
			    const struct tree_node *node)
{
	size_t i;

	check_bus(check, node);
	check_status(check, node);
	for (i = 0; i < node->property_count; i++)
		check_property(check, node, node->properties[i].name);
	check_heaps(check, node);
	check_engines(check, node);
	check_providers(check, node);
	check_fifos(check, node);
	check_reach(check, node);
}

void check_nodes(const struct check *check)
{
	const struct tree *tree = check->tree;
	size_t i, count = 0;

	for (i = 0; i < tree->count; i++) {
		if (check_is_node(&tree->nodes[i])) {
			check_tree_node(check, &tree->nodes[i]);
			count++;
		} else {
			check_spelling(check, &tree->nodes[i]);
		}
	}
	if (!count)
		report(check->findings, SEVERITY_NOTE, "node-none", tree->nodes,
		       "there is no node \"" CHECK_COMPATIBLE "\"");
}
