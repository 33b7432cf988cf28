// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Messages of the checking handler: each fault, as a sentence with its callers,
 * and the list of live blocks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "pool/check.h"

static void check_say_callers(FILE *file, struct dray_symbols *symbols,
			      const char *title,
			      const struct dray_callers *callers)
{
	dray_callers_print(file, symbols, title, callers->place, callers->sites,
			   callers->count);
}

static void pool_check_say(FILE *file, const char *sentence,
			   const struct dray_callers *callers,
			   const struct dray_checked *block)
{
	struct dray_symbols symbols;

	dray_symbols_begin(&symbols);
	flockfile(file);
	fprintf(file, "dray: %s\n", sentence);
	if (callers)
		check_say_callers(file, &symbols, "now called by", callers);
	if (block)
		check_say_callers(file, &symbols, "allocated by",
				  &block->allocated);
	if (block && block->live.freed)
		check_say_callers(file, &symbols, "freed by", &block->freed);
	fflush(file);
	funlockfile(file);
	dray_symbols_end(&symbols);
}

/* With the sentence that dray_fail() has; @block may be NULL. */
static void check_say_report(struct dray_checker *checker,
			     const struct dray_callers *callers,
			     const struct dray_checked *block)
{
	DRAY_NO_CANCEL;
	const char *abort_asked = getenv("DRAY_ABORT_ON_BAD_FREE");
	bool aborts = abort_asked && !strcmp(abort_asked, "1");
	FILE *file = checker->log ? checker->log : aborts ? stderr : NULL;

	if (file)
		pool_check_say(file, dray_last_error(), callers, block);
	if (aborts)
		abort();
}

void dray_check_wrong_size(struct dray_checker *checker,
			   const struct dray_callers *callers,
			   const struct dray_checked *block, size_t size)
{
	DRAY_NO_CANCEL;
	struct dray_checked shown = *block;
	char sentence[160];

	if (!checker->log)
		return;
	shown.live.freed = false; /* by these callers */
	snprintf(sentence, sizeof(sentence),
		 "free of block %p of %zu byte%s as one of %zu byte%s; "
		 "the block is freed",
		 block->live.is.block, block->live.is.size,
		 dray_plural(block->live.is.size), size, dray_plural(size));
	pool_check_say(checker->log, sentence, callers, &shown);
}

static void check_say_bump(struct dray_checker *checker, uint64_t *number)
{
	dray_guard_take(&checker->table.guard);
	++*number;
	dray_guard_give(&checker->table.guard);
}

/*
 * Reports that @block was written @at bytes before its start or behind its end.
 */
static void say_broken(struct dray_checker *checker,
		       const struct dray_callers *callers,
		       const struct dray_checked *block, ptrdiff_t at)
{
	dray_fail(-EINVAL, "block %p of %zu byte%s was written %td byte%s %s",
		  block->live.is.block, block->live.is.size,
		  dray_plural(block->live.is.size), at < 0 ? -at : at,
		  dray_plural((size_t)(at < 0 ? -at : at)),
		  at < 0 ? "before its first" : "behind its last");
	check_say_report(checker, callers, block);
}

void dray_check_guards(struct dray_checker *checker,
		       const struct dray_callers *callers,
		       const struct dray_checked *block)
{
	ptrdiff_t at = dray_checked_broken(block);

	if (!at)
		return;
	check_say_bump(checker, &checker->table.numbers.broken_guards);
	/* It is said once. */
	dray_checked_guard(block);
	say_broken(checker, callers, block, at);
}

void dray_check_poison(struct dray_checker *checker,
		       const struct dray_checked *block)
{
	size_t at = dray_checked_written(block);

	if (at == block->live.is.size)
		return;
	check_say_bump(checker, &checker->table.numbers.late_writes);
	dray_fail(-EINVAL,
		  "byte %zu of block %p of %zu byte%s was written after it was "
		  "freed",
		  at, block->live.is.block, block->live.is.size,
		  dray_plural(block->live.is.size));
	check_say_report(checker, NULL, block);
}

/* With the guard: finds the block that contains @address, not at its start. */
static const struct dray_checked *
check_say_around(const struct dray_checker *checker, const void *address)
{
	size_t i;

	for (i = 0; i < checker->table.blocks.size; i++) {
		const struct dray_checked *block =
			checker->table.blocks.slots[i].value;

		if (block &&
		    (uintptr_t)address - (uintptr_t)dray_checked_base(block) <
			    block->live.is.size + 2 * DRAY_CHECK_GUARD)
			return block;
	}
	return NULL;
}

/* With the guard: reports a wrong free of @address. */
void dray_check_bad_free(struct dray_checker *checker, const char *what,
			 const void *address,
			 const struct dray_callers *callers)
{
	struct dray_checked copy = { 0 };
	const struct dray_checked *block =
		(void *)dray_live_find(&checker->table, address);

	if (block) {
		dray_fail(-EINVAL,
			  "%s of block %p of %zu byte%s, which is freed", what,
			  address, block->live.is.size,
			  dray_plural(block->live.is.size));
	} else {
		block = check_say_around(checker, address);
		if (block)
			dray_fail(-EINVAL,
				  "%s of %p, %td bytes from the start of block "
				  "%p of %zu byte%s%s",
				  what, address,
				  (const char *)address -
					  (const char *)block->live.is.block,
				  block->live.is.block, block->live.is.size,
				  dray_plural(block->live.is.size),
				  block->live.freed ? ", which is freed" : "");
		else
			dray_fail(-EINVAL,
				  "%s of %p, which is not a block of \"%s\"",
				  what, address, checker->handler.name);
	}
	if (block)
		copy = *block;
	dray_guard_give(&checker->table.guard);
	check_say_report(checker, callers, block ? &copy : NULL);
}

/*
 * Counts and repairs the guards of a live block that a write has damaged, and
 * copies it to @out; false if there is none.
 */
static bool check_say_repair(struct dray_checker *checker,
			     struct dray_checked *out, ptrdiff_t *at)
{
	size_t i;

	*at = 0;
	dray_guard_take(&checker->table.guard);
	for (i = 0; !*at && i < checker->table.blocks.size; i++) {
		const struct dray_checked *block =
			checker->table.blocks.slots[i].value;

		if (!block || block->live.freed)
			continue;
		*at = dray_checked_broken(block);
		if (!*at)
			continue;
		checker->table.numbers.broken_guards++;
		dray_checked_guard(block);
		*out = *block;
	}
	dray_guard_give(&checker->table.guard);
	return *at;
}

int dray_check_list(struct dray_checker *checker, FILE *file)
{
	struct dray_checked broken;
	struct dray_check count;
	char rest[200];
	ptrdiff_t at;

	while (check_say_repair(checker, &broken, &at))
		say_broken(checker, NULL, &broken, at);
	count = dray_live_count(&checker->table);
	snprintf(rest, sizeof(rest),
		 "; %" PRIu64 " bad frees, %" PRIu64 " double frees, %" PRIu64
		 " broken guards, %" PRIu64 " late writes, %" PRIu64
		 " frees with a wrong size",
		 count.bad_frees, count.double_frees, count.broken_guards,
		 count.late_writes, count.wrong_sizes);
	return dray_live_report(&checker->table, file, rest);
}
