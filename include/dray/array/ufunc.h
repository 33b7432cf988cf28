/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ufunc: universal functions.  A loop computes the elements of an axis; a ufunc
 * makes a function of whole arrays of it, with types, broadcasting, conversions,
 * outputs and errors as NumPy 2 has them.
 *
 *	const struct dray_view *inputs[] = { &x, &y };
 *	struct dray_array *sum;
 *
 *	ret = dray_ufunc_call(dray_ufunc_find("add"), inputs, NULL, NULL, &sum);
 *
 * A ufunc has a table of loops, each for a signature: the types of its inputs,
 * then of its outputs.  A call takes the loop of the very types of its
 * inputs, else the first loop that they convert to safely, so lesser types stand
 * first.
 *
 * All functions may be called from any thread.  Nothing here waits.  Errors of
 * floating-point numbers are noted as in <dray/array/fp_state.h>.
 */
#ifndef DRAY_UFUNC_H
#define DRAY_UFUNC_H

#include <dray/array/cast.h>
#include <dray/array/fp_state.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A universal function.  Builtin ufuncs live as long as the library. */
struct dray_ufunc;

/**
 * A neutral element, with which reductions begin.  -EINVAL for an unknown value.  A caller
 * treats an unknown value of dray_ufunc_identity() as DRAY_IDENTITY_NONE.
 */
enum dray_identity {
	/* none: the order counts, and a single axis is reduced at a time */
	DRAY_IDENTITY_NONE,
	/* none, but several axes may be reduced, in any order: minimum */
	DRAY_IDENTITY_REORDERABLE,
	DRAY_IDENTITY_ZERO,
	DRAY_IDENTITY_ONE,
	DRAY_IDENTITY_MINUS_ONE,	/* all bits of an integer */
	DRAY_IDENTITY_MINUS_INFINITY,	/* of floats: logaddexp */
};

/* Inputs and outputs of a ufunc, together; a mask is a further operand. */
#define DRAY_UFUNC_MAX_OPERANDS (DRAY_MAX_OPERANDS - 1)

/* Flags of a loop. */
/* It never raises a floating-point exception that means something. */
#define DRAY_LOOP_NO_FP_ERRORS (1u << 0)
/*
 * A single thread at a time may be in it, with this context.  Other loops run meanwhile, and
 * the thread may call it again.
 */
#define DRAY_LOOP_SINGLE_THREAD (1u << 1)

/** A loop of a ufunc. */
struct dray_ufunc_loop {
	/*
	 * Operands: the inputs, then the outputs.  Elements are aligned, and in
	 * the machine's byte order.  An output may be the very elements of an
	 * input; else they share no byte.  A failure ends the call with its
	 * negative errno; other results than 0 are -EIO.
	 */
	dray_loop *loop;
	void *context;	/* passed to it; lives as long as the ufunc */
	uint32_t flags;	/* DRAY_LOOP_* */
};

/**
 * Returns the builtin ufunc that NumPy names @name: "add", "arctan2", "isnan";
 * NULL for an unknown name, with a sentence left.
 */
DRAY_API struct dray_ufunc *dray_ufunc_find(const char *name);

/** Returns builtin ufunc @index, 0 and up, in the order of names, or NULL. */
DRAY_API struct dray_ufunc *dray_ufunc_number(size_t index);

/**
 * Makes a ufunc without loops.
 *
 * @name: for sentences; copied
 * @inputs: 1 or more
 * @outputs: 1 or more; with the inputs at most DRAY_UFUNC_MAX_OPERANDS
 * @identity: of reductions
 * @out: with a reference
 *
 * Errors: -EINVAL (no name, numbers of operands, an identity of a ufunc that
 * does not make an output of two inputs), -ENOMEM.
 */
DRAY_API int dray_ufunc_create(const char *name, int inputs, int outputs,
			       enum dray_identity identity,
			       struct dray_ufunc **out);

/** Adds a reference; builtin ufuncs are not counted.  Returns @ufunc. */
DRAY_API struct dray_ufunc *dray_ufunc_ref(struct dray_ufunc *ufunc);

/** Drops a reference; NULL is ignored. */
DRAY_API void dray_ufunc_unref(struct dray_ufunc *ufunc);

/** Returns the name of @ufunc, borrowed; NULL without a ufunc. */
DRAY_API const char *dray_ufunc_name(const struct dray_ufunc *ufunc);
/** Returns the number of its inputs. */
DRAY_API int dray_ufunc_inputs(const struct dray_ufunc *ufunc);
/** Returns the number of its outputs. */
DRAY_API int dray_ufunc_outputs(const struct dray_ufunc *ufunc);
/** Returns its identity. */
DRAY_API enum dray_identity dray_ufunc_identity(const struct dray_ufunc *ufunc);

