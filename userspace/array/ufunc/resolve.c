// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Chooses the loop of a call: the loop of exactly the types of the inputs, else the
 * first loop that needs only safe conversions of them.  Types that the caller wants
 * for some operands must be the loop's.  (Source: NumPy 2's resolution, with the weak
 * scalars of NEP 50.)
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "private.h"
#include "ufunc/ufunc.h"

/* A call's types, as they are searched for. */
struct resolve_request {
	const struct dray_ufunc *ufunc;
	const struct dray_ufunc_table *table;
	/* of inputs, in the machine's byte order */
	dray_dtype types[DRAY_UFUNC_MAX_OPERANDS];
	uint8_t classes[DRAY_UFUNC_MAX_OPERANDS];
	/* of any operand; 0: any */
	dray_dtype wanted[DRAY_UFUNC_MAX_OPERANDS];
	bool wants;
	unsigned int weak; /* inputs that count by their kind */
};

/* Classes that a number of the program may become, by its rank. */
static const uint16_t weak_classes[] = {
	0,
	(1u << DRAY_LOOP_CLASSES) - (1u << DRAY_LOOP_INT8),
	(1u << DRAY_LOOP_CLASSES) - (1u << DRAY_LOOP_FLOAT16),
	(1u << DRAY_LOOP_CLASSES) - (1u << DRAY_LOOP_COMPLEX64),
};

static int set_wanted(struct resolve_request *request,
		      const struct dray_ufunc_options *options)
{
	const struct dray_ufunc *ufunc = request->ufunc;
	int o, ret;

	for (o = 0; o < dray_ufunc_operands(ufunc); o++) {
		dray_dtype dtype =
			options->signature ? options->signature[o] : 0;

		if (o >= ufunc->inputs && !dtype)
			dtype = options->dtype;
		request->wanted[o] = 0;
		if (!dtype)
			continue;
		ret = dray_dtype_check(dtype, &dtype);
		if (ret)
			return ret;
		request->wanted[o] = dray_dtype_native(dtype);
		request->wants = true;
	}
	return 0;
}

/*
 * Assigns weak inputs a type of their own, unless another input is of their kind or
 * above: then they count by their kind.
 */
static void set_weak(struct resolve_request *request, unsigned int weak)
{
	static const unsigned int bits[] = { 0, DRAY_WEAK_INT, DRAY_WEAK_FLOAT,
					     DRAY_WEAK_COMPLEX };
	const int inputs = request->ufunc->inputs;
	dray_dtype strong[DRAY_UFUNC_MAX_OPERANDS], common;
	unsigned int kinds = 0;
	size_t count = 0;
	int o, weakest = 0, highest = 0;

	for (o = 0; o < inputs; o++) {
		/* Times count numbers as their definitions say. */
		if (dray_dtype_is_time(request->types[o]))
			return;
	}
	for (o = 0; o < inputs; o++) {
		const uint8_t class = request->classes[o];
		const int rank =
			class == DRAY_LOOP_NO_CLASS ? 0 : dray_loop_rank(class);

		if (!(weak >> o & 1) || !rank) {
			strong[count++] = request->types[o];
			highest = rank > highest ? rank : highest;
			weak &= ~(1u << o);
			continue;
		}
		kinds |= bits[rank];
		weakest = rank > weakest ? rank : weakest;
	}
	request->weak = highest >= weakest ? weak : 0;
	if (highest >= weakest ||
	    dray_result_type(strong, count, kinds, &common))
		return;
	for (o = 0; o < inputs; o++) {
		if (weak >> o & 1) {
			request->types[o] = common;
			request->classes[o] = dray_loop_class(common);
		}
	}
	dray_dtype_unref(common);
}

/* Whether an input is exactly of the type of a row. */
static bool resolve_is_exact(const struct resolve_request *request,
			     const struct dray_ufunc_row *row, int o)
{
	return !(request->weak >> o & 1) &&
	       (request->types[o] == row->dtypes[o] ||
		(request->classes[o] == DRAY_LOOP_NO_CLASS &&
		 dray_dtype_equal(request->types[o], row->dtypes[o])));
}

/* Whether an input converts to the type of a row safely. */
static bool is_safe(const struct resolve_request *request,
		    const struct dray_ufunc_row *row, int o)
{
	const uint8_t from = request->classes[o], to = row->classes[o];

	if (from == DRAY_LOOP_NO_CLASS || to == DRAY_LOOP_NO_CLASS)
		return dray_can_cast(request->types[o], row->dtypes[o],
				     DRAY_CASTING_SAFE);
	if (request->weak >> o & 1)
		return weak_classes[dray_loop_rank(from)] >> to & 1;
	return dray_loop_safe[from] >> to & 1;
}

