// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of memory, from the kernel's page maps; see frames.h.
 */
#include "frames.h"

/* Of a file that is an array of them; 0 where it tells nothing. */
static uint64_t number_in(const char *path, uint64_t index)
{
	int file = open(path, O_RDONLY);
	uint64_t number = 0;

	if (pread(file, &number, sizeof(number),
		  (off_t)(index * sizeof(number))) != sizeof(number))
		number = 0;
	close(file);
	return number;
}

uint64_t frame_of(const void *address)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	/* bits 0 to 54 */
	return number_in("/proc/self/pagemap", (uintptr_t)address / page) &
	       ((1ull << 55) - 1);
}

uint64_t frame_flags(uint64_t frame)
{
	return number_in("/proc/kpageflags", frame);
}

int frames_of(const void *bytes, size_t size, struct dray_segment *segment,
	      uint32_t room)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), into, length, done;
	const uint8_t *at = bytes;
	uint64_t frame;
	int count = 0;

	for (done = 0; done < size; done += length) {
		into = (uintptr_t)(at + done) % page;
		length = page - into;
		if (length > size - done)
			length = size - done;
		frame = frame_of(at + done);
		if (!frame)
			return -EFAULT;
		if ((uint32_t)count >= room)
			return -E2BIG;
		segment[count++] = (struct dray_segment){
			.address = frame * page + into,
			.length = length,
		};
	}
	return count;
}
