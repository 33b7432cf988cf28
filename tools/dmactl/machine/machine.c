// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The real machine; the scripted program of the tests has another. */
#include <time.h>

#include "machine.h"

const char *machine_root(void)
{
	return "";
}

uint64_t machine_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
