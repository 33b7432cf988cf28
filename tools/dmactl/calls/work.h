/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fills and copies of buffers, by an engine or by the CPU. */
#ifndef DMACTL_WORK_H
#define DMACTL_WORK_H

#include <dray/transfer.h>

#include "reach.h"

/* --engine and --cpu; neither: the engine if it can, else the CPU */
extern const struct command_option engine_option;
extern const struct command_option cpu_option;

struct work {
	const struct reached *dst;
	const struct reached *src; /* NULL: a fill */
	uint64_t dst_offset; /* bytes */
	uint64_t src_offset;
	uint64_t length;
	const void *element; /* of a fill */
	uint32_t element_size; /* bytes; 1 to copy */
	unsigned int flags; /* DRAY_COPY_*; 0: the engine if it can */
};

/* Reads the options; complains if both are given. */
bool work_flags(const struct request *request, unsigned int *flags);

/* Does the work with a progress bar, and prints its rate with @done in front. */
enum exit_code work_run(const struct request *request, struct work *work,
			const char *done);

#endif /* DMACTL_WORK_H */
