/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Formats of Arrow for strings, for the files that import and export them. */
#ifndef DRAY_INTEROP_ARROW_TEXT_H
#define DRAY_INTEROP_ARROW_TEXT_H

#include "interop/arrow.h"

#define DRAY_ARROW_VIEW_SIZE 16 /* bytes of a string in "vu" and "vz" */

struct dray_arrow_text {
	char format[3];
	bool is_text; /* UTF-8; else any bytes */
	uint8_t width; /* bytes of an offset, or DRAY_ARROW_VIEW_SIZE */
};

/* Finds the row of a format.  -EINVAL (NULL), -EOPNOTSUPP (another format). */
int dray_arrow_find_text(const char *format, struct dray_arrow_text *out);

#endif /* DRAY_INTEROP_ARROW_TEXT_H */
