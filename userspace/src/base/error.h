/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sentence behind dray_last_error().  Every failure of the library goes
 * through dray_fail(), so that no error code leaves without its reason.
 */
#ifndef DRAY_BASE_ERROR_H
#define DRAY_BASE_ERROR_H

#include <dray/base.h>

/*
 * Keeps a sentence for the calling thread and returns @error, a negative
 * errno.  Touches errno not at all.
 */
int dray_fail(int error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds to the sentence that is there, and returns @error. */
int dray_fail_adding(int error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* DRAY_BASE_ERROR_H */
