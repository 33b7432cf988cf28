// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Memory banks of an .xclbin file as named tuples, and the one that holds memory. */
#include <errno.h>
#include <stdlib.h>

#include "base/module.h"

PyObject *xclbin_banks(PyObject *module, PyObject *path)
{
	struct dray_bank *banks = NULL, *more;
	PyObject *list = NULL, *item, *bytes;
	size_t room = 0, count = 0, i;
	int ret;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	/* The file may be replaced between two calls: repeat until all fit. */
	for (;;) {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_xclbin_banks(PyBytes_AS_STRING(bytes), banks, room,
					&count);
		Py_END_ALLOW_THREADS
		if (ret) {
			raise_array_error(ARRAY_FILE, ret);
			goto out;
		}
		if (count <= room)
			break;
		more = realloc(banks, count * sizeof(*banks));
		if (!more) {
			PyErr_NoMemory();
			goto out;
		}
		banks = more;
		room = count;
	}
	list = PyList_New(0);
	for (i = 0; list && i < count; i++) {
		item = record_bank(module_state(module), &banks[i]);
		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
out:
	free(banks);
	Py_DECREF(bytes);
	return list;
}

/* Takes a dray.Bank; -1 with an exception. */
static int bank_take(PyObject *object, struct dray_bank *bank)
{
	PyObject *number, *from, *bytes;
	uint64_t index, address, size;
	const char *name, *type;
	int used;

	if (!PyTuple_Check(object)) {
		PyErr_Format(PyExc_TypeError,
			     "a bank is not a dray.Bank but %s",
			     Py_TYPE(object)->tp_name);
		return -1;
	}
	if (!PyArg_ParseTuple(object, "OssOOp:Bank", &number, &name, &type,
			      &from, &bytes, &used) ||
	    whole_take(number, "index", UINT32_MAX, &index) ||
	    whole_take(from, "address", UINT64_MAX, &address) ||
	    size_take(bytes, "size", UINT64_MAX, &size))
		return -1;
	*bank = (struct dray_bank){ .address = address,
				    .size = size,
				    .index = (uint32_t)index,
				    .flags = used ? DRAY_BANK_USED : 0 };
	strncpy(bank->name, name, sizeof(bank->name) - 1);
	return 0;
}

/* Calls the library for an array, or for the name of a heap of @node. */
static int bank_find(PyObject *memory, PyObject *name, struct dray_node *node,
		     const struct dray_bank *banks, size_t count,
		     const struct dray_bank **found)
{
	struct operand operand;
	int ret;

	if (name) {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_bank_of_heap(banks, count, node,
					PyBytes_AS_STRING(name), found);
		Py_END_ALLOW_THREADS
	} else {
		if (operand_take(memory, "memory", 0, &operand))
			return -1;
		Py_BEGIN_ALLOW_THREADS
		ret = dray_bank_of_buffer(
			banks, count, operand.location.buffer,
			operand.location.offset,
			(uint64_t)(operand.high - operand.low), found);
		Py_END_ALLOW_THREADS
	}
	if (ret)
		raise_error(ret);
	return ret ? -1 : 0;
}

PyObject *xclbin_bank_of(PyObject *module, PyObject *args)
{
	PyObject *memory, *given, *list, *node, *name = NULL, *result = NULL;
	struct dray_node *of = NULL;
	const struct dray_bank *found;
	struct dray_bank *banks;
	Py_ssize_t count, i;

	if (!PyArg_ParseTuple(args, "OOO:bank_of", &memory, &given, &node))
		return NULL;
	if (PyUnicode_Check(memory)) {
		of = node_of(module_state(module), node);
		if (!of || !PyUnicode_FSConverter(memory, &name))
			return NULL;
	}
	/* A copy, which no other thread changes. */
	list = PySequence_Tuple(given);
	if (!list) {
		Py_XDECREF(name);
		return NULL;
	}
	count = PyTuple_GET_SIZE(list);
	banks = calloc((size_t)count + 1, sizeof(*banks));
	if (!banks)
		PyErr_NoMemory();
	for (i = 0; banks && i < count; i++) {
		if (bank_take(PyTuple_GET_ITEM(list, i), &banks[i]))
			goto out;
	}
	if (banks &&
	    !bank_find(memory, name, of, banks, (size_t)count, &found)) {
		result = PyTuple_GET_ITEM(list, found - banks);
		Py_INCREF(result);
	}
out:
	free(banks);
	Py_DECREF(list);
	Py_XDECREF(name);
	return result;
}
