// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The frame around a call of the library's ufuncs: reactions to errors of numbers,
 * which a context variable keeps for each task; the memory of results; and the GIL.
 */
#include <errno.h>
#include <string.h>

#include "frame/numpy_errors.h"
#include "frame/ufunc.h"
#include "object/user_type.h"

/* Calls of fewer elements keep the GIL. */
#define MANY 2000

/* The most calls inside of each other: each fills much of the stack. */
#define MOST_NESTED 32
static _Thread_local int nested;

static const struct {
	unsigned int error;
	const char *name;
	size_t member;
} kinds[UFUNC_ERRORS] = {
	{ DRAY_FP_DIVIDE, "divide by zero",
	  offsetof(struct dray_fp_state, divide) },
	{ DRAY_FP_OVER, "overflow", offsetof(struct dray_fp_state, over) },
	{ DRAY_FP_UNDER, "underflow", offsetof(struct dray_fp_state, under) },
	{ DRAY_FP_INVALID, "invalid value",
	  offsetof(struct dray_fp_state, invalid) },
};

static uint8_t *frame_action_of(struct dray_fp_state *state, int kind)
{
	return (uint8_t *)state + kinds[kind].member;
}

/* Called by the library, without the GIL: the words are for later. */
static void ufunc_frame_keep(void *context, const char *sentence,
			     unsigned int error, unsigned int errors)
{
	struct ufunc_frame *frame = context;
	int kind;

	if (frame->count == UFUNC_ERRORS)
		return;
	frame->all |= errors;
	for (kind = 0; kind < UFUNC_ERRORS - 1; kind++)
		if (kinds[kind].error == error)
			break;
	frame->kinds[frame->count] = kind;
	PyOS_snprintf(frame->sentences[frame->count],
		      sizeof(frame->sentences[0]), "%s", sentence);
	frame->count++;
}

/*
 * Sets @out to the reactions that the program wants, a new reference: dray's own of this
 * context, else NumPy's; NULL: the thread's state holds.
 */
static int ufunc_frame_wanted(struct module_state *state, PyObject **out)
{
	if (PyContextVar_Get(state->fp_state, NULL, out))
		return -1;
	if (*out == Py_None)
		Py_CLEAR(*out);
	return *out ? 0 : numpy_reactions(state, out);
}

/* Fills a state of a tuple: four actions, a buffer size, a function. */
static void read_state(PyObject *tuple, struct dray_fp_state *out)
{
	int i;

	for (i = 0; i < UFUNC_ERRORS; i++)
		*frame_action_of(out, i) =
			(uint8_t)PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
	out->buffer_size = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
}

static int set_state(struct ufunc_frame *frame)
{
	struct dray_fp_state state;
	PyObject *tuple;
	int ret;

	frame->errors.size = sizeof(frame->errors);
	dray_get_fp_state(&frame->errors);
	state = frame->errors;
	if (ufunc_frame_wanted(frame->state, &tuple))
		return -1;
	if (tuple)
		read_state(tuple, &state);
	Py_XDECREF(tuple);
	state.call = ufunc_frame_keep;
	state.context = frame;
	ret = dray_set_fp_state(&state);
	if (ret)
		raise_error(ret);
	return ret ? -1 : 0;
}

/* Whether the handler for results may be called without the GIL. */
static bool is_free(const struct ufunc_frame *frame)
{
	const struct dray_handler *handler;

	if (!frame->before)
		return true;
	handler = PyCapsule_GetPointer(frame->capsule, HANDLER_CAPSULE);
	return dray_handler_is_pools(handler);
}

int ufunc_enter(struct ufunc_frame *frame, struct module_state *state,
		bool makes, int64_t elements)
{
	frame->state = state;
	frame->count = 0;
	frame->all = 0;
	frame->before = NULL;
	frame->thread = NULL;
	frame->capsule = NULL;
	if (makes) {
		frame->capsule = PyDataMem_GetHandler();
		if (!frame->capsule)
			return -1;
	}
	if (set_state(frame)) {
		Py_CLEAR(frame->capsule);
		return -1;
	}
	if (frame->capsule)
		frame->before = array_use_handler(frame->capsule);
	if (elements >= MANY && is_free(frame))
		frame->thread = PyEval_SaveThread();
	return 0;
}

PyObject *ufunc_error(int error)
{
	const enum dray_failure failure = dray_last_failure();
	const char *sentence = dray_last_error();
	PyObject *class = NULL, *text;

	if (error == -EOPNOTSUPP ||
	    (error == -EINVAL && failure == DRAY_FAILURE_CASTING))
		class = PyExc_TypeError;
	else if (error == -EDOM)
		class = PyExc_FloatingPointError;
	else if (error == -EOVERFLOW && failure == DRAY_FAILURE_BOUNDS)
		class = PyExc_OverflowError;
	else if (error == -ERANGE)
		class = PyExc_IndexError;
	if (!class)
		return raise_array_error(ARRAY_SHAPE, error);
	/* The library may cut a long sentence inside a character. */
	text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence),
				    "replace");
	if (text)
		PyErr_SetObject(class, text);
	Py_XDECREF(text);
	return NULL;
}