/* Returns the first row that all operands fit, or NULL. */
static const struct dray_ufunc_row *
resolve_search(const struct resolve_request *request,
	       bool (*fits)(const struct resolve_request *request,
			    const struct dray_ufunc_row *row, int o))
{
	const int inputs = request->ufunc->inputs;
	const int operands = dray_ufunc_operands(request->ufunc);
	size_t i;
	int o;

	for (i = 0; i < request->table->count; i++) {
		const struct dray_ufunc_row *row = &request->table->rows[i];

		for (o = 0; o < operands; o++) {
			if (request->wanted[o]
				    ? !dray_dtype_equal(request->wanted[o],
							row->dtypes[o])
				    : o < inputs && !fits(request, row, o))
				break;
		}
		if (o == operands)
			return row;
	}
	return NULL;
}

/* Wants the type of all outputs for the other operands too; false: they differ. */
static bool want_one_type(struct resolve_request *request)
{
	const int inputs = request->ufunc->inputs;
	const dray_dtype one = request->wanted[inputs];
	int o;

	for (o = inputs; o < dray_ufunc_operands(request->ufunc); o++)
		if (!one || !dray_dtype_equal(request->wanted[o], one))
			return false;
	for (o = 0; o < inputs; o++)
		if (!request->wanted[o])
			request->wanted[o] = one;
	return true;
}

static int resolve_fail(const struct resolve_request *request,
			const dray_dtype *given)
{
	char all[256], text[DRAY_DTYPE_TYPESTR_SIZE];
	size_t at = 0;
	int o;

	if (request->wants)
		return dray_fail(
			-EOPNOTSUPP,
			"No loop of ufunc '%.64s' matches the signature and the types that are wanted",
			request->ufunc->name);
	for (o = 0; o < request->ufunc->inputs; o++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s",
				       o ? ", " : "",
				       dray_dtype_text(given[o], text));
	return dray_fail(
		-EOPNOTSUPP,
		"ufunc '%.64s' has no loop for the types (%s), and none that they convert to safely",
		request->ufunc->name, all);
}

/* Asks the definition of a builtin ufunc; -ENOENT: the table decides. */
static int ask_definition(const struct resolve_request *request,
			  const dray_dtype *given, struct dray_resolved *out)
{
	const struct dray_ufunc *ufunc = request->ufunc;
	dray_dtype types[DRAY_UFUNC_MAX_OPERANDS];
	int o, row;

	if (!ufunc->definition || !ufunc->definition->resolve)
		return -ENOENT;
	for (o = 0; o < dray_ufunc_operands(ufunc); o++)
		types[o] = dray_dtype_native(given[o]);
	row = ufunc->definition->resolve(ufunc->definition, types, out->dtypes);
	if (row == -EINVAL)
		return request->wants ? -ENOENT : -EOPNOTSUPP;
	if (row < 0)
		return row;
	for (o = 0; o < dray_ufunc_operands(ufunc); o++) {
		const dray_dtype wanted = request->wanted[o];
		const dray_dtype type = dray_dtype_native(out->dtypes[o]);

		out->dtypes[o] = type;
		if (!wanted || wanted == type)
			continue;
		/* Units are the definition's to choose. */
		if (!dray_dtype_is_time(type))
			return -ENOENT;
		if (dray_dtype_kind(wanted) != dray_dtype_kind(type))
			return resolve_fail(request, given);
	}
	out->loop = request->table->rows[row].loop;
	return 0;
}

/*
 * Whether a ufunc combines the truth of two elements of any types, which are
 * converted to bools by any rule.
 */
static bool is_logical(const struct dray_ufunc *ufunc)
{
	return ufunc->definition && ufunc->inputs == 2 &&
	       !strncmp(ufunc->name, "logical_", strlen("logical_"));
}

/* The loop of bools, for types of which there is none. */
static const struct dray_ufunc_row *
resolve_find_truth(const struct resolve_request *request)
{
	const uint8_t row = request->table->uniform[DRAY_LOOP_BOOL];
	int o;

	if (!row || request->wants || !is_logical(request->ufunc))
		return NULL;
	for (o = 0; o < request->ufunc->inputs; o++)
		if (!dray_can_cast(request->types[o], DRAY_BOOL,
				   DRAY_CASTING_UNSAFE))
			return NULL;
	return &request->table->rows[row - 1];
}

int dray_ufunc_resolve(const struct dray_ufunc *ufunc, const dray_dtype *given,
		       const struct dray_ufunc_options *options,
		       struct dray_resolved *out)
{
	const struct dray_ufunc_row *row = NULL;
	struct resolve_request request;
	int o, ret;

