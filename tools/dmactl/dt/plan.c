// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decides where a region goes and how the overlay refers to the base.  With a tree
 * all is known; with the name of a board, Linux finds the place at boot.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "map.h"
#include "plan.h"
#include "base/quantity.h"

/* Kept free at the end of memory, where boot loaders put themselves. */
#define LOADER_ROOM (UINT64_C(64) << 20)

#define FIRST_PHANDLE 2 /* of an engine; the region has 1 */

static void plan_names(struct plan *plan, const char *node_name)
{
	plan->node_name = text_format("%s", node_name);
	plan->label = text_format("%s_buffers", node_name);
	plan->region_name = plan->placed ? text_format("%s-buffers@%" PRIx64,
						       node_name, plan->start)
					 : text_format("%s-buffers", node_name);
}

/* Complains if a number does not fit the cells of the root. */
static bool fits_cells(const struct plan *plan)
{
	uint64_t last = plan->placed ? plan->start + (plan->size - 1) : 0;

	if (plan->placed && last < plan->start) {
		complain("--at %#" PRIx64
			 ": the end of the region exceeds 64 bits",
			 plan->start);
		return false;
	}
	if ((plan->cells.address == 1 && last > UINT32_MAX) ||
	    (plan->cells.size == 1 && plan->size > UINT32_MAX)) {
		complain("the region does not fit the %s of %s: it has 32 bits",
			 plan->cells.size == 1 && plan->size > UINT32_MAX
				 ? "size cell"
				 : "address cell",
			 plan->board);
		return false;
	}
	return true;
}

static bool set_window(struct plan *plan, const struct extent *window)
{
	char size[QUANTITY_ROOM], most[QUANTITY_ROOM];

	plan->window = *window;
	plan->windowed = true;
	/* One size cell has no room for all 4 GiB. */
	if (plan->cells.size == 1 && plan->window.last >= UINT32_MAX)
		plan->window.last = UINT32_MAX - PAGE_4K;
	if (plan->size <= plan->window.last - plan->window.start)
		return true;
	complain(
		"--size: %s is not below %s, the memory of %s that devices reach",
		quantity_size(size, plan->size, false),
		quantity_size(most, extent_size(&plan->window), false),
		plan->board);
	return false;
}

bool plan_for_board(struct plan *plan, const struct board *board)
{
	const struct providers *both[] = { &plan->channels, &plan->iommus };
	size_t i, j;

	plan->cells = board->cells;
	for (i = 0; i < 2; i++) {
		for (j = 0; j < both[i]->count; j++) {
			if (*both[i]->list[j].target != '/')
				continue;
			complain(
				"'%s' is a path: give a label, or the tree of the board as --board FILE.dtb",
				both[i]->list[j].target);
			return false;
		}
	}
	if (!fits_cells(plan) ||
	    (!plan->placed && !set_window(plan, &board->window)))
		return false;
	plan_names(plan, "dray");
	return true;
}

/* Finds the node, and how to refer to it. */
static const struct tree_node *plan_resolve(struct provider *provider,
					    const struct blob *base,
					    const struct tree *tree)
{
	bool path = *provider->target == '/';
	const struct tree_node *node =
		path ? tree_at(tree, provider->target)
		     : tree_labelled(tree, provider->target);
	const char *label;

	if (!node) {
		complain("%s has no %s%s", base->source,
			 path ? "node " : "label ", provider->target);
		if (!path && !tree_at(tree, "/__symbols__"))
			complain(
				"it has no labels at all: compile it with dtc -@, or give a path");
		return NULL;
	}
	if (!path)
		return node;
	label = tree_label(node);
	if (label) {
		free(provider->target);
		provider->target = text_format("%s", label);
		return node;
	}
	provider->form = node->phandle ? PROVIDER_PHANDLE : PROVIDER_PATH;
	provider->phandle = node->phandle;
	free(provider->target);
	provider->target = tree_path(node);
	return node;
}

static bool resolve_all(struct providers *providers, const char *count_name,
			const struct blob *base, const struct tree *tree)
{
	size_t i;

	for (i = 0; i < providers->count; i++) {
		struct provider *provider = &providers->list[i];
		const struct tree_node *node =
			plan_resolve(provider, base, tree);
		uint32_t count;

		if (!node)
			return false;
		if (!tree_cells(node, count_name)) {
			complain("%s is not such a device: it has no %s",
				 provider->target, count_name);
			return false;
		}
		count = tree_cell(node, count_name, 0, 0);
		if (count == provider->cell_count)
			continue;
		complain("%s takes %" PRIu32 " cell%s (%s), and %zu are given",
			 provider->target, count, count == 1 ? "" : "s",
			 count_name, provider->cell_count);
		return false;
	}
	return true;
}

