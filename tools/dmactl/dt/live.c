// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Makes a blob of a directory of nodes and properties, as the kernel shows its tree
 * in /proc/device-tree.  Everybody may read most of it, but only root the blob.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "flat.h"
#include "live.h"

#define DEPTH_MOST 64
#define ROOM_FIRST ((size_t)1 << 16)
#define ROOM_MOST ((size_t)64 << 20)

struct live_writer {
	void *data;
	size_t room;
	int error; /* an errno, or 0 */
};

/* True if @result is to be tried again, with more room. */
static bool live_grow(struct live_writer *writer, int result)
{
	void *more;

	if (result != -FDT_ERR_NOSPACE) {
		if (result < 0)
			writer->error = EINVAL;
		return false;
	}
	if (writer->room >= ROOM_MOST) {
		writer->error = EFBIG;
		return false;
	}
	more = memory_new(2 * writer->room, 1);
	if (fdt_resize(writer->data, more, (int)(2 * writer->room))) {
		free(more);
		writer->error = EINVAL;
		return false;
	}
	free(writer->data);
	writer->data = more;
	writer->room *= 2;
	return true;
}

static void put_property(struct live_writer *writer, int folder,
			 const char *name)
{
	/* Another directory than a device tree may have files that wait. */
	int file = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char *value = NULL;
	size_t size = 0, room = 0;
	ssize_t got = 0;

	/* One that the caller may not read is left out. */
	if (file < 0)
		return;
	do {
		size += (size_t)got;
		if (size == room) {
			room = room ? 2 * room : 4096;
			value = memory_resize(value, room, 1);
		}
		got = size < ROOM_MOST ? read(file, value + size, room - size)
				       : 0;
	} while (got > 0);
	close(file);
	while (live_grow(writer,
			 fdt_property(writer->data, name, value, (int)size)))
		;
	free(value);
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0 &&
	       strcmp(entry->d_name, "name") != 0;
}

static bool is_kind(int folder, const char *name, mode_t kind)
{
	struct stat status;

	return !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) &&
	       (status.st_mode & S_IFMT) == kind;
}

static void live_put_node(struct live_writer *writer, int above,
			  const char *path, const char *name, int depth);

static void put_entries(struct live_writer *writer, int folder, int depth)
{
	struct dirent **entries;
	int count = scandirat(folder, ".", &entries, is_entry, NULL);
	int i;

	if (count < 0) {
		writer->error = errno;
		return;
	}
	/* Properties come before nodes. */
	for (i = 0; i < count && !writer->error; i++)
		if (is_kind(folder, entries[i]->d_name, S_IFREG))
			put_property(writer, folder, entries[i]->d_name);
	for (i = 0; i < count && !writer->error; i++)
		if (is_kind(folder, entries[i]->d_name, S_IFDIR))
			live_put_node(writer, folder, entries[i]->d_name,
				      entries[i]->d_name, depth + 1);
	for (i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

static void live_put_node(struct live_writer *writer, int above,
			  const char *path, const char *name, int depth)
{
	int folder = openat(above, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0 || depth > DEPTH_MOST) {
		writer->error = folder < 0 ? errno : ELOOP;
	} else {
		while (live_grow(writer, fdt_begin_node(writer->data, name)))
			;
		put_entries(writer, folder, depth);
		while (!writer->error &&
		       live_grow(writer, fdt_end_node(writer->data)))
			;
	}
	if (folder >= 0)
		close(folder);
}

void *live_read(const char *folder, size_t *size)
{
	struct live_writer writer = { .room = ROOM_FIRST };

	writer.data = memory_new(writer.room, 1);
	if (fdt_create(writer.data, (int)writer.room) ||
	    fdt_finish_reservemap(writer.data))
		writer.error = EINVAL;
	if (!writer.error)
		live_put_node(&writer, AT_FDCWD, folder, "", 0);
	while (!writer.error && live_grow(&writer, fdt_finish(writer.data)))
		;
	if (writer.error) {
		free(writer.data);
		errno = writer.error;
		return NULL;
	}
	*size = fdt_totalsize(writer.data);
	return writer.data;
}
