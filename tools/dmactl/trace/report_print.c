// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The report as tables and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/quantity.h"
#include "report.h"
#include "base/table.h"

#define SHOWN 10 /* buffers that are left, in a table; JSON has all */

static uint64_t print_length_of(const struct history *history)
{
	return history->end_ns - history->begin_ns;
}

/* Returns bytes a second; 0 if the recording is too short to tell. */
static uint64_t print_rate_of(uint64_t bytes, uint64_t ns)
{
	double rate = ns ? (double)bytes * 1e9 / (double)ns : 0;

	return rate < 1e18 ? (uint64_t)rate : UINT64_MAX;
}

static void report_print_add_owner(struct table *table,
				   const struct history *history, size_t owner)
{
	char *name = report_owner(history, owner);

	table_name(table, TABLE_PLAIN, name, strlen(name));
	free(name);
}

static void print_title(const char *title, struct table *table,
			const struct request *request)
{
	if (table_rows(table)) {
		if (request->header)
			printf("\n%s:\n", title);
		else
			putchar('\n');
		table_print(table, request);
	}
	table_destroy(table);
}

static void report_print_summary(const struct history *history,
				 const struct request *request)
{
	char size[QUANTITY_ROOM], other[QUANTITY_ROOM], time[QUANTITY_ROOM];
	bool exact = request->bytes;

	printf("recorded:   %s, %" PRIu64 " events, %" PRIu64 " lost\n",
	       quantity_time(time, print_length_of(history)), history->events,
	       history->lost);
	printf("most taken: %s after %s\n",
	       quantity_size(size, history->peak, exact),
	       quantity_time(time, history->peak_ns - history->begin_ns));
	printf("left:       %s in %zu buffer%s\n",
	       quantity_size(size, history->now, exact), history->left_count,
	       history->left_count == 1 ? "" : "s");
	printf("synced:     %s in %" PRIu64 " calls\n",
	       quantity_size(size, history->synced, exact), history->syncs);
	printf("moved:      %s in %" PRIu64 " transfers, %s a second; "
	       "%" PRIu64 " failed\n",
	       quantity_size(size, history->moved, exact), history->transfers,
	       quantity_size(other,
			     print_rate_of(history->moved,
					   print_length_of(history)),
			     exact),
	       history->transfers_failed);
}

static void print_owners(const struct history *history,
			 const struct request *request)
{
	struct table *table = table_create(
		"OWNER >PEAK >LEFT >BUFFERS >ALLOCS >FREES >ALLOCATED");
	struct report_order order = report_order(history);
	size_t i;

	for (i = 0; i < order.count; i++) {
		const struct history_owner *owner =
			&history->owners[order.owner[i]];

		report_print_add_owner(table, history, order.owner[i]);
		table_size(table, request, owner->peak);
		table_size(table, request, owner->now);
		table_cell(table, TABLE_PLAIN, "%" PRIu64, owner->buffers);
		table_cell(table, TABLE_PLAIN, "%" PRIu64, owner->allocations);
		table_cell(table, TABLE_PLAIN, "%" PRIu64, owner->frees);
		table_size(table, request, owner->allocated);
	}
	print_title("memory by owner", table, request);
}

static void report_print_failures(const struct history *history,
				  const struct request *request)
{
	struct table *table = table_create(">COUNT CALL HEAP >LARGEST REASON");
	size_t i;

	for (i = 0; i < history->failure_count; i++) {
		const struct history_failure *failure = &history->failures[i];
		char *reason = event_reason(failure->error, failure->reason,
					    failure->limit);
		char word[EVENT_TEXT_ROOM];

		table_cell(table, TABLE_BAD, "%" PRIu64, failure->count);
		table_cell(table, TABLE_PLAIN, "%s",
			   event_call_word(failure->call, word));
		table_name(table, TABLE_PLAIN, failure->heap,
			   sizeof(failure->heap));
		if (failure->size)
			table_size(table, request, failure->size);
		else
			table_cell(table, TABLE_PLAIN, "-");
		table_cell(table, TABLE_PLAIN, "%s", reason);
		free(reason);
	}
	print_title("failed calls", table, request);
}

static void print_buffers(const struct history *history,
			  const struct request *request, const char *title,
			  const struct history_buffer *buffers, size_t count)
{
	struct table *table =
		table_create(">ID >SIZE HEAP OWNER >AGE END NAME");
	size_t i;

	for (i = 0; i < count; i++) {
		const struct history_buffer *buffer = &buffers[i];
		char age[QUANTITY_ROOM];

		table_cell(table, TABLE_PLAIN, "%" PRIu64, buffer->id);
		table_size(table, request, buffer->size);
		table_name(table, TABLE_PLAIN, buffer->heap,
			   sizeof(buffer->heap));
		report_print_add_owner(table, history, buffer->owner);
		table_cell(table, TABLE_PLAIN, "%s",
			   quantity_time(age, buffer->age_ns));
		table_cell(table, TABLE_PLAIN, "%s",
			   buffer->alive ? "left" : "freed");
		table_name(table, TABLE_PLAIN, buffer->name,
			   sizeof(buffer->name));
	}
	print_title(title, table, request);
}

