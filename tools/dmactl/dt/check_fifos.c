// SPDX-License-Identifier: Apache-2.0 OR MIT
/* FIFOs of peripherals, with the limits that the driver has: driver/face/tree.c. */
#include <inttypes.h>

#include "check.h"

#define ADDRESSES "dray,fifo-addresses"
#define WIDTHS "dray,fifo-widths"
#define BURSTS "dray,fifo-bursts"

#define WIDTH_MOST 64

static bool check_count(const struct check *check, const struct tree_node *node,
			const char *list, size_t cells)
{
	size_t names = tree_strings(node, "dma-names");
	size_t count = tree_cells(node, list) / cells;

	if (count == names && tree_cells(node, list) % cells == 0)
		return true;
	report(check->findings, SEVERITY_ERROR, "fifo-count", node,
	       "%s has %zu entries, but dma-names %zu names", list, count,
	       names);
	mend(check->findings, "write an entry%s for each channel, 0 for none",
	     cells == 2 ? " of 64 bits" : "");
	return false;
}

static void check_fifo(const struct check *check, const struct tree_node *node,
		       size_t i)
{
	const char *name = tree_string(node, "dma-names", i);
	uint32_t width = tree_cell(node, WIDTHS, i, 0);
	struct extent extent;

	if (!cells_number(node, ADDRESSES, 2 * i, 2, &extent.start) ||
	    !extent.start)
		return;
	extent.last = extent.start + (width ? width - 1 : 0);
	if (!width || width > WIDTH_MOST || width & (width - 1)) {
		report(check->findings, SEVERITY_ERROR, "fifo-width", node,
		       WIDTHS ": %" PRIu32
			      " of %s is not 1, 2, 4, 8, 16, 32 or 64",
		       width, name);
		mend(check->findings, "write the bytes of one access");
	} else if (!tree_cell(node, BURSTS, i, 0)) {
		report(check->findings, SEVERITY_ERROR, "fifo-burst", node,
		       BURSTS ": 0 of %s is below 1", name);
		mend(check->findings,
		     "write 1 if the peripheral has no bursts");
	} else if (extent.start % width) {
		report(check->findings, SEVERITY_ERROR, "fifo-alignment", node,
		       ADDRESSES
		       ": %#" PRIx64
		       " of %s is not a multiple of its width %" PRIu32,
		       extent.start, name, width);
		mend(check->findings, "write the address of the register");
	} else if (memory_touches(check->memory, &extent)) {
		report(check->findings, SEVERITY_ERROR, "fifo-memory", node,
		       ADDRESSES ": %#" PRIx64 " of %s is memory", extent.start,
		       name);
		mend(check->findings, "write the address of the register");
	}
}

void check_fifos(const struct check *check, const struct tree_node *node)
{
	size_t i, names = tree_strings(node, "dma-names");

	if (!tree_has(node, ADDRESSES) && !tree_has(node, WIDTHS) &&
	    !tree_has(node, BURSTS))
		return;
	if (!check_count(check, node, ADDRESSES, 2) ||
	    !check_count(check, node, WIDTHS, 1) ||
	    !check_count(check, node, BURSTS, 1))
		return;
	for (i = 0; i < names && i < CHECK_CHANNELS_MOST; i++)
		check_fifo(check, node, i);
}
