// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The overlay as a blob.  References are in two nodes, as dtc writes them: __fixups__
 * has the places of the base's labels, __local_fixups__ those of phandles of the
 * overlay itself.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "flat.h"
#include "plan.h"

#define REGION_PHANDLE 1
#define ROOM_FIRST ((size_t)1 << 14)
#define NO_PHANDLE UINT32_MAX /* until a label is resolved */

struct blob_writer {
	void *fdt;
	int error; /* the first one of libfdt */
};

static void overlay_blob_keep(struct blob_writer *writer, int error)
{
	if (!writer->error)
		writer->error = error;
}

static void overlay_blob_begin(struct blob_writer *writer, const char *name)
{
	overlay_blob_keep(writer, fdt_begin_node(writer->fdt, name));
}

static void overlay_blob_end(struct blob_writer *writer)
{
	overlay_blob_keep(writer, fdt_end_node(writer->fdt));
}

static void overlay_blob_put(struct blob_writer *writer, const char *name,
			     const void *value, size_t size)
{
	overlay_blob_keep(writer,
			  fdt_property(writer->fdt, name, value, (int)size));
}

static void blob_put_text(struct blob_writer *writer, const char *name,
			  const char *text)
{
	overlay_blob_put(writer, name, text, strlen(text) + 1);
}

static void put_cell(struct blob_writer *writer, const char *name,
		     uint32_t cell)
{
	fdt32_t value = cpu_to_fdt32(cell);

	overlay_blob_put(writer, name, &value, sizeof(value));
}

/* Stores a number in @cells cells; returns the next free one. */
static fdt32_t *overlay_blob_store(fdt32_t *at, uint64_t number, uint32_t cells)
{
	if (cells == 2)
		*at++ = cpu_to_fdt32((uint32_t)(number >> 32));
	*at++ = cpu_to_fdt32((uint32_t)number);
	return at;
}

static void blob_put_number(struct blob_writer *writer, const char *name,
			    uint64_t number, uint32_t cells)
{
	fdt32_t value[2];

	overlay_blob_store(value, number, cells);
	overlay_blob_put(writer, name, value, cells * sizeof(*value));
}

static void blob_put_pair(struct blob_writer *writer, const struct plan *plan,
			  const char *name, uint64_t start, uint64_t size)
{
	fdt32_t value[4];
	fdt32_t *at = overlay_blob_store(value, start, plan->cells.address);

	at = overlay_blob_store(at, size, plan->cells.size);
	overlay_blob_put(writer, name, value,
			 (size_t)(at - value) * sizeof(*value));
}

static void blob_put_region(struct blob_writer *writer, const struct plan *plan)
{
	overlay_blob_begin(writer, "reserved-memory");
	put_cell(writer, "#address-cells", plan->cells.address);
	put_cell(writer, "#size-cells", plan->cells.size);
	overlay_blob_put(writer, "ranges", NULL, 0);
	overlay_blob_begin(writer, plan->region_name);
	if (!strcmp(plan->heap, "cma")) {
		blob_put_text(writer, "compatible", "shared-dma-pool");
		overlay_blob_put(writer, "reusable", NULL, 0);
	}
	if (!strcmp(plan->heap, "carveout"))
		overlay_blob_put(writer, "no-map", NULL, 0);
	if (plan->placed) {
		blob_put_pair(writer, plan, "reg", plan->start, plan->size);
	} else {
		blob_put_number(writer, "size", plan->size, plan->cells.size);
		blob_put_number(writer, "alignment", plan->alignment,
				plan->cells.size);
		blob_put_pair(writer, plan, "alloc-ranges", plan->window.start,
			      extent_size(&plan->window));
	}
	put_cell(writer, "phandle", REGION_PHANDLE);
	overlay_blob_end(writer);
	overlay_blob_end(writer);
}

static size_t cells_in(const struct providers *providers)
{
	size_t i, count = 0;

	for (i = 0; i < providers->count; i++)
		count += 1 + providers->list[i].cell_count;
	return count;
}

static void blob_put_list(struct blob_writer *writer, const char *name,
			  const struct providers *providers)
{
	size_t i, j, count = cells_in(providers);
	fdt32_t *value = memory_new(count + 1, sizeof(*value));
	fdt32_t *at = value;

	for (i = 0; i < providers->count; i++) {
		const struct provider *one = &providers->list[i];

		*at++ = cpu_to_fdt32(one->form == PROVIDER_LABEL
					     ? NO_PHANDLE
					     : one->phandle);
		for (j = 0; j < one->cell_count; j++)
			*at++ = cpu_to_fdt32(one->cells[j]);
	}
	if (count)
		overlay_blob_put(writer, name, value, count * sizeof(*value));
	free(value);
}

static void put_names(struct blob_writer *writer,
		      const struct providers *channels)
{
	char *names = NULL;
	size_t i, length;

	for (i = 0; i < channels->count; i++)
		text_append(&names, "%s\n", channels->list[i].name);
	if (!names)
		return;
	length = strlen(names);
	for (i = 0; i < length; i++)
		if (names[i] == '\n')
			names[i] = '\0';
	overlay_blob_put(writer, "dma-names", names, length);
	free(names);
}

static void blob_put_node(struct blob_writer *writer, const struct plan *plan)
{
	overlay_blob_begin(writer, plan->node_name);
	blob_put_text(writer, "compatible", CHECK_COMPATIBLE);
	put_cell(writer, "memory-region", REGION_PHANDLE);
	blob_put_text(writer, "memory-region-names", plan->heap);
	blob_put_list(writer, "dmas", &plan->channels);
	put_names(writer, &plan->channels);
	blob_put_list(writer, "iommus", &plan->iommus);
	if (plan->coherent)
		overlay_blob_put(writer, "dma-coherent", NULL, 0);
	overlay_blob_end(writer);
}

