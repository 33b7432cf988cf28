// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays of strings: functions of dray/_strings.py, which has the class.  An array is
 * finished, so that no function needs a lock.  Its object keeps the capsule of the
 * handler of its bytes.
 */
#include "array/array_strings.h"

static void *strings_ref(void *strings)
{
	return dray_block_ref(strings);
}

/*
 * Memory returns with the GIL held, which a handler of NumPy may need.  The owner of
 * foreign memory may run Python's code, which must see no pending exception.
 */
static void strings_unref(void *strings)
{
	PyGILState_STATE gil = PyGILState_Ensure();
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	dray_block_unref(strings);
	PyErr_Restore(type, value, traceback);
	PyGILState_Release(gil);
}

const struct handle_kind strings_kind = { "a dray.Strings", strings_ref,
					  strings_unref };

/* Makes an object of the result of a call of the library. */
static PyObject *strings_wrap(PyObject *type, int ret,
			      struct dray_block *strings, PyObject *kept)
{
	return ret ? raise_array_error(ARRAY_INDEX, ret)
		   : handle_new(type, &strings_kind, 0, strings, kept);
}

/* Strings to be copied: texts of Python, or chosen strings of an array. */
struct copied_strings {
	const struct dray_string *texts;
	size_t count;
	const struct dray_block *strings; /* NULL: the texts */
	const struct dray_view *indices; /* NULL: all */
};

/* Copies with NumPy's current handler as the library's. */
static PyObject *strings_made(PyObject *type,
			      const struct copied_strings *copying)
{
	PyObject *capsule = PyDataMem_GetHandler(), *object;
	const struct dray_handler *before;
	struct dray_block *made = NULL;
	int ret;

	if (!capsule)
		return NULL;
	before = array_use_handler(capsule);
	ret = copying->strings ? dray_strings_take(copying->strings,
						   copying->indices, &made)
			       : dray_strings_copy(copying->texts,
						   copying->count, &made);
	if (before)
		dray_set_handler(before);
	object = strings_wrap(type, ret, made, capsule);
	Py_DECREF(capsule);
	return object;
}

/* Finds the bytes of a text; @kept owns them, if they are not its own. */
static int strings_encode(PyObject *item, const char *errors, PyObject *kept,
			  const char **text, Py_ssize_t *size)
{
	PyObject *bytes;

	if (!errors) {
		*text = PyUnicode_AsUTF8AndSize(item, size);
		return *text ? 0 : -1;
	}
	bytes = PyUnicode_AsEncodedString(item, "utf-8", errors);
	if (!bytes)
		return -1;
	*text = PyBytes_AS_STRING(bytes);
	*size = PyBytes_GET_SIZE(bytes);
	if (PyList_Append(kept, bytes)) {
		Py_DECREF(bytes);
		return -1;
	}
	Py_DECREF(bytes);
	return 0;
}

/* Finds the bounds of an item, a str or bytes; None is null. */
static int strings_bounds(PyObject *items, Py_ssize_t i, bool is_text,
			  const char *errors, PyObject *kept,
			  struct dray_string *out)
{
	PyObject *item = PyTuple_GET_ITEM(items, i);
	const char *text;
	Py_ssize_t size;

	if (item == Py_None)
		return 0;
	if (is_text ? !PyUnicode_Check(item) : !PyBytes_Check(item)) {
		PyErr_Format(PyExc_TypeError,
			     "string %zd is %s %s, not %s or None", i,
			     article_of(Py_TYPE(item)->tp_name),
			     Py_TYPE(item)->tp_name,
			     is_text ? "a str" : "bytes");
		return -1;
	}
	if (!is_text) {
		text = PyBytes_AS_STRING(item);
		size = PyBytes_GET_SIZE(item);
	} else if (strings_encode(item, errors, kept, &text, &size)) {
		return -1;
	}
	out->begin = (char *)(uintptr_t)text;
	out->end = out->begin + size;
	return 0;
}

/* Makes an array of a tuple; @errors: None is "strict". */
PyObject *strings_make(PyObject *module, PyObject *args)
{
	PyObject *type, *items, *kept = NULL, *result = NULL;
	struct copied_strings copying = { .strings = NULL };
	struct dray_string *bounds;
	const char *errors;
	Py_ssize_t count, i;
	int is_text;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO!pz:strings_make", &type, &PyTuple_Type,
			      &items, &is_text, &errors))
		return NULL;
	count = PyTuple_GET_SIZE(items);
	bounds = PyMem_Calloc((size_t)count + 1, sizeof(*bounds));
	if (!bounds)
		return PyErr_NoMemory();
	kept = PyList_New(0);
	for (i = 0; kept && i < count; i++) {
		if (strings_bounds(items, i, is_text, errors, kept, &bounds[i]))
			break;
	}
	copying.texts = bounds;
	copying.count = (size_t)count;
	if (kept && i == count)
		result = strings_made(type, &copying);
	Py_XDECREF(kept);
	PyMem_Free(bounds);
	return result;
}

PyObject *strings_count(PyObject *module, PyObject *self)
{
	struct dray_block *strings = handle_ref(self, &strings_kind);
	size_t count;

	(void)module;
	if (!strings)
		return NULL;
	count = dray_strings_count(strings);
	handle_put(&strings_kind, strings);
	return PyLong_FromSize_t(count);
}

/* Returns a string as a str or bytes, a null as None. */
static PyObject *strings_object(const struct dray_block *strings, size_t index,
				bool is_text, const char *errors)
{
	const char *begin, *end;
	int ret = dray_strings_get(strings, index, &begin, &end);

	if (ret)
		return raise_array_error(ARRAY_INDEX, ret);
	if (!begin)
		Py_RETURN_NONE;
	return is_text ? PyUnicode_DecodeUTF8(begin, end - begin, errors)
		       : PyBytes_FromStringAndSize(begin, end - begin);
}

