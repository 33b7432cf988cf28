/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The file descriptors of this process, to find one that was left open. */
#ifndef DRAY_TESTS_DESCRIPTORS_H
#define DRAY_TESTS_DESCRIPTORS_H

#include <dirent.h>

#include "unit.h"

static inline int count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

#endif /* DRAY_TESTS_DESCRIPTORS_H */
