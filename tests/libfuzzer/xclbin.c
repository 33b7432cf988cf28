// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The table of banks in an xclbin: a file in memory and on a disk gives the same
 * banks, none of them beyond 2^64, with any room for them; and a bank that is
 * found holds all segments.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzzer.h"

#define ROOM 8
#define SEGMENTS 2

/* The header of a file of this version; the input has the numbers. */
#define HEADER 456
#define LENGTH_AT 304
#define COUNT_AT 448

/* Makes a file with memory of its exact size: sanitizers see its end. */
static unsigned char *make_file(struct input *input, size_t *size)
{
	bool begins = input_below(input, 8);
	uint64_t length = input_below(input, 4) ? 0 : input_number(input, 8);
	uint32_t count = (uint32_t)input_number(input, 2);
	size_t header = begins ? HEADER : 0;
	unsigned char *file;

	*size = header + input->left;
	file = calloc(1, *size ? *size : 1);
	holds(file);
	if (begins) {
		length = length ? length : *size;
		memcpy(file, "xclbin2", 8);
		memcpy(file + LENGTH_AT, &length, sizeof(length));
		memcpy(file + COUNT_AT, &count, sizeof(count));
	}
	if (input->left)
		memcpy(file + header, input->at, input->left);
	return file;
}

static void check_banks(const struct dray_bank *banks, size_t count)
{
	uint64_t end;
	size_t i;

	for (i = 0; i < count; i++) {
		holds(banks[i].index == i);
		holds(!__builtin_add_overflow(banks[i].address, banks[i].size,
					      &end));
		holds(memchr(banks[i].name, 0, sizeof(banks[i].name)));
		holds(!banks[i].reserved);
		holds(dray_bank_type_name(banks[i].type));
	}
}

/* Finds the bank of segments, and asks each bank whether it has them. */
static void check_find(const struct dray_bank *banks, size_t count,
		       const struct dray_segment *segments)
{
	const struct dray_bank *found, *alone;
	size_t i;
	int ret = dray_bank_find(banks, count, segments, SEGMENTS, &found);

	for (i = 0; !ret && i < SEGMENTS; i++) {
		holds(found->flags & DRAY_BANK_USED);
		holds(segments[i].address >= found->address);
		holds((unsigned __int128)segments[i].address +
			      segments[i].length <=
		      (unsigned __int128)found->address + found->size);
	}
	for (i = 0; i < count; i++)
		if (!dray_bank_find(&banks[i], 1, segments, SEGMENTS, &alone))
			holds(!ret && found <= &banks[i]);
}

/* Reads the same file by its path. */
static void check_path(const unsigned char *file, size_t size, int ret,
		       const struct dray_bank *banks, size_t count)
{
	struct dray_bank again[ROOM];
	size_t others = 0;
	char path[32];
	int fd = memfd_create("xclbin", MFD_CLOEXEC);

	holds(fd >= 0);
	holds(write(fd, file, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	holds(dray_xclbin_banks(path, again, ROOM, &others) == ret);
	close(fd);
	if (ret)
		return;
	holds(others == count);
	holds(!memcmp(again, banks,
		      sizeof(*banks) * (count < ROOM ? count : ROOM)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct dray_segment segments[SEGMENTS] = { 0 };
	struct dray_bank banks[ROOM];
	size_t length, count = 0, again = 0, room;
	unsigned char *file;
	int i, ret;

	room = (size_t)input_below(&input, ROOM + 1);
	for (i = 0; i < SEGMENTS; i++) {
		segments[i].address = input_number(&input, 8);
		segments[i].length = input_number(&input, 8);
	}
	file = make_file(&input, &length);
	ret = dray_xclbin_banks_in(file, length, banks, ROOM, &count);
	holds(ret <= 0);
	holds(dray_xclbin_banks_in(file, length, banks, room, &again) == ret);
	holds(again == count);
	if (!ret) {
		size_t filled = count < ROOM ? count : ROOM;

		check_banks(banks, filled);
		check_find(banks, filled, segments);
	}
	check_path(file, length, ret, banks, count);
	free(file);
	return 0;
}
