/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A file that is made, or replaced, when all of it is written: until then it is
 * a temporary file in the same folder.
 */
#ifndef DRAY_FILE_REPLACE_H
#define DRAY_FILE_REPLACE_H

#include <stdbool.h>

struct dray_replace {
	const char *path; /* as passed by the caller */
	char *target; /* the same without links at its end */
	char *temporary; /* its name; NULL: there is none */
	int fd;
};

/* Makes the temporary file; dray_replace_end() in any case. */
int dray_replace_begin(struct dray_replace *replace, const char *path);

/* Renames it to its target.  @fresh: -EEXIST if there is a file of that name. */
int dray_replace_finish(struct dray_replace *replace, bool fresh);

/* Removes the temporary file, unless it was renamed. */
void dray_replace_end(struct dray_replace *replace);

/* attributes.c: removes the list of access that the new file got from its folder. */
int dray_replace_drop_access_list(const struct dray_replace *replace);
/* Copies the attributes of the old file that are not the system's. */
int dray_replace_keep_attributes(const struct dray_replace *replace);

/* Leaves a sentence about a call that set errno; returns it, negative. */
int dray_replace_failed(const struct dray_replace *replace, const char *call);

#endif /* DRAY_FILE_REPLACE_H */
