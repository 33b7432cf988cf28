/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that the extension's files share: the module's state, and
 * functions that cross a file.  Functions with a PyObject are called with the
 * GIL (or, without one, an attached thread).  Calls of libdray that may block
 * release it.
 */
#ifndef DRAY_PYTHON_MODULE_H
#define DRAY_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dray_numpy_api
#ifndef DRAY_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <dray/array.h>
#include <dray/opencl.h>

#if PY_VERSION_HEX < 0x030b0000 /* public from 3.11 on */
#include <frameobject.h>
#define PyType_GetModuleByDef _PyType_GetModuleByDef
#endif

/* A lock for each object if there is no GIL; empty before Python 3.13. */
#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

/* For inspect.signature(); classes and functions in Python have the documentation. */
#define SIGNATURE(text) text "\n--\n\n"

/* A method with more arguments than PyCFunction has. */
#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

/* The name that NumPy expects of a handler's capsule. */
#define HANDLER_CAPSULE "mem_handler"

struct node_entry;
struct packet;
struct queue_object;

/* records.c: structures of the library as named tuples. */
enum record {
	RECORD_SEGMENT,
	RECORD_POOL_STATS,
	RECORD_NODE_INFO,
	RECORD_HEAP_INFO,
	RECORD_CHANNEL_INFO,
	RECORD_EXPLANATION,
	RECORD_STREAM_COUNTS,
	RECORD_RING_COUNTS,
	RECORD_ARRAY_FLAGS,
	RECORD_BANK,
	RECORD_CALL_EXPLANATION,
	RECORD_OPENCL_DEVICE,
	RECORD_COUNT,
};

/* The types: NAME_type in the state, of NAME_type_spec. */
#define MODULE_TYPES(X) \
	X(node) X(pool) X(scope) X(fence) X(stream) \
	X(event) X(frames) X(array) X(ufunc) X(queue) \
	X(recording) X(call) X(handle) X(nditer) X(user)
#define MODULE_TYPE(name) PyTypeObject *name##_type;

struct module_state {
	MODULE_TYPES(MODULE_TYPE)
	PyObject *records[RECORD_COUNT];
	PyObject *array_flags[2 * DRAY_OWNED]; /* by their bits; NULL: not yet */
	PyObject *scopes; /* ContextVar: the scopes that are open, a tuple */
	PyObject *reduce; /* for arrays of @min_bytes and more */
	PyObject *reduce_ex; /* "__reduce_ex__" */
	PyObject *protocol; /* 4 */
	PyObject *ufuncs; /* builtin ones by their names, a dict of our own */
	struct {
		const char *name;
		PyObject *ufunc; /* of the dict */
	} constants[64]; /* those that were asked for, by addresses of names */
	PyObject *numpy_ufuncs; /* of NumPy's to them, a dict; NULL: not yet */
	PyObject *running; /* a list of calls that run and nobody has */
	struct queue_object *queues; /* all that are there */
	PyObject *formats; /* of buffers, bytes by NumPy's types, or None */
	PyObject *fp_state; /* ContextVar: reactions to errors of numbers */
	PyObject *reactions; /* NumPy's variable or key of them; NULL: not yet */
	PyObject *usual_reactions; /* NumPy 2's object for a new thread's */
	uint64_t min_bytes;
};

static inline struct module_state *module_state(PyObject *module)
{
	return PyModule_GetState(module);
}

/* handle.c.  Also for subclasses, once the module is defined. */
struct module_state *module_state_of(PyTypeObject *type);
void module_define(PyModuleDef *definition);

/* For methods of types that classes in Python are made of. */
struct module_state *class_state(PyObject *self);
PyObject *class_module(PyObject *self); /* borrowed */

