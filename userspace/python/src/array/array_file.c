// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray.Array in files: .npy, read, mapped and written by the library. */
#include <dray/array/npy.h>

#include "object/array_object.h"
#include "base/module.h"

PyObject *array_save(PyObject *self, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = { "save",
						    1,
						    1,
						    { { "path",
							PyUnicode_FSConverter },
						      { "page", truth_take },
						      { "new", truth_take } } };
	struct dray_view view;
	int page = 0, new = 0, ret;
	PyObject *path = NULL;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &path, &page, &new }) ||
	    array_check_reachable(array_self(self))) {
		Py_XDECREF(path);
		return NULL;
	}
	array_whole(array_self(self), &view);
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

struct file_load {
	const char *path;
	struct dray_npy_options options;
	bool mapped;
	uint32_t flags; /* of the mapping */
};

static int array_file_load(void *context, struct dray_array **out)
{
	const struct file_load *load = context;
	int ret;

	Py_BEGIN_ALLOW_THREADS
	ret = load->mapped ? dray_npy_map(load->path, load->flags, out)
			   : dray_npy_load(load->path, &load->options, out);
	Py_END_ALLOW_THREADS
	return ret;
}

static PyObject *load_path(PyObject *type, PyObject *path,
			   struct file_load *from)
{
	PyObject *array;

	from->path = PyBytes_AS_STRING(path);
	array = array_made((PyTypeObject *)type, ARRAY_FILE | ARRAY_SHAPE,
			   array_file_load, from, NULL);
	Py_DECREF(path);
	return array;
}

PyObject *array_load(PyObject *type, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = {
		"load",
		1,
		1,
		{ { "path", PyUnicode_FSConverter }, { "node", object_take } }
	};
	struct file_load from = { .mapped = false };
	PyObject *path = NULL, *node = Py_None;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &path, &node }))
		goto failed;
	if (node != Py_None) {
		from.options.node = node_of(
			PyType_GetModuleState((PyTypeObject *)type), node);
		if (!from.options.node)
			goto failed;
	}
	return load_path(type, path, &from);
failed:
	Py_XDECREF(path);
	return NULL;
}

PyObject *array_map(PyObject *type, PyObject *const *args, Py_ssize_t count,
		    PyObject *names)
{
	static const struct signature signature = {
		"map",
		1,
		1,
		{ { "path", PyUnicode_FSConverter },
		  { "writable", truth_take } }
	};
	struct file_load from = { .mapped = true, .flags = DRAY_READ };
	PyObject *path = NULL;
	int writable = 0;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &path, &writable })) {
		Py_XDECREF(path);
		return NULL;
	}
	if (writable)
		from.flags |= DRAY_WRITE;
	return load_path(type, path, &from);
}
