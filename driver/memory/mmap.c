// SPDX-License-Identifier: GPL-2.0-only
/*
 * User mappings.  `reserved` and `pages` memory is mapped as pages, all at once
 * and writable without a first fault, so that the mapping works for O_DIRECT,
 * io_uring, vmsplice and the like.  A fault handler serves pages that
 * MADV_DONTNEED removed.
 *
 * `cma` memory is mapped by frame number: a long-term pin of it would never
 * return, because the kernel tries to move pinned pages out of CMA first.
 * Uncached memory is too, as its kind of mapping demands, and a `carveout`,
 * which has no pages.
 */
#include <linux/dma-buf.h>
#include <linux/dma-map-ops.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "buffer.h"
#include "mmap.h"
#include "trace.h"

#define DRAY_INSERT_BATCH (PAGE_SIZE / sizeof(struct page *))

static void dray_vma_open(struct vm_area_struct *vma)
{
	struct dray_buffer *buffer = vma->vm_private_data;

	atomic_inc(&buffer->mapped);
}

static void dray_vma_close(struct vm_area_struct *vma)
{
	struct dray_buffer *buffer = vma->vm_private_data;

	atomic_dec(&buffer->mapped);
}

/*
 * Makes the entry itself.  For a page of a large compound page, the kernel may map
 * all of it by a large entry.  In a mapping of this kind it treats such an entry
 * as without pages, and never drops its count.
 *
 * vm_insert_page() finds the mapping marked by dray_insert_pages(), and so does
 * not change it, which only mmap() may.  Entries of vmf_insert_mixed() are without
 * pages and cannot be pinned.
 */
