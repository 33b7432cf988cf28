// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Probes at what maintains caches, in an instance of the trace that nobody
 * else uses; see maintenance.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binding.h"
#include "maintenance.h"

#define TRACING "/sys/kernel/tracing/"
#define INSTANCE TRACING "instances/dray_test"
#define GROUP "dray_test"

struct probe {
	const char *name;
	const char *function;
	const char *arguments;
};

static const struct probe probes[] = {
	{ "pieces_device", "arch_sync_dma_for_device",
	  "address=$arg1:x64 bytes=$arg2:u64 direction=$arg3:u32" },
	{ "pieces_cpu", "arch_sync_dma_for_cpu",
	  "address=$arg1:x64 bytes=$arg2:u64 direction=$arg3:u32" },
	{ "whole_device", "dma_buf_end_cpu_access", "direction=$arg2:u32" },
	{ "whole_cpu", "dma_buf_begin_cpu_access", "direction=$arg2:u32" },
};

#define PROBES (int)(sizeof(probes) / sizeof(probes[0]))

static int probe_set(const struct probe *probe)
{
	char text[256];

	snprintf(text, sizeof(text), "p:" GROUP "/%s %s %s", probe->name,
		 probe->function, probe->arguments);
	return write_text(TRACING "kprobe_events", text);
}

void maintenance_end(void)
{
	char text[64];
	int i;

	rmdir(INSTANCE);
	for (i = 0; i < PROBES; i++) {
		snprintf(text, sizeof(text), "-:" GROUP "/%s", probes[i].name);
		write_text(TRACING "kprobe_events", text);
	}
}

int maintenance_watch(void)
{
	int ret = 0, i;

	if (access(TRACING "kprobe_events", W_OK))
		return -ENODEV;
	maintenance_end();
	for (i = 0; i < PROBES && !ret; i++)
		ret = probe_set(&probes[i]);
	/* Not every processor's arguments are known by their places. */
	if (ret == -EINVAL || ret == -ENOENT)
		ret = -ENODEV;
	if (!ret && mkdir(INSTANCE, 0700))
		ret = -errno;
	if (!ret)
		ret = write_text(INSTANCE "/events/" GROUP "/enable", "1");
	if (ret)
		maintenance_end();
	return ret;
}

/* The number behind "name=", or 0. */
static uint64_t field(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtoull(at + strlen(name), NULL, 0) : 0;
}

static bool line_read(const char *line, struct maintenance *maintenance)
{
	int i;

	for (i = 0; i < PROBES; i++) {
		char name[64];

		snprintf(name, sizeof(name), " %s: ", probes[i].name);
		if (!strstr(line, name))
			continue;
		*maintenance = (struct maintenance){
			.for_cpu = strstr(probes[i].name, "cpu"),
			.whole = strstr(probes[i].name, "whole"),
			.direction = (unsigned int)field(line, " direction="),
			.address = field(line, " address="),
			.bytes = field(line, " bytes="),
		};
		return true;
	}
	return false;
}

int maintenance_read(struct maintenance *list, int room)
{
	FILE *file = fopen(INSTANCE "/trace", "r");
	struct maintenance one;
	char line[512];
	int count = 0;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#' || !line_read(line, &one))
			continue;
		if (count < room)
			list[count] = one;
		count++;
	}
	fclose(file);
	return count <= room ? count : -E2BIG;
}

/* Marks what one of them has of the memory. */
static void mark(uint8_t *times, const struct dray_segment *segment,
		 uint32_t segments, const struct maintenance *maintenance)
{
	uint64_t end = maintenance->address + maintenance->bytes, at, high;
	uint64_t offset = 0;
	uint32_t i;

	for (i = 0; i < segments; i++) {
		at = segment[i].address;
		high = at + segment[i].length;
		if (at < maintenance->address)
			at = maintenance->address;
		for (; at < high && at < end; at++)
			times[offset + at - segment[i].address]++;
		offset += segment[i].length;
	}
}

static bool in_rows(uint64_t offset, const struct dray_range *rows)
{
	uint64_t into;

	if (!rows || offset < rows->offset)
		return false;
	into = offset - rows->offset;
	if (rows->rows == 1)
		return into < rows->width;
	return into / rows->pitch < rows->rows &&
	       into % rows->pitch < rows->width;
}

int64_t maintenance_difference(const struct maintenance *list, int count,
			       const struct dray_segment *segment,
			       uint32_t segments, bool for_cpu,
			       unsigned int direction,
			       const struct dray_range *rows)
{
	uint64_t size = 0, offset;
	uint8_t *right, *wrong;
	int64_t at = -1;
	uint32_t i;
	int n;

	for (i = 0; i < segments; i++)
		size += segment[i].length;
	right = calloc(2, size);
	if (!right)
		return 0;
	wrong = right + size;
	for (n = 0; n < count; n++)
		if (!list[n].whole)
			mark(list[n].for_cpu == for_cpu &&
					     list[n].direction == direction
				     ? right
				     : wrong,
			     segment, segments, &list[n]);
	for (offset = 0; offset < size && at < 0; offset++)
		if (wrong[offset] || right[offset] != in_rows(offset, rows))
			at = (int64_t)offset;
	free(right);
	return at;
}
