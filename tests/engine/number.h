/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Numbers in the files of sysfs and debugfs.
 */
#ifndef ENGINE_NUMBER_H
#define ENGINE_NUMBER_H

#include "../selftests/system.h"

/* The number that the file holds, or -1. */
static inline long number_read(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return length > 0 ? atol(text) : -1;
}

#endif
