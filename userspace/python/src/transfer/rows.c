// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rows of an array, as an array of NumPy: a line (address, length, stride, count) for
 * each row, or with a device's number as NIXL has it.  The library writes its
 * structures to the end of that array, and they are spread from there.
 */
#include <string.h>

#include "object/array_object.h"

/* Puts a device's number between the length and the stride of each row. */
static void insert_device(int64_t *lines, const struct dray_row *rows,
			  npy_intp count, int64_t device)
{
	struct dray_row row;
	npy_intp i;

	for (i = 0; i < count; i++) {
		/* The row may lie in the line. */
		memcpy(&row, &rows[i], sizeof(row));
		lines[i * 5] = (int64_t)row.address;
		lines[i * 5 + 1] = (int64_t)row.length;
		lines[i * 5 + 2] = device;
		lines[i * 5 + 3] = (int64_t)row.stride;
		lines[i * 5 + 4] = (int64_t)row.count;
	}
}

/* @device: NULL: lines have none */
static PyObject *rows_lines_of(const struct operand *operand,
			       const struct dray_row_limits *limits, size_t all,
			       const uint64_t *device)
{
	uint64_t left = limits->first < all ? all - limits->first : 0;
	npy_intp shape[] = { (npy_intp)left, device ? 5 : 4 };
	PyArray_Descr *descr = PyArray_DescrFromType(NPY_INT64);
	struct dray_row *rows;
	PyObject *lines;
	int64_t *data;
	size_t count;
	int ret = 0;

	lines = PyArray_NewFromDescr(&PyArray_Type, descr, 2, shape, NULL, NULL,
				     0, NULL);
	if (!lines)
		return NULL;
	data = PyArray_DATA((PyArrayObject *)lines);
	rows = (struct dray_row *)(void *)(data + (shape[1] - 4) * shape[0]);
	if (left)
		ret = dray_view_rows(&operand->view, limits, rows, (size_t)left,
				     &count);
	if (ret) {
		Py_DECREF(lines);
		return raise_error(ret);
	}
	if (device)
		insert_device(data, rows, shape[0], (int64_t)*device);
	return lines;
}

PyObject *memory_rows(PyObject *module, PyObject *args)
{
	const unsigned int also = OPERAND_EMPTY | OPERAND_FOREIGN;
	struct dray_row_limits limits = { 0 };
	PyObject *object, *numbers[5], *device;
	struct {
		int (*take)(PyObject *object, const char *name, uint64_t most,
			    uint64_t *out);
		const char *name;
		uint64_t *out;
	} places[] = {
		{ size_take, "max_length", &limits.max_length },
		{ size_take, "max_stride", &limits.max_stride },
		{ whole_take, "max_count", &limits.max_count },
		{ whole_take, "max_rows", &limits.max_rows },
		{ whole_take, "first", &limits.first },
	};
	uint64_t number;
	struct operand operand;
	size_t count, i;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "O(OOOOO)IO:rows", &object, &numbers[0],
			      &numbers[1], &numbers[2], &numbers[3],
			      &numbers[4], &limits.flags, &device))
		return NULL;
	for (i = 0; i < 5; i++) {
		if (places[i].take(numbers[i], places[i].name, INT64_MAX,
				   places[i].out))
			return NULL;
	}
	if (device != Py_None &&
	    whole_take(device, "device", INT64_MAX, &number))
		return NULL;
	if (operand_take(object, "a", also, &operand))
		return NULL;
	ret = dray_view_rows(&operand.view, &limits, NULL, 0, &count);
	return ret ? raise_error(ret)
		   : rows_lines_of(&operand, &limits, count,
				   device == Py_None ? NULL : &number);
}
