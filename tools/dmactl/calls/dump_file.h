/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The bytes of a buffer in a file, whose ending chooses the format. */
#ifndef DMACTL_DUMP_FILE_H
#define DMACTL_DUMP_FILE_H

#include "elements.h"

/* Returns "npy", "png" or "raw". */
const char *dump_format(const char *file);

/* Whether the format has a type and a shape. */
bool dump_is_array(const char *file);

/*
 * Writes the file, and shortens the part to the array that was written.  Complains and
 * returns false if that fails.
 */
bool dump_file(const char *file, const struct reached *reached,
	       struct part *part, const struct elements *elements);

#endif /* DMACTL_DUMP_FILE_H */
