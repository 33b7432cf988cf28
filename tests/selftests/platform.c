// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Platform devices through sysfs; see platform.h.
 */
#include <glob.h>

#include "binding.h"
#include "platform.h"

int platform_override(const char *device, const char *driver)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), PLATFORM_DEVICES "/%s", device);
	return write_name(folder, "driver_override", driver);
}

void platform_driver(const char *device, char *driver, size_t size)
{
	char link[PATH_MAX], target[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), PLATFORM_DEVICES "/%s/driver", device);
	length = readlink(link, target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = 0;
	snprintf(driver, size, "%s",
		 strrchr(target, '/') ? strrchr(target, '/') + 1 : "");
}

bool platform_find(bool driven, char *device, size_t size)
{
	DIR *folder = opendir(PLATFORM_DEVICES);
	char driver[256];
	struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder))) {
		/* dray refuses those that are wrong. */
		if (entry->d_name[0] == '.' ||
		    !strncmp(entry->d_name, "wrong-", 6))
			continue;
		platform_driver(entry->d_name, driver, sizeof(driver));
		found = driven ? driver[0] && strcmp(driver, "dray")
			       : !driver[0];
		if (found)
			snprintf(device, size, "%s", entry->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}

int platform_open(const char *device)
{
	char pattern[PATH_MAX], path[PATH_MAX];
	glob_t names;
	int node = -ENOENT;

	snprintf(pattern, sizeof(pattern), PLATFORM_DEVICES "/%s/misc/dray*",
		 device);
	if (!glob(pattern, 0, NULL, &names)) {
		snprintf(path, sizeof(path), "/dev/%s",
			 strrchr(names.gl_pathv[0], '/') + 1);
		node = open(path, O_RDWR | O_CLOEXEC);
		if (node < 0)
			node = -errno;
		globfree(&names);
	}
	return node;
}
