/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls that the header of this tree may not have: where the module does not
 * know them they are -ENOTTY.
 */
#ifndef FUZZ_LATER_H
#define FUZZ_LATER_H

#include <linux/dray.h>

#ifndef DRAY_IOC_EXPORT
struct dray_export {
	__s32 buffer_fd;
	__u32 flags;
	__s32 fd;
	__u32 reason;
	__u64 limit;
};

#define DRAY_EXPORT_READ_ONLY (1u << 0)
#define DRAY_IOC_EXPORT _IOWR(DRAY_IOC_MAGIC, 9, struct dray_export)
#endif

#ifndef DRAY_IOC_ATTACH
struct dray_attach {
	__s32 dmabuf_fd;
	__u32 flags;
	__u64 address;
	__u64 length;
	__s32 fd;
	__u32 segments;
	__u32 reason;
	__u32 reserved;
	__u64 limit;
};

#define DRAY_ATTACH_USER (1u << 0)
#define DRAY_ATTACH_READ_ONLY (1u << 1)
#define DRAY_IOC_ATTACH _IOWR(DRAY_IOC_MAGIC, 10, struct dray_attach)
#endif

#ifndef DRAY_IOC_CANCEL
struct dray_cancel {
	__s32 fence_fd;
	__u32 channel;
	__u32 flags;
	__u32 count;
	__u32 reason;
	__u32 reserved;
	__u64 limit;
};

#define DRAY_IOC_CANCEL _IOWR(DRAY_IOC_MAGIC, 11, struct dray_cancel)
#endif

#ifndef DRAY_IOC_RECLAIM
struct dray_reclaim {
	__u64 id;
	__u32 flags;
	__u32 count;
	__u64 bytes;
	__u32 reason;
	__u32 reserved;
	__u64 limit;
};

#define DRAY_IOC_RECLAIM _IOWR(DRAY_IOC_MAGIC, 12, struct dray_reclaim)
#endif

#endif
