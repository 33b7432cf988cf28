// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Keeps descriptors of the library above those of the standard streams. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.h"

int dray_descriptor_copy(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, DRAY_DESCRIPTOR_LOWEST);
}

int dray_descriptor(int fd)
{
	int copy, error;

	if (fd < 0 || fd >= DRAY_DESCRIPTOR_LOWEST)
		return fd;
	copy = dray_descriptor_copy(fd);
	error = errno;
	close(fd);
	errno = error;
	return copy;
}

FILE *dray_descriptor_file(const char *path)
{
	int fd = dray_descriptor(open(path, O_RDONLY | O_CLOEXEC));
	FILE *file;

	if (fd < 0)
		return NULL;
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

DIR *dray_descriptor_folder(const char *path)
{
	int fd =
		dray_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY));
	DIR *folder;

	if (fd < 0)
		return NULL;
	folder = fdopendir(fd);
	if (!folder)
		close(fd);
	return folder;
}
