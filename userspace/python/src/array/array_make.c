// SPDX-License-Identifier: Apache-2.0 OR MIT
/* New arrays: over memory that exists, empty arrays, and copies. */
#include <string.h>

#include "frame/array_convert.h"
#include "object/array_numbers.h"

PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "", NULL };
	PyObject *source;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Array", names,
					 &source))
		return NULL;
	return array_from(type, source);
}

/*
 * Returns the type of an array of NumPy; steals @descr.  @from: the type
 * of elements that are to be converted; NULL: there are none.
 */
static PyArray_Descr *type_complete(PyArray_Descr *descr, PyArray_Descr *from)
{
	npy_intp none = 0;
	PyObject *array;

	Py_INCREF(from ? from : descr);
	array = PyArray_NewFromDescr(&PyArray_Type, from ? from : descr, 1,
				     &none, NULL, NULL, 0, NULL);
	if (array && from) {
		Py_INCREF(descr);
		Py_SETREF(array,
			  PyArray_CastToType((PyArrayObject *)array, descr, 0));
	}
	Py_DECREF(descr);
	if (!array)
		return NULL;
	descr = PyArray_DESCR((PyArrayObject *)array);
	Py_INCREF(descr);
	Py_DECREF(array);
	return descr;
}

/* Whether it is text or raw data without a size, or a time that may lack a unit. */
static bool is_incomplete(dray_dtype dtype, bool converted)
{
	char kind = dray_dtype_kind(dtype);

	if (!dray_dtype_is_builtin(dtype))
		return false;
	if (kind == 'm' || kind == 'M')
		return converted;
	return !dray_dtype_itemsize(dtype);
}

/* Reads a type as dtype_take() does, after type_complete() if it is incomplete. */
static int take_complete(PyArray_Descr **descr, PyArray_Descr *from,
			 dray_dtype *dtype)
{
	if (dtype_take(*descr, dtype))
		return -1;
	if (!is_incomplete(*dtype, from))
		return 0;
	*descr = type_complete(*descr, from);
	return *descr ? dtype_take(*descr, dtype) : -1;
}

/* Arguments of an allocation. */
struct make_request {
	dray_dtype dtype;
	int ndim;
	int64_t shape[DRAY_MAX_NDIM];
	bool zeroed;
	bool fortran; /* its shape is reversed until it is made */
};

/* Reverses the axes of a new array. */
static int array_make_reverse(struct dray_array *array)
{
	struct dray_array_axis *axes = dray_array_axes(array);
	struct dray_view view;
	int i, ret;

	ret = dray_view_transpose(dray_array_view(array, &view), NULL, &view);
	if (ret)
		return ret;
	for (i = 0; i < view.ndim; i++) {
		axes[i].size = view.shape[i];
		axes[i].stride = view.strides[i];
	}
	array->flags = view.flags | DRAY_OWNED;
	return 0;
}

static int array_make_allocate(void *context, struct dray_array **out)
{
	const struct make_request *request = context;
	int ret;

	ret = request->zeroed ? dray_array_zeros(request->dtype, request->ndim,
						 request->shape, out)
			      : dray_array_empty(request->dtype, request->ndim,
						 request->shape, out);
	if (ret || !request->fortran)
		return ret;
	ret = array_make_reverse(*out);
	if (ret)
		dray_array_unref(*out);
	return ret;
}

PyObject *array_made(PyTypeObject *type, enum array_step step,
		     int (*make)(void *context, struct dray_array **out),
		     void *context, PyArray_Descr *descr)
{
	PyObject *capsule = PyDataMem_GetHandler();
	const struct dray_handler *before;
	struct dray_array *array = NULL;
	PyObject *object;
	int ret;

	if (!capsule)
		return NULL;
	before = array_use_handler(capsule);
	ret = make(context, &array);
	if (before)
		dray_set_handler(before);
	object = ret ? raise_array_error(step, ret)
		     : array_wrap(type, array, descr, capsule, NULL);
	/* A user type's function of Python raised. */
	if (object && PyErr_Occurred())
		Py_CLEAR(object);
	Py_DECREF(capsule);
	return object;
}