/* Gives a phandle to each node that has none, the same to the same node. */
static void plan_number(struct plan *plan)
{
	struct providers *both[] = { &plan->channels, &plan->iommus };
	uint32_t next = FIRST_PHANDLE;
	size_t i, j, k, l;

	for (i = 0; i < 2; i++)
		for (j = 0; j < both[i]->count; j++) {
			struct provider *one = &both[i]->list[j];

			if (one->form != PROVIDER_PATH || one->phandle)
				continue;
			for (k = i; k < 2; k++)
				for (l = 0; l < both[k]->count; l++)
					if (!strcmp(both[k]->list[l].target,
						    one->target))
						both[k]->list[l].phandle = next;
			next++;
		}
}

/* The highest address that the node and all of its engines reach. */
static uint64_t highest_of(const struct plan *plan, const struct tree *tree)
{
	uint64_t highest = UINT64_MAX;
	size_t i;

	for (i = 0; i < plan->channels.count; i++) {
		const char *target = plan->channels.list[i].target;
		const struct tree_node *engine =
			*target == '/' ? tree_at(tree, target)
				       : tree_labelled(tree, target);
		struct extent all = { 0, UINT64_MAX };
		uint64_t limit;

		if (!engine || tree_cells(engine, "iommus") ||
		    window_reaches(engine, check_bits_of(engine), &all, &limit))
			continue;
		if (limit < highest)
			highest = limit;
	}
	return highest;
}

static uint64_t largest_free(const struct tree *tree)
{
	uint64_t largest = 0;
	struct node_map map;
	size_t i;

	memory_map_read(tree, &map);
	for (i = 0; i < map.count; i++)
		if (map.rows[i].kind == MAP_FREE && map.rows[i].size > largest)
			largest = map.rows[i].size;
	map_drop(&map);
	return largest;
}

/* Looks for room below @highest, with room for a boot loader behind it if any. */
static bool find_below(struct plan *plan, const struct memory *memory,
		       uint64_t highest)
{
	uint64_t with_loader = plan->size + LOADER_ROOM;

	return (with_loader > plan->size &&
		memory_find(memory, with_loader, plan->alignment, 0, highest,
			    &plan->start)) ||
	       memory_find(memory, plan->size, plan->alignment, 0, highest,
			   &plan->start);
}

static bool find_place(struct plan *plan, const struct blob *base,
		       const struct tree *tree)
{
	uint64_t highest = highest_of(plan, tree);
	char size[QUANTITY_ROOM], largest[QUANTITY_ROOM];
	struct extent window = { 0,
				 highest < UINT32_MAX ? highest : UINT32_MAX };
	struct memory memory;
	char *below;

	memory_read(tree, &memory);
	/* Such a tree gets its memory from the boot loader. */
	if (!memory.bank_count) {
		memory_drop(&memory);
		return set_window(plan, &window);
	}
	plan->placed = find_below(plan, &memory, window.last) ||
		       find_below(plan, &memory, highest);
	memory_drop(&memory);
	if (plan->placed)
		return true;
	below = highest < UINT64_MAX ? text_format(" below %#" PRIx64
						   ", which the engines reach",
						   highest)
				     : text_format("%s", "");
	complain(
		"%s has no room for %s%s: the largest free part is %s, see dmactl dt show",
		base->source, quantity_size(size, plan->size, false), below,
		quantity_size(largest, largest_free(tree), false));
	free(below);
	return false;
}

/* An overlay of a node that is there would change it. */
static bool plan_is_taken(const struct tree *tree, const char *name)
{
	const struct tree_node *top = tree_at(tree, "/reserved-memory"), *node;
	size_t length = strlen(name);

	if (tree_child(tree->nodes, name))
		return true;
	for (node = top ? tree_first(top) : NULL; node; node = tree_next(node))
		if (!strncmp(node->name, name, length) &&
		    node->name[length] == '-')
			return true;
	return false;
}

bool plan_for_tree(struct plan *plan, const struct blob *base,
		   const struct tree *tree)
{
	const struct tree_node *root = tree->nodes;
	char *name = text_format("dray");
	int number_of = 0;
	bool done;

	/* Linux's defaults of a root. */
	plan->cells.address = tree_cell(root, "#address-cells", 0, 1);
	plan->cells.size = tree_cell(root, "#size-cells", 0, 1);
	done = plan->cells.address - 1 < 2 && plan->cells.size - 1 < 2;
	if (!done)
		complain("%s has %" PRIu32 " address and %" PRIu32
			 " size cells; a region needs 1 or 2 of each",
			 base->source, plan->cells.address, plan->cells.size);
	done = done && resolve_all(&plan->channels, "#dma-cells", base, tree) &&
	       resolve_all(&plan->iommus, "#iommu-cells", base, tree) &&
	       (plan->placed || find_place(plan, base, tree)) &&
	       fits_cells(plan);
	plan_number(plan);
	while (plan_is_taken(tree, name)) {
		free(name);
		name = text_format("dray%d", ++number_of);
	}
	if (done)
		plan_names(plan, name);
	free(name);
	return done;
}
