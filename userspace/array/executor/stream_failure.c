// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Failures of calls, as the ways of their frames share them. */
#include <errno.h>
#include <inttypes.h>

#include "private.h"
#include "executor/stream_executor.h"

int dray_stream_wrong_length(const struct dray_stream_call *run, int64_t number,
			     uint32_t stream, uint64_t bytes)
{
	return dray_fail(-EPROTO,
			 "frame %" PRId64 " of %s came back with %" PRIu64
			 " bytes on stream %u, not %" PRIu64,
			 number, run->call->ufunc->name, bytes, stream,
			 dray_frames_bytes(&run->frames, number,
					   run->call->inputs + (int)stream));
}

int dray_stream_check_cancelled(const struct dray_stream_call *run)
{
	if (!dray_call_is_cancelled(run->call))
		return 0;
	return dray_fail(-ECANCELED, "the call of %s was cancelled",
			 run->call->ufunc->name);
}
