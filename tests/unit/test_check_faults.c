// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * check: what users of the checking handler do wrong is found, said, and kept
 * from the handler below.
 */
#include "checked.h"

FACT(a_write_next_to_a_block_is_found_by_its_free)
{
	static const int places[] = { 100, 101, 227, -1, -128 };
	struct fixture f;

	set_up(&f);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		unsigned char *block = get(&f, 100);

		block[places[i]]++;
		put(&f, block, 100);
		assert_int_equal(numbers_of(&f).broken_guards, i + 1);
	}
	assert_said(&f, "of 100 bytes was written 1 byte behind its last");
	assert_said(&f, "was written 2 bytes behind its last");
	assert_said(&f, "was written 128 bytes behind its last");
	assert_said(&f, "was written 1 byte before its first");
	assert_said(&f, "was written 128 bytes before its first");
	assert_said(&f, "  now called by\n    ");
	assert_said(&f, "  allocated by\n    ");
	assert_non_null(strstr(dray_last_error(), "128 bytes before"));
	/* Each was said once. */
	assert_reports(&f, " 5 broken guards");
	tear_down(&f);
}

FACT(a_write_next_to_a_block_is_found_by_a_report)
{
	struct fixture f;
	unsigned char *block;

	set_up(&f);
	block = get(&f, 33);
	block[33] = 0;
	assert_reports(&f, " 1 broken guards");
	assert_said(&f, "1 byte behind its last");
	assert_reports(&f, " 1 broken guards");
	put(&f, block, 33);
	assert_int_equal(numbers_of(&f).broken_guards, 1);
	tear_down(&f);
}

FACT(a_second_free_is_said_and_ignored)
{
	struct fixture f;
	void *block;

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

FACT(a_freed_block_is_not_given_out_at_once)
{
	struct fixture f;
	void *block;

	set_up(&f);
	block = get(&f, 100);
	put(&f, block, 100);
	for (int i = 0; i < 1000; i++) {
		void *other = get(&f, 100);

		assert_ptr_not_equal(other, block);
		put(&f, other, 100);
	}
	nothing_is_wrong(&f);
	tear_down(&f);
}

FACT(what_is_no_block_is_said_and_not_passed_on)
{
	struct fixture f;
	unsigned char *block;
	void *others, *heap;

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
		strstr(dray_last_error(), "not a block of \"checked dray"));
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

FACT(a_write_after_a_free_is_found)
{
	struct fixture f;
	unsigned char *block;

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

FACT(what_is_kept_is_bounded)
{
	struct fixture f;

	set_up(&f);
	for (int i = 0; i < 3000; i++)
		put(&f, get(&f, 10), 10);
	assert_true(stats_of(f.pool).blocks <= 1024);
	for (int i = 0; i < 20; i++)
		put(&f, get(&f, 3 << 20), 3 << 20);
	assert_true(stats_of(f.pool).used <= (17 << 20));
	put(&f, get(&f, 20 << 20), 20 << 20);
	assert_int_equal(stats_of(f.pool).blocks, 0);
	nothing_is_wrong(&f);
	tear_down(&f);
}

FACT(what_is_kept_is_given_back_before_memory_ends)
{
	struct dray_pool_options options = { .initial = 1 << 20,
					     .limit = 1 << 20 };
	struct fixture f;
	void *block;

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

FACT(each_fault_aborts_where_that_is_asked)
{
	void (*const bodies[])(struct fixture *,
			       unsigned char *) = { free_inside, free_twice,
						    write_behind, write_late };
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		int status = status_of(bodies[i], "1");

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
		assert_int_equal(status_of(bodies[i], "0"), 0);
	}
}
