// SPDX-License-Identifier: Apache-2.0 OR MIT
/* book: two trees for each sort, of memory that is only read and of memory that is written. */
#include <pthread.h>
#include <string.h>

#include <dray/transfer.h>

#include "base/fork.h"
#include "memory/futex.h"
#include "use/use.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_interval_tree readers[DRAY_USE_SORTS];
static struct dray_interval_tree writers[DRAY_USE_SORTS];
static uint64_t last_number;
/* Users in the book. */
static atomic_size_t entered[DRAY_USE_SORTS];

static void book_take(void)
{
	pthread_mutex_lock(&lock);
}

static void book_give(void)
{
	pthread_mutex_unlock(&lock);
}

/* Users know their process, and leave no book of another one. */
static void book_forget(void)
{
	int sort;

	memset(readers, 0, sizeof(readers));
	memset(writers, 0, sizeof(writers));
	for (sort = 0; sort < DRAY_USE_SORTS; sort++)
		atomic_store(&entered[sort], 0);
}

static void book_inherit(void)
{
	book_forget();
	book_give();
}

/* In the child of a bare clone(), another thread of the parent may have had the lock. */
static void book_missed(void)
{
	book_forget();
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_USES,
	.take = book_take,
	.give = book_give,
	.inherit = book_inherit,
	.missed = book_missed,
};

void dray_uses_enlist(void)
{
	dray_fork_enlist(&locks);
}

void dray_use_init(struct dray_use *use, const struct dray_use_kind *kind)
{
	use->kind = kind;
	atomic_init(&use->references, 1);
	atomic_init(&use->status, 0);
	use->process = dray_fork_process();
	atomic_init(&use->pending, 0);
	use->number = 0;
	use->parts = NULL;
}

void dray_use_unref(struct dray_use *use)
{
	if (atomic_fetch_sub(&use->references, 1) == 1)
		use->kind->free(use);
}

void dray_use_add(struct dray_use *use, struct dray_use_part *part,
		  struct dray_addresses span, bool writes)
{
	if (span.low >= span.high)
		return;
	part->interval.low = span.low;
	part->interval.high = span.high;
	part->use = use;
	part->writes = writes;
	atomic_init(&part->idle, false);
	part->next = use->parts;
	use->parts = part;
}

static struct dray_interval_tree *tree_of(const struct dray_use_part *part)
{
	const enum dray_use_sort sort = part->use->kind->sort;

	return part->writes ? &writers[sort] : &readers[sort];
}

/* With the lock. */
static void book_insert(struct dray_use *use)
{
	struct dray_use_part *part;

	use->number = ++last_number;
	for (part = use->parts; part; part = part->next) {
		part->interval.number = use->number;
		dray_interval_insert(tree_of(part), &part->interval);
	}
	atomic_fetch_add_explicit(&entered[use->kind->sort], 1,
				  memory_order_release);
}

void dray_use_enter(struct dray_use *use)
{
	/* A child of a bare clone() notices that before it waits for the lock. */
	if (use->process != dray_fork_process())
		return;
	book_take();
	book_insert(use);
	book_give();
}

void dray_use_submitted(struct dray_use *use)
{
	if (atomic_exchange(&use->pending, 0) == 2)
		dray_futex_wake(&use->pending);
}

void dray_use_leave(struct dray_use *use)
{
	struct dray_use_part *part;

	if (use->process != dray_fork_process())
		return;
	book_take();
	if (use->number) {
		for (part = use->parts; part; part = part->next)
			dray_interval_remove(tree_of(part), &part->interval);
		use->number = 0;
		atomic_fetch_sub_explicit(&entered[use->kind->sort], 1,
					  memory_order_relaxed);
	}
	book_give();
	dray_use_submitted(use);
}

static bool book_is_wanted(const struct dray_interval *interval, void *context)
{
	const struct dray_use_part *part = (const void *)interval;
	const struct dray_use_query *query = context;

	return !atomic_load_explicit(&part->idle, memory_order_relaxed) &&
	       !dray_use_has_ended(part->use) &&
	       (!query->wanted || query->wanted(part->use, query->context));
}

/* With the lock. */
static const struct dray_use_part *
find_in(const struct dray_interval_tree *tree, struct dray_addresses span,
	const struct dray_use_query *query)
{
	return (const void *)dray_interval_find(tree, span.low, span.high,
						query->before, book_is_wanted,
						(void *)(uintptr_t)query);
}

static bool asks_for(const struct dray_use_query *query, int sort)
{
	return !query->sorts || query->sorts >> sort & 1;
}

/* Whether there is any user of a sort that is asked for; without the lock. */
static bool may_meet(const struct dray_use_query *query)
{
	int sort;

	dray_fork_process();
	for (sort = 0; sort < DRAY_USE_SORTS; sort++)
		if (asks_for(query, sort) &&
		    atomic_load_explicit(&entered[sort], memory_order_acquire))
			return true;
	return false;
}

static const struct dray_use_part *book_find(const struct dray_use_query *query)
{
	const struct dray_use_part *part = NULL;
	int sort;

	for (sort = 0; sort < DRAY_USE_SORTS && !part; sort++) {
		if (!asks_for(query, sort))
			continue;
		part = find_in(&writers[sort], query->reads, query);
		if (!part)
			part = find_in(&writers[sort], query->writes, query);
		if (!part)
			part = find_in(&readers[sort], query->writes, query);
	}
	return part;
}

struct dray_use *dray_use_find(const struct dray_use_query *query,
			       const struct dray_use_part **part)
{
	struct dray_use *use = NULL;

	if (!may_meet(query))
		return NULL;
	book_take();
	*part = book_find(query);
	if (*part) {
		use = (*part)->use;
		dray_use_ref(use);
	}
	book_give();
	return use;
}

/* Finds a user that an interval would meet.  With the lock. */
static const struct dray_use_part *
book_find_beside(const struct dray_use_part *part, unsigned int sorts)
{
	const struct dray_addresses span = { part->interval.low,
					     part->interval.high };
	struct dray_use_query query = { .before = UINT64_MAX, .sorts = sorts };

	if (part->writes)
		query.writes = span;
	else
		query.reads = span;
	return atomic_load(&part->idle) ? NULL : book_find(&query);
}

struct dray_use *dray_use_enter_or_find(struct dray_use *use,
					unsigned int sorts,
					const struct dray_use_part **part)
{
	const struct dray_use_part *own = use->parts;
	struct dray_use *met = NULL;

	*part = NULL;
	if (use->process != dray_fork_process())
		return NULL;
	book_take();
	for (; own && !*part; own = own->next)
		*part = book_find_beside(own, sorts);
	if (*part) {
		met = (*part)->use;
		dray_use_ref(met);
	} else {
		book_insert(use);
	}
	book_give();
	return met;
}

bool dray_use_meets(const struct dray_use_query *query)
{
	bool meets;

	if (!may_meet(query))
		return false;
	book_take();
	meets = book_find(query);
	book_give();
	return meets;
}

bool dray_transfers_in_flight(void)
{
	const struct dray_use_query any = { .sorts = 0 };

	return may_meet(&any);
}
