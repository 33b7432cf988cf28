/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A pool, the checking handler over it, and what that has written. */
#ifndef DRAY_TESTS_CHECKED_H
#define DRAY_TESTS_CHECKED_H

#include "pool.h"

struct fixture {
	struct dray_pool *pool;
	const struct dray_handler *handler;
	const struct dray_allocator *with;
	FILE *log;
	char *text;
	size_t length;
};

static inline void set_up(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->pool = open_pool(test_spec(), NULL);
	f->log = open_memstream(&f->text, &f->length);
	assert_works(dray_handler_check(dray_handler_for(f->pool), f->log,
					&f->handler));
	f->with = &f->handler->allocator;
}

static inline void tear_down(struct fixture *f)
{
	dray_pool_close(f->pool);
	fclose(f->log);
	free(f->text);
}

static inline unsigned char *get(struct fixture *f, size_t size)
{
	unsigned char *block = f->with->malloc(f->with->ctx, size);

	if (!block)
		fail_msg("%zu bytes: %s", size, dray_last_error());
	return block;
}

static inline void put(struct fixture *f, void *block, size_t size)
{
	f->with->free(f->with->ctx, block, size);
}

static inline struct dray_check numbers_of(struct fixture *f)
{
	struct dray_check numbers = { .size = sizeof(numbers) };

	assert_works(dray_check_get(f->handler, &numbers));
	return numbers;
}

static inline void assert_said(struct fixture *f, const char *part)
{
	fflush(f->log);
	if (!f->text || !strstr(f->text, part))
		fail_msg("'%s' does not say '%s'", f->text, part);
}

/* What it reports, which the caller frees. */
static inline void report_into(struct fixture *f, char **text)
{
	size_t length;
	FILE *file = open_memstream(text, &length);

	assert_works(dray_check_report(f->handler, file));
	fclose(file);
}

static inline void assert_reports(struct fixture *f, const char *part)
{
	char *text = NULL;

	report_into(f, &text);
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
	free(text);
}

static inline void nothing_is_wrong(struct fixture *f)
{
	struct dray_check numbers = numbers_of(f);

	assert_int_equal(numbers.bad_frees, 0);
	assert_int_equal(numbers.double_frees, 0);
	assert_int_equal(numbers.broken_guards, 0);
	assert_int_equal(numbers.late_writes, 0);
	fflush(f->log);
	if (!numbers.wrong_sizes) /* which are in the log, too */
		assert_true(!f->text || !*f->text);
}

#endif /* DRAY_TESTS_CHECKED_H */
