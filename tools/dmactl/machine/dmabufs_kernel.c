// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The kernel's own lists of dma-bufs: /sys/kernel/dmabuf/buffers and debugfs's
 * bufinfo.  A name in bufinfo may have lines of its own, so a row is taken only
 * where one can stand: behind the header, or behind the end of another.  Names
 * are too short to play both an end and a row.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "dmabufs.h"

static void read_attributes(const char *path, const char *inode,
			    struct dmabuf *entry)
{
	char *file = text_format("%s/%s/exporter_name", path, inode);
	char *text = file_text(file);

	if (text)
		dmabuf_set_name(entry->exporter, text, strcspn(text, "\n"));
	free(text);
	free(file);
	file = text_format("%s/%s/size", path, inode);
	text = file_text(file);
	if (text && parse_number(text, 10, &entry->size))
		entry->size_known = true;
	free(text);
	free(file);
}

int dmabufs_read_sysfs(const char *path, struct dmabuf_list *list)
{
	DIR *folder = opendir(path);
	const struct dirent *file;
	const char *end;
	uint64_t inode;

	if (!folder)
		return errno;
	while ((file = readdir(folder))) {
		end = parse_number(file->d_name, 10, &inode);
		if (end && !*end)
			read_attributes(path, file->d_name,
					dmabufs_entry(list, inode));
	}
	closedir(folder);
	return 0;
}

/* Where the next line stands. */
enum dmabuf_place {
	BEFORE_HEADER,
	BEFORE_ROW,
	IN_FENCES,
	IN_DEVICES,
	BEHIND_DEVICES,
};

/* A row is "SIZE FLAGS MODE COUNT EXPORTER INODE NAME", with tabs between. */
static bool kernel_read_row(struct dmabuf_list *list, char *line,
			    uint64_t *inode)
{
	enum {
		SIZE,
		FLAGS,
		MODE,
		COUNT,
		EXPORTER,
		INODE,
		NAME,
		FIELDS
	};
	char *fields[FIELDS];
	uint64_t size, count;
	struct dmabuf *entry;
	size_t i;

	for (i = 0; i < FIELDS; i++) {
		fields[i] = i < NAME ? strsep(&line, "\t") : line;
		if (!fields[i])
			return false;
	}
	if (!parse_number(fields[SIZE], 10, &size) ||
	    !parse_number(fields[COUNT], 10, &count) ||
	    !parse_number(fields[INODE], 10, inode))
		return false;
	entry = dmabufs_entry(list, *inode);
	entry->size = size;
	entry->size_known = true;
	entry->references = count;
	dmabuf_set_name(entry->exporter, fields[EXPORTER],
			strlen(fields[EXPORTER]));
	if (strcmp(fields[NAME], "<none>") != 0)
		dmabuf_set_name(entry->name, fields[NAME],
				strlen(fields[NAME]));
	return true;
}

static void add_device(struct dmabuf *entry, const char *name)
{
	entry->devices = memory_resize(entry->devices, entry->device_count + 1,
				       sizeof(*entry->devices));
	entry->devices[entry->device_count++] = text_format("%s", name);
}

static enum dmabuf_place kernel_read_line(struct dmabuf_list *list,
					  enum dmabuf_place place, char *line,
					  uint64_t *inode)
{
	static const char total[] = "Total ";

	switch (place) {
	case BEFORE_HEADER:
		return strncmp(line, "size", 4) ? BEFORE_HEADER : BEFORE_ROW;
	case BEFORE_ROW:
		return kernel_read_row(list, line, inode) ? IN_FENCES
							  : BEFORE_ROW;
	case IN_FENCES:
		return strcmp(line, "\tAttached Devices:") ? IN_FENCES
							   : IN_DEVICES;
	case IN_DEVICES:
		if (!strncmp(line, total, sizeof(total) - 1))
			return BEHIND_DEVICES;
		if (*line == '\t')
			add_device(dmabufs_entry(list, *inode), line + 1);
		return IN_DEVICES;
	case BEHIND_DEVICES:
		break;
	}
	return *line ? BEHIND_DEVICES : BEFORE_ROW;
}

int dmabufs_read_bufinfo(const char *path, struct dmabuf_list *list)
{
	FILE *file = fopen(path, "re");
	enum dmabuf_place place = BEFORE_HEADER;
	uint64_t inode = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file)
		return errno;
	while ((length = getline(&line, &room, file)) > 0) {
		if (line[length - 1] != '\n')
			break;
		line[length - 1] = '\0';
		place = kernel_read_line(list, place, line, &inode);
	}
	free(line);
	fclose(file);
	return 0;
}
