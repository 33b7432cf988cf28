// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The overlay as a source for dtc, for changes by hand. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "plan.h"
#include "base/quantity.h"

/* Appends a number in as many cells as the tree has for it. */
static void text_put_number(char **text, uint64_t number, uint32_t cells)
{
	if (cells == 2)
		text_append(text,
			    number >> 32 ? "%#" PRIx64 " " : "%" PRIu64 " ",
			    number >> 32);
	text_append(text, "%#" PRIx64, number & UINT32_MAX);
}

static void text_put_pair(char **text, const struct plan *plan,
			  const char *name, uint64_t start, uint64_t size)
{
	text_append(text, "\t\t\t%s = <", name);
	text_put_number(text, start, plan->cells.address);
	text_append(text, " ");
	text_put_number(text, size, plan->cells.size);
	text_append(text, ">;\n");
}

static void text_put_region(char **text, const struct plan *plan)
{
	text_append(text,
		    "\treserved-memory {\n"
		    "\t\t#address-cells = <%" PRIu32 ">;\n"
		    "\t\t#size-cells = <%" PRIu32 ">;\n"
		    "\t\tranges;\n\n\t\t%s: %s {\n",
		    plan->cells.address, plan->cells.size, plan->label,
		    plan->region_name);
	if (!strcmp(plan->heap, "cma"))
		text_append(text, "\t\t\tcompatible = \"shared-dma-pool\";\n");
	if (plan->placed) {
		text_put_pair(text, plan, "reg", plan->start, plan->size);
	} else {
		text_append(text, "\t\t\tsize = <");
		text_put_number(text, plan->size, plan->cells.size);
		text_append(text, ">;\n\t\t\talignment = <");
		text_put_number(text, plan->alignment, plan->cells.size);
		text_append(text, ">;\n");
		text_put_pair(text, plan, "alloc-ranges", plan->window.start,
			      extent_size(&plan->window));
	}
	if (!strcmp(plan->heap, "cma"))
		text_append(text, "\t\t\treusable;\n");
	if (!strcmp(plan->heap, "carveout"))
		text_append(text, "\t\t\tno-map;\n");
	text_append(text, "\t\t};\n\t};\n\n");
}

static void put_provider(char **text, const struct provider *provider)
{
	size_t i;

	if (provider->form == PROVIDER_LABEL)
		text_append(text, "<&%s", provider->target);
	else if (provider->form == PROVIDER_PATH)
		text_append(text, "<&engine%" PRIu32, provider->phandle);
	else
		text_append(text, "<%#" PRIx32, provider->phandle);
	for (i = 0; i < provider->cell_count; i++)
		text_append(text, " %" PRIu32, provider->cells[i]);
	text_append(text, ">");
}

static void text_put_list(char **text, const char *name,
			  const struct providers *providers)
{
	size_t i;

	if (!providers->count)
		return;
	text_append(text, "\t\t%s = ", name);
	for (i = 0; i < providers->count; i++) {
		text_append(text, i ? ", " : "");
		put_provider(text, &providers->list[i]);
	}
	text_append(text, ";\n");
}

static void text_put_node(char **text, const struct plan *plan)
{
	const struct providers *channels = &plan->channels;
	size_t i;

	text_append(text,
		    "\t%s {\n\t\tcompatible = \"" CHECK_COMPATIBLE "\";\n"
		    "\t\tmemory-region = <&%s>;\n"
		    "\t\tmemory-region-names = \"%s\";\n",
		    plan->node_name, plan->label, plan->heap);
	text_put_list(text, "dmas", channels);
	for (i = 0; i < channels->count; i++)
		text_append(text, "%s\"%s\"", i ? ", " : "\t\tdma-names = ",
			    channels->list[i].name);
	if (channels->count)
		text_append(text, ";\n");
	text_put_list(text, "iommus", &plan->iommus);
	if (plan->coherent)
		text_append(text, "\t\tdma-coherent;\n");
	text_append(text, "\t};\n};\n");
}

/* Nodes of the base that have neither a label nor a phandle get one. */
static void text_put_fragments(char **text, const struct plan *plan)
{
	const struct providers *both[] = { &plan->channels, &plan->iommus };
	uint32_t next = 0;
	size_t i, j;

	for (i = 0; i < 2; i++)
		for (j = 0; j < both[i]->count; j++) {
			const struct provider *one = &both[i]->list[j];

			if (one->form != PROVIDER_PATH || one->phandle <= next)
				continue;
			text_append(text,
				    "%s\tfragment@%" PRIu32 " {\n"
				    "\t\ttarget-path = \"%s\";\n\n"
				    "\t\tengine%" PRIu32
				    ": __overlay__ {\n\t\t};\n\t};\n",
				    next ? "\n" : "\n/ {\n", one->phandle,
				    one->target, one->phandle);
			next = one->phandle;
		}
	if (next)
		text_append(text, "};\n");
}

char *overlay_text(const struct plan *plan)
{
	char size[QUANTITY_ROOM];
	char *text = text_format(
		"/*\n * Memory for dray on %s: %s, heap \"%s\".  Made by dmactl dt generate.\n */\n"
		"/dts-v1/;\n/plugin/;\n\n&{/} {\n"
		"\t#address-cells = <%" PRIu32 ">;\n"
		"\t#size-cells = <%" PRIu32 ">;\n\n",
		strchr(plan->board, '*') ? "a board" : plan->board,
		quantity_size(size, plan->size, false), plan->heap,
		plan->cells.address, plan->cells.size);

	text_put_region(&text, plan);
	text_put_node(&text, plan);
	text_put_fragments(&text, plan);
	return text;
}
