// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * marks: their memory.  All of them are one mapping, which the first pool
 * reserves; it takes memory as it is written.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "memory/unlocked.h"
#include "pool/marks.h"

struct dray_marks dray_marks;

static void make_marks(void)
{
	size_t window = dray_window_size();
	size_t slots = window >> DRAY_SLOT_SHIFT;
	void *map = MAP_FAILED;

	if (window)
		map = dray_map_unlocked((window >> DRAY_MARK_SHIFT) + slots,
					PROT_READ | PROT_WRITE);
	if (map == MAP_FAILED)
		return;
	dray_marks.numbers = map;
	dray_marks.marks = dray_marks.numbers + slots;
}

void dray_marks_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_marks);
}

void dray_marks_claim(uintptr_t base, size_t bytes, uint32_t number)
{
	size_t slot = (base - dray_window.base) >> DRAY_SLOT_SHIFT;
	size_t end = slot + ((bytes + DRAY_SLOT_SIZE - 1) >> DRAY_SLOT_SHIFT);

	if (!dray_marks.numbers)
		return;
	for (; slot < end; slot++)
		atomic_store_explicit(&dray_marks.numbers[slot],
				      (uint8_t)number, memory_order_relaxed);
}
