// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * copy, fill and explain: arrays become views, the destination's node lends its
 * queue, and the library does the rest.
 */
#include <errno.h>
#include <string.h>

#include "base/module.h"

static int engine_flags(PyObject *engine, unsigned int *flags)
{
	if (engine == Py_None)
		*flags = 0;
	else if (engine == Py_True)
		*flags = DRAY_COPY_ENGINE;
	else if (engine == Py_False)
		*flags = DRAY_COPY_CPU;
	else {
		PyErr_Format(
			PyExc_TypeError,
			"engine is %R: None (as the threshold says), True or False",
			engine);
		return -1;
	}
	return 0;
}

static PyObject *transfer_shape_of(const struct dray_view *view)
{
	return size_tuple(view->shape, view->ndim);
}

static bool have_same_shape(const struct dray_view *a,
			    const struct dray_view *b)
{
	return a->ndim == b->ndim &&
	       !memcmp(a->shape, b->shape,
		       (size_t)a->ndim * sizeof(a->shape[0]));
}

static int take_destination(PyObject *object, struct operand *dst)
{
	return operand_take(object, "dst", OPERAND_EMPTY, dst)
		       ? -1
		       : operand_check_writable(dst, "dst");
}

/*
 * Takes both arrays.  Shapes and types must match, because a transfer moves
 * bytes.
 */
static int transfer_take_pair(PyObject *to, PyObject *from, struct operand *dst,
			      struct operand *src)
{
	PyObject *dst_shape, *src_shape;

	if (operand_take(to, "dst", OPERAND_EMPTY | OPERAND_FOREIGN, dst) ||
	    operand_check_writable(dst, "dst") ||
	    operand_take(from, "src", OPERAND_EMPTY | OPERAND_FOREIGN, src))
		return -1;
	if (!have_same_shape(&dst->view, &src->view)) {
		dst_shape = transfer_shape_of(&dst->view);
		src_shape = transfer_shape_of(&src->view);
		if (dst_shape && src_shape)
			PyErr_Format(PyExc_ValueError,
				     "dst has the shape %R, src %R", dst_shape,
				     src_shape);
		Py_XDECREF(dst_shape);
		Py_XDECREF(src_shape);
		return -1;
	}
	if (!PyArray_EquivTypes(dst->descr, src->descr)) {
		PyErr_Format(
			PyExc_TypeError,
			"dst holds %R, src %R: a transfer converts nothing, view() one of them",
			dst->descr, src->descr);
		return -1;
	}
	return 0;
}

/*
 * Finds the entry and queue of the node that the destination belongs to, or the
 * source if the destination is foreign memory.  @src: NULL for a fill
 */
static struct node_entry *queue_of(const struct operand *dst,
				   const struct operand *src,
				   struct dray_queue **queue)
{
	struct dray_buffer *buffer = dst->location.buffer;
	struct node_entry *entry;
	int ret;

