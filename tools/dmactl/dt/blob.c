// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loads a blob and checks all of it, so that a damaged one never reaches the rest
 * of the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob.h"
#include "cli.h"
#include "flat.h"
#include "live.h"

#define SIZE_MOST ((size_t)64 << 20)

static const char live_blob[] = "/sys/firmware/fdt";
static const char live_folder[] = "/proc/device-tree";

static char *refuse_magic(const void *data, size_t size)
{
	static const char source[] = "/dts-v1/";

	if (size >= sizeof(source) - 1 &&
	    memmem(data, size < 4096 ? size : 4096, source, sizeof(source) - 1))
		return text_format(
			"is a source, not a blob: compile it with dtc -@ -I dts -O dtb");
	return text_format(
		"is not a device-tree blob: it begins with %#010" PRIx32
		", not with %#010x",
		fdt32_ld(data), FDT_MAGIC);
}

char *blob_refuse(const void *data, size_t size)
{
	int error;

	if (!size)
		return text_format("is empty");
	if (size < FDT_V1_SIZE)
		return text_format(
			"is not a device-tree blob: it has %zu bytes, and a header has %zu",
			size, FDT_V1_SIZE);
	if (fdt_magic(data) != FDT_MAGIC)
		return refuse_magic(data, size);
	if (fdt_version(data) < FDT_FIRST_SUPPORTED_VERSION ||
	    fdt_last_comp_version(data) > FDT_LAST_SUPPORTED_VERSION)
		return text_format("has version %" PRIu32
				   ", compatible with %" PRIu32
				   "; versions %d to %d can be read",
				   fdt_version(data),
				   fdt_last_comp_version(data),
				   FDT_FIRST_SUPPORTED_VERSION,
				   FDT_LAST_SUPPORTED_VERSION);
	if (fdt_totalsize(data) > size)
		return text_format("is truncated: its header says %" PRIu32
				   " bytes, but there are %zu",
				   fdt_totalsize(data), size);
	if (fdt_totalsize(data) > SIZE_MOST)
		return text_format("has %" PRIu32
				   " bytes, more than the limit of %zu",
				   fdt_totalsize(data), SIZE_MOST);
	error = fdt_check_full(data, size);
	if (error)
		return text_format("is damaged: libfdt says %s",
				   fdt_strerror(error));
	return NULL;
}

/* Reads up to SIZE_MOST bytes; NULL and errno if that fails. */
static void *read_file(int file, size_t *size)
{
	size_t room = (size_t)64 << 10;
	char *data = memory_resize(NULL, room, 1);
	ssize_t got;

	*size = 0;
	while ((got = read(file, data + *size, room - *size)) > 0) {
		*size += (size_t)got;
		if (*size < room)
			continue;
		if (room > SIZE_MOST) {
			errno = EFBIG;
			got = -1;
			break;
		}
		room *= 2;
		data = memory_resize(data, room, 1);
	}
	if (!got)
		return data;
	free(data);
	return NULL;
}

static void *read_path(const char *path, size_t *size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *data = NULL;
	int error;

	if (file < 0)
		return NULL;
	if (!fstat(file, &status))
		data = S_ISDIR(status.st_mode) ? live_read(path, size)
					       : read_file(file, size);
	error = errno;
	close(file);
	errno = error;
	return data;
}

/* The running system's: from the boot loader's blob, or from the kernel's nodes. */
static void *read_live(struct blob *blob)
{
	void *data;
	int error;

	blob->source = text_format("%s", live_blob);
	data = read_path(live_blob, &blob->size);
	if (data)
		return data;
	error = errno;
	free(blob->source);
	blob->source = text_format("%s", live_folder);
	data = read_path(live_folder, &blob->size);
	if (data)
		return data;
	if (errno == ENOENT && error == ENOENT)
		complain(
			"this system has no device tree: there is neither %s nor %s",
			live_blob, live_folder);
	else
		complain("cannot read the device tree: %s: %s; %s: %s",
			 live_blob, strerror(error), live_folder,
			 strerror(errno));
	return NULL;
}

/* Tells another directory from a tree: there each node has a file "name". */
static bool is_other_directory(const char *path)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool other = folder >= 0 && faccessat(folder, "name", F_OK, 0) &&
		     errno == ENOENT;

	if (folder >= 0)
		close(folder);
	return other;
}

bool blob_load(const char *name, struct blob *blob)
{
	bool live = !strcmp(name, BLOB_LIVE);
	char *why;

	*blob = (struct blob){ 0 };
	if (live) {
		blob->data = read_live(blob);
	} else if (is_other_directory(name)) {
		complain("%s is a directory, but none of a device tree: it has "
			 "no file 'name'",
			 name);
	} else {
		blob->source = text_format("%s", name);
		blob->data = read_path(name, &blob->size);
		if (!blob->data)
			complain("cannot read %s: %s", name, strerror(errno));
	}
	if (!blob->data) {
		blob_drop(blob);
		return false;
	}
	why = blob_refuse(blob->data, blob->size);
	if (!why)
		return true;
	complain("%s %s", blob->source, why);
	free(why);
	blob_drop(blob);
	return false;
}

void blob_drop(struct blob *blob)
{
	free(blob->data);
	free(blob->source);
	*blob = (struct blob){ 0 };
}
