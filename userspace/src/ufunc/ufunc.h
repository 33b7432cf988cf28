/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A ufunc and its table of loops, as the files of this room share them. */
#ifndef DRAY_UFUNC_UFUNC_H
#define DRAY_UFUNC_UFUNC_H

#include "loops/loops.h"
#include "ufunc/fp_state.h"

/* One signature of a table. */
struct dray_ufunc_row {
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* each one reference */
	struct dray_ufunc_loop loop;
};

/* Never changed after it is published; a replaced one lives on with its ufunc. */
struct dray_ufunc_table {
	struct dray_ufunc_table *replaced;
	size_t count;
	struct dray_ufunc_row rows[];
};

struct dray_ufunc {
	const char *name;
	int inputs;
	int outputs;
	enum dray_identity identity;
	unsigned int references; /* 0: builtin */
	struct dray_ufunc_table *table; /* read and published atomically */
	const struct dray_ufunc_definition *definition; /* NULL: a user's */
};

static inline int dray_ufunc_operands(const struct dray_ufunc *ufunc)
{
	return ufunc->inputs + ufunc->outputs;
}

/* A call whose loop is chosen. */
struct dray_resolved {
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* borrowed */
	struct dray_ufunc_loop loop;
};

/*
 * Chooses the loop for types.
 * @given: inputs + outputs types, 0 for an output that is made
 */
int dray_ufunc_resolve(const struct dray_ufunc *ufunc, const dray_dtype *given,
		       const struct dray_ufunc_options *options,
		       struct dray_resolved *out);

#endif /* DRAY_UFUNC_UFUNC_H */
