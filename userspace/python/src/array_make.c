// SPDX-License-Identifier: Apache-2.0 OR MIT
/* New arrays: over memory that exists, empty ones, and copies. */
#include <string.h>

#include "array_object.h"

PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "", NULL };
	PyObject *source;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Array", names,
					 &source))
		return NULL;
	return array_from(type, source);
}

/* Arguments of an allocation. */
struct request {
	PyArray_Descr *descr;
	dray_dtype dtype;
	int ndim;
	int64_t shape[DRAY_MAX_NDIM];
	int axes[DRAY_MAX_NDIM]; /* from the slowest in memory to the fastest */
	bool zeroed;
};

static void order_axes(struct request *request, bool fortran)
{
	int i;

	for (i = 0; i < request->ndim; i++)
		request->axes[i] = fortran ? request->ndim - 1 - i : i;
}

/* Exchanges the axes of a new array, made in memory's order. */
static int reorder(struct dray_array *array, const struct request *request)
{
	struct dray_array_axis *axes = dray_array_axes(array);
	int inverse[DRAY_MAX_NDIM];
	struct dray_view view;
	int i, ret;

	for (i = 0; i < request->ndim; i++)
		inverse[request->axes[i]] = i;
	ret = dray_view_transpose(dray_array_view(array, &view), inverse,
				  &view);
	if (ret)
		return ret;
	/* As in NumPy, strides of a new array without bytes are 0. */
	if (!dray_dtype_itemsize(view.dtype) || !dray_view_size(&view))
		memset(view.strides, 0, sizeof(view.strides));
	for (i = 0; i < view.ndim; i++) {
		axes[i].size = view.shape[i];
		axes[i].stride = view.strides[i];
	}
	array->flags = view.flags | DRAY_OWNED;
	return 0;
}

static int allocate(void *context, struct dray_array **out)
{
	const struct request *request = context;
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_array *array;
	int i, ret;

	for (i = 0; i < request->ndim; i++)
		shape[i] = request->shape[request->axes[i]];
	ret = request->zeroed ? dray_array_zeros(request->dtype, request->ndim,
						 shape, &array)
			      : dray_array_empty(request->dtype, request->ndim,
						 shape, &array);
	if (ret)
		return ret;
	ret = reorder(array, request);
	if (ret)
		dray_array_unref(array);
	else
		*out = array;
	return ret;
}

/*
 * Returns NumPy's handler of this thread or task, which a scope may have set;
 * NULL if it is NumPy's own, which serves NumPy alone.
 */
static const struct dray_handler *chosen_handler(PyObject *capsule)
{
	const struct dray_handler *handler =
		PyCapsule_GetPointer(capsule, HANDLER_CAPSULE);

	return handler && strcmp(handler->name, "default_allocator") ? handler
								     : NULL;
}

PyObject *array_made(PyTypeObject *type, enum array_step step,
		     int (*make)(void *context, struct dray_array **out),
		     void *context, PyArray_Descr *descr)
{
	PyObject *capsule = PyDataMem_GetHandler();
	const struct dray_handler *handler, *before = NULL;
	struct dray_array *array = NULL;
	PyObject *object;
	int ret;

	if (!capsule)
		return NULL;
	handler = chosen_handler(capsule);
	if (handler)
		before = dray_set_handler(handler);
	ret = make(context, &array);
	if (before)
		dray_set_handler(before);
	object = ret ? raise_array_error(step, ret)
		     : array_wrap(type, array, descr, capsule, NULL);
	Py_DECREF(capsule);
	return object;
}

static PyObject *make(PyTypeObject *type, struct request *request)
{
	return array_made(type, ARRAY_SHAPE, allocate, request, request->descr);
}

static PyObject *make_from(PyTypeObject *type, PyObject *args,
			   PyObject *keywords, bool zeroed)
{
	static char *names[] = { "shape", "dtype", "order", NULL };
	struct request request = { .zeroed = zeroed };
	PyArray_Dims dims = { NULL, 0 };
	NPY_ORDER order = NPY_CORDER;
	PyObject *object = NULL;
	int i;

	if (!PyArg_ParseTupleAndKeywords(
		    args, keywords, zeroed ? "O&|O&O&:zeros" : "O&|O&O&:empty",
		    names, PyArray_IntpConverter, &dims, PyArray_DescrConverter,
		    &request.descr, PyArray_OrderConverter, &order))
		goto out;
	if (!request.descr)
		request.descr = PyArray_DescrFromType(NPY_DOUBLE);
	if (dtype_take(request.descr, &request.dtype))
		goto out;
	request.ndim = dims.len;
	for (i = 0; i < dims.len; i++)
		request.shape[i] = dims.ptr[i];
	order_axes(&request, order == NPY_FORTRANORDER);
	object = make(type, &request);
	dray_dtype_unref(request.dtype);
out:
	PyDimMem_FREE(dims.ptr);
	Py_XDECREF(request.descr);
	return object;
}

