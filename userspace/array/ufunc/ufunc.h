/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A ufunc and its table of loops, as the files of this room share them.
 *
 * Classes are small numbers for the builtin numbers and bools in the machine's byte
 * order, so that the loops of most calls are found without comparing types.  A table never
 * changes after it is published, so that calls read it without a lock; a new table
 * replaces it.
 */
#ifndef DRAY_UFUNC_UFUNC_H
#define DRAY_UFUNC_UFUNC_H

#include "cast/fp_state.h"
#include "loops/loops.h"

enum dray_loop_classes {
	DRAY_LOOP_BOOL,
	DRAY_LOOP_INT8,
	DRAY_LOOP_INT64 = DRAY_LOOP_INT8 + 3,
	DRAY_LOOP_UINT8,
	DRAY_LOOP_UINT64 = DRAY_LOOP_UINT8 + 3,
	DRAY_LOOP_FLOAT16,
	DRAY_LOOP_FLOAT64 = DRAY_LOOP_FLOAT16 + 2,
	DRAY_LOOP_COMPLEX64,
	DRAY_LOOP_COMPLEX128,
	DRAY_LOOP_CLASSES,
	DRAY_LOOP_NO_CLASS = 255,
};

/* The type of each class. */
extern const dray_dtype dray_loop_types[DRAY_LOOP_CLASSES];

/* Bit t of an entry: its class is converted to class t safely. */
extern uint16_t dray_loop_safe[DRAY_LOOP_CLASSES];

/* The class of a type, or DRAY_LOOP_NO_CLASS. */
static inline uint8_t dray_loop_class(dray_dtype dtype)
{
	/* Of each kind, the class of a size of a byte. */
	static const uint8_t first[32] = {
		['?' & 31] = DRAY_LOOP_BOOL,
		['i' & 31] = DRAY_LOOP_INT8,
		['u' & 31] = DRAY_LOOP_UINT8,
		['f' & 31] = DRAY_LOOP_FLOAT16 - 1,
		['c' & 31] = DRAY_LOOP_COMPLEX64 - 3,
	};
	const uint32_t size = (uint32_t)(dtype >> 32) | 1u << 31;
	const unsigned int class =
		first[dtype & 31] + (unsigned int)__builtin_ctz(size);

	return class < DRAY_LOOP_CLASSES && dray_loop_types[class] == dtype
		       ? (uint8_t) class
		       : DRAY_LOOP_NO_CLASS;
}

/* Its rank: 0 bool, 1 integer, 2 float, 3 complex. */
static inline int dray_loop_rank(uint8_t class)
{
	return (class >= DRAY_LOOP_INT8) + (class >= DRAY_LOOP_FLOAT16) +
	       (class >= DRAY_LOOP_COMPLEX64);
}

static inline bool dray_loop_is_integer(uint8_t class)
{
	return class >= DRAY_LOOP_INT8 && class <= DRAY_LOOP_UINT64;
}

/* A signature and its loop. */
struct dray_ufunc_row {
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* a reference each */
	uint8_t classes[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_ufunc_loop loop;
};

struct dray_ufunc_table {
	struct dray_ufunc_table *replaced; /* lives on with its ufunc */
	size_t count;
	/* 1 + the row of which all inputs are of this class; 0: none of the first */
	uint8_t uniform[DRAY_LOOP_CLASSES];
	struct dray_ufunc_row rows[];
};

/* Makes a table of empty rows, or returns NULL. */
struct dray_ufunc_table *dray_table_create(size_t count);

/* Makes the table of a builtin ufunc, or returns NULL. */
struct dray_ufunc_table *
dray_table_define(const struct dray_ufunc_definition *definition);

/* Fills in classes, when the types of all rows are set. */
void dray_table_index(struct dray_ufunc_table *table, int inputs, int operands);

/* The row of a signature, or the number of rows. */
size_t dray_table_find(const struct dray_ufunc_table *table, int operands,
		       const dray_dtype *dtypes);

/* Frees a table and those that it replaced. */
void dray_table_free(struct dray_ufunc_table *table, int operands);

/* Finds a function that joins several ufuncs; NULL, with a sentence, without memory. */
struct dray_ufunc *dray_ufunc_joined(const char *name);

/* Fills dray_loop_safe, once. */
void dray_loop_prepare(void);

struct dray_ufunc {
	const char *name;
	int inputs;
	int outputs;
	enum dray_identity identity;
	unsigned int references; /* 0: builtin */
	uint64_t number; /* unique, now and later */
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
 * Chooses the loop for types.  -EOPNOTSUPP if there is none, -EINVAL for an invalid
 * type in the options.
 * @given: inputs + outputs types, 0 for an output that is made; the types of
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
 * Makes outputs that are NULL among @views, in the order of a call.
 * @views: inputs, outputs, and perhaps a mask; @operands of them
 * @dtypes: of the loop
 * @made: a reference to each output that was made; others are left alone
 */
int dray_ufunc_make(struct dray_ufunc *ufunc,
		    const struct dray_ufunc_options *options,
		    const struct dray_view *const *views, int operands,
		    const dray_dtype *dtypes, int ndim, const int64_t *shape,
		    struct dray_array **made);

/* Chooses the fast variant of a loop, if it is wanted. */
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
 * Checks that an integer, a single element, fits a type of integers; other elements
 * and types do.  -EOVERFLOW.
 */
int dray_check_integer(const struct dray_view *view, dray_dtype dtype);

/* Checks that input @o, a number of the program, is a single element.  -EINVAL. */
int dray_ufunc_check_weak(int o, int64_t elements);

/* Whether a loop of these types compares two numbers. */
static inline bool dray_ufunc_compares(const struct dray_ufunc *ufunc,
				       const dray_dtype *dtypes)
{
	return ufunc->inputs == 2 && dtypes[2] == DRAY_BOOL;
}

/* Whether a loop of a type may process the elements in place. */
static inline bool dray_view_is_ready(const struct dray_view *view,
				      dray_dtype dtype)
{
	return (view->dtype == dtype || dray_dtype_equal(view->dtype, dtype)) &&
	       dray_view_is_aligned(view);
}

/* Checks the type of a mask.  -EOPNOTSUPP. */
int dray_ufunc_check_mask(const struct dray_ufunc *ufunc, dray_dtype dtype);

#endif /* DRAY_UFUNC_UFUNC_H */
