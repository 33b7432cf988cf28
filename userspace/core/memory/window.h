/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The window: a range of addresses, reserved once, in which every buffer of the
 * process is mapped, so that an address leads to its buffer by a shift and two
 * loads.  A buffer covers whole slots of 2 MiB; the table leads from each slot to
 * the first slot of its span.
 *
 * Spans are never freed, only reused, and their fields are atomic: a wild
 * pointer may be looked up while its buffer ends.  A caller that acts on a span
 * must check, under the owner's lock, that it is still valid.
 *
 * A buffer's object is freed with it, so a span holds all that such a lookup
 * needs: its size, and a number that shows if both belong together.  Each store
 * releases the stores before it, and each load acquires: a reader that sees any
 * field of a later buffer reads a later number after it.
 */
#ifndef DRAY_MEMORY_WINDOW_H
#define DRAY_MEMORY_WINDOW_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"

#define DRAY_SLOT_SHIFT 21
#define DRAY_SLOT_SIZE ((size_t)1 << DRAY_SLOT_SHIFT)

struct dray_buffer;

struct dray_span {
	_Atomic(struct dray_buffer *) buffer;	/* NULL: the span is free */
	_Atomic(void *) owner;	/* a pool's region, NULL: the buffer alone */
	_Atomic size_t size;	/* bytes that the buffer began with */
	_Atomic uint32_t turn;	/* how many buffers there were so far */
	uint32_t slots;		/* guarded by the window's lock */
};

struct dray_window {
	_Atomic size_t slots;	/* 0 before the first buffer */
	uintptr_t base;
	_Atomic uint32_t *table;	/* for each slot: its span + 1, 0: none */
	struct dray_span *spans;	/* of slots; for each slot */
};

DRAY_PRIVATE extern struct dray_window dray_window;

/* The span that @address lies in, or NULL; without a lock. */
static inline struct dray_span *dray_window_find(const void *address)
{
	size_t slots = atomic_load_explicit(&dray_window.slots,
					    memory_order_acquire);
	uintptr_t slot;
	uint32_t span;

	slot = ((uintptr_t)address - dray_window.base) >> DRAY_SLOT_SHIFT;
	if (slot >= slots)
		return NULL;
	span = atomic_load_explicit(&dray_window.table[slot],
				    memory_order_acquire);
	return span ? &dray_window.spans[span - 1] : NULL;
}

/* The first address of a span of the window. */
static inline void *dray_span_start(const struct dray_span *span)
{
	return (void *)(dray_window.base +
			((uintptr_t)(span - dray_window.spans)
			 << DRAY_SLOT_SHIFT));
}

/* The size of the buffer that is to be published in a span, which is free. */
static inline void dray_span_measure(struct dray_span *span, size_t size)
{
	uint32_t turn = atomic_load_explicit(&span->turn, memory_order_relaxed);

	atomic_store_explicit(&span->turn, turn + 1, memory_order_release);
	atomic_store_explicit(&span->size, size, memory_order_release);
}

/* The buffer, never to be followed, and its size; NULL: there was none. */
static inline struct dray_buffer *dray_span_buffer(struct dray_span *span,
						   size_t *size)
{
	uint32_t turn = atomic_load_explicit(&span->turn, memory_order_acquire);
	struct dray_buffer *buffer =
		atomic_load_explicit(&span->buffer, memory_order_acquire);

	*size = atomic_load_explicit(&span->size, memory_order_acquire);
	return atomic_load_explicit(&span->turn, memory_order_relaxed) == turn
		       ? buffer
		       : NULL;
}

/* Lets forks acquire the window's lock; before its first use. */
void dray_window_enlist(void);

/*
 * Reserves @size bytes of the window for @buffer, at a multiple of @alignment, and
 * another byte, so that arrays that fill two buffers do not touch (handler.c says
 * why).  Nothing is mapped there yet, and nothing is found there before
 * dray_window_publish().  -ENOMEM with a sentence.
 */
int dray_window_take(uint64_t size, uint64_t alignment, void **start);
/* From here on the addresses from @start on lead to @buffer. */
void dray_window_publish(void *start, struct dray_buffer *buffer);

/* Unmaps the pages there, and frees the addresses for another buffer. */
void dray_window_give(void *start);

/*
 * Reserves part of a span again, after a mapping over it failed: the kernel may
 * unmap the old pages before it notices.  0 or -ENOMEM.
 */
int dray_window_clear(void *start, size_t size);

/* Bytes that are not in use, not necessarily in a single run. */
size_t dray_window_room(void);

/* Bytes of the window, which this reserves; 0 if it cannot. */
size_t dray_window_size(void);

#endif /* DRAY_MEMORY_WINDOW_H */
