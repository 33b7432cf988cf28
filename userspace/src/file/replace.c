// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Files that take their name when they are complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "file/replace.h"

#define NAME_END ".%x-%x" /* of the process, and of the file in it */
#define NUMBER_ROOM sizeof("ffffffff")

int dray_replace_failed(const struct dray_replace *replace, const char *call)
{
	return dray_fail(-errno, "%s of %s: %s", call, replace->path,
			 strerror(errno));
}

/* Opens a temporary file of a name that no other has. */
static int open_temporary(struct dray_replace *replace, size_t room,
			  mode_t mode)
{
	static unsigned int number;

	do {
		snprintf(replace->temporary, room, "%s" NAME_END, replace->path,
			 (unsigned int)getpid(),
			 __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
		replace->fd =
			open(replace->temporary,
			     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	} while (replace->fd < 0 && errno == EEXIST);
	return replace->fd;
}

int dray_replace_begin(struct dray_replace *replace, const char *path)
{
	size_t room = strlen(path) + sizeof(NAME_END) + 2 * NUMBER_ROOM;
	mode_t mode = 0666; /* open() applies the process's mask */
	struct stat status;
	bool exists = !stat(path, &status);

	replace->path = path;
	replace->fd = -1;
	replace->temporary = NULL;
	if (exists && !S_ISREG(status.st_mode))
		return dray_fail(-EINVAL, "%s is not a regular file", path);
	if (exists)
		mode = status.st_mode & 0777;
	replace->temporary = malloc(room);
	if (!replace->temporary)
		return dray_fail(-ENOMEM, "no memory for the name of a file");
	if (open_temporary(replace, room, mode) < 0) {
		free(replace->temporary);
		replace->temporary = NULL;
		return dray_replace_failed(replace, "open");
	}
	/* The file keeps its permissions; the mask does not count. */
	return exists && fchmod(replace->fd, mode)
		       ? dray_replace_failed(replace, "fchmod")
		       : 0;
}

int dray_replace_finish(struct dray_replace *replace, bool fresh)
{
	int ret = close(replace->fd);

	replace->fd = -1;
	if (ret)
		return dray_replace_failed(replace, "close");
	/* A link never replaces a file. */
	if (fresh)
		return link(replace->temporary, replace->path)
			       ? dray_replace_failed(replace, "link")
			       : 0;
	if (rename(replace->temporary, replace->path))
		return dray_replace_failed(replace, "rename");
	free(replace->temporary);
	replace->temporary = NULL;
	return 0;
}

void dray_replace_end(struct dray_replace *replace)
{
	if (replace->fd >= 0)
		close(replace->fd);
	if (replace->temporary)
		unlink(replace->temporary);
	free(replace->temporary);
}
