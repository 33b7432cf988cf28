// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Resources of dray.mr: sources of memory that stack, and the capsule that carries a
 * resource into NumPy.  dray/mr.py has the classes and checks the arguments.
 *
 * An object keeps the objects below it, and the capsule keeps the object: the pool at
 * the bottom stays open as long as anything can allocate from it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/handle.h"

static void *resource_ref(void *resource)
{
	return dray_resource_ref(resource);
}

static void resource_unref(void *resource)
{
	dray_resource_unref(resource);
}

static const struct handle_kind resource_kind = { "a dray.mr.MemoryResource",
						  resource_ref,
						  resource_unref };

PyObject *resource_over_pool(PyObject *module, PyObject *args)
{
	struct dray_resource *resource = NULL;
	PyObject *type, *pool, *capsule, *self;
	int ret;

	if (!PyArg_ParseTuple(args, "OO:resource_over_pool", &type, &pool))
		return NULL;
	capsule = pool_capsule(module_state(module), pool);
	if (!capsule)
		return NULL;
	ret = dray_resource_pool(pool_in(capsule), &resource);
	self = handle_new(type, &resource_kind, ret, resource, capsule);
	Py_DECREF(capsule);
	return self;
}

PyObject *resource_of_heap(PyObject *module, PyObject *type)
{
	struct dray_resource *resource = NULL;
	int ret = dray_resource_malloc(&resource);

	(void)module;
	return handle_new(type, &resource_kind, ret, resource, NULL);
}

/*
 * A resource in Python, or a resource below a callback in Python.  The list is empty
 * once the collector ended functions that only they themselves kept.
 */
struct python_resource {
	struct dray_resource *upstream; /* NULL: allocate and deallocate */
	PyObject *functions; /* a list: allocate and deallocate, or the callback */
};

/*
 * Calls a function of the program with the GIL; NULL if it raised, or if Python ended.
 * A MemoryError is an answer, any other exception is reported.
 */
static PyObject *resource_ask(const struct python_resource *python, int number,
			      PyObject *args)
{
	PyObject *result = NULL, *function;

	if (number >= PyList_GET_SIZE(python->functions)) {
		Py_XDECREF(args);
		return NULL;
	}
	function = Py_NewRef(PyList_GET_ITEM(python->functions, number));
	if (args)
		result = PyObject_CallObject(function, args);
	Py_XDECREF(args);
	if (!result && PyErr_ExceptionMatches(PyExc_MemoryError))
		PyErr_Clear();
	else if (!result)
		PyErr_WriteUnraisable(function);
	Py_DECREF(function);
	return result;
}

/* Writes about the exception of a function, which may have ended meanwhile. */
static void resource_complain(const struct python_resource *python)
{
	PyErr_WriteUnraisable(PyList_GET_SIZE(python->functions)
				      ? PyList_GET_ITEM(python->functions, 0)
				      : python->functions);
}

/* Reads an address that the program returned; 0: none. */
static uintptr_t address_take(const struct python_resource *python,
			      PyObject *answer)
{
	unsigned long long address =
		answer ? PyLong_AsUnsignedLongLong(answer) : 0;

	if (PyErr_Occurred()) {
		resource_complain(python);
		address = 0;
	}
	Py_XDECREF(answer);
	return (uintptr_t)address;
}

static int python_allocate(void *ctx, size_t size, size_t alignment,
			   uint64_t stream, void **out)
{
	const struct python_resource *python = ctx;
	PyObject *type, *value, *traceback;
	PyGILState_STATE state;
	uintptr_t address;

	(void)alignment;
	if (!Py_IsInitialized())
		return dray_fail(-ENOMEM,
				 "the interpreter of the callback ended");
	state = PyGILState_Ensure();
	PyErr_Fetch(&type, &value, &traceback);
	address = address_take(
		python,
		resource_ask(python, 0,
			     Py_BuildValue("(nK)", (Py_ssize_t)size,
					   (unsigned long long)stream)));
	PyErr_Restore(type, value, traceback);
	PyGILState_Release(state);
	if (!address)
		return dray_fail(
			-ENOMEM,
			"the callback returned no memory for %zu bytes", size);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	*out = (void *)address;
	return 0;
}

