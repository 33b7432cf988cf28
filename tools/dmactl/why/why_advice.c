// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ways out, as sentences and as commands to type: the memory that others
 * can give back first, then another request, then another limit.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "base/quantity.h"
#include "why.h"
#include "why_read.h"
#include "base/words.h"

/* Takes over @command. */
__attribute__((format(printf, 4, 5))) static void
advice_add(struct why_finding *finding, const char *kind, char *command,
	   const char *format, ...)
{
	struct why_advice *advice;
	va_list args;

	finding->advice = memory_resize(
		finding->advice, finding->advice_count + 1, sizeof(*advice));
	advice = &finding->advice[finding->advice_count++];
	va_start(args, format);
	*advice = (struct why_advice){
		.kind = kind,
		.text = text_format_list(format, args),
		.command = command,
	};
	va_end(args);
}

char *why_heap_name(const struct why_finding *finding, uint32_t heap)
{
	const char *name = finding->plan.heaps[heap].info.name;

	return escape(name, DRAY_NAME_LEN, ESCAPE_WORD);
}

static const struct dray_buffer_info *
advice_info_of(const struct why_finding *finding, size_t index)
{
	return &finding->need.holders[index].entry.info;
}

static bool advice_has_owner(const struct dray_buffer_info *info)
{
	return info->pid &&
	       !(info->flags & (DRAY_BUFFER_ORPHAN | DRAY_BUFFER_HELD));
}

bool why_is_first_of_process(const struct why_finding *finding, size_t at)
{
	size_t i;

	if (!advice_has_owner(advice_info_of(finding, at)))
		return false;
	for (i = 0; i < at; i++)
		if (advice_has_owner(advice_info_of(finding, i)) &&
		    advice_info_of(finding, i)->pid ==
			    advice_info_of(finding, at)->pid)
			return false;
	return true;
}

/* Names all buffers of the process: "which holds 3, 5 (lent to mpi, ...), 9". */
static void advise_process(struct why_finding *finding, size_t first)
{
	const struct dray_buffer_info *info = advice_info_of(finding, first);
	char *comm = escape(info->comm, sizeof(info->comm), ESCAPE_NAME);
	char *ids = NULL;
	size_t i;

	for (i = 0; i < finding->need.count; i++) {
		const struct why_holder *holder = &finding->need.holders[i];
		char *engine;

		if (!advice_has_owner(&holder->entry.info) ||
		    holder->entry.info.pid != info->pid)
			continue;
		text_append(&ids, "%s%" PRIu64, ids ? ", " : "",
			    (uint64_t)holder->entry.info.id);
		if (!*holder->lent_to)
			continue;
		engine = escape(holder->lent_to, sizeof(holder->lent_to),
				ESCAPE_NAME);
		text_append(&ids, " (lent to %s, which must stop first)",
			    engine);
		free(engine);
	}
	advice_add(finding, "end-process",
		   text_format("kill %" PRId32, info->pid),
		   "end process %" PRId32 " (%s), which holds %s", info->pid,
		   comm, ids);
	free(ids);
	free(comm);
}

static void advise_keepers(struct why_finding *finding, size_t at)
{
	const struct holder_list *keepers = &finding->need.holders[at].keepers;
	uint64_t id = advice_info_of(finding, at)->id;
	size_t i;

	for (i = 0; i < keepers->count; i++) {
		const struct holder *keeper = &keepers->entries[i];
		char *comm =
			escape(keeper->comm, sizeof(keeper->comm), ESCAPE_NAME);

		advice_add(finding, "end-process",
			   text_format("kill %d", keeper->pid),
			   "end process %d (%s), which keeps %" PRIu64
			   "; its owner is gone",
			   keeper->pid, comm, id);
		free(comm);
	}
	if (!keepers->count)
		advice_add(finding, "find-keeper", text_format("dmactl leaks"),
			   "find the process that keeps %" PRIu64
			   "; its owner is gone",
			   id);
}

static void advise_holders(struct why_finding *finding)
{
	size_t i;

	for (i = 0; i < finding->need.count; i++) {
		const struct dray_buffer_info *info =
			advice_info_of(finding, i);

		if (info->flags & DRAY_BUFFER_HELD)
			advice_add(finding, "reclaim",
				   text_format("dmactl reclaim %" PRIu64,
					       (uint64_t)info->id),
				   "reclaim %" PRIu64
				   ", which is held, if no device writes it",
				   (uint64_t)info->id);
		else if (!advice_has_owner(info))
			advise_keepers(finding, i);
		else if (why_is_first_of_process(finding, i))
			advise_process(finding, i);
	}
}

static void advise_waiting(struct why_finding *finding)
{
	char size[QUANTITY_ROOM];

	if (finding->need.quarantined)
		advice_add(finding, "wait", NULL,
			   "wait: %s are freed, but something still holds the "
			   "pages, such as an I/O in flight",
			   quantity_size(size, finding->need.quarantined,
					 false));
	if (finding->need.others)
		advice_add(
			finding, "ask-root", NULL,
			"ask root for the owners of the other %s: you may not "
			"see them",
			quantity_size(size, finding->need.others, false));
}

