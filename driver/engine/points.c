// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points: written by the channel's work item, read by the opener through its
 * mapping, and by WAIT.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base/compat.h"
#include "heap/account.h"
#include "points.h"

#define DRAY_POINTS_USUAL 1024

static struct eventfd_ctx *dray_points_event(s32 fd)
{
	return fd == -1 ? NULL : eventfd_ctx_fdget(fd);
}

static int dray_points_alloc(struct dray_points *points, u32 count,
			     struct dray_refusal *refusal)
{
	struct dray_timeline_head *head;
	int ret;

	points->size =
		PAGE_ALIGN(sizeof(*head) + count * sizeof(struct dray_point));
	ret = dray_charge_user(points->size, &points->user, refusal);
	if (ret)
		return ret;
	head = vmalloc_user(points->size);
	if (!head) {
		dray_uncharge_user(points->user, points->size);
		return -ENOMEM;
	}
	head->points = count;
	head->first = sizeof(*head);
	points->head = head;
	points->point = (struct dray_point *)(head + 1);
	return 0;
}

struct dray_points *dray_points_create(const struct dray_timeline *args,
				       u64 base, struct dray_refusal *refusal)
{
	u32 count = args->points ? args->points : DRAY_POINTS_USUAL;
	struct dray_points *points;
	struct eventfd_ctx *event;
	int ret;

	if (count > DRAY_MAX_POINTS)
		return ERR_PTR(dray_refuse(refusal, -EINVAL, DRAY_REASON_POINTS,
					   DRAY_MAX_POINTS));
	count = roundup_pow_of_two(max_t(u32, count, DRAY_MIN_POINTS));
	event = dray_points_event(args->event_fd);
	if (IS_ERR(event))
		return ERR_CAST(event);
	points = kzalloc(sizeof(*points), GFP_KERNEL_ACCOUNT);
	ret = points ? dray_points_alloc(points, count, refusal) : -ENOMEM;
	if (ret) {
		kfree(points);
		if (event)
			eventfd_ctx_put(event);
		return ERR_PTR(ret);
	}
	kref_init(&points->kref);
	spin_lock_init(&points->lock);
	init_waitqueue_head(&points->moved);
	points->event = event;
	points->base = base;
	points->head->completed = base;
	return points;
}

void dray_points_get(struct dray_points *points)
{
	kref_get(&points->kref);
}

static void dray_points_release(struct kref *kref)
{
	struct dray_points *points =
		container_of(kref, struct dray_points, kref);

	if (points->event)
		eventfd_ctx_put(points->event);
	vfree(points->head);
	dray_uncharge_user(points->user, points->size);
	kfree(points);
}

void dray_points_put(struct dray_points *points)
{
	if (points)
		kref_put(&points->kref, dray_points_release);
}

static struct dray_point *dray_points_slot(struct dray_points *points,
					   u64 number)
{
	return &points->point[number & (points->head->points - 1)];
}

/* smp_store_release() of 64 bits does not exist on 32-bit machines. */
static void dray_points_store(u64 *at, u64 value)
{
	/* Readers that see the value see all that was stored before. */
	smp_wmb();
	WRITE_ONCE(*at, value);
}

/* Readers see the number last, and 0 while the rest changes. */
static void dray_point_write(struct dray_point *slot,
			     const struct dray_point *point)
{
	WRITE_ONCE(slot->number, 0);
	/* Readers that see the rest change see 0. */
	smp_wmb();
	WRITE_ONCE(slot->bytes, point->bytes);
	WRITE_ONCE(slot->time_ns, point->time_ns);
	WRITE_ONCE(slot->status, point->status);
	WRITE_ONCE(slot->frame, point->frame);
	dray_points_store(&slot->number, point->number);
}

/* Steps over all points that are there. */
static void dray_points_advance(struct dray_points *points)
{
	u64 next = points->head->completed + 1;

	while (dray_points_slot(points, next)->number == next)
		next++;
	dray_points_store(&points->head->completed, next - 1);
}

u64 dray_points_bytes(struct dray_points *points)
{
	unsigned long flags;
	u64 bytes;

	spin_lock_irqsave(&points->lock, flags);
	bytes = points->bytes;
	spin_unlock_irqrestore(&points->lock, flags);
	return bytes;
}

void dray_points_publish(struct dray_points *points,
			 const struct dray_point *point)
{
	struct dray_timeline_head *head = points->head;
	unsigned long flags;

	if (point->number <= points->base)
		return;
	spin_lock_irqsave(&points->lock, flags);
	dray_point_write(dray_points_slot(points, point->number), point);
	dray_points_advance(points);
	points->bytes += point->bytes;
	dray_points_store(&head->published, head->published + 1);
	spin_unlock_irqrestore(&points->lock, flags);
	wake_up_all(&points->moved);
	if (points->event)
		dray_eventfd_signal(points->event);
}

void dray_points_end(struct dray_points *points)
{
	WRITE_ONCE(points->ended, true);
	wake_up_all(&points->moved);
}

void dray_points_lose_ring(struct dray_points *points)
{
	/* Those that see it see a stream without a ring. */
	smp_store_release(&points->rings, points->rings + 1);
	wake_up_all(&points->moved);
}

u32 dray_points_rings(const struct dray_points *points)
{
	/* The stream's ring is read behind it. */
	return smp_load_acquire(&points->rings);
}

int dray_points_find(struct dray_points *points, u64 number,
		     struct dray_point *point)
{
	u64 found;
	int ret;

	spin_lock_irq(&points->lock);
	*point = *dray_points_slot(points, number);
	found = point->number;
	if (found == number)
		ret = 0;
	else if (found > number || number <= points->head->completed)
		ret = -EOVERFLOW;
	else
		ret = -EAGAIN;
	spin_unlock_irq(&points->lock);
	return ret;
}

bool dray_points_reach(struct dray_points *points, u64 number)
{
	unsigned long flags;
	bool reach;

	spin_lock_irqsave(&points->lock, flags);
	reach = points->head->completed >= number ||
		dray_points_slot(points, number)->number >= number;
	spin_unlock_irqrestore(&points->lock, flags);
	return reach;
}

static int dray_points_unmap(struct inode *inode, struct file *file)
{
	dray_points_put(file->private_data);
	return 0;
}

static const struct file_operations dray_points_fops = {
	.owner = THIS_MODULE,
	.release = dray_points_unmap,
};

/*
 * A mapping holds its file.  It gets one that holds only the points, so that
 * close() ends the timeline of a program that has not unmapped it.
 */
int dray_points_map(struct dray_points *points, struct vm_area_struct *vma)
{
	struct file *file;
	int ret;

	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	dray_vma_forbid_write(vma);
	file = anon_inode_getfile("[dray-points]", &dray_points_fops, points,
				  O_RDONLY);
	if (IS_ERR(file))
		return PTR_ERR(file);
	dray_points_get(points);
	ret = remap_vmalloc_range(vma, points->head, vma->vm_pgoff);
	if (!ret)
		vma_set_file(vma, file);
	fput(file);
	return ret;
}
