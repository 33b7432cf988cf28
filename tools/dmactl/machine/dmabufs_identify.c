// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds dray's own among all dma-bufs: a holder's descriptor is copied and the
 * module is asked for its id.  That takes a debugger's rights.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dray/memory.h>

#include "dmabufs.h"
#include "identify.h"

static void identify_entry(int node, struct dmabuf *entry)
{
	size_t i;

	for (i = 0; i < entry->holder_count && !entry->id; i++) {
		const struct dmabuf_holder *holder = &entry->holders[i];
		bool read_only;
		int process;
		int copy;

		if (holder->descriptor < 0)
			continue;
		process = (int)syscall(SYS_pidfd_open, holder->process.pid, 0);
		if (process < 0)
			continue;
		copy = (int)syscall(SYS_pidfd_getfd, process,
				    holder->descriptor, 0);
		close(process);
		if (copy < 0)
			continue;
		entry->id = identify(node, copy, &read_only);
		close(copy);
	}
}

void dmabufs_identify(struct dmabuf_list *list)
{
	char names[1][DRAY_NAME_LEN];
	size_t count, i;
	int node;

	/* any node knows all buffers of the module */
	if (dray_node_names(names, 1, &count) || !count)
		return;
	node = identify_open(names[0]);
	if (node < 0)
		return;
	for (i = 0; i < list->count; i++)
		if (!strcmp(list->entries[i].exporter, "dray"))
			identify_entry(node, &list->entries[i]);
	close(node);
}
