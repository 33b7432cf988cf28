// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * registers: on the kernel back end, which a stand-in for the module answers, and the
 * host's refusals.  tests/streams/registers.c runs the module.
 */
#include <poll.h>
#include <sys/wait.h>

#include "stand_in.h"

static struct dray_node *node;
static struct dray_registers *registers;
static struct dray_interrupt *interrupt;

static int registers_setup(void **state)
{
	with_node(state);
	dray_node_unref(*state);
	module.registers = true;
	assert_works(dray_node_open("kernel:dray7", &node));
	*state = node;
	registers = NULL;
	interrupt = NULL;
	return 0;
}

static int registers_teardown(void **state)
{
	dray_registers_unref(registers);
	dray_interrupt_unref(interrupt);
	return without_node(state);
}

#define REGISTERS_FACT(name) \
	FACT_WITH(name, registers_setup, registers_teardown)

/* As the device does. */
static void interrupt_raise(void)
{
	const uint64_t one = 1;

	assert_int_equal(write(module.interrupt, &one, sizeof(one)),
			 sizeof(one));
}

REGISTERS_FACT(areas_and_interrupts_are_described)
{
	struct dray_register_area area;
	struct dray_interrupt_line line;

	assert_works(dray_node_register_area(node, 1, &area, sizeof(area)));
	assert_string_equal(area.name, "status");
	assert_int_equal(area.fd, -1);
	assert_int_equal(area.size, 4096);
	assert_fails(dray_node_register_area(node, 2, &area, sizeof(area)),
		     -EINVAL, "area 2 of dray7, which has 2");
	assert_works(dray_node_interrupt_line(node, 0, &line, sizeof(line)));
	assert_string_equal(line.name, "done");
	assert_int_equal(line.count, 7);
	assert_fails(dray_node_interrupt_line(node, 1, &line, sizeof(line)),
		     -EINVAL, "interrupt 1 of dray7, which has 1");
}

REGISTERS_FACT(a_register_is_read_and_written)
{
	volatile uint32_t *words;
	uint32_t value = 0;

	assert_works(dray_registers_map(node, "status", &registers));
	assert_string_equal(dray_registers_name(registers), "status");
	assert_int_equal(dray_registers_size(registers), 4096);
	words = dray_registers_address(registers);
	assert_works(dray_registers_write(registers, 4092, 0x12345678));
	assert_int_equal(words[1023], 0x12345678);
	words[4] = 5;
	assert_works(dray_registers_read(registers, 16, &value));
	assert_int_equal(value, 5);
	assert_int_equal(dray_registers_read(registers, 16, NULL), -EINVAL);
}

REGISTERS_FACT(an_offset_is_aligned_and_inside)
{
	uint32_t value;

	assert_works(dray_registers_map(node, NULL, &registers));
	assert_string_equal(dray_registers_name(registers), "control");
	assert_fails(dray_registers_read(registers, 2, &value), -EINVAL,
		     "offset 0x2 of the registers control is not a multiple");
	assert_fails(
		dray_registers_read(registers, 4096, &value), -EINVAL,
		"offset 0x1000 of the registers control, which have 0x1000");
	assert_fails(dray_registers_write(registers, UINT64_MAX - 3, 1),
		     -EINVAL, "offset 0xfffffffffffffffc");
}

REGISTERS_FACT(a_name_that_does_not_exist_lists_the_others)
{
	assert_fails(
		dray_registers_map(node, "contro", &registers), -EINVAL,
		"no registers \"contro\" on dray7, which has: control, status");
	assert_fails(dray_interrupt_open(node, "", &interrupt), -EINVAL,
		     "no interrupts \"\" on dray7, which has: done");
}

REGISTERS_FACT(an_area_that_cannot_be_mapped_says_why)
{
	fail_with(DRAY_IOC_REGISTER_AREA, EPERM, DRAY_REASON_PERMISSION, 0);
	assert_fails(
		dray_registers_map(node, NULL, &registers), -EPERM,
		"open the node as root, or load the module with registers=1");
	fail_with(DRAY_IOC_REGISTER_AREA, ENXIO, DRAY_REASON_REGISTERS, 4096);
	assert_fails(dray_registers_map(node, NULL, &registers), -ENXIO,
		     "it must begin at a page and be at least a page of 4096");
	module.failing = 0;
	module.mmap_fails = true;
	assert_fails(dray_registers_map(node, NULL, &registers), -ENOMEM,
		     "registers");
	module.mmap_fails = false;
	module.calloc_fails = true;
	assert_fails(dray_registers_map(node, NULL, &registers), -ENOMEM,
		     "no memory for registers");
	assert_fails(dray_interrupt_open(node, NULL, &interrupt), -ENOMEM,
		     "no memory for an interrupt");
	module.calloc_fails = false;
}

REGISTERS_FACT(an_interrupt_that_is_open_is_busy)
{
	fail_with(DRAY_IOC_INTERRUPT_LINE, EBUSY, DRAY_REASON_INTERRUPT, 0);
	assert_fails(dray_interrupt_open(node, NULL, &interrupt), -EBUSY,
		     "interrupt 0 is in use, here, in another process");
}

REGISTERS_FACT(a_wait_leaves_the_interrupt_masked)
{
	struct pollfd file = { .events = POLLIN };
	uint64_t count = 0;

	assert_works(dray_interrupt_open(node, "done", &interrupt));
	assert_string_equal(dray_interrupt_name(interrupt), "done");
	assert_fails(dray_interrupt_wait(interrupt, 0, &count), -ETIME,
		     "interrupt done of dray7 did not arrive within 0 ms");
	interrupt_raise();
	assert_works(dray_interrupt_wait(interrupt, -1, &count));
	assert_int_equal(count, 1);
	/* The count was not read. */
	file.fd = dray_interrupt_fd(interrupt);
	assert_int_equal(poll(&file, 1, 0), 1);
	assert_fails(dray_interrupt_wait(interrupt, 1, &count), -ETIME,
		     "within 1 ms");
	interrupt_raise();
	assert_works(dray_interrupt_wait(interrupt, 1000, &count));
	assert_int_equal(count, 2);
	assert_works(dray_interrupt_clear(interrupt));
	interrupt_raise();
	assert_works(dray_interrupt_clear(interrupt));
	assert_works(dray_interrupt_clear(interrupt));
	assert_fails(dray_interrupt_wait(interrupt, 0, NULL), -ETIME, "done");
}

REGISTERS_FACT(a_child_has_no_interrupt)
{
	int status;
	pid_t child;

	assert_works(dray_interrupt_open(node, NULL, &interrupt));
	interrupt_raise();
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(dray_interrupt_wait(interrupt, 0, NULL) != -ECHILD ||
		      dray_interrupt_clear(interrupt) != -ECHILD);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_works(dray_interrupt_wait(interrupt, 0, NULL));
}

STAND_IN_FACT(a_node_without_registers_says_how_to_offer_them)
{
	assert_fails(dray_registers_map(*state, "control", &registers),
		     -EOPNOTSUPP, "dray7 offers no registers; a node");
	assert_fails(dray_interrupt_open(*state, "done", &interrupt),
		     -EOPNOTSUPP, "properties interrupts and dray,registers");
}

FACT(a_node_of_the_host_has_no_registers)
{
	struct dray_node *host;

	assert_works(dray_node_open("host", &host));
	assert_fails(dray_registers_map(host, NULL, &registers), -EOPNOTSUPP,
		     "host offers no registers");
	assert_fails(dray_interrupt_open(host, NULL, &interrupt), -EOPNOTSUPP,
		     "host offers no interrupts");
	dray_node_unref(host);
}
