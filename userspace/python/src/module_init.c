// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray._dray: the module's table, its state and its start.  The functions are
 * private to the package; dray/__init__.py documents those for users.
 */
#define DRAY_IMPORTS_NUMPY
#include "object/array_object.h"

static PyObject *last_error(PyObject *module, PyObject *unused)
{
	const char *sentence = dray_last_error();

	(void)module;
	(void)unused;
	return PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence),
				    "replace");
}

/* Makes functions return objects of a class that is made of one of the types here. */
static PyObject *module_use(PyObject *module, PyObject *class)
{
	struct module_state *state = module_state(module);
	PyTypeObject **types[] = { &state->node_type,  &state->stream_type,
				   &state->event_type, &state->frames_type,
				   &state->fence_type, &state->call_type };
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (PyType_Check(class) &&
		    PyType_IsSubtype((PyTypeObject *)class, *types[i]))
			Py_SETREF(*types[i], (PyTypeObject *)Py_NewRef(class));
	return Py_NewRef(class);
}

/* Adds attributes in Python to a type, which never changes again. */
static PyObject *module_finish(PyObject *module, PyObject *args)
{
	PyObject *attributes, *name, *value;
	PyTypeObject *type;
	Py_ssize_t at = 0;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!O!:finish", &PyType_Type, &type,
			      &PyDict_Type, &attributes))
		return NULL;
	while (PyDict_Next(attributes, &at, &name, &value))
		if (PyObject_SetAttr((PyObject *)type, name, value))
			return NULL;
	type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
	PyType_Modified(type);
	Py_RETURN_NONE;
}

/* Returns an array of dray.xp, or a view that is one. */
static PyObject *module_standard(PyObject *module, PyObject *array)
{
	struct array_object *self = array_self(array);
	struct dray_view view;

	if (!Py_IS_TYPE(array, module_state(module)->array_type))
		return PyErr_Format(PyExc_TypeError,
				    "a dray.Array is needed, not %R", array);
	if (self->standard)
		return Py_NewRef(array);
	return array_standard(Py_TYPE(array),
			      array_over(self, array_whole(self, &view)));
}