/* Appends the axes of a sub-array to a shape, and puts its base in its place. */
static int open_items(PyArray_Descr **descr, struct numbers *shape)
{
	PyObject *base = PyObject_GetAttrString((PyObject *)*descr, "base");
	PyObject *items = PyObject_GetAttrString((PyObject *)*descr, "shape");
	Py_ssize_t i;

	for (i = 0; items && i < PyTuple_GET_SIZE(items); i++) {
		if (shape->count == DRAY_MAX_NDIM) {
			PyErr_Format(PyExc_ValueError,
				     "more than %d axes, with those of %R",
				     DRAY_MAX_NDIM, *descr);
			break;
		}
		shape->list[shape->count++] =
			PyLong_AsLongLong(PyTuple_GET_ITEM(items, i));
	}
	Py_XDECREF(items);
	if (base)
		Py_SETREF(*descr, (PyArray_Descr *)base);
	return PyErr_Occurred() ? -1 : 0;
}

static PyObject *make_from(PyTypeObject *type, PyObject *const *args,
			   Py_ssize_t count, PyObject *names, bool zeroed)
{
	const struct signature signature = { zeroed ? "zeros" : "empty",
					     1,
					     3,
					     { { "shape", numbers_take },
					       { "dtype", type_take },
					       { "order", order_take } } };
	NPY_ORDER order = NPY_CORDER;
	PyArray_Descr *descr = NULL;
	PyObject *object = NULL;
	struct make_request request;
	struct numbers shape;
	int i;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &shape, &descr, &order }))
		goto out;
	if (!descr)
		descr = PyArray_DescrFromType(NPY_DOUBLE);
	while (PyDataType_HASSUBARRAY(descr)) {
		if (open_items(&descr, &shape))
			goto out;
	}
	if (take_complete(&descr, NULL, &request.dtype))
		goto out;
	request.zeroed = zeroed;
	request.fortran = order == NPY_FORTRANORDER;
	request.ndim = shape.count;
	for (i = 0; i < shape.count; i++)
		request.shape[request.fortran ? shape.count - 1 - i : i] =
			shape.list[i];
	object = array_made(type, ARRAY_SHAPE, array_make_allocate, &request,
			    descr);
	dray_dtype_unref(request.dtype);
out:
	Py_XDECREF(descr);
	return object;
}

PyObject *array_empty(PyObject *type, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	return make_from((PyTypeObject *)type, args, count, names, false);
}

PyObject *array_zeros(PyObject *type, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	return make_from((PyTypeObject *)type, args, count, names, true);
}

/* Whether a copy in an order would lie as the array does. */
static bool has_order(const struct array_object *self, NPY_ORDER order)
{
	uint32_t flags = self->flags;

	return order == NPY_KEEPORDER ||
	       (order != NPY_FORTRANORDER && (flags & DRAY_C_CONTIGUOUS)) ||
	       (order != NPY_CORDER && (flags & DRAY_F_CONTIGUOUS));
}

/* A copy, perhaps of another type. */
struct copying {
	struct dray_view view;
	dray_dtype dtype; /* 0: the view's */
	enum dray_order order; /* of NumPy's number */
};

static int array_make_copy(void *context, struct dray_array **out)
{
	const struct copying *copying = context;
	struct dray_view to;
	int ret;

	if (!copying->dtype)
		return dray_array_copy(&copying->view, copying->order, out);
	ret = dray_array_like(&copying->view, copying->dtype, copying->order,
			      out);
	if (ret)
		return ret;
	dray_array_view(*out, &to);
	/* Gaps of structures are copied, too. */
	ret = dray_dtype_equal(copying->dtype, copying->view.dtype)
		      ? dray_view_assign(&to, &copying->view)
		      : dray_view_convert(&to, &copying->view,
					  DRAY_CASTING_UNSAFE);
	if (ret)
		dray_array_unref(*out);
	return ret;
}

/* Makes a copy of a type, in an order. */
static PyObject *copy_as(struct array_object *self, PyArray_Descr *descr,
			 dray_dtype dtype, NPY_ORDER order)
{
	struct array_conversion conversion;
	struct copying copying;
	PyObject *made;

	if (array_check_reachable(self) ||
	    array_convert_enter(&conversion, (PyObject *)self, self->dtype,
				dtype ? dtype : self->dtype))
		return NULL;
	array_whole(self, &copying.view);
	copying.dtype = dtype;
	copying.order = (enum dray_order)order;
	made = array_made(Py_TYPE(self), ARRAY_CAST, array_make_copy, &copying,
			  descr);
	if (array_convert_leave(&conversion))
		Py_CLEAR(made);
	return made;
}

PyObject *array_copy_in(PyObject *object, NPY_ORDER order)
{
	struct array_object *self = array_self(object);

	return copy_as(self, self->descr, 0, order);
}

