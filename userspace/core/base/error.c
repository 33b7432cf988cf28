// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The error contract: a code for the program, a sentence for the person.
 *
 * Each thread gets a buffer at its first failure and frees it at its end.  It
 * is not thread-local storage: the library's is static, and a process reserves
 * only a few hundred bytes of that for objects it loads later.  The first buffer
 * is static, so that a program of a single thread can report that memory ran out.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The analyzer's; see the header. */
#undef dray_fail
#undef dray_fail_as
#undef dray_fail_adding

/* The kind of the last failure, which needs no buffer. */
static _Thread_local enum dray_failure kind
	__attribute__((tls_model("initial-exec")));

/* The thread's buffer; no_sentence: the last failure found no memory for it. */
static _Thread_local char *sentence __attribute__((tls_model("initial-exec")));

static char no_sentence[] = "no memory for the error message";

static char first[DRAY_SENTENCE];
static _Atomic bool first_is_taken;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool usable;

static void error_drop(char *buffer)
{
	if (buffer == first)
		atomic_store(&first_is_taken, false);
	else
		free(buffer);
}

static void error_end_thread(void *buffer)
{
	sentence = NULL;
	error_drop(buffer);
}

static void error_set_up(void)
{
	usable = !pthread_key_create(&key, error_end_thread);
}

static bool error_has_buffer(void)
{
	return sentence && sentence != no_sentence;
}

/* The thread's buffer, or NULL. */
static char *buffer_of_caller(void)
{
	char *buffer;

	if (error_has_buffer())
		return sentence;
	pthread_once(&once, error_set_up);
	if (!usable)
		return NULL;
	buffer = atomic_exchange(&first_is_taken, true) ? malloc(DRAY_SENTENCE)
							: first;
	if (!buffer)
		return NULL;
	if (pthread_setspecific(key, buffer)) {
		error_drop(buffer);
		return NULL;
	}
	buffer[0] = '\0';
	sentence = buffer;
	return buffer;
}

/* Writes from byte @from on, and leaves errno as it was. */
static void error_say(size_t from, const char *format, va_list args)
{
	int saved = errno;
	char *buffer = buffer_of_caller();

	if (buffer)
		vsnprintf(buffer + from, DRAY_SENTENCE - from, format, args);
	else
		sentence = no_sentence;
	errno = saved;
}

int dray_fail(int error, const char *format, ...)
{
	va_list args;

	if (!dray_given(format, __func__))
		return error;
	va_start(args, format);
	error_say(0, format, args);
	va_end(args);
	kind = DRAY_FAILURE_NONE;
	return error;
}

int dray_fail_as(int error, enum dray_failure failure, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_say(0, format, args);
	va_end(args);
	kind = failure;
	return error;
}

int dray_fail_adding(int error, const char *format, ...)
{
	size_t length = error_has_buffer() ? strlen(sentence) : 0;
	va_list args;

	va_start(args, format);
	error_say(length, format, args);
	va_end(args);
	return error;
}

int dray_fail_limit(uint64_t size, uint64_t limit, uint64_t left)
{
	return dray_fail(-ENOMEM,
			 "%" PRIu64 " bytes asked, the limit of %" PRIu64
			 " leaves %" PRIu64,
			 size, limit, left);
}

void dray_forget_failure(void)
{
	if (error_has_buffer())
		sentence[0] = '\0';
	kind = DRAY_FAILURE_NONE;
}

void dray_failure_keep(struct dray_kept_failure *kept)
{
	snprintf(kept->sentence, sizeof(kept->sentence), "%s",
		 dray_last_error());
	kept->failure = kind;
}

int dray_failure_restore(int error, const struct dray_kept_failure *kept)
{
	return dray_fail_as(error, kept->failure, "%s", kept->sentence);
}

__attribute__((cold)) void dray_fail_null(const char *function)
{
	dray_fail(-EINVAL, "%s(): a required argument is NULL", function);
	errno = EINVAL;
}

const char *dray_last_error(void)
{
	return sentence ? sentence : "";
}

enum dray_failure dray_last_failure(void)
{
	return kind;
}

const char *dray_version(void)
{
	return DRAY_VERSION_TEXT;
}
