// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of a heap's range, from copies of two things: of the list of
 * buffers, without references to them, and then of the heap's bitmaps.  A walk
 * locks nothing and follows the range without gaps, even if the heap changes
 * meanwhile.  A buffer overrides the bitmaps.  Of two buffers with common pages
 * the later owns them: the other was freed after it was copied.  A page in use,
 * but in no copied buffer, belongs to an unknown buffer, which was just made or
 * is being freed.
 */
#include <linux/bitmap.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pfn.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "buffer.h"
#include "parts.h"

/* Leaves room for buffers made since they were counted. */
#define DRAY_PARTS_MARGIN 16

static int dray_parts_grow(struct dray_parts *parts)
{
	size_t room = parts->room ? 2 * parts->room
				  : atomic_read(&parts->heap->buffers) +
					    DRAY_PARTS_MARGIN;
	struct dray_page_run *buffers;

	buffers = kvmalloc_array(room, sizeof(*buffers), GFP_KERNEL_ACCOUNT);
	if (!buffers)
		return -ENOMEM;
	if (parts->count)
		memcpy(buffers, parts->buffers,
		       parts->count * sizeof(*buffers));
	kvfree(parts->buffers);
	parts->buffers = buffers;
	parts->room = room;
	return 0;
}

static void dray_parts_add(struct dray_parts *parts, struct dray_buffer *buffer,
			   bool all)
{
	unsigned long first =
		PHYS_PFN(buffer->memory.start) - PHYS_PFN(parts->heap->start);

	parts->buffers[parts->count++] = (struct dray_page_run){
		.first = first,
		.end = first + (buffer->memory.size >> PAGE_SHIFT),
		.id = buffer->entry.id,
		.state = atomic_read(&buffer->entry.held) ? DRAY_PART_HELD
							  : DRAY_PART_BUFFER,
		.visible = all || dray_entry_is_own(&buffer->entry),
	};
}

/*
 * Ends at the latest with twice as many buffers as there are pages, if others
 * make and free buffers as fast as this copies them.
 */
static int dray_parts_collect(struct dray_parts *parts)
{
	bool all = dray_entry_sees_all();
	struct dray_buffer *buffer;
	struct dray_entry *entry;
	u64 id = 0;
	int ret = 0;

	while (parts->count / 2 <= parts->use.pages &&
	       (entry = dray_entry_next(&id))) {
		buffer = dray_entry_buffer(entry);
		if (buffer && buffer->heap == parts->heap) {
			if (parts->count == parts->room)
				ret = dray_parts_grow(parts);
			if (!ret)
				dray_parts_add(parts, buffer, all);
		}
		dray_entry_put(entry);
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

static int dray_piece_compare(const void *left, const void *right)
{
	const struct dray_page_run *a = left, *b = right;

	cond_resched();
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Identifiers grow: of two buffers with common pages the greater is later. */
static void dray_parts_settle(struct dray_parts *parts)
{
	struct dray_page_run *kept = parts->buffers, *piece;
	size_t count = 0, i;

	sort(kept, parts->count, sizeof(*kept), dray_piece_compare, NULL);
	for (i = 0; i < parts->count; i++) {
		piece = &parts->buffers[i];
		while (count && kept[count - 1].end > piece->first &&
		       kept[count - 1].id < piece->id)
			count--;
		if (!count || kept[count - 1].end <= piece->first)
			kept[count++] = *piece;
	}
	parts->count = count;
}

/* The three bitmaps share a single allocation. */
static int dray_parts_use(struct dray_parts *parts)
{
	struct dray_heap_use *use = &parts->use;
	size_t longs = BITS_TO_LONGS(use->pages);

	if (!parts->heap->ops->use)
		return 0;
	use->taken =
		kvcalloc(3 * longs, sizeof(*use->taken), GFP_KERNEL_ACCOUNT);
	if (!use->taken)
		return -ENOMEM;
	use->quarantined = use->taken + longs;
	use->condemned = use->quarantined + longs;
	parts->heap->ops->use(parts->heap, use);
	return 0;
}

int dray_parts_look(struct dray_parts *parts, struct dray_heap *heap)
{
	int ret;

	*parts = (struct dray_parts){
		.heap = heap,
		.use.pages = heap->size >> PAGE_SHIFT,
	};
	ret = dray_parts_collect(parts);
	if (ret)
		return ret;
	dray_parts_settle(parts);
	return dray_parts_use(parts);
}

/* Finds the run without a buffer from @piece->first on, within @piece. */
static void dray_use_run(const struct dray_heap_use *use,
			 struct dray_page_run *piece)
{
	unsigned long first = piece->first, end = piece->end;

	if (!use->taken) {
		piece->state = DRAY_PART_SYSTEM;
	} else if (!test_bit(first, use->taken)) {
		piece->state = DRAY_PART_FREE;
		piece->end = find_next_bit(use->taken, end, first);
	} else if (test_bit(first, use->quarantined)) {
		piece->state = DRAY_PART_QUARANTINED;
		piece->end = find_next_zero_bit(use->quarantined, end, first);
	} else if (test_bit(first, use->condemned)) {
		piece->state = DRAY_PART_CONDEMNED;
		piece->end = find_next_zero_bit(use->condemned, end, first);
	} else {
		piece->state = DRAY_PART_BUFFER;
		end = find_next_zero_bit(use->taken, end, first);
		end = find_next_bit(use->quarantined, end, first);
		piece->end = find_next_bit(use->condemned, end, first);
	}
}

/* Finds the run at the walk's page, which lies in the range. */
static void dray_parts_piece(const struct dray_parts *parts,
			     struct dray_page_run *piece)
{
	*piece = (struct dray_page_run){
		.first = parts->at,
		.end = parts->use.pages,
	};
	if (parts->next < parts->count) {
		if (parts->buffers[parts->next].first == parts->at) {
			*piece = parts->buffers[parts->next];
			return;
		}
		piece->end = parts->buffers[parts->next].first;
	}
	dray_use_run(&parts->use, piece);
}

static void dray_parts_pass(struct dray_parts *parts,
			    const struct dray_page_run *piece)
{
	parts->at = piece->end;
	parts->next += !!piece->id;
}

bool dray_parts_next(struct dray_parts *parts, struct dray_part *part)
{
	unsigned long pages = parts->use.pages;
	struct dray_page_run piece, other;

	if (parts->at == pages)
		return false;
	dray_parts_piece(parts, &piece);
	dray_parts_pass(parts, &piece);
	while (!piece.visible && parts->at < pages) {
		dray_parts_piece(parts, &other);
		if (other.visible || other.state != piece.state)
			break;
		dray_parts_pass(parts, &other);
		piece.end = other.end;
	}
	*part = (struct dray_part){
		.offset = (u64)piece.first << PAGE_SHIFT,
		.length = (u64)(piece.end - piece.first) << PAGE_SHIFT,
		.id = piece.visible ? piece.id : 0,
		.state = piece.state,
	};
	return true;
}

void dray_parts_free(struct dray_parts *parts)
{
	kvfree(parts->use.taken);
	kvfree(parts->buffers);
}
