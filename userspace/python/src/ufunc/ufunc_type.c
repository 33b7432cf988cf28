// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The type dray.ufunc: its life, facts and methods.  The object of each builtin ufunc
 * is made once, when the module is, and is a value of its dictionary "ufuncs".
 */
#include "frame/ufunc.h"

#include <structmember.h>

static PyObject *ufunc_wrap(PyTypeObject *type, struct dray_ufunc *ufunc)
{
	struct ufunc_object *self = PyObject_GC_New(struct ufunc_object, type);

	if (!self) {
		dray_ufunc_unref(ufunc);
		return NULL;
	}
	self->call = ufunc_call;
	self->ufunc = ufunc;
	self->inputs = dray_ufunc_inputs(ufunc);
	self->outputs = dray_ufunc_outputs(ufunc);
	self->functions = false;
	self->kept = PyList_New(0);
	if (self->kept)
		PyObject_GC_Track((PyObject *)self);
	else
		Py_CLEAR(self);
	return (PyObject *)self;
}

static int ufunc_traverse(PyObject *object, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(object));
	Py_VISIT(ufunc_self(object)->kept);
	return 0;
}

/* A loop may name its ufunc.  No call runs: it has a reference. */
static int ufunc_clear(PyObject *object)
{
	Py_CLEAR(ufunc_self(object)->kept);
	return 0;
}

void ufunc_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_UnTrack(object);
	dray_ufunc_unref(ufunc_self(object)->ufunc);
	Py_XDECREF(ufunc_self(object)->kept);
	PyObject_GC_Del(object);
	Py_DECREF(type);
}

/* Takes a number of Python, as NumPy names the identity of a ufunc. */
static int identity_take(PyObject *object, enum dray_identity *out)
{
	static const enum dray_identity identities[] = {
		DRAY_IDENTITY_MINUS_ONE,
		DRAY_IDENTITY_ZERO,
		DRAY_IDENTITY_ONE,
	};
	long number;

	if (object == Py_None)
		return 0;
	if (PyFloat_CheckExact(object) &&
	    PyFloat_AsDouble(object) == -INFINITY) {
		*out = DRAY_IDENTITY_MINUS_INFINITY;
		return 0;
	}
	number = PyLong_AsLong(object);
	if (number == -1 && PyErr_Occurred())
		return -1;
	if (number < -1 || number > 1) {
		PyErr_Format(PyExc_ValueError,
			     "an identity is None, 0, 1, -1 or -inf, not %R",
			     object);
		return -1;
	}
	*out = identities[number + 1];
	return 0;
}

/* Makes a ufunc with core axes, which is of a class in Python. */
static PyObject *ufunc_new_core(const char *name, int inputs, int outputs,
				PyObject *identity, PyObject *signature)
{
	PyObject *module = PyImport_ImportModule("dray._core"), *made;

	if (!module)
		return NULL;
	made = PyObject_CallMethod(module, "made", "siiOO", name, inputs,
				   outputs, identity, signature);
	Py_DECREF(module);
	return made;
}

static PyObject *ufunc_new(PyTypeObject *type, PyObject *args,
			   PyObject *keywords)
{
	static char *names[] = { "name",     "nin",	  "nout",
				 "identity", "signature", NULL };
	enum dray_identity identity = DRAY_IDENTITY_NONE;
	PyObject *number = Py_None, *signature = Py_None;
	struct dray_ufunc *ufunc;
	const char *name;
	int inputs = -1, outputs = -1, ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|iiO$O:ufunc", names,
					 &name, &inputs, &outputs, &number,
					 &signature))
		return NULL;
	if (signature != Py_None)
		return ufunc_new_core(name, inputs, outputs, number, signature);
	if (inputs == -1 && outputs == -1) {
		PyErr_SetString(
			PyExc_TypeError,
			"a ufunc has numbers of inputs and outputs, or a signature");
		return NULL;
	}
	if (identity_take(number, &identity))
		return NULL;
	ret = dray_ufunc_create(name, inputs, outputs, identity, &ufunc);
	return ret ? raise_array_error(ARRAY_SHAPE, ret)
		   : ufunc_wrap(type, ufunc);
}

static PyObject *ufunc_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<dray.ufunc '%s'>",
				    dray_ufunc_name(ufunc_self(self)->ufunc));
}

static PyObject *ufunc_name(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(dray_ufunc_name(ufunc_self(self)->ufunc));
}

static PyObject *ufunc_nargs(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLong(ufunc_self(self)->inputs +
			       ufunc_self(self)->outputs);
}

