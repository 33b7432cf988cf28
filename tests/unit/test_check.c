// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * check: the checking handler finds what its users do wrong, says it, and
 * keeps it from the handler below.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc/busy.h"
#include "failing_calloc.h"
#include "pool.h"

/* A pool, the handler over it, and what that has written. */
struct fixture {
	struct dray_pool *pool;
	const struct dray_handler *handler;
	const struct dray_allocator *with;
	FILE *log;
	char *text;
	size_t length;
};

static void set_up(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->pool = open_pool(test_spec(), NULL);
	f->log = open_memstream(&f->text, &f->length);
	assert_works(dray_handler_check(dray_handler_for(f->pool), f->log,
					&f->handler));
	f->with = &f->handler->allocator;
}

static void tear_down(struct fixture *f)
{
	dray_pool_close(f->pool);
	fclose(f->log);
	free(f->text);
}

static unsigned char *get(struct fixture *f, size_t size)
{
	unsigned char *block = f->with->malloc(f->with->ctx, size);

	if (!block)
		fail_msg("%zu bytes: %s", size, dray_last_error());
	return block;
}

static void put(struct fixture *f, void *block, size_t size)
{
	f->with->free(f->with->ctx, block, size);
}

static struct dray_check numbers_of(struct fixture *f)
{
	struct dray_check numbers;

	assert_works(dray_check_get(f->handler, &numbers, sizeof(numbers)));
	return numbers;
}

static void assert_said(struct fixture *f, const char *part)
{
	fflush(f->log);
	if (!f->text || !strstr(f->text, part))
		fail_msg("'%s' does not say '%s'", f->text, part);
}

/* What it reports, which the caller frees. */
static void report_into(struct fixture *f, char **text)
{
	size_t length;
	FILE *file = open_memstream(text, &length);

	assert_works(dray_check_report(f->handler, file));
	fclose(file);
}

static void assert_reports(struct fixture *f, const char *part)
{
	char *text = NULL;

	report_into(f, &text);
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
	free(text);
}

static void nothing_is_wrong(struct fixture *f)
{
	struct dray_check numbers = numbers_of(f);

	assert_int_equal(numbers.bad_frees, 0);
	assert_int_equal(numbers.double_frees, 0);
	assert_int_equal(numbers.broken_guards, 0);
	assert_int_equal(numbers.late_writes, 0);
	fflush(f->log);
	assert_true(!f->text || !*f->text);
}

