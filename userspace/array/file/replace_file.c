// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Files that appear under their name when they are complete.
 *
 * The new file is like the old file: at the end of the same symbolic link, with its
 * permissions, its owner and its attributes.  A new file cannot be like a second name of
 * a file (a hard link), nor like a file of a user for which this process cannot own
 * files: these are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private.h"
#include "file/replace.h"

#define NAME_END ".%x-%x" /* of the process, and of the file in it */
#define NUMBER_ROOM sizeof("ffffffff")

/* Opens a temporary file of a unique name. */
static int open_temporary(struct dray_replace *replace, size_t room,
			  mode_t mode)
{
	static unsigned int number;

	do {
		snprintf(replace->temporary, room, "%s" NAME_END,
			 replace->target, (unsigned int)getpid(),
			 __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
		replace->fd = dray_descriptor(
			open(replace->temporary,
			     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
	} while (replace->fd < 0 && errno == EEXIST);
	return replace->fd;
}

static int no_memory(void)
{
	return dray_fail(-ENOMEM, "no memory for the name of a file");
}

/* Follows symbolic links, so that the rename leaves them. */
static int find_target(struct dray_replace *replace)
{
	struct stat status;

	if (lstat(replace->path, &status) || !S_ISLNK(status.st_mode)) {
		replace->target = strdup(replace->path);
		return replace->target ? 0 : no_memory();
	}
	replace->target = realpath(replace->path, NULL);
	if (replace->target)
		return 0;
	if (errno == ENOENT)
		return dray_fail(-ENOENT,
				 "%s is a link to a file that is not there; "
				 "make that file, or remove the link",
				 replace->path);
	return dray_replace_failed(replace, "realpath");
}

/* Checks that a new file can be like the old file, but for its owner. */
static int check_old(const struct dray_replace *replace,
		     const struct stat *status)
{
	int fd;

	if (!S_ISREG(status->st_mode))
		return dray_fail(-EINVAL, "%s is not a regular file",
				 replace->path);
	if (status->st_nlink > 1)
		return dray_fail(
			-EMLINK,
			"%s is a hard link to a file of %ju names, and a new "
			"file would replace only this name; remove the name, "
			"or save under another",
			replace->path, (uintmax_t)status->st_nlink);
	/* access() asks for the real user, and sandboxes forbid faccessat2(). */
	fd = dray_descriptor(
		open(replace->target, O_WRONLY | O_CLOEXEC | O_NONBLOCK));
	if (fd < 0)
		return dray_replace_failed(replace, "open");
	close(fd);
	return 0;
}

static int keep_owner(const struct dray_replace *replace,
		      const struct stat *old)
{
	bool known = dray_user_is_known(old->st_uid) &&
		     dray_group_is_known(old->st_gid);
	struct stat own;

	if (fstat(replace->fd, &own))
		return dray_replace_failed(replace, "fstat");
	if (!known)
		return dray_fail(
			-EPERM,
			"%s belongs to a user or a group without a number in "
			"this namespace (%u and %u), as in a container, and a "
			"new file cannot; remove it, or save under another "
			"name",
			replace->path, old->st_uid, old->st_gid);
	if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
	    fchown(replace->fd, old->st_uid, old->st_gid))
		return dray_fail(
			-EPERM,
			"%s belongs to user %u and group %u, and this process "
			"cannot create a new file for them; remove it, or save under "
			"another name",
			replace->path, old->st_uid, old->st_gid);
	return 0;
}

/*
 * Makes the new file like the old file.  The mask of the process does not count, nor
 * does an access list that new files inherit from the folder.  A change of owners
 * clears some bits of the mode.
 */
static int keep_facts(const struct dray_replace *replace,
		      const struct stat *old)
{
	int ret = keep_owner(replace, old);

	if (!ret)
		ret = dray_replace_drop_access_list(replace);
	if (ret)
		return ret;
	if (fchmod(replace->fd, old->st_mode & 07777))
		return dray_replace_failed(replace, "fchmod");
	return dray_replace_keep_attributes(replace);
}

int dray_replace_begin(struct dray_replace *replace, const char *path)
{
	struct stat status;
	size_t room;
	bool exists;
	int ret;

	*replace = (struct dray_replace){ .path = path, .fd = -1 };
	ret = find_target(replace);
	if (ret)
		return ret;
	exists = !stat(replace->target, &status);
	ret = exists ? check_old(replace, &status) : 0;
	if (ret)
		return ret;
	room = strlen(replace->target) + sizeof(NAME_END) + 2 * NUMBER_ROOM;
	replace->temporary = malloc(room);
	if (!replace->temporary)
		return no_memory();
	/* open() applies the process's mask */
	if (open_temporary(replace, room, exists ? 0600 : 0666) < 0) {
		free(replace->temporary);
		replace->temporary = NULL;
		return dray_replace_failed(replace, "open beside");
	}
	return exists ? keep_facts(replace, &status) : 0;
}

static int rename_failed(const struct dray_replace *replace)
{
	if (errno != EBUSY && errno != EXDEV)
		return dray_replace_failed(replace, "rename");
	return dray_fail(-errno,
			 "%s is mounted by itself, as a volume of a container "
			 "may be, and cannot be replaced; mount its folder",
			 replace->path);
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
	if (rename(replace->temporary, replace->target))
		return rename_failed(replace);
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
	free(replace->target);
}
