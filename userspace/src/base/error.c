// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The error contract: a code for the program, a sentence for the person.
 * One fixed buffer a thread, so that saying why memory ran out takes none.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static _Thread_local char sentence[512]
	__attribute__((tls_model("initial-exec")));

int dray_fail(int error, const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	errno = saved;
	return error;
}

int dray_fail_adding(int error, const char *format, ...)
{
	size_t length = strlen(sentence);
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(sentence + length, sizeof(sentence) - length, format, args);
	va_end(args);
	errno = saved;
	return error;
}

__attribute__((cold)) void dray_fail_null(const char *function)
{
	dray_fail(-EINVAL, "%s() was given NULL for what it needs", function);
	errno = EINVAL;
}

const char *dray_last_error(void)
{
	return sentence;
}

const char *dray_version(void)
{
	return DRAY_VERSION;
}