static int python_deallocate(void *ctx, void *block, size_t size,
			     uint64_t stream)
{
	const struct python_resource *python = ctx;
	PyObject *type, *value, *traceback;
	PyGILState_STATE state;

	if (!Py_IsInitialized())
		return 0;
	state = PyGILState_Ensure();
	PyErr_Fetch(&type, &value, &traceback);
	Py_XDECREF(resource_ask(
		python, 1,
		Py_BuildValue("(KnK)", (unsigned long long)(uintptr_t)block,
			      (Py_ssize_t)size, (unsigned long long)stream)));
	PyErr_Restore(type, value, traceback);
	PyGILState_Release(state);
	return 0;
}

static void python_destroy(void *ctx)
{
	struct python_resource *python = ctx;
	PyGILState_STATE state;

	dray_resource_unref(python->upstream);
	if (Py_IsInitialized()) {
		state = PyGILState_Ensure();
		Py_XDECREF(python->functions);
		PyGILState_Release(state);
	}
	free(python);
}

static PyObject *python_resource_new(PyObject *type,
				     const struct dray_resource_ops *ops,
				     struct python_resource *python)
{
	PyObject *functions = Py_NewRef(python->functions), *self;
	struct dray_resource *resource = NULL;
	int ret = dray_resource_create(ops, python, &resource);

	if (ret)
		python_destroy(python);
	self = handle_new_sharing(type, &resource_kind, ret, resource,
				  functions);
	Py_DECREF(functions);
	return self;
}

PyObject *resource_of_callbacks(PyObject *module, PyObject *args)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "callback",
		.allocate = python_allocate,
		.deallocate = python_deallocate,
		.destroy = python_destroy,
	};
	PyObject *type, *allocate, *deallocate;
	struct python_resource *python;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO:resource_of_callbacks", &type,
			      &allocate, &deallocate))
		return NULL;
	python = calloc(1, sizeof(*python));
	if (!python)
		return PyErr_NoMemory();
	python->functions = Py_BuildValue("[OO]", allocate, deallocate);
	if (!python->functions) {
		python_destroy(python);
		return NULL;
	}
	return python_resource_new(type, &ops, python);
}

static bool failure_ask(void *argument, size_t size, int error)
{
	const struct python_resource *python = argument;
	PyObject *type, *value, *traceback, *answer;
	PyGILState_STATE state;
	int again;

	(void)error;
	if (!Py_IsInitialized())
		return false;
	state = PyGILState_Ensure();
	PyErr_Fetch(&type, &value, &traceback);
	answer =
		resource_ask(python, 0, Py_BuildValue("(n)", (Py_ssize_t)size));
	again = answer ? PyObject_IsTrue(answer) : 0;
	if (again < 0)
		resource_complain(python);
	Py_XDECREF(answer);
	PyErr_Restore(type, value, traceback);
	PyGILState_Release(state);
	return again > 0;
}

/* Passes on to the library's resource, which lives as long as the callback. */
static int failure_take(void *ctx, size_t size, size_t alignment,
			uint64_t stream, void **out)
{
	const struct python_resource *python = ctx;

	return dray_resource_allocate(python->upstream, size, alignment, stream,
				      out);
}

static int failure_give_back(void *ctx, void *block, size_t size,
			     uint64_t stream)
{
	const struct python_resource *python = ctx;

	return dray_resource_deallocate(python->upstream, block, size, stream);
}

static int failure_capacity(void *ctx, struct dray_capacity *out)
{
	const struct python_resource *python = ctx;

	return dray_resource_capacity(python->upstream, out);
}

