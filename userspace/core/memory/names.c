// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The nodes that the kernel module offers, as /dev shows them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "memory/backend.h"

/* Digits of a node's number */
#define MOST_DIGITS 9

/* The number in a node's name, "dray" and digits; else -1. */
static long names_number_of(const char *name)
{
	size_t digits;

	if (strncmp(name, "dray", 4))
		return -1;
	digits = strspn(name + 4, "0123456789");
	if (!digits || digits > MOST_DIGITS || name[4 + digits])
		return -1;
	return strtol(name + 4, NULL, 10);
}

static int by_number(const void *a, const void *b)
{
	long left = *(const long *)a, right = *(const long *)b;

	return (left > right) - (left < right);
}

/*
 * Lists the numbers of the nodes that the folder @path names, from the lowest.
 * The caller frees *@numbers, NULL if there are none.  Returns their count, or a
 * negative errno.
 */
static ssize_t list_numbers(const char *path, long **numbers)
{
	DIR *folder = dray_descriptor_folder(path);
	const struct dirent *entry;
	size_t count = 0;

	*numbers = NULL;
	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		long number = names_number_of(entry->d_name), *more;

		if (number < 0)
			continue;
		more = reallocarray(*numbers, count + 1, sizeof(number));
		if (!more) {
			closedir(folder);
			free(*numbers);
			*numbers = NULL;
			return -ENOMEM;
		}
		*numbers = more;
		more[count++] = number;
	}
	closedir(folder);
	if (count)
		qsort(*numbers, count, sizeof(**numbers), by_number);
	return (ssize_t)count;
}

/* Whether the kernel lists a node, for a container without /sys. */
static bool is_listed(void)
{
	FILE *file = dray_descriptor_file("/proc/misc");
	char line[128], name[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*d %63s", name) == 1 &&
			names_number_of(name) >= 0;
	if (file)
		fclose(file);
	return found;
}

bool dray_module_loaded(void)
{
	if (!access("/sys/module/dray", F_OK))
		return true;
	return access("/sys/module", F_OK) && is_listed();
}

int dray_fail_no_node(const char *before)
{
	char name[DRAY_NAME_LEN] = "";
	long *numbers;

	if (!dray_module_loaded())
		return dray_fail(
			-ENODEV,
			"%sthe dray module is not loaded; load it with: "
			"modprobe dray (or, from a build: insmod dray.ko)",
			before);
	list_numbers("/sys/class/misc", &numbers);
	if (numbers)
		snprintf(name, sizeof(name), "dray%ld", numbers[0]);
	free(numbers);
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
	ssize_t i, n;
	long *numbers;

	if (!dray_given(count, __func__) ||
	    (room && !dray_given(names, __func__)))
		return -EINVAL;
	n = list_numbers("/dev", &numbers);
	if (n < 0)
		return dray_fail((int)n, "/dev: %s", strerror((int)-n));
	for (i = 0; numbers && i < n && (size_t)i < room; i++)
		snprintf(names[i], DRAY_NAME_LEN, "dray%ld", numbers[i]);
	free(numbers);
	if (!n && !dray_module_loaded())
		return dray_fail_no_node("");
	*count = (size_t)n;
	return 0;
}
