// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * check: the checking handler finds what its users do wrong, says it, and
 * keeps it from the handler below.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "checked.h"
#include "failing_calloc.h"
#include "pool/busy.h"

FACT(it_does_what_the_one_below_does)
{
	const struct dray_allocator *a;
	unsigned char *block, *moved;
	struct dray_location where;
	struct fixture f;
	char name[160];

	set_up(&f);
	a = f.with;
	snprintf(name, sizeof(name), "checked %s",
		 dray_handler_for(f.pool)->name);
	assert_string_equal(f.handler->name, name);
	assert_int_equal(f.handler->version, DRAY_HANDLER_VERSION);
	block = get(&f, 100);
	assert_int_equal((uintptr_t)block % 64, 0);
	assert_works(dray_locate(block, &where));
	assert_ptr_equal(where.pool, f.pool);
	memset(block, 7, 100);
	moved = a->realloc(a->ctx, block, 200);
	assert_ptr_not_equal(moved, block);
	assert_true(all_bytes_are(moved, 7, 100));
	moved = a->realloc(a->ctx, moved, 10);
	assert_true(all_bytes_are(moved, 7, 10));
	assert_int_equal(numbers_of(&f).blocks, 1);
	assert_int_equal(numbers_of(&f).bytes, 10);
	put(&f, moved, 10);
	block = a->calloc(a->ctx, 30, 100);
	assert_true(all_bytes_are(block, 0, 3000));
	put(&f, block, 3000);
	block = a->realloc(a->ctx, NULL, 50);
	assert_non_null(block);
	put(&f, block, 50);
	put(&f, get(&f, 0), 0);
	put(&f, NULL, 1);
	assert_reports(&f, "0 blocks of 0 bytes are out");
	nothing_is_wrong(&f);
	assert_int_equal(stats_of(f.pool).blocks, 0);
	assert_int_equal(stats_of(f.pool).bad_frees, 0);
	tear_down(&f);
}

FACT(what_does_not_fit_is_null)
{
	struct fixture f;
	void *block;

	set_up(&f);
	block = get(&f, 10);
	errno = 0;
	assert_null(f.with->calloc(f.with->ctx, SIZE_MAX / 2, 3));
	assert_int_equal(errno, ENOMEM);
	assert_null(f.with->malloc(f.with->ctx, SIZE_MAX));
	assert_int_equal(errno, ENOMEM);
	assert_null(f.with->realloc(f.with->ctx, block, SIZE_MAX - 300));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(numbers_of(&f).blocks, 1);
	put(&f, block, 10);
	nothing_is_wrong(&f);
	tear_down(&f);
}

FACT(wrong_sizes_are_counted_and_no_fault)
{
	struct fixture f;

	set_up(&f);
	put(&f, get(&f, 100), 1);
	put(&f, get(&f, 100), 100);
	assert_int_equal(numbers_of(&f).wrong_sizes, 1);
	assert_reports(&f, " 1 frees with a wrong size");
	nothing_is_wrong(&f);
	tear_down(&f);
}

/* A frame of its own, which no compiler replaces. */
static __attribute__((noinline)) uint64_t free_half(struct fixture *f,
						    void *block)
{
	f->with->free(f->with->ctx, block, 50);
	return numbers_of(f).wrong_sizes;
}

FACT(a_free_with_a_wrong_size_is_said_with_function_and_line)
{
	struct fixture f;
	char expected[100];
	void *block;

	set_up(&f);
	block = get(&f, 100);
	assert_int_equal(free_half(&f, block), 1);
	snprintf(expected, sizeof(expected),
		 "dray: free of block %p of 100 bytes as one of 50 bytes",
		 block);
	assert_said(&f, expected);
	assert_said(&f, "  allocated by\n");
	assert_null(strstr(f.text, "  freed by\n"));
	if (!access("/usr/bin/addr2line", X_OK)) {
		/* A static function: its name is in the file only. */
		assert_said(&f, "    free_half in ");
		assert_said(&f, ", at test_check.c:");
	}
	tear_down(&f);
}

/* By name in the report, where the program exports it. */
__attribute__((noinline)) void *leak_one(struct fixture *f, size_t size);
__attribute__((noinline)) void *leak_one(struct fixture *f, size_t size)
{
	void *block = get(f, size);

	memset(block, 0, size);
	return block;
}

FACT(leaks_are_reported_with_their_call_sites)
{
	struct fixture f;
	void *blocks[3];
	char *text, *at, program[100];

	set_up(&f);
	/* It may be installed by another name. */
	snprintf(program, sizeof(program), " in %s",
		 program_invocation_short_name);
	for (int i = 0; i < 3; i++)
		blocks[i] = leak_one(&f, 100u * (unsigned int)(i + 1));
	report_into(&f, &text);
	at = text;
	for (int i = 0; i < 3; i++) {
		char line[60];

		snprintf(line, sizeof(line), "block %p of %d00 bytes\n",
			 blocks[i], i + 1);
		at = strstr(at, line);
		assert_non_null(at);
		at = strstr(at, "  allocated by\n");
		assert_non_null(at);
	}
	assert_non_null(strstr(text, "leak_one+0x"));
	assert_non_null(strstr(text, program));
	assert_non_null(strstr(at, "3 blocks of 600 bytes are out"));
	free(text);
	for (int i = 0; i < 3; i++)
		put(&f, blocks[i], 1);
	nothing_is_wrong(&f);
	tear_down(&f);
}

