// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray.Array in files: .npy, read, mapped and written by the library. */
#include <dray/npy.h>

#include "array_object.h"
#include "module.h"

PyObject *array_save(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "path", "page", "new", NULL };
	struct dray_view view;
	int page = 0, new = 0, ret;
	PyObject *path;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$pp:save", names,
					 PyUnicode_FSConverter, &path, &page,
					 &new))
		return NULL;
	array_whole((struct array_object *)self, &view);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_npy_save(PyBytes_AS_STRING(path), &view,
			    (page ? DRAY_NPY_PAGE : 0) |
				    (new ? DRAY_NPY_NEW : 0));
	Py_END_ALLOW_THREADS
	Py_DECREF(path);
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

struct load {
	const char *path;
	struct dray_npy_options options;
	bool mapped;
	uint32_t flags; /* of the mapping */
};

static int load(void *context, struct dray_array **out)
{
	const struct load *load = context;
	int ret;

	Py_BEGIN_ALLOW_THREADS
	ret = load->mapped ? dray_npy_map(load->path, load->flags, out)
			   : dray_npy_load(load->path, &load->options, out);
	Py_END_ALLOW_THREADS
	return ret;
}

static PyObject *load_path(PyObject *type, PyObject *path, struct load *from)
{
	PyObject *array;

	from->path = PyBytes_AS_STRING(path);
	array = array_made((PyTypeObject *)type, ARRAY_SHAPE, load, from, NULL);
	Py_DECREF(path);
	return array;
}

PyObject *array_load(PyObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "path", "node", NULL };
	struct load from = { .mapped = false };
	PyObject *path, *node = Py_None;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$O:load", names,
					 PyUnicode_FSConverter, &path, &node))
		return NULL;
	if (node != Py_None) {
		from.options.node = node_of(
			PyType_GetModuleState((PyTypeObject *)type), node);
		if (!from.options.node) {
			Py_DECREF(path);
			return NULL;
		}
	}
	return load_path(type, path, &from);
}

PyObject *array_map(PyObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "path", "writable", NULL };
	struct load from = { .mapped = true, .flags = DRAY_READ };
	int writable = 0;
	PyObject *path;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$p:map", names,
					 PyUnicode_FSConverter, &path,
					 &writable))
		return NULL;
	if (writable)
		from.flags |= DRAY_WRITE;
	return load_path(type, path, &from);
}
