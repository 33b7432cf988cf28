// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * notes: a table from the addresses of elements to arrays.  It does not count
 * the arrays: an array leaves it before it gives up its memory, and that takes
 * the lock.
 */
#include "base/address_table.h"
#include "base/fork.h"
#include "publish/notes.h"

DEFINE_FORK_LOCK(DRAY_FORK_NOTES, lock);
static struct dray_address_table table;
static void (*describe_array)(const void *array, struct dray_note *out);

_Atomic bool dray_notes_wanted;

void dray_notes_enlist(void)
{
	dray_fork_enlist(&locks);
}

void dray_notes_lock(void)
{
	pthread_mutex_lock(&lock);
}

void dray_notes_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool dray_note_add(const void *start, const void *array,
		   void (*describe)(const void *array, struct dray_note *out))
{
	bool room;

	dray_notes_lock();
	describe_array = describe;
	room = dray_address_reserve(&table);
	if (room)
		dray_address_put(&table, (uintptr_t)start, (void *)array);
	dray_notes_unlock();
	return room;
}

void dray_note_remove(const void *start)
{
	dray_notes_lock();
	dray_address_take(&table, (uintptr_t)start);
	dray_notes_unlock();
}

bool dray_note_read(const void *start, struct dray_note *out)
{
	const void *array = dray_address_get(&table, (uintptr_t)start);

	if (array)
		describe_array(array, out);
	return array;
}

static _Atomic(dray_lent_to *) lent_to;

void dray_notes_set_lent(dray_lent_to *lent)
{
	atomic_store(&lent_to, lent);
}

bool dray_note_lent(const void *start, uint64_t size, char *to)
{
	dray_lent_to *lent = atomic_load(&lent_to);

	return lent && lent(start, size, to);
}