PyObject *resource_on_failure(PyObject *module, PyObject *args)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "on-failure",
		.allocate = failure_take,
		.deallocate = failure_give_back,
		.capacity = failure_capacity,
		.destroy = python_destroy,
	};
	PyObject *type, *object, *callback;
	struct python_resource *python;
	struct dray_resource *upstream;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO:resource_on_failure", &type, &object,
			      &callback))
		return NULL;
	upstream = handle_ref(object, &resource_kind);
	if (!upstream)
		return NULL;
	python = calloc(1, sizeof(*python));
	if (!python) {
		handle_put(&resource_kind, upstream);
		return PyErr_NoMemory();
	}
	/* The object upstream stays as long, behind the callback. */
	python->functions = Py_BuildValue("[OO]", callback, object);
	if (!python->functions) {
		handle_put(&resource_kind, upstream);
		python_destroy(python);
		return NULL;
	}
	ret = dray_resource_on_failure(upstream, failure_ask, python,
				       &python->upstream);
	handle_put(&resource_kind, upstream);
	if (ret) {
		python_destroy(python);
		return raise_error(ret);
	}
	return python_resource_new(type, &ops, python);
}

/* The kinds of the library that stand on another resource, by their names. */
static int resource_stack(const char *kind, struct dray_resource *upstream,
			  PyObject *argument, struct dray_resource **out)
{
	unsigned long long number = 0;
	PyObject *path = NULL;
	int ret;

	if (!strcmp(kind, "log")) {
		if (!PyUnicode_FSConverter(argument, &path))
			return -EFAULT;
		Py_BEGIN_ALLOW_THREADS
		ret = dray_resource_log(upstream, PyBytes_AS_STRING(path), out);
		Py_END_ALLOW_THREADS
		Py_DECREF(path);
		return ret;
	}
	if (argument != Py_None) {
		number = PyLong_AsUnsignedLongLong(argument);
		if (PyErr_Occurred())
			return -EFAULT;
	}
	if (!strcmp(kind, "limit"))
		return dray_resource_limit(upstream, number, out);
	if (!strcmp(kind, "tracking"))
		return dray_resource_tracking(upstream, (size_t)number, out);
	if (!strcmp(kind, "statistics"))
		return dray_resource_statistics(upstream, out);
	return dray_resource_prefetch(upstream, out);
}

PyObject *resource_over(PyObject *module, PyObject *args)
{
	struct dray_resource *upstream, *resource = NULL;
	PyObject *type, *object, *argument = Py_None;
	const char *kind;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OsO|O:resource_over", &type, &kind,
			      &object, &argument))
		return NULL;
	upstream = handle_ref(object, &resource_kind);
	if (!upstream)
		return NULL;
	ret = resource_stack(kind, upstream, argument, &resource);
	handle_put(&resource_kind, upstream);
	if (PyErr_Occurred())
		return NULL;
	return handle_new(type, &resource_kind, ret, resource, object);
}

PyObject *resource_allocate(PyObject *module, PyObject *args)
{
	struct dray_resource *resource;
	unsigned long long stream;
	void *block = NULL;
	PyObject *object;
	Py_ssize_t size;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OnK:resource_allocate", &object, &size,
			      &stream))
		return NULL;
	resource = handle_ref(object, &resource_kind);
	if (!resource)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_resource_allocate(resource, (size_t)size, 0, stream, &block);
	Py_END_ALLOW_THREADS
	handle_put(&resource_kind, resource);
	return ret ? raise_error(ret) : PyLong_FromVoidPtr(block);
}

PyObject *resource_deallocate(PyObject *module, PyObject *args)
{
	unsigned long long stream, block;
	struct dray_resource *resource;
	PyObject *object;
	Py_ssize_t size;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OKnK:resource_deallocate", &object, &block,
			      &size, &stream))
		return NULL;
	resource = handle_ref(object, &resource_kind);
	if (!resource)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	ret = dray_resource_deallocate(resource, (void *)(uintptr_t)block,
				       (size_t)size, stream);
	Py_END_ALLOW_THREADS
	handle_put(&resource_kind, resource);
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

