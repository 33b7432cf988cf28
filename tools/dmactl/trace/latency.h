/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* dmactl trace --latency. */
#ifndef DMACTL_LATENCY_H
#define DMACTL_LATENCY_H

#include "span.h"

/*
 * Lets the kernel measure the times from submit to complete for the span, and
 * prints their histograms.
 */
enum exit_code latency_print(const struct request *request,
			     const struct span *span);

#endif /* DMACTL_LATENCY_H */
