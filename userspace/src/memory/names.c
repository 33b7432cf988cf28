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

bool dray_module_loaded(void)
{
	return !access("/sys/module/dray", F_OK);
}

int dray_fail_no_node(const char *before)
{
	struct dirent **found = NULL;
	char name[DRAY_NAME_LEN] = "";
	int n;

	if (!dray_module_loaded())
		return dray_fail(
			-ENODEV,
			"%sthe dray module is not loaded; load it with: "
			"modprobe dray (or, from a build: insmod dray.ko)",
			before);
	n = scandir("/sys/class/misc", &found, is_node, by_number);
	if (n > 0)
		snprintf(name, sizeof(name), "%.*s", DRAY_NAME_LEN - 1,
			 found[0]->d_name);
	while (n > 0)
		free(found[--n]);
	free(found);
	if (*name)
		return dray_fail(
			-ENODEV,
			"%sthe dray module has the node %s, but /dev does not; "
			"start the container with --device /dev/%s",
			before, name, name);
	return dray_fail(-ENODEV,
			 "%sthe dray module is loaded but has no node: no "
			 "device of the device tree is bound to it; for a node "
			 "without a device: rmmod dray && "
			 "modprobe dray nodes=1",
			 before);
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
	if (!n && !dray_module_loaded())
		return dray_fail_no_node("");
	*count = (size_t)n;
	return 0;
}