static void it_does_what_the_one_below_does(void **state)
{
	const struct dray_allocator *a;
	unsigned char *block, *moved;
	struct dray_location where;
	struct fixture f;
	char name[160];

	(void)state;
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

static void what_does_not_fit_is_null(void **state)
{
	struct fixture f;
	void *block;

	(void)state;
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

static void wrong_sizes_are_counted_and_no_fault(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	put(&f, get(&f, 100), 1);
	put(&f, get(&f, 100), 100);
	assert_int_equal(numbers_of(&f).wrong_sizes, 1);
	nothing_is_wrong(&f);
	tear_down(&f);
}

static void a_write_next_to_a_block_is_found_by_its_free(void **state)
{
	static const int places[] = { 100, 101, 227, -1, -128 };
	struct fixture f;
	size_t i;

	(void)state;
	set_up(&f);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		unsigned char *block = get(&f, 100);

		block[places[i]]++;
		put(&f, block, 100);
		assert_int_equal(numbers_of(&f).broken_guards, i + 1);
	}
	assert_said(&f, "of 100 bytes was written 1 bytes behind its last");
	assert_said(&f, "was written 2 bytes behind its last");
	assert_said(&f, "was written 128 bytes behind its last");
	assert_said(&f, "was written 1 bytes before its first");
	assert_said(&f, "was written 128 bytes before its first");
	assert_said(&f, "  now called by\n    ");
	assert_said(&f, "  allocated by\n    ");
	assert_non_null(strstr(dray_last_error(), "128 bytes before"));
	/* Each was said once. */
	assert_reports(&f, " 5 broken guards");
	tear_down(&f);
}

static void a_write_next_to_a_block_is_found_by_a_report(void **state)
{
	struct fixture f;
	unsigned char *block;

	(void)state;
	set_up(&f);
	block = get(&f, 33);
	block[33] = 0;
	assert_reports(&f, " 1 broken guards");
	assert_said(&f, "1 bytes behind its last");
	assert_reports(&f, " 1 broken guards");
	put(&f, block, 33);
	assert_int_equal(numbers_of(&f).broken_guards, 1);
	tear_down(&f);
}

static void a_second_free_is_said_and_ignored(void **state)
{
	struct fixture f;
	void *block;

	(void)state;
	set_up(&f);
	block = get(&f, 100);
	put(&f, block, 100);
	put(&f, block, 100);
	assert_int_equal(numbers_of(&f).double_frees, 1);
	assert_non_null(strstr(dray_last_error(), "which is freed"));
	assert_said(&f, "free of block ");
	assert_said(&f, "  freed by\n    ");
	errno = 0;
	assert_null(f.with->realloc(f.with->ctx, block, 10));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(numbers_of(&f).double_frees, 2);
	assert_reports(&f, "0 blocks of 0 bytes are out");
	assert_int_equal(stats_of(f.pool).blocks, 0);
	assert_int_equal(stats_of(f.pool).bad_frees, 0);
	tear_down(&f);
}

static void a_freed_block_is_not_given_out_at_once(void **state)
{
	struct fixture f;
	void *block;
	int i;

	(void)state;
	set_up(&f);
	block = get(&f, 100);
	put(&f, block, 100);
	for (i = 0; i < 1000; i++) {
		void *other = get(&f, 100);

		assert_ptr_not_equal(other, block);
		put(&f, other, 100);
	}
	nothing_is_wrong(&f);
	tear_down(&f);
}

static void what_is_no_block_is_said_and_not_passed_on(void **state)
{
	struct fixture f;
	unsigned char *block;
	void *others, *heap;

	(void)state;
	set_up(&f);
	block = get(&f, 100);
	others = dray_pool_alloc(f.pool, 100, 0);
	heap = malloc(10);
	put(&f, block + 24, 100);
	assert_non_null(strstr(dray_last_error(), ", 24 bytes from the start"));
	put(&f, block - 128, 100);
	assert_non_null(strstr(dray_last_error(), "-128 bytes from the start"));
	put(&f, others, 100);
	assert_non_null(
		strstr(dray_last_error(), "no block of \"checked dray"));
	put(&f, heap, 10);
	put(&f, &f, 1);
	errno = 0;
	assert_null(f.with->realloc(f.with->ctx, block + 1, 10));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(numbers_of(&f).bad_frees, 6);
	assert_int_equal(numbers_of(&f).blocks, 1);
	assert_int_equal(stats_of(f.pool).bad_frees, 0);
	free(heap);
	dray_pool_free(f.pool, others);
	put(&f, block, 100);
	tear_down(&f);
}

static void a_write_after_a_free_is_found(void **state)
{
	struct fixture f;
	unsigned char *block;

	(void)state;
	set_up(&f);
	block = get(&f, 100);
	memset(block, 1, 100);
	put(&f, block, 100);
	/* What is read from it is not what was in it. */
	assert_int_not_equal(block[50], 1);
	block[50] = 1;
	assert_reports(&f, " 1 late writes");
	assert_said(&f, "byte 50 of block ");
	assert_said(&f, "  freed by\n    ");
	tear_down(&f);
}

static void what_is_kept_is_bounded(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	set_up(&f);
	for (i = 0; i < 3000; i++)
		put(&f, get(&f, 10), 10);
	assert_true(stats_of(f.pool).blocks <= 1024);
	for (i = 0; i < 20; i++)
		put(&f, get(&f, 3 << 20), 3 << 20);
	assert_true(stats_of(f.pool).used <= (17 << 20));
	put(&f, get(&f, 20 << 20), 20 << 20);
	assert_int_equal(stats_of(f.pool).blocks, 0);
	nothing_is_wrong(&f);
	tear_down(&f);
}

static void what_is_kept_is_given_back_before_memory_ends(void **state)
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	struct fixture f;
	void *block;

	(void)state;
	set_up(&f);
	dray_pool_close(f.pool);
	f.pool = open_pool(test_spec(), &options);
	assert_works(dray_handler_check(dray_handler_for(f.pool), f.log,
					&f.handler));
	f.with = &f.handler->allocator;
	put(&f, get(&f, 600 << 10), 1);
	put(&f, get(&f, 300 << 10), 1);
	block = get(&f, 900 << 10);
	assert_null(f.with->malloc(f.with->ctx, 200 << 10));
	put(&f, block, 1);
	nothing_is_wrong(&f);
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

static void leaks_are_reported_with_their_call_sites(void **state)
{
	struct fixture f;
	void *blocks[3];
	char *text, *at, program[100];
	int i;

	(void)state;
	set_up(&f);
	/* It may be installed by another name. */
	snprintf(program, sizeof(program), " in %s\n",
		 program_invocation_short_name);
	for (i = 0; i < 3; i++)
		blocks[i] = leak_one(&f, 100u * (unsigned int)(i + 1));
	report_into(&f, &text);
	at = text;
	for (i = 0; i < 3; i++) {
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
	for (i = 0; i < 3; i++)
		put(&f, blocks[i], 1);
	nothing_is_wrong(&f);
	tear_down(&f);
}

static void blocks_outlive_the_pool(void **state)
{
	struct fixture f;
	void *block;

	(void)state;
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
static void a_block_that_an_engine_uses_keeps_its_bytes(void **state)
{
	struct fixture f;
	unsigned char *block;

	(void)state;
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

static void a_childs_free_leaves_its_parents_bytes(void **state)
{
	struct dray_node *node = open_shareable_node();
	struct dray_pool *pool;
	unsigned char *block;
	struct fixture f;
	int status;
	pid_t child;

	(void)state;
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

static int status_of(void (*body)(struct fixture *f, unsigned char *block),
		     const char *asked)
{
	struct fixture f;
	unsigned char *block;
	int status;
	pid_t child;

	set_up(&f);
	block = get(&f, 10);
	child = fork();
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		setenv("DRAY_ABORT_ON_BAD_FREE", asked, 1);
		body(&f, block);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	put(&f, block, 10);
	tear_down(&f);
	return status;
}

static void free_inside(struct fixture *f, unsigned char *block)
{
	put(f, block + 1, 1);
}

static void free_twice(struct fixture *f, unsigned char *block)
{
	put(f, block, 10);
	put(f, block, 10);
}

/* A block of the child's own: what it inherits is not looked at. */
static void write_behind(struct fixture *f, unsigned char *block)
{
	block = get(f, 10);
	block[10] = 0;
	put(f, block, 10);
}

static void write_late(struct fixture *f, unsigned char *block)
{
	block = get(f, 10);
	put(f, block, 10);
	block[0] = 0;
	dray_check_report(f->handler, f->log);
}

static void each_fault_aborts_where_that_is_asked(void **state)
{
	void (*const bodies[])(struct fixture *,
			       unsigned char *) = { free_inside, free_twice,
						    write_behind, write_late };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		int status = status_of(bodies[i], "1");

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
		assert_int_equal(status_of(bodies[i], "0"), 0);
	}
}

static void any_handler_is_checked(void **state)
{
	const struct dray_handler *heap, *twice;
	struct fixture f;
	unsigned char *block;

	(void)state;
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

static void bad_arguments_are_refused(void **state)
{
	struct dray_handler later = *dray_handler_default();
	const struct dray_handler *handler = NULL;
	struct dray_check numbers;
	struct fixture f;
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	set_up(&f);
	assert_fails(dray_handler_check(NULL, NULL, &handler), -EINVAL,
		     "no handler");
	assert_fails(dray_handler_check(f.handler, NULL, NULL), -EINVAL,
		     "nowhere");
	later.version = 2;
	assert_fails(dray_handler_check(&later, NULL, &handler), -EINVAL,
		     "version 2, not 1");
	assert_null(handler);
	assert_fails(dray_check_get(dray_handler_default(), &numbers,
				    sizeof(numbers)),
		     -EINVAL, "\"malloc\" is not a checking one");
	assert_fails(dray_check_get(NULL, &numbers, sizeof(numbers)), -EINVAL,
		     "not a checking one");
	assert_fails(dray_check_get(f.handler, NULL, 8), -EINVAL, "nowhere");
	assert_fails(dray_check_report(dray_handler_default(), f.log), -EINVAL,
		     "not a checking one");
	assert_fails(dray_check_report(f.handler, NULL), -EINVAL, "no file");
	assert_fails(dray_check_report(f.handler, full), -EIO, "not all");
	fclose(full);
	tear_down(&f);
}

static void numbers_are_as_many_as_the_caller_knows(void **state)
{
	struct {
		struct dray_check known;
		uint64_t later;
	} numbers;
	struct fixture f;

	(void)state;
	set_up(&f);
	memset(&numbers, 0xff, sizeof(numbers));
	assert_works(dray_check_get(f.handler, &numbers.known, 8));
	assert_int_equal(numbers.known.blocks, 0);
	assert_true(all_bytes_are(&numbers.known.bytes, 0xff, 8));
	assert_works(
		dray_check_get(f.handler, &numbers.known, sizeof(numbers)));
	assert_true(all_bytes_are(&numbers, 0, sizeof(numbers)));
	tear_down(&f);
}

static void nothing_is_left_when_its_own_books_have_no_room(void **state)
{
	const struct dray_handler *handler = NULL;
	struct fixture f;
	void *block;
	int n;

	(void)state;
	set_up(&f);
	to_go = 0;
	assert_fails(dray_handler_check(f.handler, NULL, &handler), -ENOMEM,
		     "no memory");
	assert_null(handler);
	/* the block's record, then the table */
	for (n = 0; n < 2; n++) {
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_does_what_the_one_below_does),
		cmocka_unit_test(what_does_not_fit_is_null),
		cmocka_unit_test(wrong_sizes_are_counted_and_no_fault),
		cmocka_unit_test(a_write_next_to_a_block_is_found_by_its_free),
		cmocka_unit_test(a_write_next_to_a_block_is_found_by_a_report),
		cmocka_unit_test(a_second_free_is_said_and_ignored),
		cmocka_unit_test(a_freed_block_is_not_given_out_at_once),
		cmocka_unit_test(what_is_no_block_is_said_and_not_passed_on),
		cmocka_unit_test(a_write_after_a_free_is_found),
		cmocka_unit_test(what_is_kept_is_bounded),
		cmocka_unit_test(what_is_kept_is_given_back_before_memory_ends),
		cmocka_unit_test(leaks_are_reported_with_their_call_sites),
		cmocka_unit_test(blocks_outlive_the_pool),
		cmocka_unit_test(a_block_that_an_engine_uses_keeps_its_bytes),
		cmocka_unit_test(a_childs_free_leaves_its_parents_bytes),
		cmocka_unit_test(each_fault_aborts_where_that_is_asked),
		cmocka_unit_test(any_handler_is_checked),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(numbers_are_as_many_as_the_caller_knows),
		cmocka_unit_test(
			nothing_is_left_when_its_own_books_have_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
