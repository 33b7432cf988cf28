/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * notes: the arrays in blocks, for snapshots of pools (snapshot.c).  The array
 * library notes the arrays that it makes.
 */
#ifndef DRAY_PUBLISH_NOTES_H
#define DRAY_PUBLISH_NOTES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dray/publish.h>

#include "base/shared.h"

#define DRAY_NOTE_TYPE 256 /* bytes, with the zero */

/* An array as its note describes it. */
struct dray_note {
	uint64_t bytes; /* of its elements */
	uint32_t ndim;
	int64_t shape[DRAY_PUBLISH_AXES];
	char type[DRAY_NOTE_TYPE];
};

/* Whether arrays are noted, as long as the process publishes. */
DRAY_PRIVATE extern _Atomic bool dray_notes_wanted;

static inline bool dray_notes_are_wanted(void)
{
	return __builtin_expect(atomic_load_explicit(&dray_notes_wanted,
						     memory_order_relaxed),
				0);
}

/* Before any other call here. */
void dray_notes_enlist(void);

/*
 * Notes that the elements of @array begin at @start.  @describe, the same in all
 * calls, fills a note from an array; it takes no lock of the library above
 * the lock of notes.  False if memory runs out.
 */
DRAY_PRIVATE bool dray_note_add(const void *start, const void *array,
				void (*describe)(const void *array,
						 struct dray_note *out));

/* Removes it; before the memory at @start is freed. */
DRAY_PRIVATE void dray_note_remove(const void *start);

/*
 * With the lock, no array that is noted ends.  dray_note_read() is called with
 * it; false if no array begins at @start.
 */
void dray_notes_lock(void);
void dray_notes_unlock(void);
bool dray_note_read(const void *start, struct dray_note *out);

/*
 * Writes the name of the engine that a part of these bytes is lent to; false if none is.
 * Called without a lock.  @to: of struct dray_publish_loan
 */
typedef bool dray_lent_to(const void *start, uint64_t size, char *to);

/* Sets that function; each caller sets the same function. */
void dray_notes_set_lent(dray_lent_to *lent);
/* Calls it; false if none is set. */
bool dray_note_lent(const void *start, uint64_t size, char *to);

/*
 * Arrays of a runtime, as it shows them for a snapshot (runtime.c).  Called
 * without a lock, which foreign code may need.
 */
struct dray_runtime;
struct dray_runtime *dray_runtime_gather(void); /* NULL: none, or no memory */
bool dray_runtime_read(const struct dray_runtime *runtime, const void *start,
		       struct dray_note *out);
void dray_runtime_drop(struct dray_runtime *runtime);

#endif /* DRAY_PUBLISH_NOTES_H */
