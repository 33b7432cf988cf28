// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Each step opens a node, closes one, or writes a property. */

#include "flat.h"
#include "trees_model.h"

#define ROOM 65536
#define DEPTH_MOST 12
#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static const char *const nodes[] = {
	"memory@0",
	"memory@80000000",
	"reserved-memory",
	"buffers@40000000",
	"cma@0",
	"carveout",
	"axi",
	"dma@100000",
	"dray",
	"cpus",
	"cpu@0",
	"fragment@0",
	"fragment1",
	"__overlay__",
	"__symbols__",
	"__fixups__",
	"iommu",
	"__local_fixups__",
};

static const char *const names[] = {
	"compatible",
	"reg",
	"size",
	"alloc-ranges",
	"alignment",
	"reusable",
	"no-map",
	"status",
	"device_type",
	"ranges",
	"dma-ranges",
	"#address-cells",
	"#size-cells",
	"#dma-cells",
	"#iommu-cells",
	"phandle",
	"memory-region",
	"memory-region-names",
	"dmas",
	"dma-names",
	"iommus",
	"dma-coherent",
	"dray,fifo-addresses",
	"dray,fifo-widths",
	"dray,fifo-bursts",
	"xlnx,addrwidth",
	"target",
	"target-path",
	"label",
	"dma-name",
	"linux,usable-memory",
};

static const char *const texts[] = {
	"dray,node",
	"dray,nodes",
	"shared-dma-pool",
	"simple-bus",
	"arm,pl330",
	"xlnx,axi-dma-1.00.a",
	"arm,cortex-a9",
	"memory",
	"okay",
	"disabled",
	"mem0",
	"rx0",
	"cma",
	"reserved",
	"carveout",
	"copy",
	"/",
	"/axi",
	"/axi/dma@100000",
	"",
	"/fragment@0:target:0",
	"/fragment@0/__overlay__/dray:dmas:0",
};

static const uint32_t numbers[] = {
	0,	    1,		2,	    3,		4,	    16,
	0x1000,	    0x800,	0x200000,   0x400000,	0x10000000, 0x40000000,
	0x7fffffff, 0x80000000, 0xfffff000, 0xffffffff,
};

static void put_cells(struct input *input, void *fdt, const char *name)
{
	fdt32_t cells[16];
	int count = input_below(input, COUNT(cells) + 1), i;

	for (i = 0; i < count; i++) {
		int which = input_below(input, COUNT(numbers) + 1);
		uint32_t number = which < COUNT(numbers)
					  ? numbers[which]
					  : (uint32_t)input_number(input, 4);

		cells[i] = cpu_to_fdt32(number);
	}
	fdt_property(fdt, name, cells, count * 4);
}

static void put_texts(struct input *input, void *fdt, const char *name)
{
	char value[256];
	int count = 1 + input_below(input, 3), size = 0;

	while (count--) {
		const char *text = texts[input_below(input, COUNT(texts))];

		memcpy(value + size, text, strlen(text) + 1);
		size += (int)strlen(text) + 1;
	}
	/* Now and then the last one has no end. */
	fdt_property(fdt, name, value, size - !input_below(input, 16));
}

static void put_property(struct input *input, void *fdt)
{
	const char *name = names[input_below(input, COUNT(names))];

	switch (input_below(input, 3)) {
	case 0:
		put_texts(input, fdt, name);
		break;
	case 1:
		put_cells(input, fdt, name);
		break;
	default:
		fdt_property(fdt, name, NULL, 0);
	}
}

/* Writes the root; after each step there is room for the ends of all nodes. */
static void put_root(struct input *input, void *fdt)
{
	int depth = 1;

	fdt_begin_node(fdt, "");
	while (input->left && depth) {
		int step = input_below(input, 8);

		if (step == 7) {
			break;
		} else if (step > 4 && depth < DEPTH_MOST) {
			fdt_begin_node(fdt,
				       nodes[input_below(input, COUNT(nodes))]);
			depth++;
		} else if (step == 4 && depth > 1) {
			fdt_end_node(fdt);
			depth--;
		} else {
			put_property(input, fdt);
		}
	}
	while (depth--)
		fdt_end_node(fdt);
}

void *model_tree(struct input *input, size_t *size)
{
	void *fdt = calloc(1, ROOM);
	int reserves;

	holds(fdt);
	holds(!fdt_create(fdt, ROOM));
	for (reserves = input_below(input, 3); reserves; reserves--)
		fdt_add_reservemap_entry(fdt, input_number(input, 8),
					 input_number(input, 8));
	fdt_finish_reservemap(fdt);
	put_root(input, fdt);
	holds(!fdt_finish(fdt));
	*size = fdt_totalsize(fdt);
	return fdt;
}
