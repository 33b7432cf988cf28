/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a call was refused: goes into `reason` and `limit` of its reply, beside
 * the error number.
 */
#ifndef DRAY_REFUSAL_H
#define DRAY_REFUSAL_H

#include <linux/dray.h>
#include <linux/types.h>

struct dray_refusal {
	u32 reason; /* enum dray_reason */
	u64 limit;
};

static inline int dray_refuse(struct dray_refusal *refusal, int error,
			      u32 reason, u64 limit)
{
	refusal->reason = reason;
	refusal->limit = limit;
	return error;
}

#endif /* DRAY_REFUSAL_H */
