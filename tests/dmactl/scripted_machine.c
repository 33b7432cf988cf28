// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A stand-in for the machine: /proc and /sys of a folder, and a clock that goes
 * on by one second with each sample of dmactl top, so that rates are exact.  In
 * scene "busy" numbers change from one sample to the next.
 *
 * DRAY_ROOT	the folder; without it there are none.  Sample N is taken of its
 *		folder N if there is one.  While it has a file "unloaded", there
 *		is no module.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "machine/machine.h"
#include "scripted_machine.h"

#define MIB (1024ull * 1024)

static unsigned int samples;

static const char *folder(void)
{
	const char *root = getenv("DRAY_ROOT");

	return root ? root : "/nonexistent";
}

static bool there_is(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder(), name);
	return !access(path, F_OK);
}

const char *machine_root(void)
{
	static char path[4096];
	unsigned int number;
	char name[16];

	for (number = samples; number; number--) {
		snprintf(name, sizeof(name), "%u", number);
		if (!there_is(name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder(), name);
		return path;
	}
	return folder();
}

uint64_t machine_clock(void)
{
	return (1000 + (uint64_t)samples++) * 1000000000;
}

bool scripted_unloaded(void)
{
	return there_is("unloaded");
}

uint64_t busy_count(void)
{
	return 2 + samples;
}

/* All but the orphan belong to one process; one comes with each sample. */
void busy_buffer(struct dray_buffer_info *info)
{
	info->size = MIB;
	info->sync_bytes = info->id == 1 ? samples * 3 * MIB : 0;
	if (info->id != 2)
		info->pid = 101;
}

void busy_channel(struct dray_channel_info *info)
{
	info->submitted += 10 * samples;
	info->bytes += 4 * MIB * samples;
	info->failed *= samples;
	if (info->index == 1) {
		info->packets = 8 * samples;
		info->lost = 2 * samples;
		info->held_back = 3 * samples;
		info->ring_frames = 16;
		info->ring_ready = 5;
	}
}
