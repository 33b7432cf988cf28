// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * DRM PRIME: vgem imports the dma-buf, which attaches and maps it for a
 * device.  vgem has no engine that would look at it, so the bytes are compared
 * through the descriptor that it gives back.
 */
#include "../../selftests/importer.h"
#include "../../selftests/node.h"
#include "cell.h"

static enum outcome is_imported(const struct memory *memory, struct cell *cell)
{
	int importer = importer_open(), ret;
	enum outcome outcome;
	uint8_t *seen;
	uint32_t handle;

	if (memory->fd < 0)
		return UNFIT;
	cell_step(cell, "open of vgem");
	errno = importer < 0 ? -importer : 0;
	if (importer < 0)
		return cell_absent(cell);
	memory_begin(memory);
	fill_random(memory->bytes, memory->size, 2);
	memory_end(memory);
	cell_step(cell, "PRIME_FD_TO_HANDLE");
	ret = importer_attach(importer, memory->fd, &handle);
	errno = -ret;
	if (ret)
		return cell_refused(cell);
	cell_step(cell, "PRIME_HANDLE_TO_FD");
	ret = importer_export(importer, handle);
	errno = -ret;
	if (ret < 0)
		return cell_refused(cell);
	cell_step(cell, "mmap of what it gave back");
	seen = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, ret,
		    0);
	if (seen == MAP_FAILED)
		return cell_refused(cell);
	memory_begin(memory);
	outcome = cell_compare(cell, seen, cell_bytes(memory->size, 2),
			       memory->size);
	memory_end(memory);
	return outcome;
}

const struct consumer prime_consumers[] = {
	{ "DRM PRIME import (vgem)", is_imported },
	{ 0 },
};
