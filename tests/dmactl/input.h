/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef DRAY_TESTS_DMACTL_INPUT_H
#define DRAY_TESTS_DMACTL_INPUT_H

#include <stdbool.h>

/* Waits up to @timeout ms, -1 without a limit; true if standard input has ended. */
bool input_ended(int timeout);

#endif /* DRAY_TESTS_DMACTL_INPUT_H */
