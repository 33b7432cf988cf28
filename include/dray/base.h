/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * base: the version and the error contract.
 *
 * Functions return 0 or a negative errno and write their results through out
 * parameters, which keep their value on failure.  What failed is said in a
 * sentence, kept for the calling thread until its next failure.  Functions
 * shaped like malloc return NULL and set errno instead, and leave the same
 * sentence.
 */
#ifndef DRAY_BASE_H
#define DRAY_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the library exports; everything else is hidden. */
#define DRAY_API __attribute__((visibility("default")))

/** The library's version, "major.minor.patch"; a constant. */
DRAY_API const char *dray_version(void);

/**
 * Why the last call of this thread failed: a sentence with the value that was
 * wrong and the limit that it met, without a trailing newline; "" before the
 * first failure.  Valid until the next failing call of the same thread.
 */
DRAY_API const char *dray_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_BASE_H */
