// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Merges the sources by inode.  /proc names the holders, sysfs (readable for
 * all, if the kernel has it) the exporters and sizes, debugfs (for root) also
 * the attached devices and the dma-bufs that no process has open.
 */
#include <stdlib.h>

#include "cli.h"
#include "dmabufs.h"

static void add_unread(struct dmabuf_list *list, char *path, int error,
		       const char *lost)
{
	list->unread[list->unread_count++] = (struct unread){
		.path = path,
		.error = error,
		.lost = lost,
	};
}

static int compare_holders(const void *a, const void *b)
{
	const struct dmabuf_holder *first = a;
	const struct dmabuf_holder *second = b;

	return (first->process.pid > second->process.pid) -
	       (first->process.pid < second->process.pid);
}

static void sort_holders(struct dmabuf_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->entries[i].holder_count)
			qsort(list->entries[i].holders,
			      list->entries[i].holder_count,
			      sizeof(struct dmabuf_holder), compare_holders);
}

void dmabufs_gather(const char *root, struct dmabuf_list *list)
{
	char *sysfs = text_format("%s/sys/kernel/dmabuf/buffers", root);
	char *bufinfo =
		text_format("%s/sys/kernel/debug/dma_buf/bufinfo", root);
	int error, sysfs_error, bufinfo_error;

	*list = (struct dmabuf_list){ 0 };
	error = dmabufs_read_processes(root, list);
	if (error)
		add_unread(list, text_format("%s/proc", root), error,
			   "holders");
	sort_holders(list);
	sysfs_error = dmabufs_read_sysfs(sysfs, list);
	bufinfo_error = dmabufs_read_bufinfo(bufinfo, list);
	list->devices_known = !bufinfo_error;
	if (bufinfo_error)
		add_unread(list, bufinfo, bufinfo_error, "attached devices");
	else
		free(bufinfo);
	if (sysfs_error && bufinfo_error)
		add_unread(list, sysfs, sysfs_error,
			   "dma-bufs that no process shown has open");
	else
		free(sysfs);
}
