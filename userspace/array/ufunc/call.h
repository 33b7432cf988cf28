/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A general call on its way, from the caller's views to the loop.  dray_ufunc_call() runs
 * the steps in this order.  Each sets the fields of its group below, and those named here:
 *
 *   step       function                  file          sets also
 *   collect    call_steps_collect        call_steps.c  made errors
 *   check      check_views               call_steps.c
 *   choose     steps_choose_loop         call_steps.c
 *   broadcast  call_steps_broadcast      call_steps.c
 *   make       dray_call_make            call_make.c   views
 *   weaken     dray_call_convert_weak    call_weak.c   own views checked resolved
 *   compute    call_steps_compute        call_steps.c
 *   set aside  dray_call_put_aside       call_aside.c  own views made
 *   wrap       dray_call_wrap            call_make.c
 *
 * Few elements that convert need no copy aside: call_small.c computes them.  Others are
 * computed by the first way that fits of call_strided.c (as they lie), call_pieces.c
 * (converted, of lines) and call_buffered.c (converted by an iterator).
 * tests/style/test_steps.py compares this list with the files.
 */
#ifndef DRAY_UFUNC_CALL_H
#define DRAY_UFUNC_CALL_H

#include <string.h>

#include <dray/array/nditer.h>

#include "private.h"
#include "ufunc/ufunc.h"

struct dray_ufunc_call {
	/* collect */
	struct dray_ufunc *ufunc;
	const struct dray_ufunc_options *options;
	int count; /* operands without the mask */
	int operands; /* with the mask, the last operand */
	/* Inputs, outputs, the mask; NULL: an output to be made. */
	const struct dray_view *views[DRAY_MAX_OPERANDS];
	/* check */
	struct dray_operand checked[DRAY_MAX_OPERANDS];
	/* choose: the loop, and the types of its operands */
	struct dray_resolved resolved;
	/* broadcast: the shape that all are broadcast to */
	int ndim;
	int64_t shape[DRAY_MAX_NDIM];
	int64_t elements;
	/* make: outputs that were made, and inputs put aside, a reference each */
	struct dray_array *made[DRAY_MAX_OPERANDS];
	/* Views in place of the caller's: of these, and of weak numbers. */
	struct dray_view own[DRAY_MAX_OPERANDS];
	/* weaken */
	char numbers[DRAY_UFUNC_MAX_OPERANDS][16] __attribute__((aligned(16)));
	/* compute: DRAY_FP_* collected from the flags; atomic */
	unsigned int errors;
};

static inline bool dray_call_has_mask(const struct dray_ufunc_call *call)
{
	return call->operands > call->count;
}

/* Whether operand @o is written. */
static inline bool dray_call_is_output(const struct dray_ufunc_call *call,
				       int o)
{
	return o >= call->ufunc->inputs && o < call->count;
}

/* Whether an output is still to be made. */
static inline bool dray_call_lacks_output(const struct dray_ufunc_call *call)
{
	int o;

	for (o = call->ufunc->inputs; o < call->count; o++)
		if (!call->views[o])
			return true;
	return false;
}

/*
 * Loops as the ways through the elements run them: with the mask as the last
 * operand, and up to the first error that is to be raised.
 */
struct dray_pass {
	struct dray_ufunc_loop loop;
	int mask; /* operand; -1: none */
	int raised; /* flags of the processor that end it; 0: none do */
	/*
	 * Beside a loop without errors of its own: DRAY_FP_* of
	 * conversions; its flags are dropped.  NULL: all flags count, or none
	 */
	unsigned int *errors;
};

#define DRAY_PASS_RAISED 1

void dray_pass_init(struct dray_pass *pass, const struct dray_ufunc_call *call);

/* Computes elements; DRAY_PASS_RAISED, or the failure of the loop. */
int dray_pass_run(const struct dray_pass *pass, char *const *data,
		  const int64_t *strides, int64_t count);

/*
 * Returns how many threads pay for an output of so many bytes: 1 if threads could
 * write each other's bytes, or the loop is for a single thread.
 */
unsigned int dray_call_threads(const struct dray_ufunc_call *call,
			       uint64_t bytes);

/*
 * call_quick.c: does a call of builtin numbers that lie in the same order and need
 * no conversion.  False leaves it to the others; *@ret is set else.
 * Of the options it supports flags, and weak numbers: these need no conversion if
 * they are of the same type anyway.
 */
bool dray_call_quick(struct dray_ufunc *ufunc,
		     const struct dray_view *const *inputs,
		     const struct dray_view *const *outputs,
		     const struct dray_ufunc_options *options,
		     struct dray_array **out, int *ret);

/* call_weak.c: makes numbers of the program elements of the loop's type. */
int dray_call_convert_weak(struct dray_ufunc_call *call);

/* call_make.c: makes missing outputs. */
int dray_call_make(struct dray_ufunc_call *call);
/* Passes them to the class of the highest priority. */
int dray_call_wrap(struct dray_ufunc_call *call);

/* call_aside.c: copies inputs that an output would change too early. */
int dray_call_put_aside(struct dray_ufunc_call *call);

/*
 * call_small.c: computes few elements, of which some convert.  False leaves others to the
 * next; *@ret is set else.
 */
bool dray_call_small(struct dray_ufunc_call *call, int *ret);
/*
 * Returns whether an operand is a line of the call's elements with this stride, or a
 * number, with a stride of 0.
 */
bool dray_call_find_line(const struct dray_ufunc_call *call,
			 const struct dray_view *view, int64_t *stride);

/* call_strided.c: calls the loop on elements as they lie. */
int dray_call_strided(struct dray_ufunc_call *call);
/*
 * call_pieces.c: calls it on lines of elements that are converted.  False leaves other
 * layouts to the next; *@ret is set else.
 */
bool dray_call_pieces(struct dray_ufunc_call *call, int *ret);
/* call_buffered.c: calls it on elements that are converted. */
int dray_call_buffered(struct dray_ufunc_call *call);

#endif /* DRAY_UFUNC_CALL_H */
