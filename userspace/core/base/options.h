/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Structures of callers that were compiled against another version of the library.
 * Each begins with its size, 0 for the first version; docs/stability.md has the rule.
 */
#ifndef DRAY_BASE_OPTIONS_H
#define DRAY_BASE_OPTIONS_H

#include <stddef.h>
#include <string.h>

#include "base/shared.h"

/* Bytes of @type up to the end of @member. */
#define DRAY_SIZE_TO(type, member) \
	(offsetof(type, member) + sizeof(__typeof__(((type *)0)->member)))

/* Bytes of the first version of each structure, by its last member: constants. */
#define DRAY_BUFFER_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_buffer_options, pages)
#define DRAY_POOL_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_pool_options, pages)
#define DRAY_POOL_STATS_SIZE_FIRST DRAY_SIZE_TO(struct dray_pool_stats, cached)
#define DRAY_CHECK_SIZE_FIRST DRAY_SIZE_TO(struct dray_check, wrong_sizes)
#define DRAY_RESOURCE_OPS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_resource_ops, destroy)
#define DRAY_STATISTICS_SIZE_FIRST DRAY_SIZE_TO(struct dray_statistics, blocks)
#define DRAY_TRACKING_SIZE_FIRST DRAY_SIZE_TO(struct dray_tracking, wrong_sizes)
#define DRAY_MEMORY_DESCRIPTION_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_memory_description, ctx)
#define DRAY_MANAGER_STATS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_manager_stats, capacity)
#define DRAY_DTYPE_FUNCTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_dtype_functions, release)
#define DRAY_QUEUE_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_queue_options, max_descriptors)
#define DRAY_EXPLANATION_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_explanation, reason)
#define DRAY_STREAM_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_stream_options, reserved)
#define DRAY_PACKET_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_packet_options, bytes)
#define DRAY_RING_COUNTS_SIZE_FIRST DRAY_SIZE_TO(struct dray_ring_counts, base)
#define DRAY_STREAM_COUNTS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_stream_counts, in_flight)
#define DRAY_ROW_LIMITS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_row_limits, reserved)
#define DRAY_LOAN_OPTIONS_SIZE_FIRST \
	DRAY_SIZE_TO(struct dray_loan_options, reserved)
#define DRAY_XRT_FOREIGN_SIZE_FIRST DRAY_SIZE_TO(struct dray_xrt_foreign, owner)

/* -EINVAL (a size below @first), -E2BIG (a size above 4096). */
DRAY_PRIVATE int dray_result_check(const void *out, size_t first,
				   const char *function);

static inline int dray_options_read(void *to, size_t known, const void *from,
				    size_t first, const char *function)
{
	size_t size;

	if (!from) {
		memset(to, 0, known);
		memcpy(to, &known, sizeof(known));
		return 0;
	}
	memcpy(&size, from, sizeof(size));
	if (size ? size != known : first != known)
		return dray_options_adapt(to, known, from, first, function);
	memcpy(to, from, known);
	memcpy(to, &known, sizeof(known));
	return 0;
}

/*
 * Reads the options at @from, NULL for the default, into those of this version at @to.
 * Returns 0 or an error of dray_options_adapt().
 */
#define DRAY_READ_OPTIONS(to, from, first_size) \
	dray_options_read(to, sizeof(*(to)), from, first_size, __func__)

/* Tells whether options need no copy: they are of this very version. */
#define DRAY_OPTIONS_ARE_KNOWN(options) ((options)->size == sizeof(*(options)))

/* Fills the caller's @out from the result of this version at @from. */
#define DRAY_WRITE_RESULT(out, from, first_size) \
	dray_result_write(out, from, sizeof(*(from)), first_size, __func__)

#endif /* DRAY_BASE_OPTIONS_H */