static vm_fault_t dray_vma_fault(struct vm_fault *vmf)
{
	struct dray_buffer *buffer = vmf->vma->vm_private_data;
	struct page *page;
	int ret;

	/* mremap() may make the mapping longer than the buffer. */
	if (vmf->pgoff >= buffer->size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	page = dray_buffer_page(buffer, vmf->pgoff);
	/* The kernel asks this only of a page that it is handed. */
	if (PageHWPoison(page))
		return VM_FAULT_HWPOISON;
	ret = vm_insert_page(vmf->vma, vmf->address, page);
	/* Another thread was faster. */
	if (ret && ret != -EBUSY)
		return vmf_error(ret);
	return VM_FAULT_NOPAGE;
}

/* The page at @offset as the kernel may look at it; undone by close. */
static void *dray_window_open(struct dray_buffer *buffer, size_t offset)
{
	const struct dray_heap_memory *memory = &buffer->memory;
	size_t index = offset >> PAGE_SHIFT;

	if (memory->vaddr)
		return memory->vaddr + (offset & PAGE_MASK);
	if (memory->page)
		return kmap_local_page(dray_buffer_page(buffer, index));
	return memremap(memory->start + (offset & PAGE_MASK), PAGE_SIZE,
			MEMREMAP_WC);
}

static void dray_window_close(struct dray_buffer *buffer, void *window)
{
	if (buffer->memory.vaddr)
		return;
	if (buffer->memory.page)
		kunmap_local(window);
	else
		memunmap(window);
}

/* Reads or writes for a debugger, if pages cannot be looked up. */
static int dray_vma_access(struct vm_area_struct *vma, unsigned long address,
			   void *data, int length, int write)
{
	struct dray_buffer *buffer = vma->vm_private_data;
	size_t offset =
		address - vma->vm_start + ((size_t)vma->vm_pgoff << PAGE_SHIFT);
	size_t in_page = offset_in_page(offset);
	void *window;

	if (length <= 0 || offset >= buffer->size)
		return -EINVAL;
	/* If pages can be looked up, the kernel checks this itself. */
	if (write && !(vma->vm_flags & VM_WRITE))
		return -EACCES;
	length = min_t(size_t, length, PAGE_SIZE - in_page);
	window = dray_window_open(buffer, offset);
	if (!window)
		return -ENOMEM;
	if (write)
		memcpy(window + in_page, data, length);
	else
		memcpy(data, window + in_page, length);
	dray_window_close(buffer, window);
	return length;
}

static const struct vm_operations_struct dray_page_vm_ops = {
	.open = dray_vma_open,
	.close = dray_vma_close,
	.fault = dray_vma_fault,
};

static const struct vm_operations_struct dray_frame_vm_ops = {
	.open = dray_vma_open,
	.close = dray_vma_close,
	.access = dray_vma_access,
};

/*
 * Makes the entries of a shared writable mapping dirty from the start: there is
 * nothing to write back, and without a hardware dirty bit each first write
 * would be a fault.
 */
static pgprot_t dray_dirty(pgprot_t prot)
{
	return __pgprot(pte_val(pte_mkdirty(pfn_pte(0, prot))));
}

/*
 * Caches as the kernel's own mapping does: two kinds of mapping must not mix.
 */
static pgprot_t dray_mode_prot(u32 mode, pgprot_t prot)
{
	switch (mode) {
	case DRAY_MODE_WRITE_COMBINED:
		return pgprot_writecombine(prot);
	case DRAY_MODE_COHERENT:
		return pgprot_dmacoherent(prot);
	default:
		return prot;
	}
}

/*
 * The pages of a compound page share a reference count of 32 bits, and each
 * entry is a reference.  It wraps after 32 GiB of page tables, filled by fork(),
 * so nothing here counts the entries.
 */
static int dray_insert_pages(struct dray_buffer *buffer,
			     struct vm_area_struct *vma)
{
	unsigned long address = vma->vm_start;
	size_t index = vma->vm_pgoff;
	unsigned long left, batch, i;
	struct page **pages;
	int ret = 0;

	pages = kmalloc_array(DRAY_INSERT_BATCH, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (left = vma_pages(vma); left && !ret; left -= batch) {
		batch = min_t(unsigned long, left, DRAY_INSERT_BATCH);
		for (i = 0; i < batch; i++)
			pages[i] = dray_buffer_page(buffer, index + i);
		i = batch;
		ret = vm_insert_pages(vma, address, pages, &i);
		address += batch << PAGE_SHIFT;
		index += batch;
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	kfree(pages);
	/* vm_insert_pages() reports missing page tables so. */
	return ret == -EFAULT ? -ENOMEM : ret;
}

int dray_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct dray_buffer *buffer = dmabuf->priv;
	bool pages = buffer->heap->flags & DRAY_HEAP_PINNABLE;
	size_t count = buffer->size >> PAGE_SHIFT;
	unsigned long frame;
	pgprot_t prot;
	int ret;

	if (buffer->mode == DRAY_MODE_DEVICE)
		return -EACCES;
	/* A private mapping would send writes to copies that no device sees. */
	if (!(vma->vm_flags & (VM_SHARED | VM_MAYSHARE)))
		return -EINVAL;
	if (vma->vm_pgoff > count || vma_pages(vma) > count - vma->vm_pgoff)
		return -EINVAL;

	/* An importer may prepare its own kind of mapping before. */
	if (pages && vma->vm_flags & VM_PFNMAP)
		return -EINVAL;

	frame = PHYS_PFN(buffer->memory.start) + vma->vm_pgoff;
	prot = dray_mode_prot(buffer->mode, vm_get_page_prot(vma->vm_flags));
	vma->vm_page_prot = vma->vm_flags & VM_WRITE ? dray_dirty(prot) : prot;
	if (pages)
		ret = dray_insert_pages(buffer, vma);
	else
		ret = remap_pfn_range(vma, vma->vm_start, frame,
				      vma->vm_end - vma->vm_start,
				      vma->vm_page_prot);
	vma->vm_page_prot = prot;
	if (ret)
		return ret;

	vma->vm_ops = pages ? &dray_page_vm_ops : &dray_frame_vm_ops;
	vma->vm_private_data = buffer;
	dray_vma_open(vma);
	trace_dray_mmap(buffer, (u64)vma->vm_pgoff << PAGE_SHIFT,
			vma->vm_end - vma->vm_start);
	return 0;
}

/*
 * Through its own descriptor a mapping is never writable, but an importer's
 * file may be open for writing.
 */
int dray_mmap_read_only(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	dray_vma_forbid_write(vma);
	return dray_mmap(dmabuf, vma);
}
