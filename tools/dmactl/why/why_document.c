// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The answer of dmactl why as JSON: schema/why.json describes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "why.h"
#include "base/words.h"

/* Words for the reasons that ALLOC has. */
static const char *reason_word(uint32_t reason)
{
	static const char *const words[] = {
		[DRAY_REASON_SIZE] = "size",
		[DRAY_REASON_ALIGNMENT] = "alignment",
		[DRAY_REASON_MASK] = "mask",
		[DRAY_REASON_FULL] = "full",
		[DRAY_REASON_FRAGMENTED] = "fragmented",
		[DRAY_REASON_ORDER] = "order",
		[DRAY_REASON_HEAP] = "heap",
		[DRAY_REASON_MODE] = "mode",
		[DRAY_REASON_PERMISSION] = "permission",
		[DRAY_REASON_QUOTA] = "quota",
		[DRAY_REASON_MEMLOCK] = "memlock",
	};

	return reason < sizeof(words) / sizeof(*words) && words[reason]
		       ? words[reason]
		       : "other";
}

/* @heap: an index, or DRAY_HEAP_ANY for null. */
static void set_heap(json_t *object, const struct why_finding *finding,
		     uint32_t heap)
{
	if (heap == DRAY_HEAP_ANY)
		document_set(object, "heap", json_null());
	else
		document_text(object, "heap",
			      finding->plan.heaps[heap].info.name,
			      DRAY_NAME_LEN);
}

static json_t *request_document(const struct why_finding *finding)
{
	const struct plan_request *request = &finding->request;
	json_t *object = json_object();
	char word[WORD_ROOM], mask[WORD_ROOM + 8];

	document_number(object, "size", request->size);
	document_number(object, "alignment", request->alignment);
	if (request->mask) {
		snprintf(mask, sizeof(mask), "0x%" PRIx64, request->mask);
		document_word(object, "mask", mask);
	} else {
		document_set(object, "mask", json_null());
	}
	set_heap(object, finding, request->heap);
	document_word(object, "mode", mode_word(request->mode, word));
	return object;
}

static void set_refusal(json_t *object, const struct plan_answer *answer)
{
	json_t *refusal = json_object();
	char *sentence;

	if (!answer->error) {
		json_decref(refusal);
		document_set(object, "refusal", json_null());
		return;
	}
	sentence = why_sentence(answer);
	document_word(refusal, "reason", reason_word(answer->reason));
	document_number(refusal, "limit", answer->limit);
	document_number(refusal, "errno", (uint64_t)-answer->error);
	document_word(refusal, "text", sentence);
	document_set(object, "refusal", refusal);
	free(sentence);
}

static json_t *heaps_document(const struct why_finding *finding)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < finding->plan.info.heap_count; i++) {
		struct plan_answer answer =
			plan_heap(&finding->plan, i, &finding->request);
		json_t *object = json_object();
		char type[WORD_ROOM];

		set_heap(object, finding, i);
		document_word(object, "type",
			      heap_type_word(finding->plan.heaps[i].info.type,
					     type));
		document_set(object, "asked",
			     json_boolean(why_asks(finding, i)));
		document_word(object, "answer", why_word(&answer));
		set_refusal(object, &answer);
		document_set(array, NULL, object);
	}
	return array;
}

static json_t *holder_document(const struct why_holder *holder)
{
	json_t *object = document_buffer(&holder->entry);
	json_t *keepers = json_array();
	size_t i;

	document_number(object, "needed", holder->bytes);
	for (i = 0; i < holder->keepers.count; i++) {
		const struct holder *one = &holder->keepers.entries[i];
		json_t *keeper = json_object();

		document_set(keeper, "pid", json_integer(one->pid));
		document_text(keeper, "comm", one->comm, sizeof(one->comm));
		document_set(keepers, NULL, keeper);
	}
	document_set(object, "keepers", keepers);
	if (*holder->lent_to)
		document_text(object, "lent_to", holder->lent_to,
			      sizeof(holder->lent_to));
	else
		document_set(object, "lent_to", json_null());
	return object;
}

static json_t *need_document(const struct why_finding *finding)
{
	static const char *const kinds[] = {
		[WHY_RANGE] = "range",
		[WHY_LIMIT] = "limit",
		[WHY_LOCKED] = "locked-memory",
	};
	const struct why_need *need = &finding->need;
	json_t *object, *holders;
	size_t i;

	if (need->kind == WHY_NOTHING)
		return json_null();
	object = json_object();
	holders = json_array();
	document_word(object, "kind", kinds[need->kind]);
	set_heap(object, finding, need->heap);
	document_number(object, "bytes", need->bytes);
	if (need->kind == WHY_RANGE) {
		document_number(object, "offset", need->window.offset);
		document_number(object, "length", need->window.length);
	}
	for (i = 0; i < need->count; i++)
		document_set(holders, NULL, holder_document(&need->holders[i]));
	document_set(object, "holders", holders);
	document_number(object, "others", need->others);
	document_number(object, "quarantined", need->quarantined);
	document_number(object, "system", need->system);
	return object;
}

static json_t *advice_document(const struct why_finding *finding)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < finding->advice_count; i++) {
		const struct why_advice *advice = &finding->advice[i];
		json_t *object = json_object();

		document_word(object, "kind", advice->kind);
		document_text(object, "text", advice->text,
			      strlen(advice->text));
		if (advice->command)
			document_text(object, "command", advice->command,
				      strlen(advice->command));
		else
			document_set(object, "command", json_null());
		document_set(array, NULL, object);
	}
	return array;
}

void why_print_json(const struct why_finding *finding)
{
	const struct plan_answer *answer = &finding->answer;
	json_t *root = json_object();

	document_text(root, "node", finding->node->name, DRAY_NAME_LEN);
	document_set(root, "request", request_document(finding));
	document_word(root, "answer", why_word(answer));
	set_heap(root, finding, answer->error ? DRAY_HEAP_ANY : finding->heap);
	set_refusal(root, answer);
	document_set(root, "heaps", heaps_document(finding));
	document_set(root, "needed", need_document(finding));
	document_set(root, "would_help", advice_document(finding));
	document_print(root);
}