/* Appends the letters of types. */
static int write_letters(char **at, const dray_dtype *dtypes, int count)
{
	PyArray_Descr *descr;
	int o;

	for (o = 0; o < count; o++) {
		descr = dtype_descr(dtypes[o]);
		if (!descr)
			return -1;
		*(*at)++ = descr->type;
		Py_DECREF(descr);
	}
	return 0;
}

static PyObject *types_of(const struct ufunc_object *self,
			  const dray_dtype *dtypes)
{
	char text[DRAY_UFUNC_MAX_OPERANDS + 3], *at = text;

	if (write_letters(&at, dtypes, self->inputs))
		return NULL;
	*at++ = '-';
	*at++ = '>';
	if (write_letters(&at, dtypes + self->inputs, self->outputs))
		return NULL;
	return PyUnicode_FromStringAndSize(text, at - text);
}

static PyObject *ufunc_types(PyObject *object, void *unused)
{
	const struct ufunc_object *self = ufunc_self(object);
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS];
	PyObject *list = PyList_New(0), *types;
	struct dray_ufunc_loop loop;
	size_t i;
	int ret;

	(void)unused;
	for (i = 0; list && !dray_ufunc_get_loop(self->ufunc, i, dtypes, &loop);
	     i++) {
		types = types_of(self, dtypes);
		ret = types ? PyList_Append(list, types) : -1;
		Py_XDECREF(types);
		if (ret)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *ufunc_ntypes(PyObject *object, void *unused)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_ufunc_loop loop;
	size_t i = 0;

	(void)unused;
	while (!dray_ufunc_get_loop(ufunc_self(object)->ufunc, i, dtypes,
				    &loop))
		i++;
	return PyLong_FromSize_t(i);
}

static PyObject *ufunc_identity(PyObject *self, void *unused)
{
	(void)unused;
	switch (dray_ufunc_identity(ufunc_self(self)->ufunc)) {
	case DRAY_IDENTITY_ZERO:
		return PyLong_FromLong(0);
	case DRAY_IDENTITY_ONE:
		return PyLong_FromLong(1);
	case DRAY_IDENTITY_MINUS_ONE:
		return PyLong_FromLong(-1);
	case DRAY_IDENTITY_MINUS_INFINITY:
		return PyFloat_FromDouble(-INFINITY);
	default:
		Py_RETURN_NONE;
	}
}

/* Pickles a builtin one as its name in the module. */
static PyObject *ufunc_pickled(PyObject *self, PyObject *unused)
{
	const char *name = dray_ufunc_name(ufunc_self(self)->ufunc);

	(void)unused;
	if (ufunc_named(type_state(self), name) != self)
		return PyErr_Format(
			PyExc_TypeError,
			"%R contains loops of this process, and cannot be pickled",
			self);
	return PyUnicode_FromString(name);
}

PyObject *ufunc_named(struct module_state *state, const char *name)
{
	return PyDict_GetItemString(state->ufuncs, name);
}

PyObject *ufunc_constant(struct module_state *state, const char *name)
{
	const size_t at = ((uintptr_t)name >> 2) % 64;

	if (state->constants[at].name != name) {
		state->constants[at].ufunc = ufunc_named(state, name);
		state->constants[at].name = name;
	}
	return state->constants[at].ufunc;
}

int ufunc_init(PyObject *module)
{
	struct module_state *state = module_state(module);
	struct dray_ufunc *ufunc;
	PyObject *object, *copy;
	size_t i;
	int ret = 0;

	state->ufuncs = PyDict_New();
	state->fp_state = PyContextVar_New("dray.fp_state", NULL);
	if (!state->ufuncs || !state->fp_state)
		return -1;
	for (i = 0; !ret && (ufunc = dray_ufunc_number(i)); i++) {
		object = ufunc_wrap(state->ufunc_type, dray_ufunc_ref(ufunc));
		ret = object ? PyDict_SetItemString(state->ufuncs,
						    dray_ufunc_name(ufunc),
						    object)
			     : -1;
		Py_XDECREF(object);
	}
	copy = ret ? NULL : PyDict_Copy(state->ufuncs);
	ret = copy ? PyModule_AddObjectRef(module, "ufuncs", copy) : -1;
	Py_XDECREF(copy);
	if (ret)
		return -1;
	return PyModule_AddObjectRef(module, "fp_state", state->fp_state);
}

