/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A ufunc and its table of loops, as the files of this room share them. */
#ifndef DRAY_UFUNC_UFUNC_H
#define DRAY_UFUNC_UFUNC_H

#include "cast/fp_state.h"
#include "ufunc/table.h"

struct dray_ufunc {
	const char *name;
	int inputs;
	int outputs;
	enum dray_identity identity;
	unsigned int references; /* 0: builtin */
	uint64_t number; /* no other one has it, now or later */
	struct dray_ufunc_table *table; /* read and published atomically */
	const struct dray_ufunc_definition *definition; /* NULL: a user's */
};

static inline int dray_ufunc_operands(const struct dray_ufunc *ufunc)
{
	return ufunc->inputs + ufunc->outputs;
}

static inline const struct dray_ufunc_table *
dray_ufunc_table(const struct dray_ufunc *ufunc)
{
	return __atomic_load_n(&ufunc->table, __ATOMIC_ACQUIRE);
}

/* A loop that was chosen for a call. */
struct dray_resolved {
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* borrowed */
	struct dray_ufunc_loop loop;
};

/*
 * Chooses the loop for types.  -EOPNOTSUPP if there is none, -EINVAL for a type
 * that is wanted and is none.
 * @given: inputs + outputs types, 0 for an output that is made; those of
 *	outputs do not count
 */
int dray_ufunc_resolve(const struct dray_ufunc *ufunc, const dray_dtype *given,
		       const struct dray_ufunc_options *options,
		       struct dray_resolved *out);

/* Checks conversions to and from the types of the loop.  -EOPNOTSUPP. */
int dray_ufunc_check_casts(const struct dray_ufunc *ufunc,
			   const dray_dtype *given,
			   const struct dray_ufunc_options *options,
			   const struct dray_resolved *resolved);

/*
 * Makes outputs that are NULL among @views, in the order that a call has.
 * @views: inputs, outputs, and perhaps a mask; @operands of them
 * @dtypes: of the loop
 * @made: of each output that was made, one reference; others are left alone
 */
int dray_ufunc_make(struct dray_ufunc *ufunc,
		    const struct dray_ufunc_options *options,
		    const struct dray_view *const *views, int operands,
		    const dray_dtype *dtypes, int ndim, const int64_t *shape,
		    struct dray_array **made);

/* Takes the fast variant of a loop, if it is wanted. */
static inline void
dray_ufunc_choose_fast(const struct dray_ufunc_options *options,
		       struct dray_resolved *resolved)
{
	if (options->flags & DRAY_UFUNC_FAST &&
	    resolved->loop.flags & DRAY_LOOP_HAS_FAST)
		resolved->loop.context =
			(void *)((uintptr_t)resolved->loop.context +
				 DRAY_LOOP_FAST);
}

/* Checks flags, the casting rule and the order.  -EINVAL. */
int dray_ufunc_check_options(const struct dray_ufunc_options *options);

/*
 * Checks that an integer of one element fits a type of integers; other elements and
 * types do.  -EOVERFLOW.
 */
int dray_check_integer(const struct dray_view *view, dray_dtype dtype);

/* Checks that input @o, a number of the program, is one element.  -EINVAL. */
int dray_ufunc_check_weak(int o, int64_t elements);

/* Whether a loop of these types compares two numbers. */
static inline bool dray_ufunc_compares(const struct dray_ufunc *ufunc,
				       const dray_dtype *dtypes)
{
	return ufunc->inputs == 2 && dtypes[2] == DRAY_BOOL;
}

/* Checks the type of a mask.  -EOPNOTSUPP. */
int dray_ufunc_check_mask(const struct dray_ufunc *ufunc, dray_dtype dtype);

#endif /* DRAY_UFUNC_UFUNC_H */