static void advise_request(struct why_finding *finding)
{
	const struct plan_request *request = &finding->request;
	uint64_t size = plan_largest_size(&finding->plan, request);
	uint64_t alignment = plan_largest_alignment(&finding->plan, request);
	uint32_t heap = plan_other_heap(&finding->plan, request);
	uint32_t mode = plan_other_mode(&finding->plan, request);
	char text[QUANTITY_ROOM], word[WORD_ROOM];
	char *name;

	if (size && size < plan_bytes(&finding->plan, request))
		advice_add(finding, "smaller-size", NULL,
			   "a smaller size: %" PRIu64 " bytes (%s) at most",
			   size, quantity_size(text, size, false));
	if (alignment)
		advice_add(finding, "lower-alignment", NULL,
			   "a lower alignment: %" PRIu64 " bytes (%s) at most",
			   alignment, quantity_size(text, alignment, false));
	if (heap != DRAY_HEAP_ANY) {
		name = why_heap_name(finding, heap);
		advice_add(finding, "other-heap", NULL,
			   "another heap: --heap %s", name);
		free(name);
	}
	if (mode != request->mode)
		advice_add(finding, "other-mode", NULL,
			   "another mode: --mode %s", mode_word(mode, word));
}

/* The next mask of 2^n - 1 above @mask, or the same if there is none. */
static uint64_t next_mask(uint64_t mask)
{
	uint64_t next = 0;

	while (next <= mask && next != UINT64_MAX)
		next = next * 2 + 1;
	return next;
}

/* Finds the lowest mask of 2^n - 1 that is enough and that the device has. */
static bool find_mask(const struct why_finding *finding, uint64_t *mask)
{
	const struct dray_info *info = &finding->plan.info;
	struct plan_request tried = finding->request;
	struct plan_node plan;
	bool served = false;
	uint32_t heap;

	while (!served && tried.mask < info->dma_mask) {
		tried.mask = next_mask(tried.mask);
		if (tried.mask > info->dma_mask ||
		    plan_read(finding->node->node, info, &tried, &plan))
			break;
		served = !plan_decide(&plan, &tried, &heap).error;
		plan_free(&plan);
	}
	*mask = tried.mask;
	return served;
}

static void advise_mask(struct why_finding *finding)
{
	uint64_t mask;

	if (finding->request.mask && find_mask(finding, &mask))
		advice_add(finding, "higher-mask", NULL,
			   "a higher mask: --mask 0x%" PRIx64, mask);
	if (finding->answer.reason == DRAY_REASON_PERMISSION)
		advice_add(
			finding, "right", NULL,
			"CAP_SYS_RAWIO, as root has it, or a mask of 0x%" PRIx64,
			finding->answer.limit);
}

/* Raises the limit of a heap, or of its users, so that @bytes more fit. */
static void advise_limit(struct why_finding *finding, const char *which,
			 uint64_t limit, uint64_t used, uint64_t bytes)
{
	char *name;

	if (!limit || (used <= limit && bytes <= limit - used))
		return;
	name = why_heap_name(finding, finding->heap);
	advice_add(finding, "raise-limit",
		   text_format("echo %" PRIu64 " >/sys/class/dray-heap/%s/%s",
			       used + bytes, name, which),
		   "a %s of %" PRIu64
		   " bytes for the heap %s, as root; when the "
		   "module is loaded: the parameter %s%s",
		   which, used + bytes, name,
		   strcmp(which, "limit") ? "" : "heap_", which);
	free(name);
}

static void advise_limits(struct why_finding *finding)
{
	const struct plan_node *plan = &finding->plan;
	const struct dray_heap_info *info;
	uint64_t bytes;

	if (finding->heap == DRAY_HEAP_ANY)
		return;
	info = &plan->heaps[finding->heap].info;
	bytes = plan_charge(plan, finding->heap, &finding->request);
	if (finding->answer.reason == DRAY_REASON_QUOTA) {
		advise_limit(finding, "limit", info->limit, info->charged,
			     bytes);
		advise_limit(finding, "user_limit", info->user_limit,
			     info->user_used, bytes);
	}
	if (finding->answer.reason == DRAY_REASON_MEMLOCK)
		advice_add(finding, "raise-memlock",
			   text_format("ulimit -l %" PRIu64,
				       (plan->locked + bytes + 1023) / 1024),
			   "a limit of locked memory of %" PRIu64
			   " bytes, or CAP_IPC_LOCK",
			   plan->locked + bytes);
}

/* The size at which an empty heap, or this one as it is, would serve it. */
static uint64_t size_of_region(const struct why_finding *finding)
{
	const struct plan_answer *answer = &finding->answer;
	uint64_t bytes =
		plan_charge(&finding->plan, finding->heap, &finding->request);

	if (answer->reason == DRAY_REASON_SIZE)
		return bytes;
	return finding->plan.heaps[finding->heap].info.total + bytes -
	       answer->limit;
}

static void advise_region(struct why_finding *finding)
{
	uint32_t reason = finding->answer.reason;
	char *name;

	if (finding->heap == DRAY_HEAP_ANY)
		return;
	if (reason == DRAY_REASON_ORDER) {
		advice_add(
			finding, "larger-region", NULL,
			"a region of the device tree (memory-region) for the "
			"node: the page allocator does not offer larger pieces");
	} else if (reason == DRAY_REASON_SIZE || reason == DRAY_REASON_FULL) {
		name = why_heap_name(finding, finding->heap);
		advice_add(finding, "larger-region", NULL,
			   "a region of the device tree with at least %" PRIu64
			   " bytes for the heap %s",
			   size_of_region(finding), name);
		free(name);
	}
}

void why_advise(struct why_finding *finding)
{
	advise_holders(finding);
	advise_waiting(finding);
	advise_request(finding);
	advise_mask(finding);
	advise_limits(finding);
	advise_region(finding);
}
