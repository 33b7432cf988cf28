/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * registers: registers and interrupts of a node's device, as the device tree names them.
 *
 *	struct dray_interrupt *done;
 *	struct dray_registers *control;
 *
 *	ret = dray_registers_map(node, "control", &control);
 *	if (!ret)
 *		ret = dray_interrupt_open(node, "done", &done);
 *	if (!ret)
 *		ret = dray_registers_write(control, 0x10, 1);	// start
 *	if (!ret)
 *		ret = dray_interrupt_wait(done, 1000, NULL);	// milliseconds
 *
 * A node of the host has none.  Functions may be called from any thread.  Registers and
 * interrupts are counted, and begin with a reference.
 */
#ifndef DRAY_REGISTERS_H
#define DRAY_REGISTERS_H

#include <dray/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_registers;
struct dray_interrupt;

/**
 * Fills @size bytes of @area: name, size and mappable; fd is -1.
 * Errors: -EINVAL (beyond the last), -ENODEV (the device is gone).
 */
DRAY_API int dray_node_register_area(struct dray_node *node, uint32_t index,
				     struct dray_register_area *area,
				     size_t size);

/** As dray_node_register_area(), for an interrupt: its name and count. */
DRAY_API int dray_node_interrupt_line(struct dray_node *node, uint32_t index,
				      struct dray_interrupt_line *line,
				      size_t size);

/**
 * Maps the area of registers with the name @name; NULL: the first.  The CPU caches no
 * access.  Other processes may map the same registers.
 *
 * A child of fork() has the mapping, too.  Once the device is gone, an access ends the
 * program by SIGBUS.
 *
 * @out: a reference, dropped by dray_registers_unref()
 *
 * Errors: -EINVAL (no area has that name: the sentence lists the names), -EOPNOTSUPP
 * (the node offers no registers), -EPERM (the right is missing: CAP_SYS_RAWIO when the
 * node was opened, or the module's parameter registers=1), -ENXIO (no whole page
 * belongs to it), -ENOMEM, -EMFILE, -ENODEV, and the errors of mmap().
 */
DRAY_API int dray_registers_map(struct dray_node *node, const char *name,
				struct dray_registers **out);

/** Returns @registers with a further reference; NULL is ignored. */
DRAY_API struct dray_registers *
dray_registers_ref(struct dray_registers *registers);
/** Drops a reference, and unmaps with the last; NULL is ignored. */
DRAY_API void dray_registers_unref(struct dray_registers *registers);

/**
 * Returns the first register.  A program that accesses it, rather than by the functions
 * below, uses volatile accesses of the width that the device expects, and barriers.
 */
DRAY_API volatile void *
dray_registers_address(const struct dray_registers *registers);

/** Returns the bytes that are mapped: whole pages. */
DRAY_API uint64_t dray_registers_size(const struct dray_registers *registers);

/** Returns the name, valid until they are unmapped. */
DRAY_API const char *
dray_registers_name(const struct dray_registers *registers);

/**
 * Reads the register of 32 bits at @offset bytes.  Reads of buffers after it see the
 * bytes that the device wrote before.
 * Errors: -EINVAL (not a multiple of 4, or beyond the end).
 */
DRAY_API int dray_registers_read(const struct dray_registers *registers,
				 uint64_t offset, uint32_t *value);

/**
 * Writes the register of 32 bits at @offset bytes.  The device sees all bytes
 * written to buffers before; cached memory needs its sync, too.
 * Errors: as dray_registers_read().
 */
DRAY_API int dray_registers_write(struct dray_registers *registers,
				  uint64_t offset, uint32_t value);

/**
 * Opens the interrupt with the name @name; NULL: the first.  It has a single opener at a
 * time.  Interrupts before this call do not count.
 *
 * @out: a reference, dropped by dray_interrupt_unref()
 *
 * Errors: as dray_registers_map(), without the right; -EBUSY (it is open already, here
 * or in another process, or another driver has it).
 */
DRAY_API int dray_interrupt_open(struct dray_node *node, const char *name,
				 struct dray_interrupt **out);

/** Returns @interrupt with a further reference; NULL is ignored. */
DRAY_API struct dray_interrupt *
dray_interrupt_ref(struct dray_interrupt *interrupt);
/** Drops a reference, and closes it with the last; NULL is ignored. */
DRAY_API void dray_interrupt_unref(struct dray_interrupt *interrupt);

/** Returns the name, valid until it is closed. */
DRAY_API const char *
dray_interrupt_name(const struct dray_interrupt *interrupt);

/**
 * Returns a descriptor to poll(), borrowed: readable from an interrupt until
 * dray_interrupt_clear(), and an error once the device is gone.
 */
DRAY_API int dray_interrupt_fd(const struct dray_interrupt *interrupt);

/**
 * Waits until the device raises the interrupt, or did so since the last wait.  The
 * interrupt stays masked until the next wait or dray_interrupt_clear().  If the device
 * keeps its line active until a register is written, write it before that: else the
 * interrupt arrives again.  Interrupts that arrive under the mask count once.
 *
 * A single thread waits at a time.
 *
 * @timeout_ms: milliseconds, below 0: no limit, 0: does not wait
 * @count: out, interrupts since it was opened, the present included; or NULL
 *
 * Errors: -ETIME (none within @timeout_ms), -EINTR, -ECHILD (a child of the process that
 * opened it), -ENODEV (the device is gone, also while the call waits).
 */
DRAY_API int dray_interrupt_wait(struct dray_interrupt *interrupt,
				 int timeout_ms, uint64_t *count);

/**
 * Unmasks the interrupt, and forgets an arrival: a program that starts its
 * device after this waits for that start's end.
 * Errors: -ECHILD, -ENODEV.
 */
DRAY_API int dray_interrupt_clear(struct dray_interrupt *interrupt);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_REGISTERS_H */
