// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Merges overlays.  libfdt tells only that an overlay is bad, and damages both blobs
 * then; so references are checked before, and it works on copies.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "flat.h"
#include "merge.h"
#include "tree.h"

#define ROOM_MOST ((size_t)128 << 20)

/* Both trees, for the checks. */
struct merge_pair {
	const struct blob *base, *overlay;
	struct tree *into, *from;
};

static bool is_fragment(const struct tree_node *node)
{
	return tree_child(node, "__overlay__");
}

/* Labels that the overlay refers to and the base lacks. */
static char *refuse_labels(const struct merge_pair *pair)
{
	const struct tree_node *fixups = tree_at(pair->from, "/__fixups__");
	const struct tree_node *symbols = tree_at(pair->into, "/__symbols__");
	char *missing = NULL, *why;
	size_t i, count = 0;

	if (!fixups || !fixups->property_count)
		return NULL;
	if (!symbols)
		return text_format(
			"%s has no labels (/__symbols__), which %s needs: compile the base with dtc -@",
			pair->base->source, pair->overlay->source);
	for (i = 0; i < fixups->property_count; i++) {
		const char *label = fixups->properties[i].name;

		if (tree_labelled(pair->into, label))
			continue;
		text_append(&missing, "%s%s", missing ? ", " : "", label);
		count++;
	}
	if (!missing)
		return NULL;
	why = text_format("%s has no label%s %s, which %s needs",
			  pair->base->source, count == 1 ? "" : "s", missing,
			  pair->overlay->source);
	free(missing);
	return why;
}

/* Whether a fixup sets the target of a fragment. */
static bool is_fixed_up(const struct merge_pair *pair,
			const struct tree_node *fragment)
{
	const struct tree_node *fixups = tree_at(pair->from, "/__fixups__");
	char *place = text_format("/%s:target:0", fragment->name);
	bool found = false;
	size_t i;

	for (i = 0; fixups && !found && i < fixups->property_count; i++)
		found = tree_names(fixups, fixups->properties[i].name, place);
	free(place);
	return found;
}

static char *refuse_target(const struct merge_pair *pair,
			   const struct tree_node *fragment)
{
	const char *path = tree_string(fragment, "target-path", 0);
	uint32_t phandle = tree_cell(fragment, "target", 0, 0);

	if (tree_cells(fragment, "target")) {
		if (is_fixed_up(pair, fragment) ||
		    tree_pointed(pair->into, phandle))
			return NULL;
		return text_format("%s: %s has the target %#" PRIx32
				   ", a phandle that no node of %s has",
				   pair->overlay->source, fragment->name,
				   phandle, pair->base->source);
	}
	if (!path)
		return text_format("%s: %s has neither target nor target-path",
				   pair->overlay->source, fragment->name);
	if (fdt_path_offset(pair->base->data, path) >= 0)
		return NULL;
	return text_format("%s: %s has the target-path %s, which %s lacks",
			   pair->overlay->source, fragment->name, path,
			   pair->base->source);
}

static char *refuse_pair(const struct merge_pair *pair)
{
	const struct tree_node *node;
	size_t fragments = 0;
	char *why;

	for (node = tree_first(pair->from->nodes); node; node = tree_next(node))
		fragments += is_fragment(node);
	if (!fragments)
		return text_format(
			"%s is not an overlay: it lacks a fragment with a node __overlay__",
			pair->overlay->source);
	why = refuse_labels(pair);
	for (node = tree_first(pair->from->nodes); node && !why;
	     node = tree_next(node))
		if (is_fragment(node))
			why = refuse_target(pair, node);
	return why;
}

static char *merge_refuse(const struct blob *base, const struct blob *overlay)
{
	struct merge_pair pair = {
		.base = base,
		.overlay = overlay,
		.into = tree_read(base->data),
		.from = tree_read(overlay->data),
	};
	char *why;

	if (pair.into && pair.from)
		why = refuse_pair(&pair);
	else
		why = text_format("%s has no root node",
				  pair.into ? overlay->source : base->source);
	tree_drop(pair.into);
	tree_drop(pair.from);
	return why;
}

/* Tries with @room bytes; returns an error of libfdt, or 0 and *@result. */
static int try_room(const struct blob *base, const struct blob *overlay,
		    size_t room, void **result)
{
	void *merged = memory_new(room, 1);
	void *copy = memory_resize(NULL, overlay->size, 1);
	int error;

	memcpy(copy, overlay->data, overlay->size);
	error = fdt_open_into(base->data, merged, (int)room);
	if (!error)
		error = fdt_overlay_apply(merged, copy);
	if (!error)
		error = fdt_pack(merged);
	free(copy);
	*result = merged;
	if (error)
		free(merged);
	return error;
}

char *merge(struct blob *base, const struct blob *overlay)
{
	size_t room = base->size + 2 * overlay->size + 4096;
	char *why = merge_refuse(base, overlay);
	void *result;
	int error;

	if (why)
		return why;
	while ((error = try_room(base, overlay, room, &result)) ==
		       -FDT_ERR_NOSPACE &&
	       room < ROOM_MOST)
		room *= 2;
	if (error)
		return text_format(
			"%s cannot be merged into %s: libfdt says %s",
			overlay->source, base->source, fdt_strerror(error));
	free(base->data);
	base->data = result;
	base->size = fdt_totalsize(result);
	return NULL;
}