FACT(blocks_outlive_the_pool)
{
	struct fixture f;
	void *block;

	set_up(&f);
	block = get(&f, 100);
	put(&f, get(&f, 100), 100);
	dray_pool_close(f.pool);
	f.pool = NULL;
	assert_null(f.with->malloc(f.with->ctx, 1));
	assert_int_equal(errno, ENOMEM);
	memset(block, 1, 100);
	put(&f, block, 100);
	assert_reports(&f, "0 blocks of 0 bytes are out");
	nothing_is_wrong(&f);
	tear_down(&f);
}

/* A transfer reads what its user has freed. */
FACT(a_block_that_an_engine_uses_keeps_its_bytes)
{
	struct fixture f;
	unsigned char *block;

	set_up(&f);
	block = get(&f, 100);
	memset(block, 5, 100);
	assert_works(dray_block_hold(block));
	put(&f, block, 100);
	assert_true(all_bytes_are(block, 5, 100));
	memset(block, 6, 100);
	dray_block_release(block);
	assert_reports(&f, " 0 late writes");
	nothing_is_wrong(&f);
	assert_int_equal(stats_of(f.pool).blocks, 0);
	tear_down(&f);
}

FACT(a_childs_free_leaves_its_parents_bytes)
{
	struct dray_node *node = open_shareable_node();
	struct dray_pool *pool;
	unsigned char *block;
	struct fixture f;
	int status;
	pid_t child;

	set_up(&f);
	assert_works(dray_pool_create(node, NULL, &pool));
	assert_works(
		dray_handler_check(dray_handler_for(pool), f.log, &f.handler));
	f.with = &f.handler->allocator;
	block = get(&f, 100);
	memset(block, 9, 100);
	child = fork();
	if (!child) {
		put(&f, block, 100);
		_exit(dray_check_report(f.handler, f.log) ||
		      numbers_of(&f).broken_guards);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(all_bytes_are(block, 9, 100));
	put(&f, block, 100);
	assert_reports(&f, "0 blocks of 0 bytes are out; 0 bad frees");
	dray_pool_close(pool);
	dray_node_unref(node);
	tear_down(&f);
}

FACT(any_handler_is_checked)
{
	const struct dray_handler *heap, *twice;
	struct fixture f;
	unsigned char *block;

	set_up(&f);
	assert_works(dray_handler_check(dray_handler_default(), NULL, &heap));
	assert_string_equal(heap->name, "checked malloc");
	block = heap->allocator.malloc(heap->allocator.ctx, 10);
	assert_int_equal((uintptr_t)block % 16, 0);
	heap->allocator.free(heap->allocator.ctx, block, 10);
	heap->allocator.free(heap->allocator.ctx, block, 10);
	assert_non_null(strstr(dray_last_error(), "which is freed"));
	assert_works(dray_check_report(heap, f.log));
	/* One over another, and as the current one. */
	assert_works(dray_handler_check(f.handler, NULL, &twice));
	assert_ptr_equal(dray_set_handler(twice), dray_handler_default());
	f.with = &dray_get_handler()->allocator;
	block = get(&f, 10);
	put(&f, block, 10);
	dray_set_handler(NULL);
	assert_works(dray_check_report(twice, f.log));
	assert_works(dray_check_report(f.handler, f.log));
	assert_int_equal(stats_of(f.pool).blocks, 0);
	tear_down(&f);
}

FACT(bad_arguments_are_refused)
{
	struct dray_handler later = *dray_handler_default();
	const struct dray_handler *handler = NULL;
	struct dray_check numbers = { .size = sizeof(numbers) };
	struct fixture f;
	FILE *full = fopen("/dev/full", "w");

	set_up(&f);
	assert_fails(dray_handler_check(NULL, NULL, &handler), -EINVAL,
		     "the handler or the result pointer is NULL");
	assert_fails(dray_handler_check(f.handler, NULL, NULL), -EINVAL,
		     "the result pointer is NULL");
	later.version = 2;
	assert_fails(dray_handler_check(&later, NULL, &handler), -EINVAL,
		     "version 2, not 1");
	assert_null(handler);
	assert_fails(dray_check_get(dray_handler_default(), &numbers), -EINVAL,
		     "\"malloc\" is not from dray_handler_check()");
	assert_fails(dray_check_get(NULL, &numbers), -EINVAL,
		     "not from dray_handler_check()");
	assert_fails(dray_check_get(f.handler, NULL), -EINVAL,
		     "the result pointer is NULL");
	assert_fails(dray_check_report(dray_handler_default(), f.log), -EINVAL,
		     "not from dray_handler_check()");
	assert_fails(dray_check_report(f.handler, NULL), -EINVAL, "no file");
	assert_fails(dray_check_report(f.handler, full), -EIO, "not all");
	fclose(full);
	tear_down(&f);
}

FACT(nothing_is_left_when_its_own_books_have_no_room)
{
	const struct dray_handler *handler = NULL;
	struct fixture f;
	void *block;

	set_up(&f);
	to_go = 0;
	assert_fails(dray_handler_check(f.handler, NULL, &handler), -ENOMEM,
		     "no memory");
	assert_null(handler);
	/* the block's record, then the table */
	for (int n = 0; n < 2; n++) {
		to_go = n;
		assert_null(f.with->malloc(f.with->ctx, 10));
		assert_int_equal(errno, ENOMEM);
		assert_non_null(strstr(dray_last_error(), "books"));
		to_go = -1;
		assert_int_equal(stats_of(f.pool).blocks, 0);
	}
	block = get(&f, 10);
	to_go = 0;
	assert_null(f.with->realloc(f.with->ctx, block, 20));
	to_go = 0;
	assert_fails(dray_check_report(f.handler, f.log), -ENOMEM, "list");
	to_go = -1;
	assert_int_equal(numbers_of(&f).blocks, 1);
	put(&f, block, 10);
	nothing_is_wrong(&f);
	tear_down(&f);
}