/* Returns a string; a negative index counts from the end. */
PyObject *strings_item(PyObject *module, PyObject *args)
{
	struct dray_block *strings;
	PyObject *self, *result;
	Py_ssize_t index, count;
	const char *errors;
	int is_text;

	(void)module;
	if (!PyArg_ParseTuple(args, "Onpz:strings_item", &self, &index,
			      &is_text, &errors))
		return NULL;
	strings = handle_ref(self, &strings_kind);
	if (!strings)
		return NULL;
	count = (Py_ssize_t)dray_strings_count(strings);
	if (index < -count || index >= count)
		result = PyErr_Format(
			PyExc_IndexError,
			"index %zd is out of bounds for %zd strings", index,
			count);
	else
		result = strings_object(
			strings, (size_t)(index < 0 ? index + count : index),
			is_text, errors);
	handle_put(&strings_kind, strings);
	return result;
}

PyObject *strings_list(PyObject *module, PyObject *args)
{
	PyObject *self, *list, *item;
	struct dray_block *strings;
	const char *errors;
	Py_ssize_t i;
	int is_text;

	(void)module;
	if (!PyArg_ParseTuple(args, "Opz:strings_list", &self, &is_text,
			      &errors))
		return NULL;
	strings = handle_ref(self, &strings_kind);
	if (!strings)
		return NULL;
	list = PyList_New((Py_ssize_t)dray_strings_count(strings));
	for (i = 0; list && i < PyList_GET_SIZE(list); i++) {
		item = strings_object(strings, (size_t)i, is_text, errors);
		if (item)
			PyList_SET_ITEM(list, i, item);
		else
			Py_CLEAR(list);
	}
	handle_put(&strings_kind, strings);
	return list;
}

/* Returns the strings of a slice, in the same memory. */
PyObject *strings_slice(PyObject *module, PyObject *args)
{
	PyObject *type, *self, *slice, *result;
	struct dray_block *strings, *part = NULL;
	Py_ssize_t start, stop, step;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO!:strings_slice", &type, &self,
			      &PySlice_Type, &slice) ||
	    PySlice_Unpack(slice, &start, &stop, &step) < 0)
		return NULL;
	strings = handle_ref(self, &strings_kind);
	if (!strings)
		return NULL;
	ret = dray_strings_slice(strings, start, stop, step, &part);
	result = strings_wrap(type, ret, part, handle_kept(self));
	handle_put(&strings_kind, strings);
	return result;
}

/* Copies the strings at indices, an array of int64; None: all. */
PyObject *strings_take(PyObject *module, PyObject *args)
{
	PyObject *type, *self, *indices, *result;
	struct copied_strings copying = { .texts = NULL };
	struct dray_block *strings;
	struct dray_view view;

	if (!PyArg_ParseTuple(args, "OOO:strings_take", &type, &self, &indices))
		return NULL;
	if (indices != Py_None &&
	    !Py_IS_TYPE(indices, module_state(module)->array_type))
		return PyErr_Format(PyExc_TypeError,
				    "a dray.Array is needed, not %R", indices);
	strings = handle_ref(self, &strings_kind);
	if (!strings)
		return NULL;
	copying.strings = strings;
	if (indices != Py_None)
		copying.indices = array_whole(array_self(indices), &view);
	result = strings_made(type, &copying);
	handle_put(&strings_kind, strings);
	return result;
}

/* Python's numbers of comparisons. */
_Static_assert((int)DRAY_STRINGS_LESS == Py_LT &&
		       (int)DRAY_STRINGS_LESS_EQUAL == Py_LE &&
		       (int)DRAY_STRINGS_EQUAL == Py_EQ &&
		       (int)DRAY_STRINGS_NOT_EQUAL == Py_NE &&
		       (int)DRAY_STRINGS_GREATER == Py_GT &&
		       (int)DRAY_STRINGS_GREATER_EQUAL == Py_GE,
	       "relations are Python's");

/* Writes bools to @out. */
PyObject *strings_compare(PyObject *module, PyObject *args)
{
	PyTypeObject *type = module_state(module)->array_type;
	struct dray_block *strings, *others;
	PyObject *self, *other, *out;
	struct dray_view view;
	int relation, ret;

	if (!PyArg_ParseTuple(args, "OOiO!:strings_compare", &self, &other,
			      &relation, type, &out))
		return NULL;
	strings = handle_ref(self, &strings_kind);
	others = strings ? handle_ref(other, &strings_kind) : NULL;
	if (!others) {
		handle_put(&strings_kind, strings);
		return NULL;
	}
	array_whole(array_self(out), &view);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_strings_compare(strings, others,
				   (enum dray_strings_relation)relation, &view);
	Py_END_ALLOW_THREADS
	handle_put(&strings_kind, strings);
	handle_put(&strings_kind, others);
	return ret ? raise_array_error(ARRAY_SHAPE, ret) : Py_NewRef(out);
}

/* Writes the indices in order to @out, int64. */
PyObject *strings_argsort(PyObject *module, PyObject *args)
{
	PyTypeObject *type = module_state(module)->array_type;
	struct dray_block *strings;
	struct dray_view view;
	PyObject *self, *out;
	int ret;

	if (!PyArg_ParseTuple(args, "OO!:strings_argsort", &self, type, &out))
		return NULL;
	strings = handle_ref(self, &strings_kind);
	if (!strings)
		return NULL;
	array_whole(array_self(out), &view);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_strings_argsort(strings, &view);
	Py_END_ALLOW_THREADS
	handle_put(&strings_kind, strings);
	return ret ? raise_array_error(ARRAY_SHAPE, ret) : Py_NewRef(out);
}
