/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A heap as a device.
 */
#ifndef DRAY_HEAP_DEVICE_H
#define DRAY_HEAP_DEVICE_H

struct dray_heap;

/*
 * A kind calls this once ops->destroy can be called; from then on, also if this
 * fails, the heap ends by put_device().
 */
int dray_heap_device_init(struct dray_heap *heap, const char *name);
/* Shows it in sysfs. */
int dray_heap_device_add(struct dray_heap *heap);

int dray_heap_class_init(void);
void dray_heap_class_exit(void);

#endif /* DRAY_HEAP_DEVICE_H */
