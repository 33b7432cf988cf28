// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Errors with one of the sentences for the kernel's reasons.  The caller puts the
 * request and its values in front.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dray/memory.h>

#include "base/error.h"
#include "memory/reason.h"

/* The analyzer's; see the header. */
#undef dray_fail_reason

int dray_fail_reason(int error, uint32_t reason, uint64_t limit,
		     const char *format, ...)
{
	char asked[256], answer[160];
	va_list args;

	va_start(args, format);
	vsnprintf(asked, sizeof(asked), format, args);
	va_end(args);
	if (!dray_reason_text(error, reason, limit, answer, sizeof(answer)))
		return dray_fail(error, "%s: %s", asked, strerror(-error));
	return dray_fail(error, "%s: %s", asked, answer);
}
