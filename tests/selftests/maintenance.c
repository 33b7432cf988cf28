// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Probes at what maintains caches; see maintenance.h.
 */
#include "maintenance.h"
#include "probes.h"

static const struct probe probes[] = {
	{ "pieces_device", "arch_sync_dma_for_device",
	  "address=$arg1:x64 bytes=$arg2:u64 direction=$arg3:u32" },
	{ "pieces_cpu", "arch_sync_dma_for_cpu",
	  "address=$arg1:x64 bytes=$arg2:u64 direction=$arg3:u32" },
	{ "whole_device", "dma_buf_end_cpu_access", "direction=$arg2:u32" },
	{ "whole_cpu", "dma_buf_begin_cpu_access", "direction=$arg2:u32" },
};

#define PROBES (int)(sizeof(probes) / sizeof(probes[0]))

void maintenance_end(void)
{
	probes_end(probes, PROBES);
}

int maintenance_watch(void)
{
	return probes_begin(probes, PROBES);
}

static bool line_read(const char *line, struct maintenance *maintenance)
{
	int i = probes_find(probes, PROBES, line);

	if (i < 0)
		return false;
	*maintenance = (struct maintenance){
		.for_cpu = strstr(probes[i].name, "cpu"),
		.whole = strstr(probes[i].name, "whole"),
		.direction = (unsigned int)probe_field(line, "direction"),
		.address = probe_field(line, "address"),
		.bytes = probe_field(line, "bytes"),
	};
	return true;
}

int maintenance_read(struct maintenance *list, int room)
{
	FILE *file = probes_open();
	struct maintenance one;
	char line[512];
	int count = 0;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (!line_read(line, &one))
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

	for (uint32_t i = 0; i < segments; i++) {
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

	for (uint32_t i = 0; i < segments; i++)
		size += segment[i].length;
	right = calloc(2, size);
	if (!right)
		return 0;
	wrong = right + size;
	for (int n = 0; n < count; n++)
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
