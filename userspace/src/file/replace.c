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

int dray_replace_failed(const struct dray_replace *replace, const char *call)
{
	return dray_fail(-errno, "%s of %s: %s", call, replace->path,
			 strerror(errno));
}

int dray_replace_begin(struct dray_replace *replace, const char *path)
{
	size_t room = strlen(path) + sizeof(".XXXXXX");
	mode_t mask;

	replace->path = path;
	replace->fd = -1;
	replace->temporary = malloc(room);
	if (!replace->temporary)
		return dray_fail(-ENOMEM, "no memory for the name of a file");
	snprintf(replace->temporary, room, "%s.XXXXXX", path);
	replace->fd = mkostemp(replace->temporary, O_CLOEXEC);
	if (replace->fd < 0) {
		free(replace->temporary);
		replace->temporary = NULL;
		return dray_replace_failed(replace, "open");
	}
	/* The permissions that open() gives a new file. */
	mask = umask(0);
	umask(mask);
	return fchmod(replace->fd, 0666 & ~mask)
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
