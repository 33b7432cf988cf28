// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Lists of a sequence, as its recorder and its planners use them. */
#include <errno.h>
#include <stdlib.h>

#include "private.h"
#include "sequence/sequence.h"

int dray_sequence_grow(void **elements, int count, int *room, size_t size)
{
	const int more = *room ? 2 * *room : 8;
	void *grown;

	if (count >= DRAY_SEQUENCE_MOST)
		return dray_fail(-ENOSPC,
				 "a sequence has at most %d values and calls",
				 DRAY_SEQUENCE_MOST);
	if (count < *room)
		return 0;
	grown = realloc(*elements, (size_t)more * size);
	if (!grown)
		return dray_fail(-ENOMEM, "no memory to record a sequence");
	*elements = grown;
	*room = more;
	return 0;
}

bool dray_values_alike(const struct dray_sequence_value *a,
		       const struct dray_sequence_value *b)
{
	int i;

	if (a->ndim != b->ndim)
		return false;
	for (i = 0; i < a->ndim; i++)
		if (a->shape[i] != b->shape[i])
			return false;
	return true;
}

void dray_sequence_free_groups(struct dray_sequence *sequence)
{
	int i;

	for (i = 0; i < sequence->groups_count; i++) {
		free(sequence->groups[i].operations);
		free(sequence->groups[i].slots);
		free(sequence->groups[i].offsets);
	}
	free(sequence->groups);
	sequence->groups = NULL;
	sequence->groups_count = 0;
}
