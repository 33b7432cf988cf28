/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loads libraries: those of XRT and BLAS, and plug-ins of managers.
 */
#ifndef DRAY_BASE_LOAD_H
#define DRAY_BASE_LOAD_H

#include "base/shared.h"

/* As dlopen(); NULL in a fully static program. */
DRAY_PRIVATE void *dray_load(const char *path, int flags);
/* Why the last dray_load() of this thread failed; NULL if nobody knows. */
const char *dray_load_failure(void);

#endif /* DRAY_BASE_LOAD_H */
