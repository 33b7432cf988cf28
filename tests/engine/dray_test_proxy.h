/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of dray_test_proxy.ko.  Its file is mapped: PROXY_BUFFERS buffers of
 * PROXY_SIZE bytes.
 */
#ifndef DRAY_TEST_PROXY_H
#define DRAY_TEST_PROXY_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PROXY_BUFFERS 8
#define PROXY_SIZE 4096

struct proxy_transfer {
	__u32 buffer;		/* in: its index */
	__u32 length;		/* in: bytes, at most PROXY_SIZE */
	__u32 bytes;		/* out: that came */
	__u32 reserved;
	__u64 time_ns;		/* out: CLOCK_MONOTONIC, of the engine's report */
};

#define PROXY_RECEIVE _IOWR('p', 1, struct proxy_transfer)

#endif /* DRAY_TEST_PROXY_H */
