/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User mappings: operations of a dma-buf.
 */
#ifndef DRAY_MMAP_H
#define DRAY_MMAP_H

struct dma_buf;
struct vm_area_struct;

/* -EACCES if the memory or the descriptor may not be mapped so. */
int dray_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma);
int dray_mmap_read_only(struct dma_buf *dmabuf, struct vm_area_struct *vma);

#endif /* DRAY_MMAP_H */
