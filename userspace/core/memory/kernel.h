/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of the kernel back end; backend.h documents each. */
#ifndef DRAY_MEMORY_KERNEL_H
#define DRAY_MEMORY_KERNEL_H

#include "memory/backend.h"

/* One ioctl: 0 or a negative errno; restarted after a signal. */
int dray_kernel_call(int fd, unsigned int request, void *args);

/* kernel_buffer.c */
int dray_kernel_alloc(struct dray_buffer *buffer,
		      const struct dray_request *request);
int dray_kernel_import(struct dray_buffer *buffer, int fd, uint64_t need);
void dray_kernel_release(struct dray_buffer *buffer);
int dray_kernel_share(struct dray_buffer *buffer, bool read_only, int *fd);
int dray_kernel_addresses(struct dray_buffer *buffer, uint64_t offset,
			  uint64_t length, struct dray_segment *segments,
			  size_t room, size_t *count);

/* kernel_port.c */
extern const struct dray_port_ops dray_kernel_ports;

#endif /* DRAY_MEMORY_KERNEL_H */
