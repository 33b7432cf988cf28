// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * check: a handler over another handler that finds wrong uses of blocks.
 *
 * A table in ordinary memory knows every block, so that nothing need be believed
 * that a program could overwrite.  Freed blocks stay in it, and in a queue, until
 * newer blocks push them out; only then does the handler below get them back.  The guard is held while the books change, not while bytes are
 * looked at or the handler below is called: a block is its thread's own once it
 * is marked as freed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/number.h"
#include "base/options.h"
#include "pool/check.h"
#include "pool/no_memory.h"
#include "pool/pool.h"

#define KEPT_BLOCKS 1024
#define KEPT_BYTES ((size_t)16 << 20)

/* Frees a block below that is in no list and no table any more. */
static void handler_let_go(struct dray_checker *checker,
			   struct dray_checked *block)
{
	dray_check_poison(checker, block);
	dray_check_guards(checker, NULL, block);
	checker->under->free(checker->under->ctx, dray_checked_base(block),
			     block->live.is.size + 2 * DRAY_CHECK_GUARD);
	free(block);
}

/* Frees kept blocks down to the limits; true if it freed any. */
static bool check_handler_shrink(struct dray_checker *checker, size_t blocks,
				 size_t bytes)
{
	struct dray_checked *gone = NULL, **last = &gone, *block;

	dray_guard_take(&checker->table.guard);
	while (checker->kept_blocks > blocks || checker->kept_bytes > bytes) {
		block = checker->oldest;
		checker->oldest = block->next;
		if (!checker->oldest)
			checker->newest = &checker->oldest;
		checker->kept_blocks--;
		checker->kept_bytes -= block->live.is.size;
		dray_live_forget(&checker->table, &block->live);
		block->next = NULL;
		*last = block;
		last = &block->next;
	}
	dray_guard_give(&checker->table.guard);
	if (!gone)
		return false;
	while ((block = gone)) {
		gone = block->next;
		handler_let_go(checker, block);
	}
	return true;
}

/* Returns the kept blocks before it reports that memory ran out. */
static void *check_handler_ask(struct dray_checker *checker, size_t size,
			       bool zero)
{
	const struct dray_allocator *under = checker->under;
	void *base;

	do {
		base = zero ? under->calloc(under->ctx, 1, size)
			    : under->malloc(under->ctx, size);
	} while (!base && check_handler_shrink(checker, 0, 0));
	return base;
}

static void *check_handler_allocate(struct dray_checker *checker, size_t size,
				    bool zero,
				    const struct dray_callers *callers)
{
	struct dray_checked *block;
	size_t whole;
	char *base;

	if (dray_add_overflow(size, 2 * DRAY_CHECK_GUARD, &whole))
		return dray_no_memory("a block", size);
	block = calloc(1, sizeof(*block));
	if (!block)
		return dray_no_memory("the books of a block", size);
	base = check_handler_ask(checker, whole, zero);
	if (!base) { /* the handler below says why */
		free(block);
		errno = ENOMEM;
		return NULL;
	}
	block->allocated = *callers;
	block->live = (struct dray_live){
		.is.block = base + DRAY_CHECK_GUARD,
		.is.size = size,
		.is.sites = block->allocated.sites,
		.is.site_count = callers->count,
		.place = callers->place,
	};
	block->process = dray_fork_process();
	dray_checked_guard(block);
	if (!dray_live_enter(&checker->table, &block->live)) {
		checker->under->free(checker->under->ctx, base, whole);
		free(block);
		return dray_no_memory("the books of a block", size);
	}
	return block->live.is.block;
}

/*
 * With the guard: returns the live block that starts at @address; or NULL
 * without the guard, after a report.
 */
static struct dray_checked *
check_handler_claim(struct dray_checker *checker, const char *what,
		    const void *address, const struct dray_callers *callers)
{
	struct dray_live *live = dray_live_claim(&checker->table, address);

	if (!live)
		dray_check_bad_free(checker, what, address, callers);
	return (struct dray_checked *)live;
}

/*
 * Returns the block that starts at @address, marked as freed and this thread's
 * own; or NULL after a report.  @size is NULL if it is not known.
 */
static struct dray_checked *
check_handler_take(struct dray_checker *checker, const char *what,
		   const void *address, const size_t *size,
		   const struct dray_callers *callers)
{
	struct dray_checked *block;

	dray_guard_take(&checker->table.guard);
	block = check_handler_claim(checker, what, address, callers);
	if (!block)
		return NULL;
	dray_live_retire(&checker->table, &block->live, size);
	block->freed = *callers;
	dray_guard_give(&checker->table.guard);
	return block;
}

static void check_handler_retire(struct dray_checker *checker,
				 struct dray_checked *block,
				 const struct dray_callers *callers)
{
	size_t blocks, bytes;

	dray_check_guards(checker, callers, block);
	dray_checked_poison(block);
	dray_guard_take(&checker->table.guard);
	block->next = NULL;
	*checker->newest = block;
	checker->newest = &block->next;
	checker->kept_blocks++;
	checker->kept_bytes += block->live.is.size;
	blocks = checker->most_blocks;
	bytes = checker->most_bytes;
	dray_guard_give(&checker->table.guard);
	check_handler_shrink(checker, blocks, bytes);
}

