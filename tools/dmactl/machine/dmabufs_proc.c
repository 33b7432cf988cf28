// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds dma-bufs in /proc: descriptors with an fdinfo that has the core's keys, and
 * mappings, which are lines of maps.  A file of that name is not a dma-buf: its
 * fdinfo has no exporter, and it lies on a device.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "dmabufs.h"

static const char link_start[] = "/dmabuf:";

static struct dmabuf_holder *holder_of(struct dmabuf *entry, const char *root,
				       int pid)
{
	struct dmabuf_holder *last;

	/* one process is read after the other */
	if (entry->holder_count) {
		last = &entry->holders[entry->holder_count - 1];
		if (last->process.pid == pid)
			return last;
	}
	entry->holders = memory_resize(entry->holders, entry->holder_count + 1,
				       sizeof(*entry->holders));
	last = &entry->holders[entry->holder_count++];
	*last = (struct dmabuf_holder){ .descriptor = -1 };
	process_read(root, pid, &last->process);
	return last;
}

/* Takes the text of a link behind "/dmabuf:"; false if it is another one. */
static bool read_link(int folder, const char *number, char *name, size_t room)
{
	ssize_t length = readlinkat(folder, number, name, room - 1);
	size_t start = sizeof(link_start) - 1;

	if (length < (ssize_t)start || memcmp(name, link_start, start) != 0)
		return false;
	memmove(name, name + start, (size_t)length - start);
	name[(size_t)length - start] = '\0';
	return true;
}

static void read_descriptor(struct dmabuf_list *list, const char *root, int pid,
			    int number, const char *name)
{
	char *path = text_format("%s/proc/%d/fdinfo/%d", root, pid, number);
	char *text = file_text(path);
	struct dmabuf_holder *holder;
	struct dmabuf *entry;
	const char *exporter;
	uint64_t inode;
	size_t length;

	free(path);
	exporter = text ? value_of_key(text, "exp_name", &length) : NULL;
	/* kernels before 5.16 do not tell the inode */
	if (!exporter || !number_of_key(text, "ino", &inode)) {
		free(text);
		return;
	}
	entry = dmabufs_entry(list, inode);
	dmabuf_set_name(entry->exporter, exporter, length);
	dmabuf_set_name(entry->name, name, strlen(name));
	if (number_of_key(text, "size", &entry->size))
		entry->size_known = true;
	number_of_key(text, "count", &entry->references);
	holder = holder_of(entry, root, pid);
	holder->descriptors++;
	holder->descriptor = number;
	free(text);
}

/* Returns false if the caller may not look. */
static bool read_descriptors(struct dmabuf_list *list, const char *root,
			     int pid)
{
	char *path = text_format("%s/proc/%d/fd", root, pid);
	DIR *folder = opendir(path);
	bool allowed = folder || (errno != EACCES && errno != EPERM);
	const struct dirent *file;
	char name[64];

	free(path);
	while (folder && (file = readdir(folder))) {
		int number = number_of_name(file->d_name);

		if (number >= 0 &&
		    read_link(dirfd(folder), file->d_name, name, sizeof(name)))
			read_descriptor(list, root, pid, number, name);
	}
	if (folder)
		closedir(folder);
	return allowed;
}

/* A line is "START-END RIGHTS OFFSET MAJOR:MINOR INODE PATH". */
static void read_mapping(struct dmabuf_list *list, const char *root, int pid,
			 const char *line)
{
	unsigned long long inode;
	struct dmabuf *entry;
	unsigned int major;
	int path = 0;

	if (sscanf(line, "%*x-%*x %*4s %*x %x:%*x %llu %n", &major, &inode,
		   &path) != 2 ||
	    !path || major)
		return;
	line += path;
	if (strncmp(line, link_start, sizeof(link_start) - 1) != 0)
		return;
	line += sizeof(link_start) - 1;
	entry = dmabufs_entry(list, inode);
	dmabuf_set_name(entry->name, line, strlen(line));
	holder_of(entry, root, pid)->mappings++;
}

static bool read_mappings(struct dmabuf_list *list, const char *root, int pid)
{
	char *path = text_format("%s/proc/%d/maps", root, pid);
	FILE *file = fopen(path, "re");
	bool allowed = file || (errno != EACCES && errno != EPERM);
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	free(path);
	while (file && (length = getline(&line, &room, file)) > 0) {
		/* the last line of a file that was cut has no end */
		if (line[length - 1] != '\n')
			break;
		line[length - 1] = '\0';
		read_mapping(list, root, pid, line);
	}
	free(line);
	if (file)
		fclose(file);
	return allowed;
}

static bool proc_look_into(void *context, const char *root, int pid)
{
	struct dmabuf_list *list = context;
	bool descriptors = read_descriptors(list, root, pid);

	if (!read_mappings(list, root, pid) || !descriptors)
		list->hidden++;
	return true;
}

int dmabufs_read_processes(const char *root, struct dmabuf_list *list)
{
	return processes_each(root, proc_look_into, list);
}
