// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Failures of allocation, kept out of the fast paths. */
#include <errno.h>

#include "base/error.h"
#include "pool/no_memory.h"

__attribute__((cold)) void *dray_no_block(int error)
{
	errno = -error;
	return NULL;
}

__attribute__((cold)) void *dray_no_memory(const char *what, size_t size)
{
	return dray_no_block(dray_fail(-ENOMEM, "no memory for %s of %zu bytes",
				       what, size));
}

__attribute__((cold)) void *dray_no_elements(size_t count, size_t size)
{
	return dray_no_block(dray_fail(
		-ENOMEM, "%zu elements of %zu bytes do not fit any memory",
		count, size));
}
