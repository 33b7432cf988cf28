// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Registers of a node's device: the areas that it offers, found by their names, and
 * mapped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dray/registers.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/reply.h"
#include "memory/io.h"
#include "memory/reason.h"
#include "memory/unlocked.h"

struct dray_registers {
	_Atomic uint32_t references;
	struct dray_node *node; /* a reference */
	volatile uint32_t *words;
	uint64_t size; /* bytes; whole pages */
	char name[DRAY_NAME_LEN];
};

int dray_io_find(struct dray_node *node, const struct dray_io_kind *kind,
		 const char *name, uint32_t *index)
{
	char names[160] = "", found[DRAY_NAME_LEN];
	uint32_t count = kind->count(node), i;
	size_t used = 0;
	int ret;

	if (!count)
		return dray_fail(
			-EOPNOTSUPP,
			"%s offers no %s; a node of the device tree has them "
			"if it has the properties %s and dray,registers, and the "
			"module is of this version",
			node->info.name, kind->plural, kind->property);
	*index = 0;
	for (i = 0; name && i < count; i++) {
		ret = kind->name(node, i, found);
		if (ret)
			return ret;
		*index = i;
		if (!strncmp(name, found, DRAY_NAME_LEN))
			return 0;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used,
						 sizeof(names) - used, "%s%s",
						 used ? ", " : "", found);
	}
	return name ? dray_fail(-EINVAL, "no %s \"%s\" on %s, which has: %s",
				kind->plural, name, node->info.name, names)
		    : 0;
}

int dray_node_register_area(struct dray_node *node, uint32_t index,
			    struct dray_register_area *area, size_t size)
{
	struct dray_register_area known = { .index = index, .fd = -1 };
	int ret;

	if (!dray_given(node, __func__) || !dray_given(area, __func__))
		return -EINVAL;
	if (index >= node->info.register_count)
		return dray_fail(-EINVAL, "area %u of %s, which has %u", index,
				 node->info.name, node->info.register_count);
	ret = node->backend->area(node, &known);
	if (ret)
		return dray_fail_reason(ret, known.reason, known.limit,
					"area %u of %s", index,
					node->info.name);
	dray_reply(area, size, &known, sizeof(known));
	return 0;
}

static uint32_t areas_count(const struct dray_node *node)
{
	return node->info.register_count;
}

static int area_name(struct dray_node *node, uint32_t index,
		     char name[DRAY_NAME_LEN])
{
	struct dray_register_area area;
	int ret = dray_node_register_area(node, index, &area, sizeof(area));

	if (!ret)
		memcpy(name, area.name, DRAY_NAME_LEN);
	return ret;
}

static const struct dray_io_kind areas = {
	.plural = "registers",
	.property = "reg",
	.count = areas_count,
	.name = area_name,
};

static int open_area(struct dray_node *node, struct dray_register_area *args)
{
	int ret = node->backend->area(node, args);

	if (ret == -EPERM)
		return dray_fail(ret,
				 "registers of %s: CAP_SYS_RAWIO is missing; "
				 "open the node as root, or load the module "
				 "with registers=1",
				 node->info.name);
	if (ret)
		return dray_fail_reason(ret, args->reason, args->limit,
					"registers of %s, area %u",
					node->info.name, args->index);
	return 0;
}

static int map_area(struct dray_node *node, struct dray_registers *registers,
		    uint32_t index)
{
	struct dray_register_area args = { .index = index,
					   .flags = DRAY_REGISTERS_OPEN,
					   .fd = -1 };
	void *words;
	int ret = open_area(node, &args);

	if (ret)
		return ret;
	/* The mapping keeps the file. */
	words = mmap(NULL, (size_t)args.mappable, PROT_READ | PROT_WRITE,
		     MAP_SHARED, args.fd, 0);
	ret = words == MAP_FAILED
		      ? dray_map_refused("registers", args.mappable, errno)
		      : 0;
	close(args.fd);
	if (ret)
		return ret;
	registers->words = words;
	registers->size = args.mappable;
	memcpy(registers->name, args.name, sizeof(args.name) - 1);
	return 0;
}