static PyMethodDef methods[] = {
	{ "open", module_open_node, METH_O,
	  SIGNATURE("open($module, spec, /)") },
	{ "nodes", node_names, METH_NOARGS, SIGNATURE("nodes($module, /)") },
	{ "scope", scope_new, METH_VARARGS,
	  SIGNATURE("scope($module, pool, min_bytes=0, /)") },
	{ "set_handler", handler_choose, METH_VARARGS,
	  SIGNATURE("set_handler($module, pool, min_bytes=0, /)") },
	{ "handler_name", WITH_KEYWORDS(handler_name), METH_FASTCALL,
	  SIGNATURE("handler_name($module, a=None, /)") },
	{ "address", array_address, METH_O,
	  SIGNATURE("address($module, a, /)") },
	{ "segments", array_segments, METH_O,
	  SIGNATURE("segments($module, a, /)") },
	{ "sync", array_sync, METH_VARARGS,
	  SIGNATURE("sync($module, a, direction, owner, /)") },
	{ "wait_array", array_wait, METH_VARARGS,
	  SIGNATURE("wait_array($module, a, write, timeout, /)") },
	{ "registers_map", registers_map, METH_VARARGS,
	  SIGNATURE("registers_map($module, type, node, name, /)") },
	{ "registers_describe", registers_describe, METH_O,
	  SIGNATURE("registers_describe($module, registers, /)") },
	{ "registers_read", registers_read, METH_VARARGS,
	  SIGNATURE("registers_read($module, registers, offset, /)") },
	{ "registers_write", registers_write, METH_VARARGS,
	  SIGNATURE("registers_write($module, registers, offset, value, /)") },
	{ "interrupt_open", interrupt_open, METH_VARARGS,
	  SIGNATURE("interrupt_open($module, type, node, name, /)") },
	{ "interrupt_describe", interrupt_describe, METH_O,
	  SIGNATURE("interrupt_describe($module, interrupt, /)") },
	{ "interrupt_wait", interrupt_await, METH_VARARGS,
	  SIGNATURE("interrupt_wait($module, interrupt, timeout, /)") },
	{ "interrupt_clear", interrupt_clear, METH_O,
	  SIGNATURE("interrupt_clear($module, interrupt, /)") },
	{ "lend", loan_lend, METH_VARARGS,
	  SIGNATURE("lend($module, a, access, to, timeout, /)") },
	{ "end_loan", loan_end, METH_O,
	  SIGNATURE("end_loan($module, loan, /)") },
	{ "kind", memory_kind, METH_VARARGS,
	  SIGNATURE("kind($module, a, node, /)") },
	{ "owns", memory_is_ours, METH_O, SIGNATURE("owns($module, a, /)") },
	{ "counter_begin", counter_begin, METH_NOARGS,
	  SIGNATURE("counter_begin($module, /)") },
	{ "counter_end", counter_end, METH_O,
	  SIGNATURE("counter_end($module, counter, /)") },
	{ "counter_read", counter_read, METH_O,
	  SIGNATURE("counter_read($module, counter, /)") },
	{ "hook_enter", hook_enter, METH_O,
	  SIGNATURE("hook_enter($module, hook, /)") },
	{ "hook_leave", hook_leave, METH_O,
	  SIGNATURE("hook_leave($module, hook, /)") },
	{ "hooks", hooks_here, METH_NOARGS, SIGNATURE("hooks($module, /)") },
	{ "resource_over_pool", resource_over_pool, METH_VARARGS,
	  SIGNATURE("resource_over_pool($module, type, pool, /)") },
	{ "resource_of_heap", resource_of_heap, METH_O,
	  SIGNATURE("resource_of_heap($module, type, /)") },
	{ "resource_of_callbacks", resource_of_callbacks, METH_VARARGS,
	  SIGNATURE(
		  "resource_of_callbacks($module, type, allocate, deallocate, /)") },
	{ "resource_on_failure", resource_on_failure, METH_VARARGS,
	  SIGNATURE(
		  "resource_on_failure($module, type, upstream, callback, /)") },
	{ "resource_over", resource_over, METH_VARARGS,
	  SIGNATURE(
		  "resource_over($module, type, kind, upstream, argument=None, /)") },
	{ "resource_allocate", resource_allocate, METH_VARARGS,
	  SIGNATURE("resource_allocate($module, resource, nbytes, stream, /)") },
	{ "resource_deallocate", resource_deallocate, METH_VARARGS,
	  SIGNATURE(
		  "resource_deallocate($module, resource, ptr, nbytes, stream, /)") },
	{ "resource_numbers", resource_ask_for, METH_VARARGS,
	  SIGNATURE("resource_numbers($module, resource, field, /)") },
	{ "resource_report", resource_report, METH_O,
	  SIGNATURE("resource_report($module, resource, /)") },
	{ "rows", memory_rows, METH_VARARGS,
	  SIGNATURE("rows($module, a, limits, flags, device, /)") },
	{ "array_at", memory_at, METH_VARARGS,
	  SIGNATURE(
		  "array_at($module, owner, address, dtype, shape, strides, writable, kind, /)") },
	{ "is_reached", memory_is_reached, METH_O,
	  SIGNATURE("is_reached($module, a, /)") },
	{ "place", memory_place, METH_O, SIGNATURE("place($module, a, /)") },
	{ "device_empty", memory_device, METH_VARARGS,
	  SIGNATURE("device_empty($module, node, shape, dtype, heap, /)") },
	{ "copy", WITH_KEYWORDS(transfer_copy), METH_VARARGS | METH_KEYWORDS,
	  SIGNATURE("copy($module, /, dst, src, *, engine=None, wait=True)") },
	{ "fill", WITH_KEYWORDS(transfer_fill), METH_VARARGS | METH_KEYWORDS,
	  SIGNATURE("fill($module, /, dst, value, *, engine=None, wait=True)") },
	{ "explain", WITH_KEYWORDS(transfer_explain),
	  METH_VARARGS | METH_KEYWORDS,
	  SIGNATURE("explain($module, /, dst, src, *, engine=None)") },
	{ "frames", frames_new, METH_VARARGS,
	  SIGNATURE("frames($module, stream, arrays, overwrite, timeout, /)") },
	{ "send", ipc_send, METH_VARARGS,
	  SIGNATURE("send($module, sock, array, /)") },
	{ "receive", ipc_receive, METH_VARARGS,
	  SIGNATURE("receive($module, sock, node, /)") },
	{ "export", export_of_array, METH_VARARGS,
	  SIGNATURE("export($module, array, flags, /)") },
	{ "handover", export_handover, METH_VARARGS,
	  SIGNATURE("handover($module, array, min_bytes, /)") },
	{ "reduce_with", export_reduce_with, METH_VARARGS,
	  SIGNATURE("reduce_with($module, function, min_bytes, /)") },
	{ "reduce", export_reduce, METH_O,
	  SIGNATURE("reduce($module, array, /)") },
	{ "may_open", export_may_open, METH_NOARGS,
	  SIGNATURE("may_open($module, /)") },
	{ "fetch", export_fetch, METH_O,
	  SIGNATURE("fetch($module, record, /)") },
	{ "wait", export_wait, METH_O,
	  SIGNATURE("wait($module, timeout_ms, /)") },
	{ "revoke", export_revoke, METH_O,
	  SIGNATURE("revoke($module, record, /)") },
	{ "waiting", export_waiting, METH_NOARGS,
	  SIGNATURE("waiting($module, /)") },
	{ "open_record", export_open, METH_VARARGS,
	  SIGNATURE("open_record($module, record, node, /)") },
	{ "export_arrow", arrow_export, METH_VARARGS,
	  SIGNATURE(
		  "export_arrow($module, a, mask, copy, requested_schema, device, /)") },
	{ "import_arrow", WITH_KEYWORDS(arrow_import), METH_FASTCALL,
	  SIGNATURE(
		  "import_arrow($module, schema, array, copy, masks, fields, /)") },
	{ "read_arrow_stream", arrow_read_stream, METH_O,
	  SIGNATURE("read_arrow_stream($module, stream, /)") },
	{ "arrow_names", arrow_names, METH_O,
	  SIGNATURE("arrow_names($module, schema, /)") },
	{ "strings_make", strings_make, METH_VARARGS,
	  SIGNATURE("strings_make($module, type, items, is_text, errors, /)") },
	{ "strings_count", strings_count, METH_O,
	  SIGNATURE("strings_count($module, strings, /)") },
	{ "strings_item", strings_item, METH_VARARGS,
	  SIGNATURE(
		  "strings_item($module, strings, index, is_text, errors, /)") },
	{ "strings_list", strings_list, METH_VARARGS,
	  SIGNATURE("strings_list($module, strings, is_text, errors, /)") },
	{ "strings_slice", strings_slice, METH_VARARGS,
	  SIGNATURE("strings_slice($module, type, strings, part, /)") },
	{ "strings_take", strings_take, METH_VARARGS,
	  SIGNATURE("strings_take($module, type, strings, indices, /)") },
	{ "strings_compare", strings_compare, METH_VARARGS,
	  SIGNATURE("strings_compare($module, a, b, relation, out, /)") },
	{ "strings_argsort", strings_argsort, METH_VARARGS,
	  SIGNATURE("strings_argsort($module, strings, out, /)") },
	{ "strings_export", strings_export, METH_VARARGS,
	  SIGNATURE(
		  "strings_export($module, strings, is_text, requested_schema, whole, /)") },
	{ "strings_import", strings_import, METH_VARARGS,
	  SIGNATURE("strings_import($module, type, schema, array, /)") },
	{ "bytes_alone", export_bytes, METH_VARARGS,
	  SIGNATURE("bytes_alone($module, node, size, /)") },
	{ "bytes_in", block_bytes, METH_VARARGS,
	  SIGNATURE("bytes_in($module, pool, size, /)") },
	{ "current_pool", scope_current, METH_NOARGS,
	  SIGNATURE("current_pool($module, /)") },
	{ "from_dlpack", WITH_KEYWORDS(from_dlpack),
	  METH_FASTCALL | METH_KEYWORDS,
	  "from_dlpack($module, x, /, *, device=None, copy=None, writable=None,\n"
	  "            max_version=None)\n"
	  "--\n\n"
	  "An Array over the memory of an array of another library, without a copy.\n\n"
	  "x: an object with __dlpack__(), or a capsule of DLPack with its tensor.\n"
	  "device: None, 'cpu', or a pair of DLPack: where the memory is to be.  Its owner\n"
	  "    may copy it there.\n"
	  "copy: True: a copy in memory of NumPy's current handler, inside of `with\n"
	  "    dray.memory():` in dray's.  False: never a copy.  None: only for `device`.\n"
	  "writable: None: as the tensor says; a tensor without a version, which cannot say, is\n"
	  "    read-only.  True: writable, or BufferError if the tensor is read-only;\n"
	  "    without a version it is trusted.  False: read-only.\n"
	  "max_version: a pair: the newest version that x is asked for; by default (1, 3),\n"
	  "    or the table of its class.\n\n"
	  "Waits until no transfer uses the memory.  BufferError if that cannot be done." },
	{ "xclbin_banks", xclbin_banks, METH_O,
	  SIGNATURE("xclbin_banks($module, path, /)") },
	{ "bank_of", xclbin_bank_of, METH_VARARGS,
	  SIGNATURE("bank_of($module, memory, banks, node, /)") },
	{ "xrt_device", xrt_device_open, METH_VARARGS,
	  SIGNATURE("xrt_device($module, type, index, /)") },
	{ "xrt_device_of", xrt_device_adopt, METH_VARARGS,
	  SIGNATURE("xrt_device_of($module, type, handle, /)") },
	{ "xrt_device_handle", xrt_device_handle, METH_O,
	  SIGNATURE("xrt_device_handle($module, device, /)") },
	{ "xrt_alloc", xrt_alloc, METH_VARARGS,
	  SIGNATURE("xrt_alloc($module, type, device, size, flags, bank, /)") },
	{ "xrt_describe", xrt_bo_describe, METH_O,
	  SIGNATURE("xrt_describe($module, bo, /)") },
	{ "xrt_address", xrt_bo_address, METH_O,
	  SIGNATURE("xrt_address($module, bo, /)") },
	{ "xrt_sync", xrt_bo_sync, METH_VARARGS,
	  SIGNATURE("xrt_sync($module, bo, owner, size, offset, /)") },
	{ "xrt_part", xrt_bo_part, METH_VARARGS,
	  SIGNATURE("xrt_part($module, type, bo, offset, size, /)") },
	{ "xrt_import", xrt_import, METH_VARARGS,
	  SIGNATURE("xrt_import($module, type, device, array, user, /)") },
	{ "xrt_adopt", xrt_adopt, METH_VARARGS,
	  SIGNATURE("xrt_adopt($module, type, device, bo, root, /)") },
	{ "xrt_wrap", xrt_wrap, METH_VARARGS,
	  SIGNATURE("xrt_wrap($module, type, sync, fd, size, address, /)") },
	{ "xrt_array", xrt_array, METH_VARARGS,
	  SIGNATURE(
		  "xrt_array($module, bo, node, offset, dtype, shape, strides, /)") },
	{ "xrt_fd", xrt_fd, METH_O, SIGNATURE("xrt_fd($module, array, /)") },
	{ "stream_executor", executor_of_streams, METH_VARARGS,
	  SIGNATURE(
		  "stream_executor($module, type, ufunc, types, tx, rx, frame_bytes, depth, timeout_ns, stage, arrays, ring, done, /)") },
	{ "opencl_executor", executor_of_opencl, METH_VARARGS,
	  SIGNATURE(
		  "opencl_executor($module, type, loops, platform, device, options, copies, /)") },
	{ "executor_reset", executor_reset, METH_O,
	  SIGNATURE("executor_reset($module, executor, /)") },
	{ "executor_cost", executor_cost, METH_VARARGS,
	  SIGNATURE("executor_cost($module, executor, ufunc, types, /)") },
	{ "executor_set_cost", executor_set_cost, METH_VARARGS,
	  SIGNATURE(
		  "executor_set_cost($module, executor, ufunc, types, cost, /)") },
	{ "opencl_device", opencl_device, METH_O,
	  SIGNATURE("opencl_device($module, executor, /)") },
	{ "stream_open", stream_open, METH_VARARGS,
	  SIGNATURE("stream_open($module, node, name, points, batch, /)") },
	{ "set_loop", ufunc_set_loop, METH_VARARGS,
	  SIGNATURE(
		  "set_loop($module, ufunc, types, address, context, fp_errors, owners, /)") },
	{ "set_function", ufunc_set_function, METH_VARARGS,
	  SIGNATURE("set_function($module, ufunc, types, function, /)") },
	{ "user_type_cast", user_type_cast, METH_VARARGS,
	  SIGNATURE(
		  "user_type_cast($module, type, from_, to, address, context, level, loop, owner, /)") },
	{ "type_info", type_info, METH_O,
	  SIGNATURE("type_info($module, dtype, /)") },
	{ "resolve", ufunc_resolve, METH_VARARGS,
	  SIGNATURE(
		  "resolve($module, ufunc, types, signature, weak, casting, /)") },
	{ "run_core", ufunc_run_core, METH_VARARGS,
	  SIGNATURE(
		  "run_core($module, address, context, operands, axes, dimensions, /)") },
	{ "use", module_use, METH_O, SIGNATURE("use($module, type, /)") },
	{ "bare", handle_bare, METH_O, SIGNATURE("bare($module, type, /)") },
	{ "whole", whole_number, METH_VARARGS,
	  SIGNATURE(
		  "whole($module, value, name, most=18446744073709551615, /)") },
	{ "size", size_number, METH_VARARGS,
	  SIGNATURE(
		  "size($module, value, name, most=18446744073709551615, /)") },
	{ "thread_fp_state", ufunc_state, METH_NOARGS,
	  SIGNATURE("thread_fp_state($module, /)") },
	{ "matmul", WITH_KEYWORDS(linear_matmul), METH_VARARGS | METH_KEYWORDS,
	  "matmul($module, a, b, /, *, out=None)\n--\n\n"
	  "Multiplies matrices, the last two axes, as numpy.matmul(); floats by BLAS, or by\n"
	  "NumPy if only a slow one is found (DRAY_BLAS=none: by neither)." },
	{ "dot", WITH_KEYWORDS(linear_dot), METH_VARARGS | METH_KEYWORDS,
	  "dot($module, a, b, /, out=None)\n--\n\n"
	  "Sums over the last axis of a and the second last of b, as numpy.dot()." },
	{ "matvec", WITH_KEYWORDS(linear_matvec), METH_VARARGS | METH_KEYWORDS,
	  "matvec($module, a, b, /, *, out=None)\n--\n\n"
	  "Multiplies matrices, the last two axes of a, by vectors, the last axis of b." },
	{ "vecmat", WITH_KEYWORDS(linear_vecmat), METH_VARARGS | METH_KEYWORDS,
	  "vecmat($module, a, b, /, *, out=None)\n--\n\n"
	  "Multiplies vectors, conjugated, the last axis of a, by matrices." },
	{ "vecdot", WITH_KEYWORDS(linear_vecdot), METH_VARARGS | METH_KEYWORDS,
	  "vecdot($module, a, b, /, *, out=None)\n--\n\n"
	  "Sums products along the last axes, as numpy.vecdot()." },
	{ "close_queues", close_queues, METH_NOARGS,
	  SIGNATURE("close_queues($module, /)") },
	{ "finish", module_finish, METH_VARARGS,
	  SIGNATURE("finish($module, type, attributes, /)") },
	{ "standard", module_standard, METH_O,
	  SIGNATURE("standard($module, array, /)") },
	{ "last_error", last_error, METH_NOARGS,
	  SIGNATURE("last_error($module, /)") },
	{ NULL, NULL, 0, NULL },
};

