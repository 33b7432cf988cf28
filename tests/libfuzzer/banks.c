// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Files of memory banks.  The last 16 bytes are a segment too, whose bank, if there is
 * one, is in use and around it.  Memory ends with the file, so that the address
 * sanitizer sees each read behind it.
 */
#include <errno.h>

#include "fuzzer.h"

#define ROOM 32

static bool is_around(const struct dray_bank *bank,
		      const struct dray_segment *segment)
{
	return bank->flags & DRAY_BANK_USED &&
	       segment->address >= bank->address &&
	       segment->length <= bank->size &&
	       segment->address - bank->address <= bank->size - segment->length;
}

/* Checks the result of a search by a slow one. */
static void find(const struct dray_bank *banks, size_t count,
		 const struct dray_segment *segment)
{
	const struct dray_bank *found = NULL;
	size_t first = 0;
	int ret = dray_bank_find(banks, count, segment, 1, &found);

	if (ret == -EINVAL) {
		holds(!segment->length ||
		      segment->address > UINT64_MAX - (segment->length - 1));
		return;
	}
	while (first < count && !is_around(&banks[first], segment))
		first++;
	holds(ret == (first < count ? 0 : -ERANGE));
	holds(ret || found == &banks[first]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_bank banks[ROOM];
	struct dray_segment segment = { 0, 0 };
	uint8_t *file = malloc(size ? size : 1);
	size_t count = 0, i;

	holds(file);
	memcpy(file, data, size);
	if (size >= sizeof(segment))
		memcpy(&segment, data + size - sizeof(segment),
		       sizeof(segment));
	if (!dray_xclbin_banks_in(file, size, banks, ROOM, &count)) {
		holds(count <= size / 40);
		count = count < ROOM ? count : ROOM;
		for (i = 0; i < count; i++) {
			holds(banks[i].index == i);
			holds(banks[i].size <= UINT64_MAX - banks[i].address);
			holds(strlen(banks[i].name) <= 16);
		}
		find(banks, count, &segment);
	}
	free(file);
	return 0;
}
