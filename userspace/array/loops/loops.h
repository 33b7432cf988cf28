/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The loops of builtin ufuncs.  Each file of this room contains the loops of some
 * functions and a list of their definitions.
 */
#ifndef DRAY_LOOPS_LOOPS_H
#define DRAY_LOOPS_LOOPS_H

#include <dray/array/ufunc.h>

/*
 * A loop.  Letters of types, inputs then outputs: NumPy's, of fixed sizes:
 * ? bool, b B h H i I q Q integers of 8 to 64 bits, e f d floats, F D complex,
 * M dates and m durations of any unit.
 */
struct dray_loop_entry {
	const char *types; /* such as "dd?" */
	dray_loop *loop;
	void *context;
	uint32_t flags; /* DRAY_LOOP_* */
};

/*
 * A flag of builtin loops with a number as context: DRAY_UFUNC_FAST adds
 * DRAY_LOOP_FAST to it.
 */
#define DRAY_LOOP_HAS_FAST (1u << 31)
#define DRAY_LOOP_FAST 0x100u
/* A flag of loops that dray_ufunc_set_loop() set. */
#define DRAY_LOOP_OF_USER (1u << 30)

struct dray_ufunc_definition;

/*
 * Chooses the types of a loop if the table does not: units of dates.
 *
 * @given: a type for each operand, 0 for an output that is made
 * @out: the types of the loop, builtin
 *
 * Returns the entry's number, or with a sentence -EOPNOTSUPP, or -EINVAL if these
 * types are refused unless the caller wants others; -ENOENT: the table's.
 */
typedef int dray_loop_resolver(const struct dray_ufunc_definition *definition,
			       const dray_dtype *given, dray_dtype *out);

/* Refuses inputs that all are bools: they do not convert to integers. */
dray_loop_resolver dray_resolve_no_bools;

struct dray_ufunc_definition {
	const char *name;
	int inputs;
	int outputs;
	enum dray_identity identity;
	const struct dray_loop_entry *loops; /* lesser types first */
	size_t count;
	dray_loop_resolver *resolve; /* NULL: the table decides */
};

/* A list of a file; the definitions of all files make the builtin ufuncs. */
struct dray_ufunc_list {
	const struct dray_ufunc_definition *definitions;
	size_t count;
};

/* Files that are compiled once. */
extern const struct dray_ufunc_list dray_whole_ufuncs;

/*
 * The lists of this room, ended by NULL, with the best loops that the processor
 * can run.
 */
const struct dray_ufunc_list *const *dray_loops_lists(void);
/* The same of functions that join several ufuncs in a pass, which have no public name. */
const struct dray_ufunc_list *const *dray_loops_joined(void);

extern const struct dray_ufunc_list dray_angle_ufuncs;
extern const struct dray_ufunc_list dray_elementary_ufuncs;

#endif /* DRAY_LOOPS_LOOPS_H */