#define TYPE_AND_SPEC(name) { &state->name##_type, &name##_type_spec },
#define TYPE_VISIT(name) Py_VISIT(state->name##_type);
#define TYPE_CLEAR(name) Py_CLEAR(state->name##_type);

static int module_exec(PyObject *module)
{
	struct module_state *state = module_state(module);
	struct {
		PyTypeObject **type;
		PyType_Spec *spec;
	} types[] = { MODULE_TYPES(TYPE_AND_SPEC) };
	size_t i;

	if (_import_array() < 0 || caller_init() || publish_init() ||
	    watch_init())
		return -1;
	if (node_entry_init()) {
		PyErr_NoMemory();
		return -1;
	}
	array_type_init();
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		*types[i].type = (PyTypeObject *)PyType_FromModuleAndSpec(
			module, types[i].spec, NULL);
		if (!*types[i].type || PyModule_AddType(module, *types[i].type))
			return -1;
	}
	if (dlpack_init(state->array_type) || ufunc_init(module) ||
	    calls_init(module))
		return -1;
	state->scopes = PyContextVar_New("dray.scopes", NULL);
	state->reduce_ex = PyUnicode_InternFromString("__reduce_ex__");
	state->protocol = PyLong_FromLong(4);
	state->formats = PyDict_New();
	if (!state->formats || !state->scopes || !state->reduce_ex ||
	    !state->protocol || records_init(state) ||
	    PyModule_AddIntConstant(module, "FOR_DEVICE",
				    DRAY_SYNC_FOR_DEVICE) ||
	    PyModule_AddIntConstant(module, "READ_ONLY", DRAY_IPC_READ_ONLY) ||
	    PyModule_AddIntConstant(module, "ANY_USER", DRAY_IPC_ANY_USER) ||
	    PyModule_AddIntConstant(module, "MAX_FRAMES", DRAY_MAX_FRAMES) ||
	    PyModule_AddIntConstant(module, "ROWS_ORDERED",
				    DRAY_ROWS_ORDERED) ||
	    PyModule_AddIntConstant(module, "ACCESS_READ", DRAY_ACCESS_READ) ||
	    PyModule_AddIntConstant(module, "ACCESS_WRITE",
				    DRAY_ACCESS_WRITE) ||
	    PyModule_AddIntConstant(module, "FOR_CPU", DRAY_SYNC_FOR_CPU))
		return -1;
	if (PyModule_AddStringConstant(module, "version", DRAY_VERSION_TEXT))
		return -1;
	return PyModule_AddStringConstant(module, "library_version",
					  dray_version());
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct module_state *state = module_state(module);
	int i;

	MODULE_TYPES(TYPE_VISIT)
	for (i = 0; i < RECORD_COUNT; i++)
		Py_VISIT(state->records[i]);
	for (i = 0; i < 2 * (int)DRAY_OWNED; i++)
		Py_VISIT(state->array_flags[i]);
	Py_VISIT(state->scopes);
	Py_VISIT(state->reduce);
	Py_VISIT(state->ufuncs);
	Py_VISIT(state->numpy_ufuncs);
	Py_VISIT(state->fp_state);
	Py_VISIT(state->reactions);
	Py_VISIT(state->usual_reactions);
	Py_VISIT(state->formats);
	Py_VISIT(state->running);
	return 0;
}