	request.ufunc = ufunc;
	request.table = dray_ufunc_table(ufunc);
	request.weak = 0;
	request.wants = false;
	for (o = 0; o < ufunc->inputs; o++) {
		request.types[o] = dray_dtype_native(given[o]);
		request.classes[o] = dray_loop_class(request.types[o]);
	}
	ret = set_wanted(&request, options);
	if (ret)
		return ret;
	if (options->weak)
		set_weak(&request, options->weak);
	row = resolve_search(&request, resolve_is_exact);
	if (!row) {
		ret = ask_definition(&request, given, out);
		if (ret != -ENOENT)
			return ret;
		row = resolve_find_truth(&request);
	}
	if (!row)
		row = resolve_search(&request, is_safe);
	if (!row && want_one_type(&request))
		row = resolve_search(&request, is_safe);
	if (!row)
		return resolve_fail(&request, given);
	for (o = 0; o < dray_ufunc_operands(ufunc); o++)
		out->dtypes[o] = row->dtypes[o];
	out->loop = row->loop;
	return 0;
}

static int resolve_fail_cast(const struct dray_ufunc *ufunc, int o,
			     dray_dtype from, dray_dtype to,
			     enum dray_casting casting)
{
	char from_text[DRAY_DTYPE_TYPESTR_SIZE];
	char to_text[DRAY_DTYPE_TYPESTR_SIZE];
	char number[16] = "";

	if (o < ufunc->inputs)
		snprintf(number, sizeof(number), " %d", o);
	else if (ufunc->outputs > 1)
		snprintf(number, sizeof(number), " %d", o - ufunc->inputs);
	return dray_fail_as(
		-EOPNOTSUPP, DRAY_FAILURE_CASTING,
		"Cannot cast ufunc '%.64s' %s%s from %s to %s with casting rule '%s'",
		ufunc->name, o < ufunc->inputs ? "input" : "output", number,
		dray_dtype_text(from, from_text), dray_dtype_text(to, to_text),
		dray_casting_name(casting));
}

/*
 * Whether an input is a weak number, and the loop's type of its kind or above.
 * Under "equiv" only comparisons of integers accept a weak number, as in NumPy.
 */
static bool is_weak(const struct dray_ufunc_options *options, dray_dtype given,
		    dray_dtype dtype, int o, bool compares)
{
	const uint8_t from = dray_loop_class(given);
	const uint8_t to = dray_loop_class(dtype);

	if (!(options->weak >> o & 1) || from == DRAY_LOOP_NO_CLASS ||
	    to == DRAY_LOOP_NO_CLASS)
		return false;
	if (options->casting == 1 + DRAY_CASTING_EQUIV &&
	    !(compares && dray_loop_is_integer(from) &&
	      dray_loop_is_integer(to)))
		return false;
	return weak_classes[dray_loop_rank(from)] >> to & 1;
}

/* Whether a builtin type converts to another safely; false also for other types. */
static bool is_safe_class(dray_dtype from, dray_dtype to)
{
	const uint8_t class = dray_loop_class(from), goal = dray_loop_class(to);

	return class != DRAY_LOOP_NO_CLASS && goal != DRAY_LOOP_NO_CLASS &&
	       dray_loop_safe[class] >> goal & 1;
}

int dray_ufunc_check_casts(const struct dray_ufunc *ufunc,
			   const dray_dtype *given,
			   const struct dray_ufunc_options *options,
			   const struct dray_resolved *resolved)
{
	const enum dray_casting casting =
		options->casting ? (enum dray_casting)(options->casting - 1)
				 : DRAY_CASTING_SAME_KIND;
	const bool compares = resolved->dtypes[ufunc->inputs] == DRAY_BOOL;
	int o;

	for (o = 0; o < dray_ufunc_operands(ufunc); o++) {
		const bool input = o < ufunc->inputs;
		const dray_dtype from = input ? given[o] : resolved->dtypes[o];
		const dray_dtype to = input ? resolved->dtypes[o] : given[o];

		if (from == to || !to ||
		    (casting >= DRAY_CASTING_SAFE && is_safe_class(from, to)) ||
		    (input && to == DRAY_BOOL && is_logical(ufunc) &&
		     dray_can_cast(from, to, DRAY_CASTING_UNSAFE)) ||
		    (input && is_weak(options, from, to, o, compares)) ||
		    dray_can_cast(from, to, casting))
			continue;
		return resolve_fail_cast(ufunc, o, from, to, casting);
	}
	return 0;
}
