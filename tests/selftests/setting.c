// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Settings that the module has in sysfs; see setting.h.
 */
#include <sys/sysmacros.h>

#include "setting.h"

void setting_of_heap(char path[PATH_MAX], const char *heap, const char *file)
{
	snprintf(path, PATH_MAX, "/sys/class/dray-heap/%s/%s", heap, file);
}

int setting_of_node(char path[PATH_MAX], int node, const char *file)
{
	struct stat status;

	if (fstat(node, &status))
		return -errno;
	snprintf(path, PATH_MAX, "/sys/dev/char/%u:%u/%s",
		 major(status.st_rdev), minor(status.st_rdev), file);
	return 0;
}

int setting_write(const char *path, uint64_t value)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, (size_t)length) == length ? 0 : -errno;
	close(fd);
	return ret;
}
