/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The control block of the model of the AXI DMA, dray's count of descriptors in the
 * engine, and how its driver behaves.
 */
#ifndef STREAMS_MODEL_H
#define STREAMS_MODEL_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "control.h"

/* NULL if it cannot be mapped. */
static inline volatile struct fpga_control *model_map(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *map = MAP_FAILED;

	if (fd >= 0) {
		map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   FPGA_CONTROL);
		close(fd);
	}
	return map == MAP_FAILED ? NULL : map;
}

/* Descriptors that dray has given to the channel's engine, or -1. */
static inline long engine_out(unsigned int channel)
{
	FILE *file = fopen("/sys/kernel/debug/dray/dray0/channels", "re");
	unsigned int number;
	long out, found = -1;

	while (file && fscanf(file, "%u %*s waiting %*d, out %ld%*[^\n]",
			      &number, &out) == 2)
		if (number == channel)
			found = out;
	if (file)
		fclose(file);
	return found;
}

/*
 * Does the engine's driver end a receive of several pieces with its last piece only?
 * As driver/Makefile asks it of the kernel.
 */
static inline bool engine_merges(void)
{
	unsigned int version = 0, level = 0;
	struct utsname name;

	if (!uname(&name))
		(void)sscanf(name.release, "%u.%u", &version, &level);
	return version * 1000 + level >= 6006;
}

#endif
