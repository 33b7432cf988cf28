// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tells users from those that a namespace of users hides. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/user.h"

#define OVERFLOW 65534u

/* The number in a file of the kernel; @otherwise without it. */
static uint32_t user_read_number(const char *path, uint32_t otherwise)
{
	FILE *file = dray_descriptor_file(path);
	uint32_t number;

	if (!file)
		return otherwise;
	if (fscanf(file, "%" SCNu32, &number) != 1)
		number = otherwise;
	fclose(file);
	return number;
}

/* Whether each number of the whole system has one in this namespace. */
static bool maps_all(const char *path)
{
	FILE *file = dray_descriptor_file(path);
	uint64_t inside, outside, count, all = 0;

	if (!file)
		return false;
	while (fscanf(file, "%" SCNu64 "%" SCNu64 "%" SCNu64, &inside, &outside,
		      &count) == 3)
		all += count;
	fclose(file);
	/* All numbers but -1 are users. */
	return all >= UINT32_MAX;
}

bool dray_user_is_known(uid_t user)
{
	return user != user_read_number("/proc/sys/kernel/overflowuid",
					OVERFLOW) ||
	       maps_all("/proc/self/uid_map");
}

bool dray_group_is_known(gid_t group)
{
	return group != user_read_number("/proc/sys/kernel/overflowgid",
					 OVERFLOW) ||
	       maps_all("/proc/self/gid_map");
}

bool dray_user_is_own(uid_t user)
{
	return user == geteuid() && dray_user_is_known(user);
}
