// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arguments of Node.pool().  The library checks their values; this file checks
 * errors that only Python can express.
 */
#include "module.h"

static const struct {
	const char *name;
	enum dray_numa_policy policy;
} policies[] = {
	{ "preferred", DRAY_NUMA_PREFERRED },
	{ "bind", DRAY_NUMA_BIND },
	{ "interleave", DRAY_NUMA_INTERLEAVE },
};

static int policy_take(const char *name, uint32_t *out)
{
	size_t i;

	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		if (!strcmp(name, policies[i].name)) {
			*out = policies[i].policy;
			return 0;
		}
	}
	PyErr_Format(PyExc_ValueError,
		     "numa is '%s': 'preferred', 'bind' or 'interleave'", name);
	return -1;
}

/* Sets a bit for each number of @object, an iterable. */
static int numa_nodes_take(PyObject *object, uint64_t *out)
{
	PyObject *iterator = PyObject_GetIter(object), *number;
	int overflow;
	long long node;

	if (!iterator)
		return -1;
	while ((number = PyIter_Next(iterator))) {
		node = PyLong_AsLongLongAndOverflow(number, &overflow);
		if (!PyErr_Occurred() && (overflow || node < 0 || node > 63))
			PyErr_Format(
				PyExc_ValueError,
				"numa_nodes has %R: numbers of nodes from 0 to 63",
				number);
		Py_DECREF(number);
		if (PyErr_Occurred())
			break;
		*out |= UINT64_C(1) << node;
	}
	Py_DECREF(iterator);
	return PyErr_Occurred() ? -1 : 0;
}

static int numa_take(const char *policy, PyObject *nodes,
		     struct dray_pages *pages)
{
	if (nodes && numa_nodes_take(nodes, &pages->numa_nodes))
		return -1;
	if (policy && policy_take(policy, &pages->policy))
		return -1;
	if (policy && !pages->numa_nodes)
		PyErr_Format(PyExc_ValueError,
			     "numa='%s' without numa_nodes, as [0]", policy);
	else if (!policy && pages->numa_nodes)
		PyErr_SetString(
			PyExc_ValueError,
			"numa_nodes without numa: 'preferred', 'bind' or 'interleave'");
	return PyErr_Occurred() ? -1 : 0;
}

int pool_options_take(PyObject *args, PyObject *keywords,
		      struct dray_pool_options *out)
{
	static char *names[] = { "heap",       "name",	  "initial",
				 "limit",      "granule", "prefault",
				 "huge_pages", "numa",	  "numa_nodes",
				 NULL };
	PyObject *initial = NULL, *limit = NULL, *small = NULL, *nodes = NULL;
	const char *policy = NULL;
	int prefault = 0, huge = 0;
	uint64_t granule = 0;

	memset(out, 0, sizeof(*out));
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$zzOOOppzO:pool",
					 names, &out->heap, &out->name,
					 &initial, &limit, &small, &prefault,
					 &huge, &policy, &nodes))
		return -1;
	if (initial && size_take(initial, "initial", UINT64_MAX, &out->initial))
		return -1;
	if (limit && size_take(limit, "limit", UINT64_MAX, &out->limit))
		return -1;
	if (small && size_take(small, "granule", UINT32_MAX, &granule))
		return -1;
	out->granule = (uint32_t)granule;
	if (prefault)
		out->pages.flags |= DRAY_PAGES_PREFAULT;
	if (huge)
		out->pages.flags |= DRAY_PAGES_HUGE;
	return numa_take(policy, nodes, &out->pages);
}