PyObject *array_copy(PyObject *self, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = {
		"copy", 0, 1, { { "order", order_take } }
	};
	NPY_ORDER order = NPY_CORDER;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &order }))
		return NULL;
	return array_copy_in(self, order);
}

/* copy.copy() and copy.deepcopy(), of which @unused is the memo. */
PyObject *array_copied(PyObject *self, PyObject *unused)
{
	(void)unused;
	return array_copy_in(self, NPY_KEEPORDER);
}

/* Raises TypeError if the rule does not allow the cast. */
static int check_cast(const struct array_object *self, PyArray_Descr *descr,
		      dray_dtype dtype, NPY_CASTING casting)
{
	/* NumPy's numbers are the library's. */
	enum dray_casting rule = (enum dray_casting)casting;

	if (dray_can_cast(self->dtype, dtype, rule))
		return 0;
	PyErr_Format(PyExc_TypeError,
		     "a cast from %R to %R is not allowed by the rule '%s'",
		     self->descr, descr, dray_casting_name(rule));
	return -1;
}

PyObject *array_astype(PyObject *object, PyObject *const *args,
		       Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = {
		"astype",
		1,
		4,
		{ { "dtype", type_take },
		  { "order", order_take },
		  { "casting", casting_take },
		  { "copy", truth_take },
		  { "subok", truth_take } }
	};
	struct array_object *self = array_self(object);
	NPY_CASTING casting = NPY_UNSAFE_CASTING;
	NPY_ORDER order = NPY_KEEPORDER;
	PyArray_Descr *descr = NULL;
	PyObject *result = NULL;
	dray_dtype dtype;
	int copies = 1, subok; /* no class is below dray.Array */

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &descr, &order, &casting, &copies,
				       &subok }))
		goto out;
	if (take_complete(&descr, self->descr, &dtype))
		goto out;
	if (!check_cast(self, descr, dtype, casting))
		result = copies || !has_order(self, order) ||
					 !dray_dtype_equal(dtype, self->dtype)
				 ? copy_as(self, descr, dtype, order)
				 : Py_NewRef(object);
	dray_dtype_unref(dtype);
out:
	Py_XDECREF(descr);
	return result;
}

/* Start, stop and step of a range: floats, or small integers. */
struct plain_range {
	double numbers[3];
	bool real;
};

static int array_make_range(void *context, struct dray_array **out)
{
	const struct plain_range *range = context;
	const double *numbers = range->numbers;

	return range->real ? dray_array_arange_real(DRAY_FLOAT64, numbers[0],
						    numbers[1], numbers[2], out)
			   : dray_array_arange(DRAY_INT64, (int64_t)numbers[0],
					       (int64_t)numbers[1],
					       (int64_t)numbers[2], out);
}

/* Reads arguments of arange(); others than floats and small integers are Python's work. */
static bool range_is_plain(PyObject *const *args, Py_ssize_t count,
			   struct plain_range *range)
{
	double numbers[3];
	int overflow = 0;
	Py_ssize_t i;

	if (count < 1 || count > 3 || sizeof(long) != sizeof(int64_t))
		return false;
	range->real = false;
	for (i = 0; i < count; i++) {
		if (PyFloat_CheckExact(args[i])) {
			numbers[i] = PyFloat_AS_DOUBLE(args[i]);
			range->real = true;
			continue;
		}
		if (!PyLong_CheckExact(args[i]))
			return false;
		numbers[i] =
			(double)PyLong_AsLongAndOverflow(args[i], &overflow);
		if (overflow || numbers[i] < INT32_MIN ||
		    numbers[i] > INT32_MAX)
			return false;
	}
	range->numbers[0] = count > 1 ? numbers[0] : 0;
	range->numbers[1] = numbers[count > 1];
	range->numbers[2] = count > 2 ? numbers[2] : 1;
	return range->numbers[2] != 0;
}

PyObject *array_arange(PyObject *type, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	struct plain_range range;
	PyArray_Descr *descr;
	PyObject *result;

	if (!names && range_is_plain(args, count, &range)) {
		descr = PyArray_DescrFromType(range.real ? NPY_DOUBLE
							 : NPY_LONG);
		result = array_made((PyTypeObject *)type, ARRAY_CAST,
				    array_make_range, &range, descr);
		Py_DECREF(descr);
		return result;
	}
	return python_call("dray._array", "arange", type, args, count, names);
}