int dray_registers_map(struct dray_node *node, const char *name,
		       struct dray_registers **out)
{
	DRAY_NO_CANCEL;
	struct dray_registers *registers;
	uint32_t index = 0;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_io_find(node, &areas, name, &index);
	if (ret)
		return ret;
	registers = calloc(1, sizeof(*registers));
	if (!registers)
		return dray_fail(-ENOMEM, "no memory for registers");
	ret = map_area(node, registers, index);
	if (ret) {
		free(registers);
		return ret;
	}
	atomic_init(&registers->references, 1);
	registers->node = dray_node_ref(node);
	*out = registers;
	return 0;
}

struct dray_registers *dray_registers_ref(struct dray_registers *registers)
{
	if (registers)
		atomic_fetch_add_explicit(&registers->references, 1,
					  memory_order_relaxed);
	return registers;
}

void dray_registers_unref(struct dray_registers *registers)
{
	DRAY_NO_CANCEL;

	if (!registers || atomic_fetch_sub_explicit(&registers->references, 1,
						    memory_order_acq_rel) != 1)
		return;
	munmap((void *)registers->words, (size_t)registers->size);
	dray_node_unref(registers->node);
	free(registers);
}

volatile void *dray_registers_address(const struct dray_registers *registers)
{
	return dray_given(registers, __func__) ? registers->words : NULL;
}

uint64_t dray_registers_size(const struct dray_registers *registers)
{
	return dray_given(registers, __func__) ? registers->size : 0;
}

const char *dray_registers_name(const struct dray_registers *registers)
{
	return dray_given(registers, __func__) ? registers->name : NULL;
}

/* As the kernel's writel() and readl(): the device is in the outer domain. */
#if defined(__aarch64__)
#define BARRIER_BEFORE_WRITE() __asm__ volatile("dmb oshst" ::: "memory")
#define BARRIER_AFTER_READ() __asm__ volatile("dmb oshld" ::: "memory")
#elif defined(__arm__)
#define BARRIER_BEFORE_WRITE() __asm__ volatile("dsb st" ::: "memory")
#define BARRIER_AFTER_READ() __asm__ volatile("dsb" ::: "memory")
#elif defined(__x86_64__) || defined(__i386__)
/* Accesses that are not cached keep their order among all others. */
#define BARRIER_BEFORE_WRITE() __asm__ volatile("" ::: "memory")
#define BARRIER_AFTER_READ() __asm__ volatile("" ::: "memory")
#else
#define BARRIER_BEFORE_WRITE() __sync_synchronize()
#define BARRIER_AFTER_READ() __sync_synchronize()
#endif

static int check_offset(const struct dray_registers *registers, uint64_t offset)
{
	if (offset % 4)
		return dray_fail(-EINVAL,
				 "offset 0x%" PRIx64 " of the registers %s is "
				 "not a multiple of 4",
				 offset, registers->name);
	if (offset > registers->size - 4)
		return dray_fail(-EINVAL,
				 "offset 0x%" PRIx64 " of the registers %s, "
				 "which have 0x%" PRIx64 " bytes",
				 offset, registers->name, registers->size);
	return 0;
}

int dray_registers_read(const struct dray_registers *registers, uint64_t offset,
			uint32_t *value)
{
	int ret;

	if (!dray_given(registers, __func__) || !dray_given(value, __func__))
		return -EINVAL;
	ret = check_offset(registers, offset);
	if (ret)
		return ret;
	*value = registers->words[offset / 4];
	BARRIER_AFTER_READ();
	return 0;
}

int dray_registers_write(struct dray_registers *registers, uint64_t offset,
			 uint32_t value)
{
	int ret;

	if (!dray_given(registers, __func__))
		return -EINVAL;
	ret = check_offset(registers, offset);
	if (ret)
		return ret;
	BARRIER_BEFORE_WRITE();
	registers->words[offset / 4] = value;
	return 0;
}
