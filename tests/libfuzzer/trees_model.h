/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Device trees out of random bytes: sound blobs whose nodes, properties and numbers
 * are those that the checks of dmactl look at.
 */
#ifndef DRAY_TESTS_TREES_MODEL_H
#define DRAY_TESTS_TREES_MODEL_H

#include "fuzzer.h"

/* Makes a blob of up to all of the input; for free(). */
void *model_tree(struct input *input, size_t *size);

#endif /* DRAY_TESTS_TREES_MODEL_H */
