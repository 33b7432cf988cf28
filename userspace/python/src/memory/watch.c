// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Shows the program its handlers' calls, by counters for all threads, and by hooks
 * for the thread that entered them.  The library calls handler_watch()
 * while there is either.
 *
 * Counters need no GIL.  A hook is called with it, whether or not the caller of
 * the handler holds it; a thread in a hook calls no other.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/module.h"

#define COUNTER_CAPSULE "dray.counter"

struct counter_numbers {
	int64_t now, peak, total;
};

struct counter {
	struct counter *next, **link; /* link NULL: it does not count */
	struct counter_numbers bytes, count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* With the lock. */
static struct counter *counters;
static size_t hooks_entered; /* in all threads */

/* A tuple of this thread's hooks, the last entered last; NULL: none. */
static _Thread_local PyObject *hooks;
static _Thread_local bool inside_hook;

static void watch_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void watch_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int watch_init(void)
{
	static bool done;

	if (!done && pthread_atfork(watch_lock, watch_unlock, watch_unlock)) {
		PyErr_NoMemory();
		return -1;
	}
	done = true;
	return 0;
}

static void counter_add(struct counter_numbers *numbers, int64_t more)
{
	numbers->now += more;
	if (more > 0)
		numbers->total += more;
	if (numbers->now > numbers->peak)
		numbers->peak = numbers->now;
}

static void count_all(int64_t bytes, int64_t blocks)
{
	struct counter *counter;

	watch_lock();
	for (counter = counters; counter; counter = counter->next) {
		counter_add(&counter->bytes, bytes);
		counter_add(&counter->count, blocks);
	}
	watch_unlock();
}

/* Calls a method of @hook; takes over @keywords. */
static void hook_call(PyObject *hook, const char *name, PyObject *keywords)
{
	PyObject *method = keywords ? PyObject_GetAttrString(hook, name) : NULL;
	PyObject *none = method ? PyTuple_New(0) : NULL;
	PyObject *result = none ? PyObject_Call(method, none, keywords) : NULL;

	/* A handler cannot raise. */
	if (!result)
		PyErr_WriteUnraisable(method ? method : hook);
	Py_XDECREF(result);
	Py_XDECREF(none);
	Py_XDECREF(method);
	Py_XDECREF(keywords);
}

typedef unsigned long long wide;

static void hook_see(PyObject *hook, const struct dray_handler_event *event)
{
	wide block = (uintptr_t)event->block, bytes = event->bytes;
	wide asked = event->asked;

	switch (event->action) {
	case DRAY_HANDLER_ALLOCATES:
		hook_call(hook, "malloc_preprocess",
			  Py_BuildValue("{sisKsK}", "device_id", 0, "size",
					asked, "mem_size", asked));
		break;
	case DRAY_HANDLER_GREW:
		hook_call(hook, "alloc_preprocess",
			  Py_BuildValue("{sisK}", "device_id", 0, "mem_size",
					bytes));
		hook_call(hook, "alloc_postprocess",
			  Py_BuildValue("{sisKsi}", "device_id", 0, "mem_size",
					bytes, "mem_ptr", 0));
		break;
	case DRAY_HANDLER_ALLOCATED:
		hook_call(hook, "malloc_postprocess",
			  Py_BuildValue("{sisKsKsKsK}", "device_id", 0, "size",
					asked, "mem_size", bytes, "mem_ptr",
					block, "pmem_id", block));
		break;
	case DRAY_HANDLER_FREES:
	case DRAY_HANDLER_FREED:
		hook_call(hook,
			  event->action == DRAY_HANDLER_FREES
				  ? "free_preprocess"
				  : "free_postprocess",
			  Py_BuildValue("{sisKsKsK}", "device_id", 0,
					"mem_size", bytes, "mem_ptr", block,
					"pmem_id", block));
		break;
	}
}

/* Leaves a pending exception alone. */
static void hooks_call(const struct dray_handler_event *event)
{
	PyObject *type, *value, *traceback, *called;
	PyGILState_STATE state;
	Py_ssize_t i;

	if (!Py_IsInitialized())
		return;
	state = PyGILState_Ensure();
	inside_hook = true;
	PyErr_Fetch(&type, &value, &traceback);
	called = Py_NewRef(hooks);
	for (i = 0; i < PyTuple_GET_SIZE(called); i++)
		hook_see(PyTuple_GET_ITEM(called, i), event);
	Py_DECREF(called);
	PyErr_Restore(type, value, traceback);
	inside_hook = false;
	PyGILState_Release(state);
}

static void handler_watch(const struct dray_handler_event *event)
{
	if (event->action == DRAY_HANDLER_ALLOCATED && event->block)
		count_all((int64_t)event->bytes, 1);
	/* Before the free, so that no use of the block is counted twice. */
	else if (event->action == DRAY_HANDLER_FREES)
		count_all(-(int64_t)event->bytes, -1);
	if (hooks && !inside_hook)
		hooks_call(event);
}

/* Asks the library for as much as is needed; the lock is held. */
static void watch_update(void)
{
	if (counters || hooks_entered)
		dray_watch_add(handler_watch);
	else
		dray_watch_remove(handler_watch);
}

static void counter_stop(struct counter *counter)
{
	watch_lock();
	if (counter->link) {
		*counter->link = counter->next;
		if (counter->next)
			counter->next->link = counter->link;
		counter->link = NULL;
		watch_update();
	}
	watch_unlock();
}

static struct counter *counter_of(PyObject *capsule)
{
	return PyCapsule_GetPointer(capsule, COUNTER_CAPSULE);
}

static void counter_destroy(PyObject *capsule)
{
	struct counter *counter = counter_of(capsule);

	counter_stop(counter);
	free(counter);
}

PyObject *counter_begin(PyObject *module, PyObject *unused)
{
	struct counter *counter = calloc(1, sizeof(*counter));
	PyObject *capsule;

	(void)module;
	(void)unused;
	if (!counter)
		return PyErr_NoMemory();
	capsule = PyCapsule_New(counter, COUNTER_CAPSULE, counter_destroy);
	if (!capsule) {
		free(counter);
		return NULL;
	}
	watch_lock();
	counter->next = counters;
	counter->link = &counters;
	if (counters)
		counters->link = &counter->next;
	counters = counter;
	watch_update();
	watch_unlock();
	return capsule;
}

PyObject *counter_end(PyObject *module, PyObject *capsule)
{
	struct counter *counter = counter_of(capsule);

	(void)module;
	if (!counter)
		return NULL;
	counter_stop(counter);
	Py_RETURN_NONE;
}

PyObject *counter_read(PyObject *module, PyObject *capsule)
{
	struct counter *counter = counter_of(capsule), now;

	(void)module;
	if (!counter)
		return NULL;
	watch_lock();
	now = *counter;
	watch_unlock();
	return Py_BuildValue(
		"(LLLLLL)", (long long)now.bytes.now, (long long)now.count.now,
		(long long)now.bytes.peak, (long long)now.count.peak,
		(long long)now.bytes.total, (long long)now.count.total);
}

/* Counts hooks over all threads. */
static void hooks_count(bool entered)
{
	watch_lock();
	hooks_entered += entered ? 1 : (size_t)-1;
	watch_update();
	watch_unlock();
}

PyObject *hook_enter(PyObject *module, PyObject *hook)
{
	PyObject *more = PyTuple_Pack(1, hook), *before = hooks;

	(void)module;
	if (more && before)
		Py_SETREF(more, PySequence_Concat(before, more));
	if (!more)
		return NULL;
	hooks = more;
	Py_XDECREF(before);
	hooks_count(true);
	Py_RETURN_NONE;
}

PyObject *hook_leave(PyObject *module, PyObject *hook)
{
	PyObject *before = hooks, *fewer = NULL;
	Py_ssize_t count = before ? PyTuple_GET_SIZE(before) : 0;
	Py_ssize_t place = count - 1, i;

	(void)module;
	while (place >= 0 && PyTuple_GET_ITEM(before, place) != hook)
		place--;
	if (place < 0)
		return PyErr_Format(
			PyExc_RuntimeError,
			"%R is not entered in this thread: it was left already, or entered elsewhere",
			hook);
	if (count > 1)
		fewer = PyTuple_New(count - 1);
	if (count > 1 && !fewer)
		return NULL;
	for (i = 0; i < count - 1; i++)
		PyTuple_SET_ITEM(fewer, i,
				 Py_NewRef(PyTuple_GET_ITEM(
					 before, i < place ? i : i + 1)));
	hooks = fewer;
	hooks_count(false);
	Py_DECREF(before);
	Py_RETURN_NONE;
}

PyObject *hooks_here(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return hooks ? Py_NewRef(hooks) : PyTuple_New(0);
}