static PyMethodDef ufunc_methods[] = {
	{ "reduce", WITH_KEYWORDS(ufunc_reduce), METH_FASTCALL | METH_KEYWORDS,
	  "reduce($self, /, array, axis=0, dtype=None, out=None, keepdims=False,\n"
	  "       initial=None, where=True)\n--\n\n"
	  "Applies the ufunc between all elements along an axis, several, or all (None)." },
	{ "accumulate", WITH_KEYWORDS(ufunc_accumulate),
	  METH_FASTCALL | METH_KEYWORDS,
	  "accumulate($self, /, array, axis=0, dtype=None, out=None)\n--\n\n"
	  "The results of all steps of a reduction." },
	{ "reduceat", WITH_KEYWORDS(ufunc_reduceat),
	  METH_FASTCALL | METH_KEYWORDS,
	  "reduceat($self, /, array, indices, axis=0, dtype=None, out=None)\n--\n\n"
	  "Reduces the elements from each index up to the next." },
	{ "outer", WITH_KEYWORDS(ufunc_outer), METH_FASTCALL | METH_KEYWORDS,
	  "outer($self, a, b, /, **keywords)\n--\n\n"
	  "The results of all pairs of elements; keywords as in a call." },
	{ "at", WITH_KEYWORDS(ufunc_at), METH_FASTCALL,
	  "at($self, a, indices, b=None, /)\n--\n\n"
	  "Changes a[indices] in place; elements that are named twice, twice." },
	{ "register", WITH_KEYWORDS(ufunc_register),
	  METH_FASTCALL | METH_KEYWORDS,
	  "register($self, /, types, loop, context=None, *, fp_errors=True)\n--\n\n"
	  "Sets the loop for types, such as \"dd->d\": a function of ctypes, a cfunc of\n"
	  "Numba, or an address, of the type dray_loop of <dray/dtype.h>; the operands are\n"
	  "the inputs, then the outputs.  It runs without the GIL.  `context` is its last\n"
	  "argument.  fp_errors=False: it leaves nothing of meaning in the processor's flags." },
	{ "resolve_dtypes", WITH_KEYWORDS(ufunc_resolve_dtypes),
	  METH_FASTCALL | METH_KEYWORDS,
	  "resolve_dtypes($self, dtypes, *, signature=None, casting='same_kind',\n"
	  "               reduction=False)\n--\n\n"
	  "The types of the loop that a call with these types runs; int, float and complex\n"
	  "are numbers of Python, and None is an output to be made." },
	{ "__reduce__", ufunc_pickled, METH_NOARGS,
	  "__reduce__($self, /)\n--\n\nPickles the name of a builtin ufunc." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef ufunc_properties[] = {
	{ "__name__", ufunc_name, NULL, "The name.", NULL },
	{ "nargs", ufunc_nargs, NULL, "Number of inputs and outputs.", NULL },
	{ "ntypes", ufunc_ntypes, NULL, "Number of loops.", NULL },
	{ "types", ufunc_types, NULL, "The types of each loop, as \"dd->d\".",
	  NULL },
	{ "identity", ufunc_identity, NULL,
	  "The result of reducing nothing; None: there is none.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef ufunc_members[] = {
	{ "nin", T_INT, offsetof(struct ufunc_object, inputs), READONLY,
	  "Number of inputs." },
	{ "nout", T_INT, offsetof(struct ufunc_object, outputs), READONLY,
	  "Number of outputs." },
	{ "__vectorcalloffset__", T_PYSSIZET,
	  offsetof(struct ufunc_object, call), READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot ufunc_slots[] = {
	{ Py_tp_doc,
	  "ufunc(name, nin=-1, nout=-1, identity=None, *, signature=None)\n--\n\n"
	  "A function of whole arrays, made of loops over elements: a new ufunc is\n"
	  "without loops until register() sets them.  With a signature of core axes, such as\n"
	  "\"(n),(n)->()\", it is a CoreUfunc.\n\n"
	  "    z = dray.add(x, y, out=z, where=mask)\n\n"
	  "Calls and methods accept NumPy's arguments, and threads= for large arrays.\n"
	  "Operands are arrays of dray and NumPy, numbers, and lists; results are\n"
	  "dray.Array, elements if they are without axes, or the arrays of out=." },
	{ Py_tp_new, ufunc_new },
	{ Py_tp_dealloc, ufunc_dealloc },
	{ Py_tp_traverse, ufunc_traverse },
	{ Py_tp_clear, ufunc_clear },
	{ Py_tp_repr, ufunc_repr },
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_methods, ufunc_methods },
	{ Py_tp_getset, ufunc_properties },
	{ Py_tp_members, ufunc_members },
	{ 0, NULL },
};

PyType_Spec ufunc_type_spec = {
	.name = "dray.ufunc",
	.basicsize = sizeof(struct ufunc_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
		 Py_TPFLAGS_HAVE_GC,
	.slots = ufunc_slots,
};
