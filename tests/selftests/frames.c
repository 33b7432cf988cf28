// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of mapped memory, from /proc/self/pagemap; see frames.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "frames.h"

uint64_t frame_of(const void *address)
{
	uint64_t number = (uintptr_t)address / (size_t)sysconf(_SC_PAGESIZE);
	int file = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (pread(file, &entry, sizeof(entry),
		  (off_t)(number * sizeof(entry))) != sizeof(entry))
		entry = 0;
	close(file);
	/* bits 0 to 54 */
	return entry & ((1ull << 55) - 1);
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