/* Gives a phandle to each node of the base that needs one. */
static void blob_put_fragments(struct blob_writer *writer,
			       const struct plan *plan)
{
	const struct providers *both[] = { &plan->channels, &plan->iommus };
	uint32_t done = 0;
	size_t i, j;

	for (i = 0; i < 2; i++)
		for (j = 0; j < both[i]->count; j++) {
			const struct provider *one = &both[i]->list[j];
			char *name;

			if (one->form != PROVIDER_PATH || one->phandle <= done)
				continue;
			done = one->phandle;
			name = text_format("fragment@%" PRIu32, done);
			overlay_blob_begin(writer, name);
			free(name);
			blob_put_text(writer, "target-path", one->target);
			overlay_blob_begin(writer, "__overlay__");
			put_cell(writer, "phandle", done);
			overlay_blob_end(writer);
			overlay_blob_end(writer);
		}
}

/* Appends the places of @label in one list, each ended by '\n'. */
static void add_places(char **places, const struct plan *plan, const char *list,
		       const struct providers *providers, const char *label)
{
	size_t i, offset = 0;

	for (i = 0; i < providers->count; i++) {
		const struct provider *one = &providers->list[i];

		if (one->form == PROVIDER_LABEL && !strcmp(one->target, label))
			text_append(places,
				    "/fragment@0/__overlay__/%s:%s:%zu\n",
				    plan->node_name, list, offset);
		offset += 4 * (1 + one->cell_count);
	}
}

static bool was_before(const struct providers *both[2], size_t i, size_t j)
{
	const char *label = both[i]->list[j].target;
	size_t k, l;

	for (k = 0; k <= i; k++)
		for (l = 0; l < (k < i ? both[k]->count : j); l++)
			if (!strcmp(both[k]->list[l].target, label))
				return true;
	return false;
}

static void put_fixups(struct blob_writer *writer, const struct plan *plan)
{
	const struct providers *both[] = { &plan->channels, &plan->iommus };
	size_t i, j, k, length;

	overlay_blob_begin(writer, "__fixups__");
	for (i = 0; i < 2; i++)
		for (j = 0; j < both[i]->count; j++) {
			const struct provider *one = &both[i]->list[j];
			char *places = NULL;

			if (one->form != PROVIDER_LABEL ||
			    was_before(both, i, j))
				continue;
			add_places(&places, plan, "dmas", both[0], one->target);
			add_places(&places, plan, "iommus", both[1],
				   one->target);
			length = strlen(places);
			for (k = 0; k < length; k++)
				if (places[k] == '\n')
					places[k] = '\0';
			overlay_blob_put(writer, one->target, places, length);
			free(places);
		}
	overlay_blob_end(writer);
}

/* The offsets of the phandles that the overlay itself gives. */
static void put_local(struct blob_writer *writer, const char *name,
		      const struct providers *providers)
{
	fdt32_t *offsets = memory_new(providers->count + 1, sizeof(*offsets));
	size_t i, count = 0, offset = 0;

	for (i = 0; i < providers->count; i++) {
		if (providers->list[i].form == PROVIDER_PATH)
			offsets[count++] = cpu_to_fdt32((uint32_t)offset);
		offset += 4 * (1 + providers->list[i].cell_count);
	}
	if (count)
		overlay_blob_put(writer, name, offsets,
				 count * sizeof(*offsets));
	free(offsets);
}

static void put_references(struct blob_writer *writer, const struct plan *plan)
{
	char *path = text_format("/fragment@0/__overlay__/reserved-memory/%s",
				 plan->region_name);

	overlay_blob_begin(writer, "__symbols__");
	blob_put_text(writer, plan->label, path);
	overlay_blob_end(writer);
	free(path);
	put_fixups(writer, plan);
	overlay_blob_begin(writer, "__local_fixups__");
	overlay_blob_begin(writer, "fragment@0");
	overlay_blob_begin(writer, "__overlay__");
	overlay_blob_begin(writer, plan->node_name);
	put_cell(writer, "memory-region", 0);
	put_local(writer, "dmas", &plan->channels);
	put_local(writer, "iommus", &plan->iommus);
	overlay_blob_end(writer);
	overlay_blob_end(writer);
	overlay_blob_end(writer);
	overlay_blob_end(writer);
}

static int write_overlay(const struct plan *plan, void *fdt, size_t room)
{
	struct blob_writer writer = { .fdt = fdt };

	overlay_blob_keep(&writer, fdt_create(fdt, (int)room));
	overlay_blob_keep(&writer, fdt_finish_reservemap(fdt));
	overlay_blob_begin(&writer, "");
	overlay_blob_begin(&writer, "fragment@0");
	blob_put_text(&writer, "target-path", "/");
	overlay_blob_begin(&writer, "__overlay__");
	blob_put_region(&writer, plan);
	blob_put_node(&writer, plan);
	overlay_blob_end(&writer);
	overlay_blob_end(&writer);
	blob_put_fragments(&writer, plan);
	put_references(&writer, plan);
	overlay_blob_end(&writer);
	overlay_blob_keep(&writer, fdt_finish(fdt));
	return writer.error;
}

void *overlay_blob(const struct plan *plan, size_t *size)
{
	size_t room = ROOM_FIRST;
	void *fdt = memory_new(room, 1);

	/* The names are short: only room can be missing. */
	while (write_overlay(plan, fdt, room)) {
		room *= 2;
		fdt = memory_resize(fdt, room, 1);
	}
	*size = fdt_totalsize(fdt);
	return fdt;
}
