// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Casts that user types bring: their loops and rules.  Of two user
 * types, the source is asked before the destination.  Both see numbers and dates
 * in the machine's byte order only; steps before and after the loop swap them.
 */
#include <errno.h>

#include "cast/cast.h"
#include "private.h"

dray_dtype dray_user_native(dray_dtype dtype)
{
	const struct dray_typed typed = dray_typed(dtype);

	if (typed.swapped && typed.class != DRAY_CLASS_UNICODE)
		dray_dtype_with_order(dtype, '=', &dtype);
	return dtype;
}

/* Asks one of the two types, which may have no function. */
static int cast_user_ask(dray_dtype asked, dray_dtype from, dray_dtype to,
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
	from = dray_user_native(from);
	to = dray_user_native(to);
	level = cast_user_ask(from, from, to, cast);
	return level < 0 ? cast_user_ask(to, from, to, cast) : level;
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