void report_print(const struct history *history, const struct request *request)
{
	size_t left = history->left_count;

	report_print_summary(history, request);
	print_owners(history, request);
	report_print_failures(history, request);
	print_buffers(history, request, "lived longest", history->longest,
		      history->longest_count);
	print_buffers(history, request, "left at the end, the largest first",
		      history->left, left < SHOWN ? left : SHOWN);
	if (left > SHOWN)
		printf("and %zu more: --json has them all\n", left - SHOWN);
}

static json_t *owners_of(const struct history *history,
			 const struct report_order *order)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < order->count; i++) {
		const struct history_owner *owner =
			&history->owners[order->owner[i]];
		json_t *object = json_object();

		if (order->owner[i] == HISTORY_OWNERS) {
			document_set(object, "comm", json_null());
			document_set(object, "pid", json_null());
		} else {
			document_text(object, "comm", owner->comm,
				      sizeof(owner->comm));
			document_set(object, "pid", json_integer(owner->pid));
		}
		document_number(object, "peak", owner->peak);
		document_number(object, "left", owner->now);
		document_number(object, "buffers", owner->buffers);
		document_number(object, "allocations", owner->allocations);
		document_number(object, "frees", owner->frees);
		document_number(object, "allocated", owner->allocated);
		document_set(array, NULL, object);
	}
	return array;
}

static json_t *failures_of(const struct history *history)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < history->failure_count; i++) {
		const struct history_failure *failure = &history->failures[i];
		char *reason = event_reason(failure->error, failure->reason,
					    failure->limit);
		json_t *object = json_object();
		char word[EVENT_TEXT_ROOM];

		document_word(object, "call",
			      event_call_word(failure->call, word));
		document_text(object, "heap", failure->heap,
			      sizeof(failure->heap));
		document_number(object, "count", failure->count);
		document_number(object, "largest", failure->size);
		document_set(object, "error", json_integer(failure->error));
		document_number(object, "reason", failure->reason);
		document_text(object, "sentence", reason, strlen(reason));
		document_set(array, NULL, object);
		free(reason);
	}
	return array;
}

static json_t *buffers_of(const struct history *history,
			  const struct history_buffer *buffers, size_t count)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < count; i++) {
		const struct history_buffer *buffer = &buffers[i];
		char *owner = report_owner(history, buffer->owner);
		json_t *object = json_object();

		document_number(object, "id", buffer->id);
		document_number(object, "size", buffer->size);
		document_text(object, "heap", buffer->heap,
			      sizeof(buffer->heap));
		document_text(object, "name", buffer->name,
			      sizeof(buffer->name));
		document_text(object, "owner", owner, strlen(owner));
		document_number(object, "age_ns", buffer->age_ns);
		document_set(object, "left", json_boolean(buffer->alive));
		document_set(array, NULL, object);
		free(owner);
	}
	return array;
}

static json_t *steps_of(const struct history *history,
			const struct report_order *order)
{
	json_t *array = json_array();
	size_t i, j;

	for (i = 0; i <= history->step; i++) {
		const struct history_step *step = &history->steps[i];
		json_t *object = json_object();
		json_t *taken = json_array();
		json_t *heaps = json_array();

		document_number(object, "after_ns", i * history->width_ns);
		for (j = 0; j < order->count; j++)
			document_number(taken, NULL,
					step->owner[order->owner[j]]);
		document_set(object, "taken", taken);
		document_number(object, "synced", step->synced);
		document_number(object, "moved", step->moved);
		for (j = 0; j < history->heap_count; j++) {
			json_t *heap;

			if (!step->free[j] && !step->largest[j])
				continue;
			heap = json_object();
			document_text(heap, "heap", history->heaps[j],
				      EVENT_TEXT_ROOM);
			document_number(heap, "free", step->free[j]);
			document_number(heap, "largest_free", step->largest[j]);
			document_set(heaps, NULL, heap);
		}
		document_set(object, "heaps", heaps);
		document_set(array, NULL, object);
	}
	return array;
}

void report_document(const struct history *history, bool complete)
{
	struct report_order order = report_order(history);
	json_t *root = json_object();

	document_number(root, "begin_ns", history->begin_ns);
	document_number(root, "end_ns", history->end_ns);
	document_set(root, "complete", json_boolean(complete));
	document_number(root, "events", history->events);
	document_number(root, "lost", history->lost);
	document_number(root, "peak", history->peak);
	document_number(root, "left", history->now);
	document_number(root, "syncs", history->syncs);
	document_number(root, "synced", history->synced);
	document_number(root, "transfers", history->transfers);
	document_number(root, "transfers_failed", history->transfers_failed);
	document_number(root, "moved", history->moved);
	document_number(root, "failed", history->failed);
	document_set(root, "owners", owners_of(history, &order));
	document_set(root, "failures", failures_of(history));
	document_set(root, "longest",
		     buffers_of(history, history->longest,
				history->longest_count));
	document_set(root, "buffers_left",
		     buffers_of(history, history->left, history->left_count));
	document_number(root, "step_ns", history->width_ns);
	document_set(root, "steps", steps_of(history, &order));
	document_print(root);
}
