// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Engines that memory in the way is lent to, as its processes publish them. */
#include <stdlib.h>
#include <string.h>

#include "arrays/published.h"
#include "why.h"

/* Copies the engine's name of the first loan in the region. */
static void loans_read(const struct published *process,
		       const struct published_region *region,
		       struct why_holder *holder)
{
	const struct published_block *block = process->blocks + region->first;
	size_t i;

	for (i = 0; i < region->count; i++)
		if (block[i].loan && !*holder->lent_to)
			memcpy(holder->lent_to, block[i].loan->to,
			       sizeof(holder->lent_to));
}

static void loans_match(const struct published *process, const char *node,
			struct why_holder *holder)
{
	const struct published_region *region = process->regions;
	size_t i;

	for (i = 0; i < process->region_count; i++)
		if (region[i].fixed->buffer == holder->entry.info.id &&
		    !strncmp(region[i].pool->node, node,
			     sizeof(region[i].pool->node)))
			loans_read(process, &region[i], holder);
}

void why_find_loans(struct why_finding *finding)
{
	struct why_need *need = &finding->need;
	struct published process;
	char *reason;
	size_t i, j;

	for (i = 0; i < need->count; i++) {
		if (!why_is_first_of_process(finding, i))
			continue;
		if (published_read((uint64_t)need->holders[i].entry.info.pid,
				   &process, &reason) != PUBLISHED_FINE) {
			free(reason);
			continue;
		}
		for (j = i; j < need->count; j++)
			if (need->holders[j].entry.info.pid == process.pid)
				loans_match(&process, finding->node->name,
					    &need->holders[j]);
		published_free(&process);
	}
}
