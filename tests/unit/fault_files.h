/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Faults as in fault.h, of files that are opened and of memory of the C library
 * that a block of dray's is made of.
 */
#ifndef DRAY_TESTS_FAULT_FILES_H
#define DRAY_TESTS_FAULT_FILES_H

#include "fault.h"
WRAPPED(int, posix_memalign, (void **out, size_t alignment, size_t size))
{
	return fails_now() ? fault_error
			   : __real_posix_memalign(out, alignment, size);
}
WRAPPED(int, open64, (const char *path, int flags, ...))
{
	/* What it has of the mode is nothing that these tests would ask for. */
	return fails_now() ? -1 : __real_open64(path, flags, 0);
}

#endif /* DRAY_TESTS_FAULT_FILES_H */
