// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Waits with a limit in seconds.  Other threads go on meanwhile, and a signal
 * handler may end the wait with an exception.
 */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/module.h"

double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int seconds_take(PyObject *object, const char *name, double *out)
{
	*out = -1;
	if (object == Py_None)
		return 0;
	*out = PyFloat_AsDouble(object);
	if (*out == -1 && PyErr_Occurred())
		return -1;
	if (*out >= 0)
		return 0;
	PyErr_Format(PyExc_ValueError,
		     "a %s of %R seconds: 0 or more, or None for ever", name,
		     object);
	return -1;
}

int wait_for_end(wait_function *wait, void *object, double limit)
{
	double end = limit < 0 ? 0 : seconds_now() + limit, left = 0;
	int ret, milliseconds = -1;

	for (;;) {
		if (limit >= 0) {
			left = fmax(end - seconds_now(), 0) * 1e3;
			/* Round up, so that the last round does not spin. */
			milliseconds = (int)ceil(fmin(left, 1e9));
		}
		Py_BEGIN_ALLOW_THREADS
		ret = wait(object, milliseconds);
		Py_END_ALLOW_THREADS
		if (ret == -EINTR) {
			if (PyErr_CheckSignals())
				return ret;
			continue;
		}
		if (ret != -ETIME || left <= 1e9)
			return ret;
	}
}