static int module_clear(PyObject *module)
{
	struct module_state *state = module_state(module);
	int i;

	MODULE_TYPES(TYPE_CLEAR)
	for (i = 0; i < RECORD_COUNT; i++)
		Py_CLEAR(state->records[i]);
	for (i = 0; i < 2 * (int)DRAY_OWNED; i++)
		Py_CLEAR(state->array_flags[i]);
	Py_CLEAR(state->scopes);
	Py_CLEAR(state->reduce);
	Py_CLEAR(state->reduce_ex);
	Py_CLEAR(state->protocol);
	memset(state->constants, 0, sizeof(state->constants));
	Py_CLEAR(state->ufuncs);
	Py_CLEAR(state->numpy_ufuncs);
	Py_CLEAR(state->fp_state);
	Py_CLEAR(state->reactions);
	Py_CLEAR(state->usual_reactions);
	Py_CLEAR(state->formats);
	Py_CLEAR(state->running);
	return 0;
}

static void module_free(void *module)
{
	module_clear(module);
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, module_exec },
#ifdef Py_mod_multiple_interpreters
	/* NumPy supports one interpreter only. */
	{ Py_mod_multiple_interpreters,
	  Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED },
#endif
#ifdef Py_mod_gil
	{ Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
	{ 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "dray._dray",
	.m_doc = "The part of the dray package that is written in C.",
	.m_size = sizeof(struct module_state),
	.m_methods = methods,
	.m_slots = slots,
	.m_traverse = module_traverse,
	.m_clear = module_clear,
	.m_free = module_free,
};

PyMODINIT_FUNC PyInit__dray(void);

PyMODINIT_FUNC PyInit__dray(void)
{
	module_define(&definition);
	return PyModuleDef_Init(&definition);
}
