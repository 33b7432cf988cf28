// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * QEMU's educational PCI devices and the IOMMU's faults; see edu.h.
 */
#include <glob.h>
#include <sched.h>

#include "../selftests/binding.h"
#include "../selftests/node.h"
#include "../selftests/process.h"
#include "edu.h"

#define REGISTERS 0x1000 /* bytes of them that are used */
#define SOURCE 0x80
#define DESTINATION 0x88
#define COUNT 0x90
#define COMMAND 0x98
#define RUN 1
#define TO_MEMORY 2
#define OWN_MEMORY 0x40000

#define VENDOR "0x1234"
#define DEVICE "0x11e8"

static bool file_starts(const char *folder, const char *file, const char *text)
{
	char path[PATH_MAX], is[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	if (read(fd, is, sizeof(is) - 1) < 0)
		is[0] = 0;
	close(fd);
	return !strncmp(is, text, strlen(text));
}

int edu_find(unsigned int index, struct edu *edu)
{
	int ret = -ENODEV;
	glob_t devices;
	size_t i;

	memset(edu, 0, sizeof(*edu));
	if (glob(PCI_DEVICES "/*", 0, NULL, &devices))
		return ret;
	for (i = 0; i < devices.gl_pathc && ret; i++) {
		if (!file_starts(devices.gl_pathv[i], "vendor", VENDOR) ||
		    !file_starts(devices.gl_pathv[i], "device", DEVICE) ||
		    index--)
			continue;
		snprintf(edu->device, sizeof(edu->device), "%s",
			 strrchr(devices.gl_pathv[i], '/') + 1);
		ret = 0;
	}
	globfree(&devices);
	return ret;
}

int edu_map(struct edu *edu)
{
	char path[PATH_MAX];
	void *map;
	int fd;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/resource0", edu->device);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	map = mmap(NULL, REGISTERS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	edu->registers = map;
	return 0;
}

int edu_override(const struct edu *edu, const char *driver)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), PCI_DEVICES "/%s", edu->device);
	return write_name(folder, "driver_override", driver);
}

int edu_open(const struct edu *edu)
{
	char pattern[PATH_MAX], path[PATH_MAX];
	int node = -ENOENT;
	glob_t names;

	snprintf(pattern, sizeof(pattern), PCI_DEVICES "/%s/misc/dray*",
		 edu->device);
	if (glob(pattern, 0, NULL, &names))
		return node;
	snprintf(path, sizeof(path), "/dev/%s",
		 strrchr(names.gl_pathv[0], '/') + 1);
	globfree(&names);
	node = open(path, O_RDWR | O_CLOEXEC);
	return node < 0 ? -errno : node;
}

static void register_write(struct edu *edu, size_t offset, uint64_t value)
{
	*(volatile uint64_t *)(edu->registers + offset) = value;
}

static bool has_stopped(void *context)
{
	struct edu *edu = context;

	return !(*(volatile uint64_t *)(edu->registers + COMMAND) & RUN);
}

static int edu_step(struct edu *edu, uint64_t source, uint64_t destination,
		    size_t length, uint64_t command)
{
	register_write(edu, SOURCE, source);
	register_write(edu, DESTINATION, destination);
	register_write(edu, COUNT, length);
	register_write(edu, COMMAND, command | RUN);
	return wait_for(has_stopped, edu) ? 0 : -ETIME;
}

int edu_read(struct edu *edu, uint64_t address, size_t length)
{
	return edu_step(edu, address, OWN_MEMORY, length, 0);
}

int edu_write(struct edu *edu, uint64_t address, size_t length)
{
	return edu_step(edu, OWN_MEMORY, address, length, TO_MEMORY);
}

uint64_t physical_address(const void *byte)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry),
		  (off_t)((uintptr_t)byte / page * sizeof(entry))) !=
	    sizeof(entry))
		entry = 0;
	close(fd);
	/* bits 0 to 54 are the frame's number */
	return (entry & ((1ull << 55) - 1)) * page + (uintptr_t)byte % page;
}

uint64_t bus_address(int node, int fd)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = {
		.fd = fd,
		.segments = (uintptr_t)&segment,
		.room = 1,
	};

	return node_call(node, DRAY_IOC_ADDRESS, &address) ? 0
							   : segment.address;
}

/*
 * The IOMMU interrupts once for each fault.  The kernel prints only the first
 * few of five seconds, so its log is no witness.
 */
static long fault_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	char line[1024], *word;
	long sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " dmar0"))
			continue;
		word = strchr(line, ':') + 1;
		for (; *word == ' ' || (*word >= '0' && *word <= '9');
		     sum += strtol(word, &word, 10))
			word += strspn(word, " ");
	}
	if (file)
		fclose(file);
	return sum;
}

static bool expecting;
static long interrupts_before;

void faults_expect(void)
{
	interrupts_before = fault_interrupts();
	expecting = true;
	write_text("/dev/kmsg", "dray test: IOMMU faults are expected\n");
}

/*
 * An interrupt is counted before it is handled, and what handles it writes to
 * the log: whoever runs on its processor runs after that.
 */
static void interrupts_finish(void)
{
	cpu_set_t all, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

void faults_expect_no_more(void)
{
	if (!expecting)
		return;
	interrupts_finish();
	write_text("/dev/kmsg", "dray test: no IOMMU faults any more\n");
	expecting = false;
}

static bool has_interrupted(void *unused)
{
	return fault_interrupts() > interrupts_before;
}

bool fault_seen(void)
{
	return wait_for(has_interrupted, NULL);
}
