// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Names the line of Python that allocates or frees, for DRAY_HANDLER=check. */
#include "base/module.h"

/* All texts returned so far, which stay for good: a dict from str to str. */
static PyObject *texts;

/* Lines of NumPy and of this package tell nothing about the program. */
static bool is_inside(PyCodeObject *code)
{
	const char *file = PyUnicode_AsUTF8(code->co_filename);

	return file && (strstr(file, "/numpy/") || strstr(file, "/dray/"));
}

/* Returns the program's innermost frame, a new reference, or NULL. */
static PyFrameObject *program_frame(void)
{
	PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
	PyFrameObject *outer;
	PyCodeObject *code;
	bool inside;

	while (frame) {
		code = PyFrame_GetCode(frame);
		inside = is_inside(code);
		Py_DECREF(code);
		if (!inside)
			break;
		outer = PyFrame_GetBack(frame);
		Py_DECREF(frame);
		frame = outer;
	}
	return frame;
}

static const char *text_of(PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	PyObject *text, *kept = NULL;

	text = PyUnicode_FromFormat("%U:%d in %U", code->co_filename,
				    PyFrame_GetLineNumber(frame),
				    code->co_name);
	Py_DECREF(code);
	if (text)
		kept = PyDict_SetDefault(texts, text, text);
	Py_XDECREF(text);
	return kept ? PyUnicode_AsUTF8(kept) : NULL;
}

/* Leaves a pending exception alone. */
static const char *caller_place(void)
{
	PyObject *type, *value, *traceback;
	PyFrameObject *frame;
	const char *text = NULL;

	/* Other threads free too, and the interpreter may have ended. */
	if (!Py_IsInitialized() || !PyGILState_Check())
		return NULL;
	PyErr_Fetch(&type, &value, &traceback);
	frame = program_frame();
	if (frame) {
		text = text_of(frame);
		Py_DECREF(frame);
	}
	PyErr_Restore(type, value, traceback);
	return text;
}

int caller_init(void)
{
	if (!texts)
		texts = PyDict_New();
	if (!texts)
		return -1;
	dray_set_caller(caller_place);
	return 0;
}
