/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Overlays: merged into a tree without a board, by libfdt. */
#ifndef DMACTL_DT_MERGE_H
#define DMACTL_DT_MERGE_H

#include "blob.h"

/*
 * Merges @overlay into @base, which gets a new blob.  Returns NULL, or a sentence
 * for free(); then @base is as it was.  Both have passed blob_refuse().
 */
char *merge(struct blob *base, const struct blob *overlay);

#endif /* DMACTL_DT_MERGE_H */
