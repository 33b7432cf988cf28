// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What is done while allocations fail; see scenario.h.
 */
#include <sys/sysmacros.h>

#include "scenario.h"
#include "scene.h"
#include "step.h"

const struct scenario *scenario;

const struct scenario scenarios[] = {
	{ "open", prepare_nothing, run_open, undo_all },
	{ "open by a new user", prepare_closed, run_open_first,
	  undo_open_first },
	{ "alloc from heap 0", prepare_mode, run_alloc, undo_all, 0,
	  .replied = alloc_replied },
	{ "alloc from heap 1", prepare_mode, run_alloc, undo_all, 1,
	  .replied = alloc_replied },
	{ "alloc from heap 2", prepare_mode, run_alloc, undo_all, 2, 0, SLAB,
	  alloc_replied },
	{ "alloc from heap 3", prepare_mode, run_alloc, undo_all, 3,
	  .replied = alloc_replied },
	{ "mmap of heap 0", prepare_unmapped, run_mmap, undo_all, 0 },
	{ "mmap of heap 1", prepare_unmapped, run_mmap, undo_all, 1 },
	{ "mmap of heap 2", prepare_unmapped, run_mmap, undo_all, 2 },
	{ "faults of heap 0", prepare_buffers, run_fault, undo_all },
	{ "export", prepare_unmapped, run_export, undo_all },
	/* What is pinned before a page that cannot be had is kept. */
	{ "attach of memory", prepare_memory, run_attach_user, undo_all,
	  .does_without = PAGES },
	{ "attach of read-only memory", prepare_memory_read_only,
	  run_attach_user_read_only, undo_all },
	{ "attach of a dma-buf", prepare_foreign, run_attach_dmabuf, undo_all },
	{ "address", prepare_unmapped, run_address, undo_all },
	{ "sync", prepare_unmapped, run_sync, undo_all },
	{ "cpu access", prepare_unmapped, run_cpu_access, undo_all },
	{ "submit with axes", prepare_transfer, run_copy, undo_all },
	{ "submit of a dma-buf", prepare_attached, run_copy_attached,
	  undo_all },
	{ "submit between two attachments", prepare_pinned, run_copy,
	  undo_all },
	{ "submit of a dma-buf with a fence", prepare_unfinished,
	  run_copy_attached, undo_all },
	{ "submit after another", prepare_chain, run_chain, undo_all },
	/* Nothing fails with a copy of no axes. */
	{ "submit of a fill", prepare_transfer, run_fill, undo_all,
	  .does_without = COPY },
	{ "submit of a long fill", prepare_transfer, run_long_fill, undo_all,
	  .does_without = SLAB | PAGES | COPY },
	{ "cancel", prepare_chain, run_cancel, undo_all },
	{ "import of heap 0", prepare_import, run_import, undo_all, 0 },
	{ "import of heap 1", prepare_import, run_import, undo_all, 1 },
	{ "debugger of heap 0", prepare_buffers, run_debugger, undo_all, 0, EIO,
	  SLAB },
	{ "debugger of heap 1", prepare_buffers, run_debugger, undo_all, 1, EIO,
	  SLAB },
	{ "debugger of heap 2", prepare_buffers, run_debugger, undo_all, 2, EIO,
	  SLAB },
	{ "reclaim", prepare_held, run_reclaim, undo_held },
	{ "list", prepare_unmapped, run_list, undo_all },
	{ "map of heap 0", prepare_unmapped, run_heap_map, undo_all, 0 },
	{ "map of heap 1", prepare_unmapped, run_heap_map, undo_all, 1 },
	{ "questions", prepare_unmapped, run_questions, undo_all },
	{ "debugfs", prepare_unmapped, run_debugfs, undo_all },
	{ "timeline", prepare_streams, run_timeline, undo_all },
	{ "mmap of a timeline", prepare_line, run_line_map, undo_all },
	{ "submit of a receive", prepare_receiver, run_receive, undo_all,
	  .does_without = COPY },
	{ "ring", prepare_receiver, run_ring, undo_all,
	  .does_without = SLAB | COPY },
	{ "ring of rows", prepare_receiver, run_ring_of_rows, undo_all,
	  .does_without = SLAB | COPY },
	{ "picture", prepare_display, run_show, undo_all,
	  .does_without = COPY },
	{ "submit to a new channel", prepare_fresh, run_copy, undo_all, 0,
	  EBUSY, SLAB | PAGES },
	{ "bind", prepare_bind, run_bind, undo_bind, 0, ENODEV, SLAB | PAGES },
};

const unsigned int scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);

_Static_assert(sizeof(scenarios) / sizeof(scenarios[0]) <= SCENARIOS,
	       "more scenarios than there is room for");

int scenarios_open(void)
{
	struct dray_info info;
	struct stat status;
	char link[64];
	int ret;

	scene.node = node_open();
	if (scene.node < 0)
		return scene.node;
	ret = node_info(scene.node, &info);
	if (ret)
		return ret;
	memcpy(scene.device, info.device, sizeof(scene.device));
	if (fstat(scene.node, &status))
		return -errno;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device/driver",
		 major(status.st_rdev), minor(status.st_rdev));
	return realpath(link, scene.driver) ? 0 : -errno;
}