/* For methods: most of our types can have no subclass. */
static inline struct module_state *type_state(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

/*
 * Raises the class for @error, a negative errno, with dray_last_error() as the
 * message.  Returns NULL, for the caller to return.
 */
PyObject *raise_error(int error);
/* The constructor of types that have none: TypeError, with the function that helps. */
PyObject *made_elsewhere(PyTypeObject *type, PyObject *args,
			 PyObject *keywords);
/* Raises the class for @error with @message, taken over; NULL: out of memory. */
PyObject *raise_message(int error, PyObject *message);

/* Steps of dray.Array, whose exceptions are NumPy's. */
enum array_step {
	ARRAY_SHAPE = 1, /* shapes, axes */
	ARRAY_INDEX = 2,
	ARRAY_TYPE = 4,
	ARRAY_CAST = 8, /* conversions of elements */
	ARRAY_EXCHANGE = 16, /* protocols of other libraries */
	ARRAY_FILE = 32, /* contents of files */
};

/* Does as raise_error() for a step of dray.Array. */
PyObject *raise_array_error(enum array_step step, int error);
/* Returns a class of numpy.exceptions, or of numpy before that. */
PyObject *numpy_exception(const char *name);

/* Called before an array is made; may be called again. */
int caller_init(void);

/* Lets snapshots of pools name NumPy's arrays; may be called again. */
int publish_init(void);

/* Called before any other; may be called again. */
int node_entry_init(void);
/* Returns the entry of @node, a new one if needed; NULL: out of memory. */
struct node_entry *node_entry_get(struct dray_node *node);
struct node_entry *node_entry_ref(struct node_entry *entry);
/* Drops a reference; the last waits for the queue's work without the GIL. */
void node_entry_put(struct node_entry *entry);
struct dray_node *node_entry_node(const struct node_entry *entry);
/* Returns the node's queue, made by the first call; the entry owns it. */
int node_entry_queue(struct node_entry *entry, struct dray_queue **out);

/* Takes a number from 0 to @most; -1 with an exception that names it. */
int whole_take(PyObject *object, const char *name, uint64_t most,
	       uint64_t *out);
/* Takes bytes from 0 to @most, also as text, "64K". */
int size_take(PyObject *object, const char *name, uint64_t most, uint64_t *out);
/* Checks an argument for Python, as (value, name, most). */
PyObject *whole_number(PyObject *module, PyObject *args);
PyObject *size_number(PyObject *module, PyObject *args);
/* Returns @count numbers as a tuple. */
PyObject *size_tuple(const int64_t *from, int count);
/* Converts "min_bytes" into a size_t, for "O&" of PyArg_ParseTuple(). */
int min_bytes_take(PyObject *object, void *out);

double seconds_now(void); /* CLOCK_MONOTONIC */
/* Takes seconds, None as -1; -1 with an exception that names the argument. */
int seconds_take(PyObject *object, const char *name, double *out);
/* Waits for @timeout_ms, below 0: without a limit.  -ETIME, -EINTR. */
typedef int wait_function(void *object, int timeout_ms);
/*
 * Calls @wait until @limit seconds are over, below 0: without a limit.  -EINTR
 * with an exception if a signal handler raised it.
 */
int wait_for_end(wait_function *wait, void *object, double limit);

extern PyType_Spec node_type_spec;
PyObject *node_new(struct module_state *state, struct node_entry *entry);
PyObject *module_open_node(PyObject *module, PyObject *spec);
PyObject *node_names(PyObject *module, PyObject *unused);
/* Returns the node of a Node object; NULL and TypeError for another object. */
struct dray_node *node_of(struct module_state *state, PyObject *object);

extern PyType_Spec pool_type_spec;
PyObject *pool_new(struct module_state *state, struct node_entry *entry,
		   const struct dray_pool_options *options);
/*
 * Returns the capsule for NumPy, a new reference.  NULL with TypeError for an
 * object that is not a Pool, with ValueError for a closed Pool.
 */
PyObject *pool_capsule(struct module_state *state, PyObject *object);
struct dray_pool *pool_in(PyObject *capsule);

PyObject *block_bytes(PyObject *module, PyObject *args);

/* watch.c: counters and hooks of handlers. */
int watch_init(void);
PyObject *counter_begin(PyObject *module, PyObject *unused);
PyObject *counter_end(PyObject *module, PyObject *capsule);
/* Bytes and blocks now, at most, and in all. */
PyObject *counter_read(PyObject *module, PyObject *capsule);
PyObject *hook_enter(PyObject *module, PyObject *hook);
PyObject *hook_leave(PyObject *module, PyObject *hook);
PyObject *hooks_here(PyObject *module, PyObject *unused);

/* resource.c: functions of dray/mr.py. */
PyObject *resource_over_pool(PyObject *module, PyObject *args);
PyObject *resource_of_heap(PyObject *module, PyObject *type);
PyObject *resource_of_callbacks(PyObject *module, PyObject *args);
PyObject *resource_on_failure(PyObject *module, PyObject *args);
PyObject *resource_over(PyObject *module, PyObject *args);
PyObject *resource_allocate(PyObject *module, PyObject *args);
PyObject *resource_deallocate(PyObject *module, PyObject *args);
PyObject *resource_ask_for(PyObject *module, PyObject *args);
PyObject *resource_report(PyObject *module, PyObject *object);
/* Returns a capsule for NumPy, a new reference; TypeError for another object. */
PyObject *resource_capsule(PyObject *object);

/*
 * Returns a capsule, a new reference: arrays of @min_bytes and more come from
 * @pool, smaller arrays from the capsule @before.  With @installed, smaller arrays
 * come from the handler below earlier calls of install().
 */
PyObject *handler_capsule(struct module_state *state, PyObject *pool,
			  size_t min_bytes, PyObject *before, bool installed);
/* The same without a least size; of a resource of dray.mr, too. */
PyObject *memory_capsule(struct module_state *state, PyObject *object);
PyObject *handler_capsule_name(PyObject *capsule);
PyObject *handler_choose(PyObject *module, PyObject *args);
const struct dray_handler *handler_in(PyObject *capsule);
/* array_facts.c */
PyObject *handler_name(PyObject *module, PyObject *const *args,
		       Py_ssize_t count);

extern PyType_Spec scope_type_spec;
PyObject *scope_new(PyObject *module, PyObject *args);
/* Makes the scope of install(); its end restores the capsule @before. */
PyObject *scope_installed(struct module_state *state, PyObject *pool,
			  size_t min_bytes, PyObject *before);
/* Opens a scope of @pool under the name @key; returns the pool. */
PyObject *scope_push(struct module_state *state, PyObject *key, PyObject *pool,
		     size_t min_bytes);
/* Ends the innermost scope of that name.  @args: of __exit__() */
PyObject *scope_pop(struct module_state *state, PyObject *key, PyObject *args);
/* Returns the pool of this thread's or task's innermost scope, or None. */
PyObject *scope_current(PyObject *module, PyObject *unused);

/* A NumPy array or a dray.Array as a view of libdray; borrows both objects. */
struct operand {
	PyObject *object;
	PyArray_Descr *descr;
	struct dray_view
		view; /* its type is one of plain bytes, without fields */
	int64_t low; /* bytes from view.data on that it covers: [low, high) */
	int64_t high;
	/* Of the lowest byte, if not empty; no buffer: foreign memory. */
	struct dray_location location;
	bool empty; /* without elements, so without a location */
};

/* Arrays that operand_take() takes, beside those in dray memory. */
#define OPERAND_EMPTY 1u /* without elements */
#define OPERAND_FOREIGN 2u /* in other memory */

/*
 * Describes @object, an array of plain data in dray memory.  @role begins every
 * sentence ("dst", "array").  -1 with an exception.
 */
int operand_take(PyObject *object, const char *role, unsigned int also,
		 struct operand *out);
/* Returns 0, or OSError (EOPNOTSUPP) for memory that cannot be shared. */
int operand_check_shareable(const struct operand *operand, const char *role);
/* Returns 0, or ValueError for elements that may not be written. */
int operand_check_writable(const struct operand *operand, const char *role);

PyObject *array_address(PyObject *module, PyObject *array);
PyObject *array_segments(PyObject *module, PyObject *array);
PyObject *array_sync(PyObject *module, PyObject *args);
PyObject *array_wait(PyObject *module, PyObject *args);

/* xclbin.c: memory banks. */
PyObject *xclbin_banks(PyObject *module, PyObject *path);
PyObject *xclbin_bank_of(PyObject *module, PyObject *args);

extern PyType_Spec handle_type_spec; /* functions in handle.h */
/* Makes an object of a class made of Handle, without an object of the library. */
PyObject *handle_bare(PyObject *module, PyObject *type);

/* exchange_xrt.c: functions of dray/_xrt.py. */
PyObject *xrt_device_open(PyObject *module, PyObject *args);
PyObject *xrt_device_adopt(PyObject *module, PyObject *args);
PyObject *xrt_device_handle(PyObject *module, PyObject *device);
PyObject *xrt_alloc(PyObject *module, PyObject *args);
PyObject *xrt_bo_describe(PyObject *module, PyObject *bo);
PyObject *xrt_bo_address(PyObject *module, PyObject *bo);
PyObject *xrt_bo_sync(PyObject *module, PyObject *args);
PyObject *xrt_bo_part(PyObject *module, PyObject *args);
/* Makes a BO of an array: by an import, or of its mapped memory. */
PyObject *xrt_import(PyObject *module, PyObject *args);
/* Make a BO of a handle, and of functions over a file descriptor. */
PyObject *xrt_adopt(PyObject *module, PyObject *args);
PyObject *xrt_wrap(PyObject *module, PyObject *args);
PyObject *xrt_array(PyObject *module, PyObject *args);
/* Describes the buffer of an array: descriptor, offset, bytes. */
PyObject *xrt_fd(PyObject *module, PyObject *array);

extern PyType_Spec fence_type_spec;
/*
 * Takes over @fence (NULL: done already) and references the rest.  The operands
 * live until the fence has signalled or is dropped.
 */
PyObject *fence_new(struct module_state *state, struct dray_fence *fence,
		    struct node_entry *entry, PyObject *dst, PyObject *src);
/* Waits without a limit; -1 with the exception if the transfer failed. */
int fence_finish(PyObject *fence);
/* Borrows the fence of @object, NULL if it was done from the start. */
int fence_take(struct module_state *state, PyObject *object,
	       struct dray_fence **out);

PyObject *transfer_copy(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *transfer_fill(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *transfer_explain(PyObject *module, PyObject *args,
			   PyObject *keywords);

/*
 * Converts NumPy's object; the caller drops its reference to @out.  -1 with
 * TypeError for a type of other elements.
 */
int dtype_take(PyArray_Descr *descr, dray_dtype *out);
/* The same of an object that names a type in any of NumPy's ways. */
int dtype_take_object(PyObject *object, dray_dtype *out);
/* Returns NumPy's object, a new reference. */
PyArray_Descr *dtype_descr(dray_dtype dtype);

PyObject *memory_kind(PyObject *module, PyObject *args);
/* registers.c: functions of dray/_registers.py. */
PyObject *registers_map(PyObject *module, PyObject *args);
PyObject *registers_describe(PyObject *module, PyObject *self);
PyObject *registers_read(PyObject *module, PyObject *args);
PyObject *registers_write(PyObject *module, PyObject *args);
PyObject *interrupt_open(PyObject *module, PyObject *args);
PyObject *interrupt_describe(PyObject *module, PyObject *self);
PyObject *interrupt_await(PyObject *module, PyObject *args);
PyObject *interrupt_clear(PyObject *module, PyObject *self);
/* Refers to the interrupt of a dray.Interrupt; NULL with an exception. */
struct dray_interrupt *interrupt_of(PyObject *object);
/* Drops the reference without the GIL; NULL is ignored. */
void interrupt_put(struct dray_interrupt *interrupt);
PyObject *loan_lend(PyObject *module, PyObject *args);
PyObject *loan_end(PyObject *module, PyObject *capsule);
PyObject *memory_rows(PyObject *module, PyObject *args);
PyObject *memory_at(PyObject *module, PyObject *args);
PyObject *memory_is_ours(PyObject *module, PyObject *object);
PyObject *memory_is_reached(PyObject *module, PyObject *object);
PyObject *memory_place(PyObject *module, PyObject *object);
PyObject *memory_device(PyObject *module, PyObject *args);

extern PyType_Spec array_type_spec;
extern PyType_Spec ufunc_type_spec;
extern PyType_Spec user_type_spec; /* functions in object/user_type.h */
/* calls_queue.c: queues of calls, which a hook at exit closes. */
PyObject *close_queues(PyObject *module, PyObject *unused);
int calls_init(PyObject *module);
/* executor.c: functions of dray/_calls.py. */
PyObject *executor_of_streams(PyObject *module, PyObject *args);
PyObject *executor_of_opencl(PyObject *module, PyObject *args);
PyObject *executor_reset(PyObject *module, PyObject *executor);
PyObject *executor_cost(PyObject *module, PyObject *args);
PyObject *executor_set_cost(PyObject *module, PyObject *args);
PyObject *opencl_device(PyObject *module, PyObject *executor);
extern PyType_Spec queue_type_spec;
/* sequence_record.c: recordings. */
extern PyType_Spec recording_type_spec;
/* array_nditer.c: iterators. */
extern PyType_Spec nditer_type_spec;
extern PyType_Spec call_type_spec;
/* Completes the description of the type; may be called again. */
void array_type_init(void);
/* Makes the builtin ufuncs, once the types are there. */
int ufunc_init(PyObject *module);
PyObject *ufunc_set_loop(PyObject *module, PyObject *args);
PyObject *ufunc_set_function(PyObject *module, PyObject *args);
/* user_cast.c: functions of dray/_types.py. */
PyObject *user_type_cast(PyObject *module, PyObject *args);
PyObject *type_info(PyObject *module, PyObject *object);
PyObject *ufunc_run_core(PyObject *module, PyObject *args);
PyObject *ufunc_resolve(PyObject *module, PyObject *args);
/* linear.c: products. */
PyObject *linear_matmul(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *linear_dot(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *linear_vecdot(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *linear_matvec(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *linear_vecmat(PyObject *module, PyObject *args, PyObject *keywords);
/* Returns a @ b; @out: None, or the array to receive it. */
PyObject *linear_product(struct module_state *state, PyObject *a, PyObject *b,
			 PyObject *out);
PyObject *linear_dot_product(struct module_state *state, PyObject *a,
			     PyObject *b, PyObject *out);
/* Returns the reactions of this thread of the library to errors of numbers. */
PyObject *ufunc_state(PyObject *module, PyObject *unused);

/* exchange_dlpack_from.c: arrays of other libraries. */
PyObject *from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t count,
		      PyObject *names);
/* Called once the type is there; may be called again. */
int dlpack_init(PyTypeObject *array_type);

/* exchange_arrow.c, exchange_arrow_from.c: arrays in Arrow's capsules. */
PyObject *arrow_export(PyObject *module, PyObject *args);
PyObject *arrow_import(PyObject *module, PyObject *const *args,
		       Py_ssize_t count);
PyObject *arrow_read_stream(PyObject *module, PyObject *stream);
PyObject *arrow_names(PyObject *module, PyObject *schema);

/* array_strings.c, exchange_strings.c: functions of dray/_strings.py. */
PyObject *strings_make(PyObject *module, PyObject *args);
PyObject *strings_count(PyObject *module, PyObject *strings);
PyObject *strings_item(PyObject *module, PyObject *args);
PyObject *strings_list(PyObject *module, PyObject *args);
PyObject *strings_slice(PyObject *module, PyObject *args);
PyObject *strings_take(PyObject *module, PyObject *args);
PyObject *strings_compare(PyObject *module, PyObject *args);
PyObject *strings_argsort(PyObject *module, PyObject *args);
PyObject *strings_export(PyObject *module, PyObject *args);
PyObject *strings_import(PyObject *module, PyObject *args);

/* "a" or "an" for the name of a type. */
static inline const char *article_of(const char *name)
{
	return strchr("aeiouAEIOU", *name) ? "an" : "a";
}

/* The name of the capsules of StreamBase._hold(), which have a struct dray_stream *. */
#define STREAM_CAPSULE "dray.stream"

extern PyType_Spec stream_type_spec;
PyObject *stream_open(PyObject *module, PyObject *args);
/*
 * Keeps a stream open for a call.  NULL with ValueError if it is closed, else
 * stream_leave() follows; the last to leave a closed stream closes it.
 */
struct dray_stream *stream_enter(PyObject *self);
void stream_leave(PyObject *self);
const char *stream_name(PyObject *self);
bool stream_sends(PyObject *self);
/* Whether close() was called. */
bool stream_closing(PyObject *self);
PyObject *stream_closed_error(PyObject *self);

/* Submits a packet to be sent, received or shown (0, 1, 2), and may wait for its end. */
PyObject *packet_move(PyObject *stream, PyObject *args);
PyObject *packet_explain(PyObject *stream, PyObject *args);

extern PyType_Spec event_type_spec;
/* Makes an Event without a packet in flight. */
PyObject *event_new(struct module_state *state, PyObject *stream,
		    Py_ssize_t itemsize);
struct packet *event_packet(PyObject *event); /* in stream.h */
/*
 * Waits for @limit seconds, below 0: without a limit; @asked is the limit that an error
 * names.  Returns the count of elements, or NULL after the packet was cancelled.
 */
PyObject *event_finish(PyObject *event, double limit, double asked);

extern PyType_Spec frames_type_spec;
/* Makes the frames (stream, arrays, overwrite, timeout) a ring. */
PyObject *frames_new(PyObject *module, PyObject *args);
PyObject *ipc_send(PyObject *module, PyObject *args);
PyObject *ipc_receive(PyObject *module, PyObject *args);
/*
 * Wraps @array, taken over even on failure, in an array of NumPy; in a dray.Array if
 * the CPU does not reach it.
 */
PyObject *ipc_wrap(PyObject *module, struct dray_array *array);
/* Does so in a dray.Array, which keeps an entry of the node. */
PyObject *ipc_wrap_own(PyObject *module, struct dray_array *array);
/* Makes an array of NumPy over @base, taken over even on failure. */
PyObject *ipc_wrap_view(const struct dray_view *view, PyObject *base);

PyObject *export_of_array(PyObject *module, PyObject *args);
PyObject *export_handover(PyObject *module, PyObject *args);
PyObject *export_reduce_with(PyObject *module, PyObject *args);
PyObject *export_reduce(PyObject *module, PyObject *array);
PyObject *export_may_open(PyObject *module, PyObject *unused);
PyObject *export_fetch(PyObject *module, PyObject *record);
PyObject *export_wait(PyObject *module, PyObject *timeout);
PyObject *export_revoke(PyObject *module, PyObject *record);
PyObject *export_waiting(PyObject *module, PyObject *unused);
PyObject *export_open(PyObject *module, PyObject *args);
PyObject *export_bytes(PyObject *module, PyObject *args);

int records_init(struct module_state *state);
PyObject *record_segment(struct module_state *state,
			 const struct dray_segment *segment);
PyObject *record_pool_stats(struct module_state *state,
			    const struct dray_pool_stats *stats);
PyObject *record_node_info(struct module_state *state, const char *backend,
			   const struct dray_info *info);
PyObject *record_heap_info(struct module_state *state,
			   const struct dray_heap_info *info);
PyObject *record_channel_info(struct module_state *state,
			      const struct dray_channel_info *info);
PyObject *record_explanation(struct module_state *state,
			     const struct dray_explanation *explanation);
PyObject *record_stream_counts(struct module_state *state,
			       const struct dray_stream_counts *counts);
PyObject *record_ring_counts(struct module_state *state,
			     const struct dray_ring_counts *counts);
PyObject *record_array_flags(struct module_state *state, uint32_t flags);
PyObject *record_bank(struct module_state *state, const struct dray_bank *bank);
PyObject *
record_call_explanation(struct module_state *state,
			const struct dray_call_explanation *explanation);
PyObject *record_opencl_device(struct module_state *state,
			       const struct dray_opencl_device *device);

#endif /* DRAY_PYTHON_MODULE_H */
