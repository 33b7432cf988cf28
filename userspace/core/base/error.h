/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sentence behind dray_last_error().  Every failure of the library goes
 * through dray_fail(), so that no error code leaves without its reason.
 */
#ifndef DRAY_BASE_ERROR_H
#define DRAY_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include <dray/base.h>

#include "base/shared.h"

/* Does as dray_fail() for a failure of a kind, which dray_last_failure() returns. */
DRAY_PRIVATE int dray_fail_as(int error, enum dray_failure failure,
			      const char *format, ...)
	__attribute__((format(printf, 3, 4), cold));

/* Empties the sentence, before a function of the user that may leave its own. */
DRAY_PRIVATE void dray_forget_failure(void);

/* Adds to the sentence that is there, keeps its kind, and returns @error. */
DRAY_PRIVATE int dray_fail_adding(int error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Bytes of a sentence, with the zero at its end. */
#define DRAY_SENTENCE 512

/* Fails a request of @size bytes, of which a limit leaves too few: -ENOMEM. */
int dray_fail_limit(uint64_t size, uint64_t limit, uint64_t left);

/* A failure that another thread reports, or the same thread later. */
struct dray_kept_failure {
	enum dray_failure failure;
	char sentence[DRAY_SENTENCE];
};

/* Copies the sentence of the calling thread and its kind. */
DRAY_PRIVATE void dray_failure_keep(struct dray_kept_failure *kept);
/* Makes them the calling thread's, and returns @error. */
DRAY_PRIVATE int dray_failure_restore(int error,
				      const struct dray_kept_failure *kept);

/*
 * Lets clang's analyzer, which reads each file alone, know that failures are negative.
 * The function is short enough for it to be read at any depth of calls.
 */
#ifdef __clang_analyzer__
static inline int dray_negative(int error)
{
	__builtin_assume(error < 0);
	return error;
}
#define dray_fail(...) dray_negative(dray_fail(__VA_ARGS__))
#define dray_fail_as(...) dray_negative(dray_fail_as(__VA_ARGS__))
#define dray_fail_adding(...) dray_negative(dray_fail_adding(__VA_ARGS__))
#endif

/*
 * Returns true if @needed is not NULL.  If it is, leaves the sentence, and
 * errno for functions without another way to report EINVAL.
 */
DRAY_PRIVATE void dray_fail_null(const char *function) __attribute__((cold));

static inline bool dray_given(const void *needed, const char *function)
{
	if (__builtin_expect(needed != NULL, 1))
		return true;
	dray_fail_null(function);
	return false;
}

/* For sentences: "%zu byte%s". */
static inline const char *dray_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif /* DRAY_BASE_ERROR_H */
