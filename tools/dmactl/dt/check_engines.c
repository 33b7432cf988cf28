// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The channels of a node of dray: each names an engine that is there, with as many
 * arguments as the engine needs, and its own name shows its kind.  The same for
 * the IOMMU.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "reference.h"

static bool check_is_kind(const char *name)
{
	static const char *const kinds[] = { "mem", "tx", "rx", "display" };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

static void engines_check_target(const struct check *check,
				 const struct reference *reference)
{
	const struct tree_node *node = reference->node;
	const char *list = reference->list, *cells = reference->count_name;
	char *path = tree_path(reference->target);

	/* An overlay for a node that the base lacks makes an empty node. */
	if (!tree_has(reference->target, "compatible")) {
		report(check->findings, SEVERITY_ERROR, "provider-empty", node,
		       "entry %zu of %s names %s, which is not a device: its compatible is missing",
		       reference->index, list, path);
		mend(check->findings,
		     "name a node of the board's tree; an overlay may have made this node by a wrong path");
	} else if (!reference->counted) {
		report(check->findings, SEVERITY_ERROR, "provider-cells", node,
		       "entry %zu of %s names %s, which lacks %s",
		       reference->index, list, path, cells);
		mend(check->findings, "name a node with %s", cells);
	} else if (reference->cut) {
		report(check->findings, SEVERITY_ERROR, "specifier-short", node,
		       "entry %zu of %s ends after %zu of the %" PRIu32
		       " cells that %s demands (%s)",
		       reference->index, list,
		       tree_cells(node, list) - reference->first,
		       reference->count, path, cells);
		mend(check->findings,
		     "write %" PRIu32 " cells behind the phandle",
		     reference->count);
	} else if (!tree_is_enabled(reference->target)) {
		report(check->findings, SEVERITY_ERROR, "provider-disabled",
		       node, "entry %zu of %s names %s, which is switched off",
		       reference->index, list, path);
		mend(check->findings, "set its status to \"okay\"");
	}
	free(path);
}

/* Checks a list of providers; returns the count of its entries. */
static size_t engines_check_list(const struct check *check,
				 const struct tree_node *node, const char *list,
				 const char *count_name)
{
	struct reference reference = {
		.node = node,
		.list = list,
		.count_name = count_name,
	};
	size_t count = 0;

	while (reference_next(&reference)) {
		count = reference.index + 1;
		if (reference.target) {
			engines_check_target(check, &reference);
			continue;
		}
		report(check->findings, SEVERITY_ERROR, "reference-dangling",
		       node,
		       "entry %zu of %s is the phandle %#" PRIx32
		       ", which is not a node's; the entry before may be of too many or too few cells",
		       reference.index, list, reference.phandle);
		mend(check->findings,
		     "refer to an existing node by its label, with %s cells",
		     count_name);
	}
	return count;
}

static void engines_check_name(const struct check *check,
			       const struct tree_node *node, size_t index)
{
	const char *name = tree_string(node, "dma-names", index);
	size_t i;

	if (!check_is_kind(name)) {
		report(check->findings, SEVERITY_ERROR, "names-kind", node,
		       "dma-names: \"%s\" does not begin with mem, tx, rx or display, so dray refuses the node",
		       name);
		mend(check->findings,
		     "mem copies, tx sends, rx receives, display shows: mem%zu",
		     index);
	}
	for (i = 0; i < index; i++) {
		if (strcmp(tree_string(node, "dma-names", i), name) != 0)
			continue;
		report(check->findings, SEVERITY_ERROR, "names-repeated", node,
		       "dma-names lists \"%s\" twice: both mean the first channel",
		       name);
		mend(check->findings, "number the names, as mem0 and mem1");
		break;
	}
}

/* True if the list could be read to its end. */
static bool engines_is_whole(const struct check *check,
			     const struct tree_node *node)
{
	struct reference reference = reference_channels(node);

	(void)check;
	while (reference_next(&reference))
		if (!reference.target || !reference.counted || reference.cut)
			return false;
	return true;
}

static void engines_check_names(const struct check *check,
				const struct tree_node *node, size_t count)
{
	size_t names = tree_strings(node, "dma-names"), i;

	if (names != count && engines_is_whole(check, node)) {
		report(check->findings, SEVERITY_ERROR, "names-count", node,
		       "dmas lists %zu entries, but dma-names %zu names: dray uses channels with both",
		       count, names);
		mend(check->findings, "write a name for each channel");
	}
	if (names > CHECK_CHANNELS_MOST) {
		report(check->findings, SEVERITY_ERROR, "count-limit", node,
		       "dma-names lists %zu names; dray uses the first %d",
		       names, CHECK_CHANNELS_MOST);
		mend(check->findings, "make a second node for the others");
	}
	for (i = 0; i < names && i < CHECK_CHANNELS_MOST; i++)
		engines_check_name(check, node, i);
}

/* The device that does the DMA is the engine: it must snoop as the node says. */
static void check_coherence(const struct check *check,
			    const struct tree_node *node)
{
	struct reference reference = reference_channels(node);

	if (tree_has(node, "dma-coherent") &&
	    tree_has(node, "dma-noncoherent")) {
		report(check->findings, SEVERITY_ERROR, "coherence", node,
		       "dma-coherent and dma-noncoherent contradict each other");
		mend(check->findings, "remove one of them");
	}
	if (!tree_has(node, "dma-coherent"))
		return;
	while (reference_next(&reference)) {
		char *path;

		if (!reference.target || !reference.counted ||
		    tree_has(reference.target, "dma-coherent"))
			continue;
		path = tree_path(reference.target);
		report(check->findings, SEVERITY_WARNING, "coherence", node,
		       "the node is dma-coherent, but its engine %s is not: programs would skip the maintenance that it needs",
		       path);
		mend(check->findings,
		     "remove dma-coherent, or add it to the engine if it snoops");
		free(path);
	}
}

/* Whether stopping a channel of the engine resets the others. */
static bool is_reset_whole(const struct tree_node *engine)
{
	return tree_names(engine, "compatible", "xlnx,axi-dma-1.00.a") ||
	       tree_names(engine, "compatible", "xlnx,axi-mcdma-1.00.a");
}

static bool has_channel_of(const struct tree_node *node,
			   const struct tree_node *engine)
{
	struct reference reference = reference_channels(node);

	while (reference_next(&reference))
		if (reference.target == engine)
			return true;
	return false;
}

/* Finds another device with a channel of the engine, or NULL. */
static const struct tree_node *other_user(const struct tree_node *node,
					  const struct tree_node *engine)
{
	const struct tree *tree = node->tree;
	size_t i;

	for (i = 0; i < tree->count; i++)
		if (&tree->nodes[i] != node &&
		    tree_is_enabled(&tree->nodes[i]) &&
		    has_channel_of(&tree->nodes[i], engine))
			return &tree->nodes[i];
	return NULL;
}

/* All channels of such an engine belong to a single device. */
static void check_sharing(const struct check *check,
			  const struct tree_node *node)
{
	struct reference reference = reference_channels(node);
	const struct tree_node *last = NULL, *other;
	char *path, *user;

	while (reference_next(&reference)) {
		if (!reference.target || reference.target == last ||
		    !is_reset_whole(reference.target))
			continue;
		last = reference.target;
		other = other_user(node, last);
		if (!other)
			continue;
		path = tree_path(last);
		user = tree_path(other);
		report(check->findings, SEVERITY_ERROR, "engine-shared", node,
		       "%s also provides channels to %s: the engine stops all of them together, so dray refuses them while that device holds a channel",
		       path, user);
		mend(check->findings,
		     "name all channels of an engine in a single node");
		free(path);
		free(user);
	}
}

void check_engines(const struct check *check, const struct tree_node *node)
{
	size_t count = engines_check_list(check, node, "dmas", "#dma-cells");

	engines_check_names(check, node, count);
	engines_check_list(check, node, "iommus", "#iommu-cells");
	check_coherence(check, node);
	check_sharing(check, node);
}
