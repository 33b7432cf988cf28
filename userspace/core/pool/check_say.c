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

static void print_sites(FILE *file, struct dray_symbols *symbols,
			const char *title, const char *place,
			void *const *sites, size_t count)
{
	size_t i;

	if (place || count)
		fprintf(file, "  %s\n", title);
	if (place)
		fprintf(file, "    %s\n", place);
	for (i = 0; i < count; i++) {
		fputs("    ", file);
		dray_call_site_print(file, sites[i], symbols);
		fputc('\n', file);
	}
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
		print_sites(file, &symbols, "now called by", callers->place,
			    callers->sites, callers->count);
	if (block)
		print_sites(file, &symbols, "allocated by", block->allocated_at,
			    block->allocated_by, block->allocated_by_count);
	if (block && block->freed)
		print_sites(file, &symbols, "freed by", block->freed_at,
			    block->freed_by, block->freed_by_count);
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
	shown.freed = false; /* by these callers */
	snprintf(sentence, sizeof(sentence),
		 "free of block %p of %zu byte%s as one of %zu byte%s; "
		 "the block is freed",
		 (void *)block->data, block->size, dray_plural(block->size),
		 size, dray_plural(size));
	pool_check_say(checker->log, sentence, callers, &shown);
}

static void check_say_bump(struct dray_checker *checker, uint64_t *number)
{
	dray_guard_take(&checker->guard);
	++*number;
	dray_guard_give(&checker->guard);
}

/*
 * Reports that @block was written @at bytes before its start or behind its end.
 */
static void say_broken(struct dray_checker *checker,
		       const struct dray_callers *callers,
		       const struct dray_checked *block, ptrdiff_t at)
{
	dray_fail(-EINVAL, "block %p of %zu byte%s was written %td byte%s %s",
		  (void *)block->data, block->size, dray_plural(block->size),
		  at < 0 ? -at : at, dray_plural((size_t)(at < 0 ? -at : at)),
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
	check_say_bump(checker, &checker->numbers.broken_guards);
	/* It is said once. */
	dray_checked_guard(block);
	say_broken(checker, callers, block, at);
}

void dray_check_poison(struct dray_checker *checker,
		       const struct dray_checked *block)
{
	size_t at = dray_checked_written(block);

	if (at == block->size)
		return;
	check_say_bump(checker, &checker->numbers.late_writes);
	dray_fail(-EINVAL,
		  "byte %zu of block %p of %zu byte%s was written after it was "
		  "freed",
		  at, (void *)block->data, block->size,
		  dray_plural(block->size));
	check_say_report(checker, NULL, block);
}

/* With the guard: finds the block that contains @address, not at its start. */
static const struct dray_checked *
check_say_around(const struct dray_checker *checker, const void *address)
{
	size_t i;

	for (i = 0; i < checker->table.size; i++) {
		const struct dray_checked *block =
			checker->table.slots[i].value;

		if (block &&
		    (uintptr_t)address - (uintptr_t)dray_checked_base(block) <
			    block->size + 2 * DRAY_CHECK_GUARD)
			return block;
	}
	return NULL;
}

/* With the guard: reports a wrong free of @address. */
void dray_check_bad_free(struct dray_checker *checker, const char *what,
			 const void *address, const struct dray_checked *same,
			 const struct dray_callers *callers)
{
	struct dray_checked copy = { 0 };
	const struct dray_checked *block = same;

	if (same) {
		checker->numbers.double_frees++;
		dray_fail(-EINVAL,
			  "%s of block %p of %zu byte%s, which is freed", what,
			  address, same->size, dray_plural(same->size));
	} else {
		checker->numbers.bad_frees++;
		block = check_say_around(checker, address);
		if (block)
			dray_fail(-EINVAL,
				  "%s of %p, %td bytes from the start of block "
				  "%p of %zu byte%s%s",
				  what, address,
				  (const unsigned char *)address - block->data,
				  (void *)block->data, block->size,
				  dray_plural(block->size),
				  block->freed ? ", which is freed" : "");
		else
			dray_fail(-EINVAL,
				  "%s of %p, which is not a block of \"%s\"",
				  what, address, checker->handler.name);
	}
	if (block)
		copy = *block;
	dray_guard_give(&checker->guard);
	check_say_report(checker, callers, block ? &copy : NULL);
}

/* A copy of a live block, to show without the guard. */
struct outstanding {
	struct dray_checked block;
	ptrdiff_t broken;
};

static int say_oldest_first(const void *a, const void *b)
{
	const struct outstanding *first = a, *second = b;

	return first->block.number < second->block.number ? -1 : 1;
}

/* With the guard, which keeps every live block in place. */
static struct outstanding *say_copy_all(struct dray_checker *checker,
					size_t *count)
{
	struct outstanding *all;
	size_t i;

	*count = 0;
	all = calloc(checker->table.count + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (i = 0; i < checker->table.size; i++) {
		const struct dray_checked *block =
			checker->table.slots[i].value;
		struct outstanding *copy = &all[*count];

		if (!block || block->freed)
			continue;
		copy->block = *block;
		copy->broken = dray_checked_broken(block);
		if (copy->broken) {
			checker->numbers.broken_guards++;
			dray_checked_guard(block);
		}
		++*count;
	}
	qsort(all, *count, sizeof(*all), say_oldest_first);
	return all;
}

int dray_check_list(struct dray_checker *checker, FILE *file)
{
	DRAY_NO_CANCEL;
	struct dray_symbols symbols;
	struct outstanding *all;
	struct dray_check numbers;
	size_t count, bytes = 0, i;

	dray_guard_take(&checker->guard);
	all = say_copy_all(checker, &count);
	numbers = checker->numbers;
	dray_guard_give(&checker->guard);
	if (!all)
		return dray_fail(-ENOMEM, "no memory for a list of blocks");
	dray_symbols_begin(&symbols);
	for (i = 0; i < count; i++) {
		const struct dray_checked *block = &all[i].block;

		if (all[i].broken)
			say_broken(checker, NULL, block, all[i].broken);
		fprintf(file, "block %p of %zu byte%s\n", (void *)block->data,
			block->size, dray_plural(block->size));
		print_sites(file, &symbols, "allocated by", block->allocated_at,
			    block->allocated_by, block->allocated_by_count);
		bytes += block->size;
	}
	dray_symbols_end(&symbols);
	free(all);
	fprintf(file,
		"%zu block%s of %zu byte%s %s out; %" PRIu64
		" bad frees, %" PRIu64 " double frees, %" PRIu64
		" broken guards, %" PRIu64 " late writes, %" PRIu64
		" frees with a wrong size\n",
		count, dray_plural(count), bytes, dray_plural(bytes),
		count == 1 ? "is" : "are", numbers.bad_frees,
		numbers.double_frees, numbers.broken_guards,
		numbers.late_writes, numbers.wrong_sizes);
	if (fflush(file) || ferror(file))
		return dray_fail(-EIO, "not all of the report was written");
	return 0;
}
