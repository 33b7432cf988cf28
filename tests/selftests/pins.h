/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How much of the machine's memory is pinned, by the kernel's own count: an
 * attachment that is not let go of shows there, whoever knows of it.
 */
#ifndef SELFTEST_PINS_H
#define SELFTEST_PINS_H

#include "system.h"

/* Pages, or -1. */
long pins_count(void);

/* For wait_for(): is the count the long that @pages points to? */
bool pins_are(void *pages);

#endif
