/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Methods of dray.Array that reduce it; array_statistics.c. */
#ifndef DRAY_PYTHON_ARRAY_STATISTICS_H
#define DRAY_PYTHON_ARRAY_STATISTICS_H

#include "base/module.h"

#define STATISTIC(name)                                               \
	PyObject *array_##name(PyObject *self, PyObject *const *args, \
			       Py_ssize_t count, PyObject *names)

STATISTIC(sum);
STATISTIC(prod);
STATISTIC(min);
STATISTIC(max);
STATISTIC(ptp);
STATISTIC(all);
STATISTIC(any);
STATISTIC(mean);
STATISTIC(var);
STATISTIC(std);
STATISTIC(cumsum);
STATISTIC(cumprod);

#undef STATISTIC

#endif /* DRAY_PYTHON_ARRAY_STATISTICS_H */
