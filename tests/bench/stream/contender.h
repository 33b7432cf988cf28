/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A contender receives frames from "rx1" of the engine for tests.
 */
#ifndef DRAY_BENCH_CONTENDER_H
#define DRAY_BENCH_CONTENDER_H

#include <stddef.h>
#include <stdint.h>

#define FRAMES 8 /* of a ring, or buffers */

struct frame {
	const uint8_t *data;
	size_t bytes;
	uint64_t time_ns; /* CLOCK_MONOTONIC, of the engine's report */
};

struct contender {
	const char *name;
	/* Each returns 0 or a negative errno. */
	int (*open)(size_t frame_bytes);
	/* Waits for the next frame, which is valid until the next call. */
	int (*next)(struct frame *frame);
	void (*close)(void);
};

extern const struct contender contender_dray, contender_proxy;

/* System calls so far: ioctl() and syscall(), and nothing else is called. */
extern uint64_t system_calls;

#endif /* DRAY_BENCH_CONTENDER_H */
