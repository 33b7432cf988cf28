// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Events about a buffer name it by its id only, so that its owner and heap are
 * remembered from its allocation to its end.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter.h"
#include "base/gather.h"
#include "interest.h"

const struct command_option event_option = {
	.name = "event",
	.value = "NAME",
	.offers = "alloc|free|fail|map|mmap|sync|attach|detach|submit|complete|"
		  "frame_submit|frame_complete",
	.text = "only events of this kind; may be given again",
};

struct known {
	uint64_t id;
	int64_t pid;
	char heap[EVENT_TEXT_ROOM];
};

static int interest_compare_ids(const void *a, const void *b)
{
	const struct known *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

static const struct known *interest_find(struct interest *interest, uint64_t id)
{
	const struct known wanted = { .id = id };
	struct known **node =
		tfind(&wanted, &interest->buffers, interest_compare_ids);

	return node ? *node : NULL;
}

static void interest_learn(struct interest *interest, uint64_t id, int64_t pid,
			   const char *heap, size_t room)
{
	struct known *known;

	if (interest_find(interest, id))
		return;
	known = memory_new(1, sizeof(*known));
	known->id = id;
	known->pid = pid;
	memcpy(known->heap, heap,
	       strnlen(heap,
		       room < EVENT_TEXT_ROOM ? room : EVENT_TEXT_ROOM - 1));
	if (!tsearch(known, &interest->buffers, interest_compare_ids))
		free(known);
}

static void interest_forget(struct interest *interest, uint64_t id)
{
	const struct known *known = interest_find(interest, id);

	if (!known)
		return;
	tdelete(known, &interest->buffers, interest_compare_ids);
	free((void *)known);
}

static bool read_kinds(const struct request *request, uint32_t possible,
		       uint32_t *kinds)
{
	const char *name;
	size_t i;

	*kinds = 0;
	for (i = 0; (name = option_value_at(request, &event_option, i)); i++) {
		enum event_kind kind = event_kind_of(name);

		if (kind == EVENT_KINDS) {
			complain("no event '%s': there are %s", name,
				 event_option.offers);
			return false;
		}
		if (!(possible & EVENT_BIT(kind))) {
			complain("event '%s' is not one of an allocation, "
				 "as --csv needs: alloc, free or fail",
				 name);
			return false;
		}
		*kinds |= EVENT_BIT(kind);
	}
	if (!i)
		*kinds = possible;
	return true;
}

bool interest_make(const struct request *request, uint32_t possible,
		   struct interest *interest)
{
	struct filter filter;

	*interest = (struct interest){
		.request = request,
		.narrow = option_value(request, &pid_option) ||
			  option_value(request, &heap_filter_option),
	};
	return filter_make(request, &filter) &&
	       read_kinds(request, possible, &interest->kinds);
}

uint32_t interest_kinds(const struct interest *interest)
{
	if (!interest->narrow)
		return interest->kinds;
	return interest->kinds | EVENT_BIT(EVENT_ALLOC) | EVENT_BIT(EVENT_FREE);
}

bool interest_begin(struct interest *interest)
{
	struct buffer_list list;
	size_t i;

	if (!interest->narrow)
		return true;
	if (!buffers_gather(interest->request, &list))
		return false;
	for (i = 0; i < list.count; i++) {
		const struct dray_buffer_info *info = &list.entries[i].info;

		interest_learn(interest, info->id, info->pid, info->heap_name,
			       sizeof(info->heap_name));
	}
	buffers_free(&list);
	return true;
}

void interest_drop(struct interest *interest)
{
	tdestroy(interest->buffers, free);
}

static bool interest_has(enum event_number which, const struct event *event)
{
	return event_numbers[which].kinds & EVENT_BIT(event->kind);
}

static bool event_is_wanted(struct interest *interest,
			    const struct event *event)
{
	const struct filter filter = { .request = interest->request };
	const struct known *known = NULL;
	const char *heap = event->text[EVENT_HEAP];
	bool process;

	if (interest_has(EVENT_ID, event))
		known = interest_find(interest, event->number[EVENT_ID]);
	process = filter_pid(&filter, event_signed(event, EVENT_PID)) ||
		  (known && filter_pid(&filter, known->pid));
	if (!*heap && known)
		heap = known->heap;
	return process && filter_heap(&filter, heap, EVENT_TEXT_ROOM);
}

bool interest_wants(struct interest *interest, const struct event *event)
{
	bool wanted;

	if (interest->narrow && event->kind == EVENT_ALLOC)
		interest_learn(interest, event->number[EVENT_ID],
			       event_signed(event, EVENT_PID),
			       event->text[EVENT_HEAP], EVENT_TEXT_ROOM);
	wanted = interest->kinds & EVENT_BIT(event->kind) &&
		 (!interest->narrow || event_is_wanted(interest, event));
	if (interest->narrow && event->kind == EVENT_FREE)
		interest_forget(interest, event->number[EVENT_ID]);
	return wanted;
}
