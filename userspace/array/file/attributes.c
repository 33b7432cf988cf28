// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Extended attributes of a file that is replaced: those of users, and access control
 * lists.  Labels ("security.") are the system's: its policy gives the new file one.
 */
#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "private.h"
#include "file/replace.h"

#define ACCESS_LIST "system.posix_acl_access"

int dray_replace_failed(const struct dray_replace *replace, const char *call)
{
	return dray_fail(-errno, "%s of %s: %s", call, replace->path,
			 strerror(errno));
}

static bool attributes_is_kept(const char *name)
{
	return !strncmp(name, "user.", 5) || !strcmp(name, ACCESS_LIST) ||
	       !strcmp(name, "system.nfs4_acl");
}

static int keep_one(const struct dray_replace *replace, const char *name,
		    char *value)
{
	ssize_t size = getxattr(replace->target, name, value, XATTR_SIZE_MAX);

	if (size >= 0 && !fsetxattr(replace->fd, name, value, (size_t)size, 0))
		return 0;
	return dray_fail(
		-errno,
		"%s has the attribute %s, which a new file cannot get: %s; "
		"remove it (setfattr, setfacl), or save under another name",
		replace->path, name, strerror(errno));
}

int dray_replace_drop_access_list(const struct dray_replace *replace)
{
	if (fremovexattr(replace->fd, ACCESS_LIST) && errno != ENODATA &&
	    errno != ENOTSUP)
		return dray_replace_failed(replace, "fremovexattr");
	return 0;
}

int dray_replace_keep_attributes(const struct dray_replace *replace)
{
	ssize_t size = listxattr(replace->target, NULL, 0);
	char *names, *name, *value;
	int ret = 0;

	/* A file system without attributes has none to be kept. */
	if (!size || (size < 0 && errno == ENOTSUP))
		return 0;
	if (size < 0)
		return dray_replace_failed(replace, "listxattr");
	names = malloc(XATTR_LIST_MAX + XATTR_SIZE_MAX);
	if (!names)
		return dray_fail(-ENOMEM, "no memory for attributes of %s",
				 replace->path);
	value = names + XATTR_LIST_MAX;
	size = listxattr(replace->target, names, XATTR_LIST_MAX);
	if (size < 0)
		ret = dray_replace_failed(replace, "listxattr");
	for (name = names; !ret && name < names + size;
	     name += strlen(name) + 1)
		if (attributes_is_kept(name))
			ret = keep_one(replace, name, value);
	free(names);
	return ret;
}