/* Calls the function of the state, or the method write() of its object. */
static int ufunc_frame_call(struct ufunc_frame *frame, PyObject *function,
			    int kind, const char *sentence)
{
	PyObject *result;

	if (!function || function == Py_None) {
		PyErr_SetString(
			PyExc_NameError,
			"there is no function for errors of numbers: dray.seterrcall() or numpy.seterrcall() sets it");
		return -1;
	}
	if (nested == MOST_NESTED) {
		PyErr_Format(
			PyExc_RecursionError,
			"functions for errors of numbers call each other %d times",
			MOST_NESTED);
		return -1;
	}
	nested++;
	if (PyCallable_Check(function)) {
		result = PyObject_CallFunction(function, "sI", kinds[kind].name,
					       frame->all);
	} else {
		PyObject *line =
			PyUnicode_FromFormat("Warning: %s\n", sentence);

		result =
			line ? PyObject_CallMethod(function, "write", "O", line)
			     : NULL;
		Py_XDECREF(line);
	}
	nested--;
	Py_XDECREF(result);
	return result ? 0 : -1;
}

int ufunc_report(struct ufunc_frame *frame, PyObject *wanted)
{
	struct dray_fp_state state = frame->errors;
	PyObject *function = NULL;
	int i, kind, ret = 0;

	if (wanted) {
		read_state(wanted, &state);
		function = PyTuple_GET_ITEM(wanted, UFUNC_ERRORS + 1);
	}
	for (i = 0; i < frame->count && !ret; i++) {
		kind = frame->kinds[i];
		if (*frame_action_of(&state, kind) == DRAY_FP_WARN)
			ret = PyErr_WarnEx(PyExc_RuntimeWarning,
					   frame->sentences[i], 1);
		else
			ret = ufunc_frame_call(frame, function, kind,
					       frame->sentences[i]);
	}
	return ret;
}

/* Warns, or calls a function, for each error that was kept. */
static int ufunc_frame_report(struct ufunc_frame *frame)
{
	PyObject *tuple;
	int ret;

	if (ufunc_frame_wanted(frame->state, &tuple))
		return -1;
	ret = ufunc_report(frame, tuple);
	Py_XDECREF(tuple);
	return ret;
}

static void ufunc_frame_restore(struct ufunc_frame *frame)
{
	if (frame->thread)
		PyEval_RestoreThread(frame->thread);
	if (frame->before)
		dray_set_handler(frame->before);
	dray_set_fp_state(&frame->errors);
}

int ufunc_leave_queued(struct ufunc_frame *frame, PyObject **out)
{
	ufunc_frame_restore(frame);
	return ufunc_frame_wanted(frame->state, out);
}

int ufunc_close(struct ufunc_frame *frame)
{
	ufunc_frame_restore(frame);
	/* Of a loop that called a function of Python. */
	if (PyErr_Occurred())
		return -1;
	return frame->count ? ufunc_frame_report(frame) : 0;
}

int ufunc_leave(struct ufunc_frame *frame, int ret)
{
	if (ufunc_close(frame))
		return -1;
	if (ret)
		ufunc_error(ret);
	return ret ? -1 : 0;
}

void ufunc_end(struct ufunc_frame *frame)
{
	Py_CLEAR(frame->capsule);
}

PyObject *ufunc_result(const struct ufunc_frame *frame,
		       struct dray_array *array, bool element)
{
	PyArray_Descr *descr;
	PyObject *result;

	if (array->ndim || !element)
		return array_wrap(frame->state->array_type, array, NULL,
				  frame->capsule, NULL);
	if (user_type_of(array->dtype)) {
		result = user_type_value(user_type_of(array->dtype),
					 array->data);
		dray_array_unref(array);
		return result;
	}
	descr = dtype_descr(array->dtype);
	result = descr ? PyArray_Scalar(array->data, descr, NULL) : NULL;
	Py_XDECREF(descr);
	dray_array_unref(array);
	return result;
}

int64_t ufunc_elements(const struct ufunc_operand *operands, int count)
{
	int64_t extents[DRAY_MAX_NDIM], elements = 1, extent;
	int i, axis, axes = 0;

	for (i = 0; i < count; i++) {
		const struct dray_view *view = &operands[i].view;

		for (axis = 0; axis < view->ndim; axis++) {
			extent = view->shape[view->ndim - 1 - axis];
			if (axis >= axes || extent > extents[axis])
				extents[axis] = extent;
		}
		if (view->ndim > axes)
			axes = view->ndim;
	}
	for (axis = 0; axis < axes; axis++)
		if (__builtin_mul_overflow(elements, extents[axis], &elements))
			return INT64_MAX;
	return elements;
}

PyObject *ufunc_state(PyObject *module, PyObject *unused)
{
	struct dray_fp_state state = { .size = sizeof(state) };

	(void)module;
	(void)unused;
	dray_get_fp_state(&state);
	return Py_BuildValue("(iiiiLO)", state.divide, state.over, state.under,
			     state.invalid, (long long)state.buffer_size,
			     Py_None);
}
