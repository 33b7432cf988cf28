// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The answer of dmactl why for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "base/quantity.h"
#include "base/table.h"
#include "why.h"
#include "base/words.h"

#define LINES_SHOWN 16 /* of holders, and of advice */

const char *why_word(const struct plan_answer *answer)
{
	if (answer->error)
		return answer->likely ? "likely not" : "no";
	return answer->likely ? "likely" : "yes";
}

char *why_sentence(const struct plan_answer *answer)
{
	size_t length = dray_reason_text(answer->error, answer->reason,
					 answer->limit, NULL, 0);
	char *text;

	if (!length)
		return text_format("%s", strerror(-answer->error));
	text = memory_new(length + 1, 1);
	dray_reason_text(answer->error, answer->reason, answer->limit, text,
			 length + 1);
	return text;
}

/* Why the answer may be wrong. */
static const char *why_print_doubt(const struct plan_heap *heap)
{
	if (heap->info.type == DRAY_HEAP_PAGES)
		return "the system takes and frees this memory all the time";
	if (heap->info.type == DRAY_HEAP_CMA)
		return "others use this memory too, and may not make room";
	if (!plan_is_dedicated(heap))
		return "dmactl does not know this type of heap";
	if (heap->error)
		return "this module does not tell how the heap is divided";
	return "the IOMMU chooses the addresses";
}

static void print_answer(const struct request *request,
			 const struct why_finding *finding)
{
	const struct plan_answer *answer = &finding->answer;
	enum table_colour colour = answer->error ? TABLE_BAD : TABLE_GOOD;
	char *sentence, *name;

	printf("%s%s%s: ", colour_on(request, colour), why_word(answer),
	       colour_off(request, colour));
	name = finding->heap == DRAY_HEAP_ANY
		       ? text_format("%s", finding->node->name)
		       : why_heap_name(finding, finding->heap);
	if (answer->error) {
		sentence = why_sentence(answer);
		printf("%s: %s\n", name, sentence);
		free(sentence);
	} else {
		printf("heap %s of %s would serve it%s\n", name,
		       finding->node->name,
		       answer->elsewhere ? ", or one before it" : "");
	}
	free(name);
}

static void print_heaps(const struct request *request,
			const struct why_finding *finding)
{
	struct table *table = table_create("~HEAP TYPE ~ANSWER ~REASON");
	uint32_t i;

	for (i = 0; i < finding->plan.info.heap_count; i++) {
		const struct plan_heap *heap = &finding->plan.heaps[i];
		struct plan_answer answer =
			plan_heap(&finding->plan, i, &finding->request);
		char *sentence = answer.error ? why_sentence(&answer) : NULL;
		char type[WORD_ROOM];

		if (!why_asks(finding, i) &&
		    finding->request.heap != DRAY_HEAP_ANY) {
			free(sentence);
			continue;
		}
		table_name(table, TABLE_PLAIN, heap->info.name, DRAY_NAME_LEN);
		table_cell(table, TABLE_PLAIN, "%s",
			   heap_type_word(heap->info.type, type));
		table_cell(table, answer.error ? TABLE_BAD : TABLE_GOOD, "%s",
			   why_asks(finding, i) ? why_word(&answer)
						: "not asked");
		table_cell(table, TABLE_PLAIN, "%s%s%s",
			   sentence ? sentence : "",
			   answer.likely ? sentence ? "; " : "" : "",
			   answer.likely ? why_print_doubt(heap) : "");
		free(sentence);
	}
	table_print(table, request);
	table_destroy(table);
}

static void print_need_title(const struct request *request,
			     const struct why_finding *finding)
{
	const struct why_need *need = &finding->need;
	char *name = why_heap_name(finding, need->heap);
	char bytes[QUANTITY_ROOM], length[QUANTITY_ROOM];
	char offset[QUANTITY_ROOM];

	quantity_size(bytes, need->bytes, request->bytes);
	quantity_size(length, need->window.length, request->bytes);
	quantity_size(offset, need->window.offset, request->bytes);
	if (need->kind == WHY_RANGE)
		printf("\nneeded: %s of heap %s, at offset %s, if these %s "
		       "are given back:\n",
		       length, name, offset, bytes);
	else
		printf("\nneeded: %s of %s, such as:\n", bytes,
		       need->kind == WHY_LOCKED ? "locked memory" : name);
	free(name);
}

static void print_add_holder(struct table *table, const struct request *request,
			     const struct why_holder *holder)
{
	const struct dray_buffer_info *info = &holder->entry.info;
	char *user = user_word(info->uid);

	table_cell(table, TABLE_PLAIN, "%" PRIu64, (uint64_t)info->id);
	table_size(table, request, info->size);
	table_size(table, request, holder->bytes);
	table_owner(table, info);
	table_name(table, TABLE_PLAIN, info->comm, sizeof(info->comm));
	table_name(table, TABLE_PLAIN, user, strlen(user));
	table_name(table, TABLE_PLAIN, info->name, sizeof(info->name));
	free(user);
}

/* Adds memory without an id; @words name its owner. */
static void add_rest(struct table *table, const struct request *request,
		     uint64_t bytes, const char *words)
{
	if (!bytes)
		return;
	table_cell(table, TABLE_PLAIN, "-");
	table_cell(table, TABLE_PLAIN, "-");
	table_size(table, request, bytes);
	table_cell(table, TABLE_PLAIN, "-");
	table_cell(table, TABLE_PLAIN, "-");
	table_cell(table, TABLE_PLAIN, "-");
	table_cell(table, TABLE_PLAIN, "%s", words);
}

static void print_need(const struct request *request,
		       const struct why_finding *finding)
{
	const struct why_need *need = &finding->need;
	struct table *table;
	size_t i;

	if (need->kind == WHY_NOTHING)
		return;
	print_need_title(request, finding);
	table = table_create(">ID >SIZE >NEEDED >PID ~COMM ~USER ~NAME");
	for (i = 0; i < need->count && i < LINES_SHOWN; i++)
		print_add_holder(table, request, &need->holders[i]);
	add_rest(table, request, need->others,
		 "(buffers that you may not see)");
	add_rest(table, request, need->quarantined,
		 "(quarantine: freed, but the pages are still in use)");
	add_rest(table, request, need->system, "(the system)");
	table_print(table, request);
	table_destroy(table);
	if (need->count > i)
		printf("and %zu more; --json has all\n", need->count - i);
}

static void print_advice(const struct why_finding *finding)
{
	size_t i;

	if (!finding->advice_count)
		return;
	printf("\nwould help:\n");
	for (i = 0; i < finding->advice_count; i++) {
		const struct why_advice *advice = &finding->advice[i];

		/* Processes come first: the other ways are always shown. */
		if (i >= LINES_SHOWN && !strcmp(advice->kind, "end-process"))
			continue;
		printf("  %s", advice->text);
		if (advice->command)
			printf(": %s", advice->command);
		putchar('\n');
	}
}

void why_print(const struct request *request, const struct why_finding *finding)
{
	print_answer(request, finding);
	if (!finding->answer.error && !finding->answer.likely)
		return;
	if (finding->answer.error && finding->heap == DRAY_HEAP_ANY &&
	    finding->answer.reason != DRAY_REASON_MODE) {
		print_advice(finding);
		return;
	}
	putchar('\n');
	print_heaps(request, finding);
	print_need(request, finding);
	print_advice(finding);
}
