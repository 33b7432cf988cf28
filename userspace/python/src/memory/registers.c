// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Registers and interrupts of a node's device: functions for the classes of
 * dray/_registers.py, over handles.
 */
#include <errno.h>

#include "base/handle.h"

static void *registers_ref(void *registers)
{
	return dray_registers_ref(registers);
}

static void registers_unref(void *registers)
{
	dray_registers_unref(registers);
}

static const struct handle_kind registers_kind = {
	"a dray.Registers",
	registers_ref,
	registers_unref,
};

static void *interrupt_ref(void *interrupt)
{
	return dray_interrupt_ref(interrupt);
}

static void interrupt_unref(void *interrupt)
{
	dray_interrupt_unref(interrupt);
}

static const struct handle_kind interrupt_kind = {
	"a dray.Interrupt",
	interrupt_ref,
	interrupt_unref,
};

struct dray_interrupt *interrupt_of(PyObject *object)
{
	return handle_ref(object, &interrupt_kind);
}

void interrupt_put(struct dray_interrupt *interrupt)
{
	handle_put(&interrupt_kind, interrupt);
}

/* Takes (type, node, name). */
static struct dray_node *take_name(PyObject *module, PyObject *args,
				   PyObject **type, const char **name)
{
	PyObject *node;

	if (!PyArg_ParseTuple(args, "OOz", type, &node, name))
		return NULL;
	return node_of(module_state(module), node);
}

PyObject *registers_map(PyObject *module, PyObject *args)
{
	struct dray_registers *registers = NULL;
	struct dray_node *node;
	const char *name;
	PyObject *type;
	int ret;

	node = take_name(module, args, &type, &name);
	if (!node)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_registers_map(node, name, &registers);
	Py_END_ALLOW_THREADS
	return handle_new(type, &registers_kind, ret, registers, NULL);
}

PyObject *registers_describe(PyObject *module, PyObject *self)
{
	struct dray_registers *registers = handle_ref(self, &registers_kind);
	PyObject *result;

	(void)module;
	if (!registers)
		return NULL;
	result = Py_BuildValue(
		"NK", PyUnicode_DecodeFSDefault(dray_registers_name(registers)),
		(unsigned long long)dray_registers_size(registers));
	handle_put(&registers_kind, registers);
	return result;
}

PyObject *registers_read(PyObject *module, PyObject *args)
{
	struct dray_registers *registers;
	unsigned long long offset;
	uint32_t value = 0;
	PyObject *self;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OK", &self, &offset))
		return NULL;
	registers = handle_ref(self, &registers_kind);
	if (!registers)
		return NULL;
	ret = dray_registers_read(registers, offset, &value);
	handle_put(&registers_kind, registers);
	return ret ? raise_error(ret) : PyLong_FromUnsignedLong(value);
}

PyObject *registers_write(PyObject *module, PyObject *args)
{
	struct dray_registers *registers;
	unsigned long long offset;
	unsigned int value;
	PyObject *self;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OKI", &self, &offset, &value))
		return NULL;
	registers = handle_ref(self, &registers_kind);
	if (!registers)
		return NULL;
	ret = dray_registers_write(registers, offset, value);
	handle_put(&registers_kind, registers);
	return ret ? raise_error(ret) : Py_NewRef(Py_None);
}

PyObject *interrupt_open(PyObject *module, PyObject *args)
{
	struct dray_interrupt *interrupt = NULL;
	struct dray_node *node;
	const char *name;
	PyObject *type;
	int ret;

	node = take_name(module, args, &type, &name);
	if (!node)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_interrupt_open(node, name, &interrupt);
	Py_END_ALLOW_THREADS
	return handle_new(type, &interrupt_kind, ret, interrupt, NULL);
}

PyObject *interrupt_describe(PyObject *module, PyObject *self)
{
	struct dray_interrupt *interrupt = handle_ref(self, &interrupt_kind);
	PyObject *result;

	(void)module;
	if (!interrupt)
		return NULL;
	result = Py_BuildValue(
		"Ni", PyUnicode_DecodeFSDefault(dray_interrupt_name(interrupt)),
		dray_interrupt_fd(interrupt));
	handle_put(&interrupt_kind, interrupt);
	return result;
}

/* A call of dray_interrupt_wait(), for wait_for_end(). */
struct interrupt_waiting {
	struct dray_interrupt *interrupt;
	uint64_t count;
};

static int wait_once(void *context, int milliseconds)
{
	struct interrupt_waiting *waiting = context;

	return dray_interrupt_wait(waiting->interrupt, milliseconds,
				   &waiting->count);
}

PyObject *interrupt_await(PyObject *module, PyObject *args)
{
	struct interrupt_waiting waiting = { .count = 0 };
	PyObject *self, *timeout;
	double limit;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO", &self, &timeout) ||
	    seconds_take(timeout, "timeout", &limit))
		return NULL;
	waiting.interrupt = handle_ref(self, &interrupt_kind);
	if (!waiting.interrupt)
		return NULL;
	ret = wait_for_end(wait_once, &waiting, limit);
	handle_put(&interrupt_kind, waiting.interrupt);
	if (!ret)
		return PyLong_FromUnsignedLongLong(waiting.count);
	return ret == -EINTR ? NULL : raise_error(ret);
}

PyObject *interrupt_clear(PyObject *module, PyObject *self)
{
	struct dray_interrupt *interrupt = handle_ref(self, &interrupt_kind);
	int ret;

	(void)module;
	if (!interrupt)
		return NULL;
	ret = dray_interrupt_clear(interrupt);
	handle_put(&interrupt_kind, interrupt);
	return ret ? raise_error(ret) : Py_NewRef(Py_None);
}
