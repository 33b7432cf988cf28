// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reach: the node, and each engine that copies for it, has an address for every
 * byte of its regions.  Limits are dma-ranges of the buses above, and the address
 * bits of the engine.  An IOMMU lifts them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"
#include "cli.h"
#include "reference.h"

/* Engines with fewer than 64 address bits, by their driver in Linux. */
static const struct {
	const char *compatible;
	const char *property; /* has the bits, or NULL */
	unsigned int bits; /* otherwise */
} engines[] = {
	{ "arm,pl330", NULL, 32 },
	{ "brcm,bcm2835-dma", NULL, 32 },
	{ "xlnx,zynqmp-dma-1.0", NULL, 44 },
	{ "xlnx,zynqmp-dpdma", NULL, 44 },
	{ "xlnx,axi-dma-1.00.a", "xlnx,addrwidth", 32 },
	{ "xlnx,axi-mcdma-1.00.a", "xlnx,addrwidth", 32 },
	{ "xlnx,axi-cdma-1.00.a", "xlnx,addrwidth", 32 },
	{ "xlnx,axi-vdma-1.00.a", "xlnx,addrwidth", 32 },
};

static unsigned int check_bits_of(const struct tree_node *engine)
{
	size_t i;

	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		unsigned int bits = engines[i].bits;

		if (!tree_names(engine, "compatible", engines[i].compatible))
			continue;
		if (engines[i].property)
			bits = tree_cell(engine, engines[i].property, 0, bits);
		return bits && bits < 64 ? bits : 64;
	}
	return 64;
}

static void report_reach(const struct check *check,
			 const struct tree_node *device,
			 const struct region *region, unsigned int bits,
			 uint64_t limit)
{
	char *path = tree_path(device);
	char *why = bits < 64 ? text_format(" with %u address bits", bits)
			      : text_format("%s", "");

	if (limit)
		report(check->findings, SEVERITY_ERROR, "region-reach",
		       region->node,
		       "%s%s reaches memory up to %#" PRIx64
		       ", but the region is %#" PRIx64 " to %#" PRIx64,
		       path, why, limit, region->extent.start,
		       region->extent.last);
	else
		report(check->findings, SEVERITY_ERROR, "region-reach",
		       region->node,
		       "%s%s reaches no memory at all: see dma-ranges of its bus",
		       path, why);
	mend(check->findings, "move the region below the limit");
	free(path);
	free(why);
}

/* A region without a place: alloc-ranges or memory decides how high it may be. */
static void check_floating(const struct check *check,
			   const struct tree_node *device, unsigned int bits,
			   const struct region *region)
{
	const struct memory *memory = check->memory;
	const struct tree_node *node = region->node;
	struct extent highest;
	uint64_t limit;
	char *path;
	size_t i;

	if (!memory->bank_count || !tree_has(node, "size"))
		return;
	highest = memory->banks[memory->bank_count - 1].extent;
	for (i = 0; i < memory->bank_count; i++)
		if (memory->banks[i].extent.last > highest.last)
			highest = memory->banks[i].extent;
	if (extent_read(node, "alloc-ranges", 0, &highest) == EXTENT_WRONG)
		return;
	highest.start = highest.last;
	if (window_reaches(device, bits, &highest, &limit))
		return;
	path = tree_path(device);
	report(check->findings, SEVERITY_WARNING, "region-reach", node,
	       "Linux may place it up to %#" PRIx64
	       ", but %s reaches up to %#" PRIx64,
	       highest.last, path, limit);
	mend(check->findings,
	     "limit it: alloc-ranges with an end of %#" PRIx64 " at most",
	     limit);
	free(path);
}

static void reach_check_device(const struct check *check,
			       const struct tree_node *device,
			       unsigned int bits, const struct tree_node *node)
{
	struct reference reference = reference_heaps(node);
	uint64_t limit;

	if (tree_cells(device, "iommus"))
		return;
	while (reference_next(&reference) &&
	       reference.index < CHECK_HEAPS_MOST && reference.target) {
		const struct region *region =
			memory_region(check->memory, reference.target);

		if (!region || region->wrong)
			continue;
		if (!region->placed && !tree_has(region->node, "reg"))
			check_floating(check, device, bits, region);
		else if (region->placed &&
			 !window_reaches(device, bits, &region->extent, &limit))
			report_reach(check, device, region, bits, limit);
	}
}

/* Whether an entry before this one names the same engine. */
static bool was_checked(const struct reference *reference)
{
	struct reference before = *reference;

	before.next = 0;
	before.index = 0;
	while (reference_next(&before) && before.index < reference->index)
		if (before.target == reference->target)
			return true;
	return false;
}

/* 32-bit kernels without LPAE see no memory from 4 GiB on. */
static void check_narrow(const struct check *check,
			 const struct tree_node *node)
{
	struct reference reference = reference_heaps(node);

	if (!check_is_narrow(check->tree))
		return;
	while (reference_next(&reference) &&
	       reference.index < CHECK_HEAPS_MOST && reference.target) {
		const struct region *region =
			memory_region(check->memory, reference.target);

		if (!region || !region->placed ||
		    region->extent.last <= UINT32_MAX)
			continue;
		report(check->findings, SEVERITY_WARNING, "region-lpae",
		       region->node,
		       "%#" PRIx64
		       " is above 4 GiB: a 32-bit kernel needs LPAE for it",
		       region->extent.last);
		mend(check->findings, "move the region below 0x100000000");
	}
}

void check_reach(const struct check *check, const struct tree_node *node)
{
	struct reference engine = reference_channels(node);

	check_narrow(check, node);
	reach_check_device(check, node, check->bits, node);
	while (reference_next(&engine) && engine.index < CHECK_CHANNELS_MOST)
		if (engine.target && engine.counted && !was_checked(&engine))
			reach_check_device(check, engine.target,
					   check_bits_of(engine.target), node);
}
