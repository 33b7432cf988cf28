// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.Strings in Arrow's capsules, both ways.  An export keeps the object, and
 * so the handler of its bytes, until a consumer releases it in any thread.
 */
#include <errno.h>

#include "array/array_strings.h"
#include "exchange/exchange_arrow.h"

/* An array of the library, and the object that it is of. */
struct sent_strings {
	struct ArrowArray array;
	PyObject *owner;
};

static void sent_release(struct ArrowArray *array)
{
	struct sent_strings *sent = array->private_data;

	array->release = NULL;
	sent->array.release(&sent->array);
	array_drop_owner(sent->owner);
	PyMem_RawFree(sent);
}

/* Lets @out keep @owner, too.  -1 with an exception. */
static int sent_keep(PyObject *owner, struct ArrowArray *out)
{
	struct sent_strings *sent = PyMem_RawMalloc(sizeof(*sent));

	if (!sent) {
		PyErr_NoMemory();
		return -1;
	}
	sent->array = *out;
	sent->owner = Py_NewRef(owner);
	out->private_data = sent;
	out->release = sent_release;
	return 0;
}

/* The format with offsets of 32 bits, if they reach all bytes. */
static const char *strings_format(const struct dray_block *strings,
				  bool is_text)
{
	size_t count = dray_strings_count(strings), bytes = 0, i;
	const char *begin, *end;

	for (i = 0; i < count; i++) {
		if (dray_strings_get(strings, i, &begin, &end))
			break;
		bytes += (size_t)(end - begin);
		if (bytes > INT32_MAX)
			return is_text ? "U" : "Z";
	}
	return is_text ? "u" : "z";
}

/* Returns the format that a consumer asks for, if strings are exported in it. */
static const char *strings_requested(PyObject *request)
{
	static const char *const formats[] = { "u", "U", "z", "Z" };
	const struct ArrowSchema *schema;
	size_t i;

	if (request == Py_None)
		return NULL;
	schema = PyCapsule_GetPointer(request, ARROW_SCHEMA);
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (schema->release && schema->format &&
		    !strcmp(schema->format, formats[i]))
			return formats[i];
	}
	return NULL;
}

/* Returns the capsules of a schema and an array; of the schema alone without @whole. */
PyObject *strings_export(PyObject *module, PyObject *args)
{
	PyObject *self, *request, *schema, *array = NULL, *result = NULL;
	struct ArrowSchema *type = NULL;
	struct ArrowArray *out = NULL;
	struct dray_block *strings;
	const char *format;
	int is_text, whole, ret = 0;

	(void)module;
	if (!PyArg_ParseTuple(args, "OpOp:strings_export", &self, &is_text,
			      &request, &whole) ||
	    arrow_check_request(request))
		return NULL;
	strings = handle_ref(self, &strings_kind);
	if (!strings)
		return NULL;
	schema = arrow_new_schema(&type);
	if (schema && whole)
		array = arrow_new_array(&out);
	if (schema && (array || !whole)) {
		format = strings_requested(request);
		if (!format)
			format = strings_format(strings, is_text);
		ret = dray_arrow_schema_strings(format, type);
		if (!ret && whole)
			ret = dray_arrow_export_strings(strings, format,
							DRAY_ARROW_COPY, out);
		if (ret)
			raise_array_error(ARRAY_CAST, ret);
		else if (!whole || !sent_keep(self, out))
			result = whole ? PyTuple_Pack(2, schema, array)
				       : Py_NewRef(schema);
	}
	handle_put(&strings_kind, strings);
	Py_XDECREF(schema);
	Py_XDECREF(array);
	return result;
}

/* An import, for wait_for_end(). */
struct taking_strings {
	const struct ArrowSchema *schema;
	struct ArrowArray *array;
	struct dray_block *made;
};

static int import_strings_once(void *object, int timeout_ms)
{
	struct taking_strings *taking = object;

	return dray_arrow_import_strings(taking->schema, taking->array,
					 timeout_ms, &taking->made);
}

/* Makes a pair of an object, and whether it is text. */
PyObject *strings_import(PyObject *module, PyObject *args)
{
	struct taking_strings taking = { .made = NULL };
	PyObject *type, *schema, *array, *object;
	const char *format;
	bool is_text;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO:strings_import", &type, &schema,
			      &array) ||
	    arrow_open(schema, array, &taking.schema, &taking.array))
		return NULL;
	format = taking.schema->release ? taking.schema->format : NULL;
	is_text = format && strpbrk(format, "uU");
	Py_BEGIN_CRITICAL_SECTION(array);
	/* Mostly nothing is in flight: no other thread need go on. */
	ret = import_strings_once(&taking, 0);
	if (ret == -ETIME || ret == -EINTR)
		ret = wait_for_end(import_strings_once, &taking, -1);
	Py_END_CRITICAL_SECTION();
	if (ret == -EINTR)
		return NULL;
	if (ret)
		return raise_array_error(ARRAY_CAST, ret);
	object = handle_new(type, &strings_kind, 0, taking.made, NULL);
	return object ? Py_BuildValue("(NO)", object,
				      is_text ? Py_True : Py_False)
		      : NULL;
}
