/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Private functions that libdray-array calls. */
#ifndef DRAY_BASE_SHARED_H
#define DRAY_BASE_SHARED_H

/*
 * Exports a private function, which libdray.map names in DRAY_PRIVATE.  No program
 * may link against it: the next build may lack it.
 */
#define DRAY_PRIVATE __attribute__((visibility("default")))

#endif /* DRAY_BASE_SHARED_H */
