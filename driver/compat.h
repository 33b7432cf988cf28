/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that dray builds on.  Newer names are used
 * everywhere else; this file gives them to older kernels.  What is in capitals
 * here is set by the Makefile, which looks at the headers.
 */
#ifndef DRAY_COMPAT_H
#define DRAY_COMPAT_H

#include <linux/dma-resv.h>
#include <linux/sched.h>

#ifdef DRAY_IOSYS_MAP
#include <linux/iosys-map.h>
#else
#include <linux/dma-buf-map.h>
#define iosys_map dma_buf_map
#define iosys_map_set_vaddr dma_buf_map_set_vaddr
#define iosys_map_clear dma_buf_map_clear
#endif

/* Waits for all fences, or for those of writers only. */
static inline long dray_resv_wait(struct dma_resv *resv, bool all)
{
#ifdef DRAY_RESV_USAGE
	return dma_resv_wait_timeout(resv, dma_resv_usage_rw(all), true,
				     MAX_SCHEDULE_TIMEOUT);
#else
	return dma_resv_wait_timeout(resv, all, true, MAX_SCHEDULE_TIMEOUT);
#endif
}

/* Makes room for one more fence; the object is locked. */
static inline int dray_resv_reserve(struct dma_resv *resv)
{
#ifdef DRAY_RESV_USAGE
	return dma_resv_reserve_fences(resv, 1);
#else
	return dma_resv_reserve_shared(resv, 1);
#endif
}

static inline void dray_resv_add(struct dma_resv *resv, struct dma_fence *fence,
				 bool write)
{
#ifdef DRAY_RESV_USAGE
	dma_resv_add_fence(resv, fence,
			   write ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
#else
	if (write)
		dma_resv_add_excl_fence(resv, fence);
	else
		dma_resv_add_shared_fence(resv, fence);
#endif
}

#endif /* DRAY_COMPAT_H */