/* The numbers of a resource, by @field. */
static PyObject *resource_tell(struct dray_resource *resource,
			       const char *field)
{
	struct dray_statistics counts = { .size = sizeof(counts) };
	struct dray_tracking tracking = { .size = sizeof(tracking) };
	struct dray_capacity capacity;
	int ret;

	if (!strcmp(field, "name"))
		return PyUnicode_FromString(dray_resource_name(resource));
	if (!strcmp(field, "capacity")) {
		ret = dray_resource_capacity(resource, &capacity);
		return ret ? raise_error(ret)
			   : Py_BuildValue("(KK)",
					   (unsigned long long)capacity.free,
					   (unsigned long long)capacity.total);
	}
	if (!strcmp(field, "tracking")) {
		ret = dray_tracking_get(resource, &tracking);
		return ret ? raise_error(ret)
			   : Py_BuildValue(
				     "(KKKK)",
				     (unsigned long long)tracking.blocks,
				     (unsigned long long)tracking.bytes,
				     (unsigned long long)tracking.bad_frees,
				     (unsigned long long)tracking.wrong_sizes);
	}
	if (!strcmp(field, "log")) {
		ret = dray_log_check(resource);
		return ret ? raise_error(ret) : Py_NewRef(Py_None);
	}
	if (!strcmp(field, "push")) {
		ret = dray_statistics_get(resource, &counts);
		ret = ret ? ret : dray_statistics_push(resource);
	} else {
		ret = strcmp(field, "pop")
			      ? dray_statistics_get(resource, &counts)
			      : dray_statistics_pop(resource, &counts);
	}
	return ret ? raise_error(ret)
		   : Py_BuildValue("(LLLLLL)", (long long)counts.bytes.now,
				   (long long)counts.blocks.now,
				   (long long)counts.bytes.peak,
				   (long long)counts.blocks.peak,
				   (long long)counts.bytes.total,
				   (long long)counts.blocks.total);
}

PyObject *resource_ask_for(PyObject *module, PyObject *args)
{
	struct dray_resource *resource;
	PyObject *object, *answer;
	const char *field;

	(void)module;
	if (!PyArg_ParseTuple(args, "Os:resource_numbers", &object, &field))
		return NULL;
	resource = handle_ref(object, &resource_kind);
	if (!resource)
		return NULL;
	answer = resource_tell(resource, field);
	handle_put(&resource_kind, resource);
	return answer;
}

PyObject *resource_report(PyObject *module, PyObject *object)
{
	struct dray_resource *resource = handle_ref(object, &resource_kind);
	PyObject *report;
	char *text = NULL;
	size_t length;
	FILE *file;
	int ret;

	(void)module;
	if (!resource)
		return NULL;
	file = open_memstream(&text, &length);
	ret = file ? dray_tracking_report(resource, file) : -ENOMEM;
	if (file && fclose(file) && !ret)
		ret = -ENOMEM;
	handle_put(&resource_kind, resource);
	report =
		ret ? raise_error(ret)
		    : PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
	free(text);
	return report;
}

/* Runs when no array has the capsule any more, so that no block is out. */
static void resource_capsule_destroy(PyObject *capsule)
{
	PyObject *object = PyCapsule_GetContext(capsule);

	dray_resource_handler_end(handler_in(capsule));
	Py_DECREF(object);
}

PyObject *resource_capsule(PyObject *object)
{
	struct dray_resource *resource = handle_ref(object, &resource_kind);
	const struct dray_handler *handler = NULL;
	PyObject *capsule;
	int ret;

	if (!resource)
		return NULL;
	ret = dray_resource_handler(resource, &handler);
	handle_put(&resource_kind, resource);
	if (ret)
		return raise_error(ret);
	capsule = PyCapsule_New((void *)handler, HANDLER_CAPSULE, NULL);
	if (!capsule) {
		dray_resource_handler_end(handler);
		return NULL;
	}
	if (PyCapsule_SetContext(capsule, Py_NewRef(object)) ||
	    PyCapsule_SetDestructor(capsule, resource_capsule_destroy))
		Py_UNREACHABLE(); /* fail only on an invalid capsule */
	return capsule;
}
