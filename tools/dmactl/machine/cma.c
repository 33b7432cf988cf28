// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads what the kernel tells of CMA.  A source that is missing leaves gaps. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cma.h"

#define FAILURES_MOST 5 /* that are kept: the latest */

static void read_meminfo(const char *root, struct cma *cma)
{
	char *path = text_format("%s/proc/meminfo", root);
	FILE *file = fopen(path, "re");
	uint64_t kilobytes;
	char line[128];

	free(path);
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CmaTotal: %" SCNu64, &kilobytes) == 1) {
			cma->present = true;
			cma->total = kilobytes * 1024;
		} else if (sscanf(line, "CmaFree: %" SCNu64, &kilobytes) == 1) {
			cma->free = kilobytes * 1024;
		}
	}
	if (file)
		fclose(file);
}

/* The number in a file, in units of @unit bytes. */
static uint64_t cma_read_number(const char *folder, const char *area,
				const char *name, uint64_t unit)
{
	char *path = text_format("%s/%s/%s", folder, area, name);
	FILE *file = fopen(path, "re");
	uint64_t number = CMA_UNKNOWN;

	free(path);
	if (!file)
		return CMA_UNKNOWN;
	if (fscanf(file, "%" SCNu64, &number) != 1 ||
	    number > UINT64_MAX / unit)
		number = CMA_UNKNOWN;
	fclose(file);
	return number == CMA_UNKNOWN ? number : number * unit;
}

/* The area of this name, new if there is none.  debugfs may write "cma-" before. */
static struct cma_area *area_of(struct cma *cma, const char *name)
{
	struct cma_area *area;
	size_t i;

	if (!strncmp(name, "cma-", 4))
		name += 4;
	for (i = 0; i < cma->area_count; i++)
		if (!strcmp(cma->areas[i].name, name))
			return &cma->areas[i];
	cma->areas = memory_resize(cma->areas, cma->area_count + 1,
				   sizeof(*cma->areas));
	area = &cma->areas[cma->area_count++];
	*area = (struct cma_area){
		.name = text_format("%s", name),
		.total = CMA_UNKNOWN,
		.used = CMA_UNKNOWN,
		.largest_free = CMA_UNKNOWN,
		.allocated = CMA_UNKNOWN,
		.failed = CMA_UNKNOWN,
	};
	return area;
}

static void read_counters(struct cma *cma, const char *folder, const char *name)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), total, available;
	struct cma_area *area = area_of(cma, name);

	area->allocated =
		cma_read_number(folder, name, "alloc_pages_success", page);
	area->failed = cma_read_number(folder, name, "alloc_pages_fail", page);
	cma->has_counters = true;
	/* From Linux 6.10 on */
	total = cma_read_number(folder, name, "total_pages", page);
	available = cma_read_number(folder, name, "available_pages", page);
	if (total == CMA_UNKNOWN || available > total)
		return;
	area->total = total;
	area->used = total - available;
	cma->has_sizes = true;
}

static void read_sizes(struct cma *cma, const char *folder, const char *name)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct cma_area *area = area_of(cma, name);
	uint64_t order = cma_read_number(folder, name, "order_per_bit", 1);

	area->total = cma_read_number(folder, name, "count", page);
	area->used = cma_read_number(folder, name, "used", page);
	/* In bits of the area's map */
	if (order < 32)
		area->largest_free = cma_read_number(folder, name, "maxchunk",
						     page << order);
	cma->has_sizes = true;
}

static void read_folder(struct cma *cma, const char *root, const char *name,
			void (*read_area)(struct cma *cma, const char *folder,
					  const char *name))
{
	char *path = text_format("%s/%s", root, name);
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			read_area(cma, path, entry->d_name);
	if (folder)
		closedir(folder);
	free(path);
}

static void add_failure(struct cma *cma, uint64_t microseconds,
			const char *text)
{
	if (cma->failure_count == FAILURES_MOST) {
		free(cma->failures[0].text);
		memmove(cma->failures, cma->failures + 1,
			(FAILURES_MOST - 1) * sizeof(*cma->failures));
		cma->failure_count--;
	}
	cma->failures = memory_resize(cma->failures, FAILURES_MOST,
				      sizeof(*cma->failures));
	cma->failures[cma->failure_count++] = (struct cma_failure){
		.microseconds = microseconds,
		.text = text_format("%s", text),
	};
}

/* Reads "6,1234,5678,-;text". */
static void read_record(struct cma *cma, char *record)
{
	char *text = strchr(record, ';');
	uint64_t microseconds;

	if (!text || sscanf(record, "%*u,%*u,%" SCNu64, &microseconds) != 1)
		return;
	*text++ = '\0';
	if (strstr(text, "cma_alloc") && strstr(text, "fail"))
		add_failure(cma, microseconds, text);
}

/* Each read of the log is one record; a file of the tests has them all. */
static void read_log(struct cma *cma, const char *root)
{
	char *path = text_format("%s/dev/kmsg", root), records[8192];
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t length;

	free(path);
	cma->log_error = file < 0 ? errno : 0;
	while (file >= 0) {
		char *line = records, *end;

		length = read(file, records, sizeof(records) - 1);
		/* Records were overwritten before they were read. */
		if (length < 0 && errno == EPIPE)
			continue;
		if (length <= 0)
			break;
		records[length] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			read_record(cma, line);
			line = end + 1;
		}
	}
	if (file >= 0)
		close(file);
}

static int cma_by_name(const void *a, const void *b)
{
	return strcmp(((const struct cma_area *)a)->name,
		      ((const struct cma_area *)b)->name);
}

void cma_gather(const char *root, struct cma *cma)
{
	*cma = (struct cma){ .present = false };
	read_meminfo(root, cma);
	read_folder(cma, root, "sys/kernel/mm/cma", read_counters);
	read_folder(cma, root, "sys/kernel/debug/cma", read_sizes);
	if (cma->area_count)
		qsort(cma->areas, cma->area_count, sizeof(*cma->areas),
		      cma_by_name);
	read_log(cma, root);
}

void cma_free(struct cma *cma)
{
	size_t i;

	for (i = 0; i < cma->area_count; i++)
		free(cma->areas[i].name);
	for (i = 0; i < cma->failure_count; i++)
		free(cma->failures[i].text);
	free(cma->areas);
	free(cma->failures);
}
