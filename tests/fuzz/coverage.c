// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * KCOV, for one module; see coverage.h.
 */
#include <linux/kcov.h>

#include "coverage.h"

#define PATH "/sys/kernel/debug/kcov"
#define PLACES 65536

static uint64_t start;

bool coverage_find(void)
{
	char line[512], name[64], state[16];
	FILE *file = fopen("/proc/modules", "r");

	if (!file || access(PATH, R_OK | W_OK))
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %*s %*s %*s %15s %" SCNx64, name, state,
			   &start) == 3 &&
		    !strcmp(name, "dray"))
			break;
		else
			start = 0;
	fclose(file);
	return start;
}

int coverage_make(struct coverage *coverage)
{
	coverage->fd = open(PATH, O_RDWR | O_CLOEXEC);
	if (coverage->fd < 0)
		return -errno;
	if (ioctl(coverage->fd, KCOV_INIT_TRACE, PLACES))
		return -errno;
	coverage->places =
		mmap(NULL, PLACES * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		     MAP_SHARED, coverage->fd, 0);
	return coverage->places == MAP_FAILED ? -errno : 0;
}

int coverage_begin(struct coverage *coverage)
{
	return ioctl(coverage->fd, KCOV_ENABLE, KCOV_TRACE_PC) ? -errno : 0;
}

int coverage_end(struct coverage *coverage)
{
	return ioctl(coverage->fd, KCOV_DISABLE, 0) ? -errno : 0;
}

void coverage_reset(struct coverage *coverage)
{
	__atomic_store_n(&coverage->places[0], 0, __ATOMIC_RELAXED);
}

uint32_t coverage_add(struct coverage *coverage, uint8_t *seen)
{
	uint64_t count =
		__atomic_load_n(&coverage->places[0], __ATOMIC_RELAXED);
	uint64_t i, place;
	uint32_t new = 0;

	for (i = 1; i <= count && i < PLACES; i++) {
		place = coverage->places[i] - start;
		if (place >= COVERAGE_SIZE || seen[place])
			continue;
		seen[place] = 1;
		new ++;
	}
	return new;
}
