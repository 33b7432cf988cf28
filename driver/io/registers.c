// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers: the file that maps an area.  Pages are mapped at their first access, so
 * that none is mapped behind the end of the node, whose accesses are SIGBUS.
 *
 * The files share an address space of the node's, as their inode is everybody's.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "io.h"

struct dray_registers_file {
	struct dray_node *node; /* a reference */
	struct dray_io_area *area;
};

static vm_fault_t dray_registers_fault(struct vm_fault *vmf)
{
	struct dray_registers_file *file = vmf->vma->vm_private_data;
	struct dray_io *io = file->node->io;
	struct dray_io_area *area = file->area;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	/* mremap() may make the mapping longer than the area. */
	if (vmf->pgoff >= area->mappable >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	mutex_lock(&io->mapped);
	if (!io->gone)
		ret = vmf_insert_pfn(vmf->vma, vmf->address,
				     PHYS_PFN(area->start) + vmf->pgoff);
	mutex_unlock(&io->mapped);
	return ret;
}

static const struct vm_operations_struct dray_registers_vm_ops = {
	.fault = dray_registers_fault,
};

static int dray_registers_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct dray_registers_file *registers = file->private_data;
	u64 pages = registers->area->mappable >> PAGE_SHIFT;

	/* A private copy of a register would be no register. */
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma_pages(vma) > pages || vma->vm_pgoff > pages - vma_pages(vma))
		return -EINVAL;
	dray_vma_set_io(vma);
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vma->vm_ops = &dray_registers_vm_ops;
	vma->vm_private_data = registers;
	return dray_node_check(registers->node);
}

static int dray_registers_close(struct inode *inode, struct file *file)
{
	struct dray_registers_file *registers = file->private_data;

	dray_node_put(registers->node);
	kfree(registers);
	return 0;
}

static const struct file_operations dray_registers_fops = {
	.owner = THIS_MODULE,
	.mmap = dray_registers_mmap,
	.release = dray_registers_close,
};

struct file *dray_io_open_registers(struct dray_node *node, u32 index)
{
	struct dray_registers_file *registers;
	struct file *file;

	registers = kzalloc(sizeof(*registers), GFP_KERNEL_ACCOUNT);
	if (!registers)
		return ERR_PTR(-ENOMEM);
	dray_node_get(node);
	registers->node = node;
	registers->area = &node->io->areas[index];
	file = anon_inode_getfile("[dray-registers]", &dray_registers_fops,
				  registers, O_RDWR);
	if (IS_ERR(file)) {
		dray_node_put(node);
		kfree(registers);
		return file;
	}
	node->io->mapping.host = file_inode(file);
	file->f_mapping = &node->io->mapping;
	return file;
}
