/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The live screen of dmactl top. */
#ifndef DMACTL_TOP_LIVE_H
#define DMACTL_TOP_LIVE_H

#include "base/columns.h"

/*
 * Shows a sample in each interval, until a key or a signal ends it or @count of
 * them were shown, if that is not 0.
 */
enum exit_code top_live(const struct request *request,
			const struct row_view *view, uint64_t interval_ns,
			uint64_t count);

#endif /* DMACTL_TOP_LIVE_H */
