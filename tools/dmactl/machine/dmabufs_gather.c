// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Merges the sources by inode.  /proc names the holders, sysfs (readable for
 * all, if the kernel has it) the exporters and sizes, debugfs (for root) also
 * the attached devices and the dma-bufs that no process has open.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "dmabufs.h"

/* Returns the place of an inode, or where to insert it. */
static size_t place_of(const struct dmabuf_list *list, uint64_t inode)
{
	size_t first = 0;
	size_t end = list->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (list->entries[middle].inode < inode)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

struct dmabuf *dmabufs_entry(struct dmabuf_list *list, uint64_t inode)
{
	size_t place = place_of(list, inode);
	struct dmabuf *entry;

	if (place < list->count && list->entries[place].inode == inode)
		return &list->entries[place];
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->entries = memory_resize(list->entries, list->room,
					      sizeof(*list->entries));
	}
	entry = &list->entries[place];
	memmove(entry + 1, entry, (list->count - place) * sizeof(*entry));
	list->count++;
	*entry = (struct dmabuf){ .inode = inode };
	return entry;
}

void dmabuf_set_name(char name[DMABUF_NAME_ROOM], const char *text,
		     size_t length)
{
	if (*name)
		return;
	if (length > DMABUF_NAME_ROOM - 1)
		length = DMABUF_NAME_ROOM - 1;
	memcpy(name, text, length);
	name[length] = '\0';
}

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

void dmabufs_free(struct dmabuf_list *list)
{
	size_t i, device;

	for (i = 0; i < list->count; i++) {
		struct dmabuf *entry = &list->entries[i];

		for (device = 0; device < entry->device_count; device++)
			free(entry->devices[device]);
		free(entry->devices);
		free(entry->holders);
	}
	for (i = 0; i < list->unread_count; i++)
		free(list->unread[i].path);
	free(list->entries);
	*list = (struct dmabuf_list){ 0 };
}