/**
 * Sets the loop of a signature: an earlier loop is replaced, a new signature is
 * searched after all others.  Builtin ufuncs take loops too, for all callers in
 * the process.  Calls that run finish with the old loop, so the old table of loops
 * (some 100 bytes for each loop) stays until the last reference is dropped: set a
 * loop to a function that chooses, if it is to change thousands of times.
 *
 * @dtypes: inputs + outputs types, counted up
 * @loop: copied
 *
 * Errors: -EINVAL (a type is none, no loop, unknown flags), -ENOMEM.
 */
DRAY_API int dray_ufunc_set_loop(struct dray_ufunc *ufunc,
				 const dray_dtype *dtypes,
				 const struct dray_ufunc_loop *loop);

/**
 * Describes loop @index, 0 and up, in the order in which they are searched.
 *
 * @dtypes: room for inputs + outputs types, borrowed from the ufunc
 * @loop: filled
 *
 * Errors: -ERANGE (no such loop).
 */
DRAY_API int dray_ufunc_get_loop(const struct dray_ufunc *ufunc, size_t index,
				 dray_dtype *dtypes,
				 struct dray_ufunc_loop *loop);

/**
 * A class of arrays that results become, such as a unit or an image around
 * the elements.
 */
struct dray_ufunc_wrap {
	double priority;
	/**
	 * Makes something of output @output.
	 *
	 * @array: the array that was made, borrowed
	 * @out: takes the place of it: a reference, to @array or another
	 *
	 * Returns 0, or a negative errno with which the call fails.
	 */
	int (*wrap)(void *context, struct dray_ufunc *ufunc, int output,
		    struct dray_array *array, struct dray_array **out);
	void *context;
};

/*
 * Elementary functions of floats may fuse products and sums: about twice as fast,
 * with other last bits, which are the same on all processors that fuse.
 */
#define DRAY_UFUNC_FAST (1u << 0)

/** Options of a call; all zero is the default. */
struct dray_ufunc_options {
	size_t size;		/* of this structure; 0: the first version's */
	/* of the outputs, and so of the loop; borrowed; 0: by the inputs */
	dray_dtype dtype;
	/* inputs + outputs types, 0 for any: the loop to take; NULL: any */
	const dray_dtype *signature;
	/* bools, broadcast: elements to compute; NULL: all */
	const struct dray_view *where;
	/* of outputs that are made: 'C', 'F', 'A', 'K'; 0: 'K' */
	char order;
	/* the loosest conversion: 1 + enum dray_casting; 0: SAME_KIND */
	uint8_t casting;
	/*
	 * Bit i: input i, of a single element, is a number of the program (NEP 50):
	 * its kind counts, and not its type
	 */
	uint16_t weak;
	uint32_t flags;		/* DRAY_UFUNC_* */
	unsigned int threads;	/* that compute at once; 0: 1 */
	/*
	 * The class of each input, or NULL; NULL: no input has a class.  The class
	 * of highest priority, of equal classes the first, gets all outputs that
	 * are made
	 */
	const struct dray_ufunc_wrap *const *wraps;
};

/**
 * Writes the types of the loop that a call would run.
 *
 * @given: inputs + outputs types; 0 for a new output
 * @options: as of dray_ufunc_call(); NULL: all zero
 * @dtypes: room for as many types, each with a reference
 *
 * Errors: -EOPNOTSUPP and -EINVAL as dray_ufunc_call().
 */
DRAY_API int dray_ufunc_resolve_types(struct dray_ufunc *ufunc,
				      const dray_dtype *given,
				      const struct dray_ufunc_options *options,
				      dray_dtype *dtypes);

/**
 * Computes a ufunc.
 *
 * @inputs: a view for each; they are broadcast to a shape, to which outputs
 *	that are given belong.  Inputs and outputs may share memory: the result
 *	is as if the inputs were copied aside first
 * @outputs: a view for each, NULL for an output to make; NULL: all are made.
 *	Where the mask is false, elements that are given stay, and those that
 *	are made are undefined
 * @options: NULL: all zero
 * @out: an array for each output, with a reference; NULL for an output that was
 *	given.  May be NULL if all outputs are given
 *
 * Errors: -EOPNOTSUPP (no loop for the types, a conversion that is not allowed,
 * a mask that is not of bools), -EINVAL (shapes that cannot be broadcast, an
 * output of another shape, options that do not exist), -EOVERFLOW (a weak number
 * that does not fit the type of its partners), -EPERM (a read-only output, an
 * input that may not be read), -EDOM (a floating-point error, if it is to be
 * raised), -ENOMEM, as dray_view_init() for a bad view, and errors of the loop
 * or of a function that wraps.  After an error, elements of outputs that were
 * given are undefined, and none is made.
 */
DRAY_API int dray_ufunc_call(struct dray_ufunc *ufunc,
			     const struct dray_view *const *inputs,
			     const struct dray_view *const *outputs,
			     const struct dray_ufunc_options *options,
			     struct dray_array **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_UFUNC_H */
