// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The list of dma-bufs, which the sources fill. */
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
