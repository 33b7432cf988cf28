// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sizes of structures that callers allocate: checks, and copies of other versions. */
#include <errno.h>

#include "base/error.h"
#include "base/options.h"

/* More is a size that was never set. */
#define MOST_BYTES 4096

/* Returns the bytes of a caller's structure. */
static size_t caller_size(const void *structure, size_t first)
{
	size_t size;

	memcpy(&size, structure, sizeof(size));
	return size ? size : first;
}

int dray_result_check(const void *out, size_t first, const char *function)
{
	const size_t size = caller_size(out, first);

	if (size < first)
		return dray_fail(
			-EINVAL,
			"%s(): a structure of %zu bytes, at least %zu: set its size to sizeof or 0",
			function, size, first);
	if (size > MOST_BYTES)
		return dray_fail(
			-E2BIG,
			"%s(): a structure of %zu bytes, at most %d: set its size to sizeof or 0",
			function, size, MOST_BYTES);
	return 0;
}

int dray_options_adapt(void *to, size_t known, const void *from, size_t first,
		       const char *function)
{
	size_t size, both, i;
	int ret;

	if (!dray_given(to, __func__) || !dray_given(from, __func__) ||
	    !dray_given(function, __func__))
		return -EINVAL;
	ret = dray_result_check(from, first, function);
	if (ret)
		return ret;
	size = caller_size(from, first);
	both = size < known ? size : known;
	for (i = known; i < size; i++) {
		if (((const char *)from)[i])
			return dray_fail(
				-E2BIG,
				"%s(): a field at byte %zu is not 0, this library knows %zu bytes: leave it 0, or use a later library",
				function, i, known);
	}
	memset(to, 0, known);
	memcpy(to, from, both);
	memcpy(to, &known, sizeof(known));
	return 0;
}

int dray_result_write(void *out, const void *from, size_t known, size_t first,
		      const char *function)
{
	size_t size, both;
	int ret;

	if (!dray_given(out, __func__) || !dray_given(from, __func__) ||
	    !dray_given(function, __func__))
		return -EINVAL;
	ret = dray_result_check(out, first, function);
	if (ret)
		return ret;
	size = caller_size(out, first);
	both = size < known ? size : known;
	memcpy(out, from, both);
	memset((char *)out + both, 0, size - both);
	memcpy(out, &both, sizeof(both));
	return 0;
}