PyObject *array_empty(PyObject *type, PyObject *args, PyObject *keywords)
{
	return make_from((PyTypeObject *)type, args, keywords, false);
}

PyObject *array_zeros(PyObject *type, PyObject *args, PyObject *keywords)
{
	return make_from((PyTypeObject *)type, args, keywords, true);
}

static int64_t absolute(int64_t number)
{
	return number < 0 ? -number : number;
}

/* Sorts the axes by stride, the longest first; equal ones stay in order. */
static void sort_axes(struct request *request, const int64_t *strides)
{
	int i, at;

	for (i = 0; i < request->ndim; i++) {
		for (at = i;
		     at > 0 && absolute(strides[request->axes[at - 1]]) <
				       absolute(strides[i]);
		     at--)
			request->axes[at] = request->axes[at - 1];
		request->axes[at] = i;
	}
}

static void order_as(struct request *request, NPY_ORDER order,
		     const struct dray_view *view)
{
	bool c = view->flags & DRAY_C_CONTIGUOUS;
	bool fortran = view->flags & DRAY_F_CONTIGUOUS;

	if (order == NPY_KEEPORDER && !c && !fortran && view->ndim > 1)
		sort_axes(request, view->strides);
	else
		order_axes(request,
			   order == NPY_FORTRANORDER ||
				   (order != NPY_CORDER && fortran && !c));
}

/* Whether a copy in an order would lie as the array does. */
static bool has_order(const struct array_object *self, NPY_ORDER order)
{
	uint64_t flags = self->array->flags;

	return order == NPY_KEEPORDER ||
	       (order != NPY_FORTRANORDER && (flags & DRAY_C_CONTIGUOUS)) ||
	       (order != NPY_CORDER && (flags & DRAY_F_CONTIGUOUS));
}

/* Makes a copy of a type, in an order. */
static PyObject *copy_as(struct array_object *self, PyArray_Descr *descr,
			 dray_dtype dtype, NPY_ORDER order)
{
	struct request request = { .descr = descr, .dtype = dtype };
	struct dray_view from, to;
	PyObject *copy;
	int ret;

	array_whole(self, &from);
	request.ndim = from.ndim;
	memcpy(request.shape, from.shape,
	       (size_t)from.ndim * sizeof(from.shape[0]));
	order_as(&request, order, &from);
	copy = make(Py_TYPE(self), &request);
	if (!copy)
		return NULL;
	array_whole((struct array_object *)copy, &to);
	/* Gaps of structures are copied, too. */
	ret = dray_dtype_equal(dtype, from.dtype)
		      ? dray_view_assign(&to, &from)
		      : dray_view_convert(&to, &from, DRAY_CASTING_UNSAFE);
	if (!ret)
		return copy;
	Py_DECREF(copy);
	return raise_array_error(ARRAY_CAST, ret);
}

PyObject *array_copy_in(PyObject *object, NPY_ORDER order)
{
	struct array_object *self = (struct array_object *)object;

	return copy_as(self, self->descr, self->array->dtype, order);
}

PyObject *array_copy(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "order", NULL };
	NPY_ORDER order = NPY_CORDER;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O&:copy", names,
					 PyArray_OrderConverter, &order))
		return NULL;
	return array_copy_in(self, order);
}

/* Raises TypeError if the rule does not allow the cast. */
static int check_cast(const struct array_object *self, PyArray_Descr *descr,
		      dray_dtype dtype, NPY_CASTING casting)
{
	/* NumPy's numbers are the library's. */
	enum dray_casting rule = (enum dray_casting)casting;

	if (dray_can_cast(self->array->dtype, dtype, rule))
		return 0;
	PyErr_Format(PyExc_TypeError,
		     "a cast from %R to %R is not allowed by the rule '%s'",
		     self->descr, descr, dray_casting_name(rule));
	return -1;
}

PyObject *array_astype(PyObject *object, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "dtype", "order", "casting", "copy", NULL };
	struct array_object *self = (struct array_object *)object;
	NPY_CASTING casting = NPY_UNSAFE_CASTING;
	NPY_ORDER order = NPY_KEEPORDER;
	PyArray_Descr *descr = NULL;
	PyObject *result = NULL;
	dray_dtype dtype;
	int copy = 1;

	if (!PyArg_ParseTupleAndKeywords(
		    args, keywords, "O&|O&O&p:astype", names,
		    PyArray_DescrConverter, &descr, PyArray_OrderConverter,
		    &order, PyArray_CastingConverter, &casting, &copy))
		goto out;
	if (dtype_take(descr, &dtype))
		goto out;
	if (!check_cast(self, descr, dtype, casting))
		result = copy || !has_order(self, order) ||
					 !dray_dtype_equal(dtype,
							   self->array->dtype)
				 ? copy_as(self, descr, dtype, order)
				 : Py_NewRef(object);
	dray_dtype_unref(dtype);
out:
	Py_XDECREF(descr);
	return result;
}
