// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * narrow: an address space of DRAY_TEST_ADDRESS_BITS bits for the program that
 * this is loaded into, as a 39-bit one of arm64 is.  All addresses above are
 * taken before the program begins, but for those of what the kernel has put
 * there and of the stack's growth: what the program maps from then on lies
 * below.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define RANGES 512
#define TOP ((uintptr_t)1 << 47) /* of user space on x86-64 */
#define STACK ((uintptr_t)64 << 20) /* below its mapping, to grow into */

static struct range {
	uintptr_t start, end;
	int is_stack;
} ranges[RANGES];

static void fail(const char *what)
{
	perror(what);
	abort();
}

static size_t read_ranges(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512], name[256];
	size_t count = 0;

	if (!file)
		fail("/proc/self/maps");
	while (count < RANGES && fgets(line, sizeof(line), file)) {
		struct range *range = &ranges[count++];
		unsigned long start, end;

		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &start, &end,
			   name) < 2)
			fail("/proc/self/maps");
		range->start = start;
		range->end = end;
		range->is_stack = name[0] == '[' && name[1] == 's';
	}
	fclose(file);
	return count;
}

static void take(uintptr_t start, uintptr_t end)
{
	if (start < end && mmap((void *)start, end - start, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
					MAP_FIXED_NOREPLACE,
				-1, 0) == MAP_FAILED)
		fail("narrow");
}

static __attribute__((constructor)) void narrow(void)
{
	const char *text = getenv("DRAY_TEST_ADDRESS_BITS");
	size_t count = read_ranges(), i;
	uintptr_t next, end;

	if (!text)
		return;
	next = (uintptr_t)1 << atoi(text);
	for (i = 0; i <= count && next < TOP; i++) {
		/* The last page of user space is nobody's. */
		end = i < count && ranges[i].start < TOP ? ranges[i].start
							 : TOP - 4096;
		if (i < count && ranges[i].is_stack)
			take(next, end - STACK);
		else
			take(next, end);
		if (i < count && ranges[i].end > next)
			next = ranges[i].end;
	}
}
