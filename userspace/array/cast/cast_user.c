// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Casts that user types bring: their loops, rules and common types.  Of two user
 * types, the source is asked before the destination.  Both see numbers and dates
 * in the machine's byte order only; steps before and after the loop swap them.
 */
#include <errno.h>

#include "cast/cast.h"
#include "private.h"

/* A number or date in the machine's byte order; any other type as it is. */
static dray_dtype native(dray_dtype dtype)
{
	const struct dray_typed typed = dray_typed(dtype);

	if (typed.swapped && typed.class != DRAY_CLASS_UNICODE)
		dray_dtype_with_order(dtype, '=', &dtype);
	return dtype;
}

/* Asks one of the two types, which may have no function. */
static int ask(dray_dtype asked, dray_dtype from, dray_dtype to,
	       struct dray_cast *cast)
{
	const struct dray_dtype_user *user = dray_dtype_as_user(asked);
	int level;

	if (!user || !user->functions.cast)
		return -EOPNOTSUPP;
	cast->part = NULL;
	cast->context = NULL;
	level = user->functions.cast(from, to, &cast->part, &cast->context);
	if (level < 0 || !cast->part)
		return -EOPNOTSUPP;
	return level == DRAY_CASTING_SAFE || level == DRAY_CASTING_SAME_KIND
		       ? level
		       : DRAY_CASTING_UNSAFE;
}

int dray_user_cast(dray_dtype to, dray_dtype from, struct dray_cast *cast)
{
	int level;

	if (dray_dtype_has_parts(from) || dray_dtype_has_parts(to))
		return -EOPNOTSUPP;
	from = native(from);
	to = native(to);
	level = ask(from, from, to, cast);
	return level < 0 ? ask(to, from, to, cast) : level;
}

int dray_loop_user(char *const *data, const int64_t *strides, int64_t count,
		   void *context)
{
	const struct dray_cast *cast = context;

	return cast->part(data, strides, count, cast->context);
}

enum dray_casting dray_user_level(dray_dtype from, dray_dtype to)
{
	struct dray_cast cast;
	const int level = dray_user_cast(to, from, &cast);

	return level < 0 ? DRAY_CASTING_NEVER : (enum dray_casting)level;
}

/* The one of two types that the other converts to safely. */
static int common_pair(dray_dtype a, dray_dtype b, dray_dtype *out)
{
	if (!dray_dtype_as_user(a) && !dray_dtype_as_user(b))
		return dray_promote(a, b, out);
	if (dray_level(a, b) <= DRAY_CASTING_SAFE)
		*out = dray_dtype_ref(native(b));
	else if (dray_level(b, a) <= DRAY_CASTING_SAFE)
		*out = dray_dtype_ref(native(a));
	else
		return dray_fail_common((dray_dtype[]){ a, b }, 2);
	return 0;
}

/* Replaces @both, which may be 0, by its common type with another. */
static int meet(dray_dtype *both, dray_dtype other)
{
	dray_dtype next = 0;
	int ret;

	if (!*both) {
		*both = dray_dtype_ref(other);
		return 0;
	}
	ret = common_pair(*both, other, &next);
	if (!ret) {
		dray_dtype_unref(*both);
		*both = next;
	}
	return ret;
}

/* Tries types of a program's number, the smallest first. */
static int meet_number(dray_dtype *both, const dray_dtype *numbers)
{
	int ret;

	do {
		ret = meet(both, *numbers++);
	} while (ret && *numbers);
	return ret;
}

/* A program's numbers of each kind, in the order of DRAY_WEAK_*. */
static const dray_dtype numbers[][4] = {
	{ DRAY_UINT8, DRAY_INT8, DRAY_INT64 },
	{ DRAY_FLOAT16, DRAY_FLOAT64 },
	{ DRAY_COMPLEX64, DRAY_COMPLEX128 },
};

int dray_common_user(const dray_dtype *types, size_t count, unsigned int weak,
		     dray_dtype *out)
{
	dray_dtype both = 0, one = 0, user = 0;
	size_t i;
	int ret = 0;

	for (i = 0; !user; i++)
		user = dray_dtype_as_user(types[i]) ? types[i] : 0;
	/* Each type meets the user type first, and then the others. */
	for (i = 0; !ret && i < count; i++) {
		ret = common_pair(user, types[i], &one);
		if (ret)
			break;
		ret = meet(&both, one);
		dray_dtype_unref(one);
	}
	for (i = 0; !ret && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (weak & (1u << i))
			ret = meet_number(&both, numbers[i]);
	}
	if (ret)
		dray_dtype_unref(both);
	else
		*out = both;
	return ret;
}
