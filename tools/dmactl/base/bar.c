// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Each character stands for the memory in its middle. */
#include "bar.h"

enum table_colour heap_colour(const struct dray_heap_info *heap)
{
	double part =
		heap->total ? (double)heap->free / (double)heap->total : 0;

	if (part < 0.1)
		return TABLE_BAD;
	return part < 0.3 ? TABLE_WARNING : TABLE_GOOD;
}

void heap_bar(const struct dray_heap_info *heap, char bar[BAR_ROOM])
{
	double total = heap->total ? (double)heap->total : 1;
	double used = (double)heap->used / total;
	double owned = used - (double)heap->held / total;
	double quarantined = used + (double)heap->quarantined / total;
	double taken = 1 - (double)heap->free / total;
	int i;

	for (i = 0; i < BAR_WIDTH; i++) {
		double middle = (i + 0.5) / BAR_WIDTH;

		if (middle < owned)
			bar[i] = '#';
		else if (middle < used)
			bar[i] = 'h';
		else if (middle < quarantined)
			bar[i] = '!';
		else
			bar[i] = middle < taken ? 'o' : '.';
	}
	bar[BAR_WIDTH] = '\0';
}