	if (!buffer && src)
		buffer = src->location.buffer;
	if (!buffer) {
		PyErr_SetString(
			PyExc_ValueError,
			"dst and src: the memory of neither array is dray's: make one inside `with dray.memory():`");
		return NULL;
	}
	entry = node_entry_get(dray_buffer_node(buffer));
	if (!entry) {
		PyErr_NoMemory();
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	ret = node_entry_queue(entry, queue);
	Py_END_ALLOW_THREADS
	if (!ret)
		return entry;
	raise_error(ret);
	node_entry_put(entry);
	return NULL;
}

/* Submits a copy, or with @element a fill; returns a Fence. */
static PyObject *transfer_begin(struct module_state *state,
				const struct operand *dst,
				const struct operand *src, const void *element,
				unsigned int flags, bool wait)
{
	PyObject *from = src ? src->object : NULL;
	struct dray_fence *fence = NULL;
	struct dray_queue *queue;
	struct node_entry *entry;
	PyObject *result = NULL;
	int ret;

	if (dst->empty)
		return fence_new(state, NULL, NULL, NULL, NULL);
	entry = queue_of(dst, src, &queue);
	if (!entry)
		return NULL;
	do {
		Py_BEGIN_ALLOW_THREADS
		if (element)
			ret = dray_fill(queue, &dst->view, element, flags,
					&fence);
		else
			ret = dray_copy(queue, &dst->view, &src->view, flags,
					&fence);
		Py_END_ALLOW_THREADS
	} while (ret == -EINTR && !PyErr_CheckSignals());
	if (!ret)
		result = fence_new(state, fence, entry, dst->object, from);
	else if (ret != -EINTR)
		raise_error(ret);
	if (result && wait && fence_finish(result))
		Py_CLEAR(result);
	node_entry_put(entry);
	return result;
}

PyObject *transfer_copy(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "dst", "src", "engine", "wait", NULL };
	PyObject *to, *from, *engine = Py_None;
	struct operand dst, src;
	unsigned int flags;
	int wait = 1;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$Op:copy", names,
					 &to, &from, &engine, &wait) ||
	    engine_flags(engine, &flags) ||
	    transfer_take_pair(to, from, &dst, &src))
		return NULL;
	return transfer_begin(module_state(module), &dst, &src, NULL, flags,
			      wait);
}

PyObject *transfer_fill(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "dst", "value", "engine", "wait", NULL };
	PyObject *to, *value, *engine = Py_None, *result;
	PyObject *element, *shape;
	struct operand dst;
	unsigned int flags;
	int wait = 1;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$Op:fill", names,
					 &to, &value, &engine, &wait) ||
	    engine_flags(engine, &flags) || take_destination(to, &dst))
		return NULL;
	/* NumPy makes the element, with its rules for casts and its errors. */
	element =
		PyArray_FromAny(value, (PyArray_Descr *)Py_NewRef(dst.descr), 0,
				0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST,
				NULL);
	if (!element)
		return NULL;
	if (PyArray_NDIM((PyArrayObject *)element)) {
		shape = PyArray_IntTupleFromIntp(
			PyArray_NDIM((PyArrayObject *)element),
			PyArray_DIMS((PyArrayObject *)element));
		Py_DECREF(element);
		if (shape)
			PyErr_Format(
				PyExc_ValueError,
				"value has the shape %R: a fill takes one element",
				shape);
		Py_XDECREF(shape);
		return NULL;
	}
	/* The caller's code ran meanwhile, and may have changed dst. */
	if (take_destination(to, &dst))
		result = NULL;
	else if (!PyArray_EquivTypes(dst.descr,
				     PyArray_DESCR((PyArrayObject *)element)))
		result = PyErr_Format(
			PyExc_RuntimeError,
			"dst changed its type while value was made");
	else
		result = transfer_begin(module_state(module), &dst, NULL,
					PyArray_DATA((PyArrayObject *)element),
					flags, wait);
	Py_DECREF(element);
	return result;
}

PyObject *transfer_explain(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "dst", "src", "engine", NULL };
	struct dray_explanation explanation = {
		.reason = "there is nothing to copy",
	};
	PyObject *to, *from, *engine = Py_None;
	struct operand dst, src;
	struct dray_queue *queue;
	struct node_entry *entry;
	unsigned int flags;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$O:explain", names,
					 &to, &from, &engine) ||
	    engine_flags(engine, &flags) ||
	    transfer_take_pair(to, from, &dst, &src))
		return NULL;
	if (!dst.empty) {
		entry = queue_of(&dst, &src, &queue);
		if (!entry)
			return NULL;
		Py_BEGIN_ALLOW_THREADS
		ret = dray_explain(queue, &dst.view, &src.view, flags,
				   &explanation);
		Py_END_ALLOW_THREADS
		node_entry_put(entry);
		if (ret)
			return raise_error(ret);
	}
	return record_explanation(module_state(module), &explanation);
}
