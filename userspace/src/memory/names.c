// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The nodes that the kernel module offers, as /dev shows them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "memory/backend.h"

/* The number in a node's name, "dray" and digits; else -1. */
static long number_of(const char *name)
{
	size_t digits;

	if (strncmp(name, "dray", 4))
		return -1;
	digits = strspn(name + 4, "0123456789");
	if (!digits || digits > 9 || name[4 + digits])
		return -1;
	return strtol(name + 4, NULL, 10);
}

static int is_node(const struct dirent *entry)
{
	return number_of(entry->d_name) >= 0;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	long left = number_of((*a)->d_name), right = number_of((*b)->d_name);

	return (left > right) - (left < right);
}

int dray_node_names(char names[][DRAY_NAME_LEN], size_t room, size_t *count)
{
	DRAY_NO_CANCEL;
	struct dirent **found = NULL;
	int i, n;

	if (!dray_given(count, __func__) ||
	    (room && !dray_given(names, __func__)))
		return -EINVAL;
	n = scandir("/dev", &found, is_node, by_number);
	if (n < 0)
		return dray_fail(-errno, "/dev: %s", strerror(errno));
	for (i = 0; i < n; i++) {
		if ((size_t)i < room)
			snprintf(names[i], DRAY_NAME_LEN, "%.*s",
				 DRAY_NAME_LEN - 1, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	if (!n && access("/sys/module/dray", F_OK))
		return dray_fail(-ENODEV, "the dray module is not loaded");
	*count = (size_t)n;
	return 0;
}