static const char *(*_Atomic caller)(void);

void dray_set_caller(const char *(*place)(void))
{
	atomic_store(&caller, place);
}

/* Inline, because the frames to skip are counted. */
static inline __attribute__((always_inline)) void
check_note(struct dray_callers *callers)
{
	const char *(*place)(void) = atomic_load(&caller);

	callers->place = place ? place() : NULL;
	callers->count = dray_call_sites(callers->sites, DRAY_CALLERS_SITES);
}

static void *check_malloc(void *ctx, size_t size)
{
	struct dray_callers callers;

	check_note(&callers);
	return check_handler_allocate(ctx, size, false, &callers);
}

static void *check_calloc(void *ctx, size_t count, size_t size)
{
	struct dray_callers callers;
	size_t bytes;

	check_note(&callers);
	if (dray_mul_overflow(count, size, &bytes))
		return dray_no_elements(count, size);
	return check_handler_allocate(ctx, bytes, true, &callers);
}

static void check_free(void *ctx, void *address, size_t size)
{
	struct dray_checker *checker = ctx;
	struct dray_callers callers;
	struct dray_checked *block;

	if (!address)
		return;
	check_note(&callers);
	block = check_handler_take(checker, "free", address, &size, &callers);
	if (!block)
		return;
	if (size != block->live.is.size)
		dray_check_wrong_size(checker, &callers, block, size);
	check_handler_retire(checker, block, &callers);
}

/* The old block stays out until there is a new block, as with realloc(). */
static void *check_realloc(void *ctx, void *address, size_t size)
{
	struct dray_checker *checker = ctx;
	struct dray_callers callers;
	struct dray_checked *block;
	size_t old;
	void *moved;

	check_note(&callers);
	if (!address)
		return check_handler_allocate(checker, size, false, &callers);
	dray_guard_take(&checker->table.guard);
	block = check_handler_claim(checker, "realloc", address, &callers);
	if (!block) {
		errno = EINVAL;
		return NULL;
	}
	old = block->live.is.size;
	dray_guard_give(&checker->table.guard);
	moved = check_handler_allocate(checker, size, false, &callers);
	if (!moved)
		return NULL;
	memcpy(moved, address, size < old ? size : old);
	block = check_handler_take(checker, "realloc", address, NULL, &callers);
	if (block)
		check_handler_retire(checker, block, &callers);
	return moved;
}

int dray_handler_check(const struct dray_handler *under, FILE *log,
		       const struct dray_handler **out)
{
	struct dray_checker *checker;

	if (!under || !out)
		return dray_fail(-EINVAL,
				 "the handler or the result pointer is NULL");
	if (dray_handler_usable(under))
		return -EINVAL; /* which left its sentence */
	checker = calloc(1, sizeof(*checker));
	if (!checker)
		return dray_fail(-ENOMEM, "no memory for a handler's object");
	snprintf(checker->handler.name, sizeof(checker->handler.name),
		 "checked %.100s", under->name);
	checker->handler.version = DRAY_HANDLER_VERSION;
	checker->handler.allocator = (struct dray_allocator){
		.ctx = checker,
		.malloc = check_malloc,
		.calloc = check_calloc,
		.realloc = check_realloc,
		.free = check_free,
	};
	checker->under = &under->allocator;
	checker->log = log;
	checker->process = dray_fork_process();
	checker->newest = &checker->oldest;
	checker->most_blocks = KEPT_BLOCKS;
	checker->most_bytes = KEPT_BYTES;
	dray_live_begin(&checker->table, DRAY_CALLERS_SITES);
	*out = &checker->handler;
	return 0;
}

void dray_check_keep(struct dray_checker *checker, bool keeps)
{
	dray_guard_take(&checker->table.guard);
	checker->most_blocks = keeps ? KEPT_BLOCKS : 0;
	checker->most_bytes = keeps ? KEPT_BYTES : 0;
	dray_guard_give(&checker->table.guard);
	check_handler_shrink(checker, 0, 0);
}

bool dray_handler_checks(const struct dray_handler *handler)
{
	return handler->allocator.malloc == check_malloc;
}

struct dray_checker *dray_checker_of(const struct dray_handler *handler)
{
	if (handler && dray_handler_checks(handler))
		return handler->allocator.ctx;
	dray_fail(-EINVAL,
		  "handler \"%.126s\" is not from dray_handler_check()",
		  handler ? handler->name : "");
	return NULL;
}

int dray_check_get(const struct dray_handler *handler, struct dray_check *out)
{
	struct dray_checker *checker = dray_checker_of(handler);
	struct dray_check known;

	if (!checker)
		return -EINVAL;
	if (!out)
		return dray_fail(-EINVAL, "the result pointer is NULL");
	known = dray_live_count(&checker->table);
	return DRAY_WRITE_RESULT(out, &known, DRAY_CHECK_SIZE_FIRST);
}

int dray_check_report(const struct dray_handler *handler, FILE *file)
{
	struct dray_checker *checker = dray_checker_of(handler);

	if (!checker)
		return -EINVAL;
	if (!file)
		return dray_fail(-EINVAL, "no file for a report");
	check_handler_shrink(checker, 0, 0);
	return dray_check_list(checker, file);
}
