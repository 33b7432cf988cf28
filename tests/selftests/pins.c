// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * How much of the machine's memory is pinned; see pins.h.
 */
#include "binding.h"
#include "pins.h"

long pins_count(void)
{
	long count, acquired = -1, released = 0;
	char name[64];
	FILE *file;

	/* each processor has counted for itself until then */
	if (write_text("/proc/sys/vm/stat_refresh", "1"))
		return -1;
	file = fopen("/proc/vmstat", "r");
	while (file && fscanf(file, "%63s %ld", name, &count) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired"))
			acquired = count;
		if (!strcmp(name, "nr_foll_pin_released"))
			released = count;
	}
	if (file)
		fclose(file);
	return acquired < 0 ? -1 : acquired - released;
}

bool pins_are(void *pages)
{
	return pins_count() == *(const long *)pages;
}
