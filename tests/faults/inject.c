// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fault injection; see inject.h.
 */
#include "inject.h"
#include "place.h"

#define DEBUG "/sys/kernel/debug/"

/* Larger than any module, and smaller than what lies between modules. */
#define MODULE_SIZE 0x100000

static const char *const kinds[] = { "failslab", "fail_page_alloc" };
static int nth = -1;

static int write_number(const char *kind, const char *file, const char *value)
{
	char path[128];
	int fd, ret = 0;

	snprintf(path, sizeof(path), DEBUG "%s/%s", kind, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int write_all(const char *file, const char *value)
{
	int ret = 0;

	for (unsigned int i = 0; i < 2 && !ret; i++)
		ret = write_number(kinds[i], file, value);
	return ret;
}

int inject_open(void)
{
	nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	/* Those that may wait too; the log has the stack of each. */
	if (nth < 0 || write_all("ignore-gfp-wait", "N") ||
	    write_all("verbose", "2") ||
	    write_all("verbose_ratelimit_interval_ms", "0") ||
	    write_number("fail_page_alloc", "ignore-gfp-highmem", "N") ||
	    write_number("fail_page_alloc", "min-order", "0"))
		return -ENODEV;
	/* Not every kernel lets copies to programs fail. */
	write_number("fail_usercopy", "verbose", "1");
	write_number("fail_usercopy", "verbose_ratelimit_interval_ms", "0");
	return places_open();
}

void inject_nth(unsigned int number)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", number);

	/* The copy of these words may be the one that was to fail. */
	if (pwrite(nth, text, (size_t)length, 0) != length &&
	    pwrite(nth, text, (size_t)length, 0) != length)
		abort();
}

unsigned int inject_end(void)
{
	char text[16] = "";

	/* The copy of the answer may be the one that fails. */
	if (pread(nth, text, sizeof(text) - 1, 0) <= 0)
		text[0] = '1';
	inject_nth(0);
	places_read();
	return (unsigned int)atoi(text);
}

/* Only allocations with a return to here on the stack. */
static int filter(uint64_t start, uint64_t end)
{
	char text[32];
	int ret;

	snprintf(text, sizeof(text), "0x%" PRIx64, start);
	ret = write_all("require-start", text);
	write_number("fail_usercopy", "require-start", text);
	snprintf(text, sizeof(text), "0x%" PRIx64, end);
	if (!ret)
		ret = write_all("require-end", text);
	write_number("fail_usercopy", "require-end", text);
	return ret ? ret : write_all("stacktrace-depth", "32");
}

static uint64_t module_start(void)
{
	FILE *file = fopen("/sys/module/dray/sections/.text", "r");
	uint64_t start = 0;

	if (file && fscanf(file, "%" SCNx64, &start) != 1)
		start = 0;
	if (file)
		fclose(file);
	return start;
}

int inject_module_begin(unsigned int percent)
{
	uint64_t start = module_start();
	char text[32];
	int ret;

	if (!start)
		return -ENODEV;
	ret = filter(start, start + MODULE_SIZE);
	if (!ret)
		ret = write_all("task-filter", "N");
	if (!ret)
		ret = write_all("times", "-1");
	snprintf(text, sizeof(text), "%u", percent);
	if (!ret)
		ret = write_all("probability", text);
	return ret;
}

void inject_module_end(void)
{
	write_all("probability", "0");
	inject_aim_end();
	places_read();
}

int inject_aim(uint64_t offset)
{
	uint64_t start = module_start();

	return start ? filter(start + offset, start + offset + 1) : -ENODEV;
}

void inject_aim_end(void)
{
	filter(0, UINT64_MAX);
}
