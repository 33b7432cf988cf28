// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The type that user types and others have in common. */
#include "cast/cast.h"
#include "private.h"

/* The one of two types that the other converts to safely. */
static int common_pair(dray_dtype a, dray_dtype b, dray_promote_fn *promote,
		       dray_dtype *out)
{
	if (!dray_dtype_as_user(a) && !dray_dtype_as_user(b))
		return promote(a, b, out);
	if (dray_level(a, b) <= DRAY_CASTING_SAFE)
		*out = dray_dtype_ref(dray_user_native(b));
	else if (dray_level(b, a) <= DRAY_CASTING_SAFE)
		*out = dray_dtype_ref(dray_user_native(a));
	else
		return dray_fail_common((dray_dtype[]){ a, b }, 2);
	return 0;
}

/* Replaces @both, which may be 0, by its common type with another. */
static int common_type_meet(dray_dtype *both, dray_dtype other,
			    dray_promote_fn *promote)
{
	dray_dtype next = 0;
	int ret;

	if (!*both) {
		*both = dray_dtype_ref(other);
		return 0;
	}
	ret = common_pair(*both, other, promote, &next);
	if (!ret) {
		dray_dtype_unref(*both);
		*both = next;
	}
	return ret;
}

/* Tries types of a program's number, the smallest first. */
static int meet_number(dray_dtype *both, const dray_dtype *numbers,
		       dray_promote_fn *promote)
{
	int ret;

	do {
		ret = common_type_meet(both, *numbers++, promote);
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
		     dray_promote_fn *promote, dray_dtype *out)
{
	dray_dtype both = 0, one = 0, user = 0;
	size_t i;
	int ret = 0;

	for (i = 0; !user; i++)
		user = dray_dtype_as_user(types[i]) ? types[i] : 0;
	/* Each type meets the user type first, and then the others. */
	for (i = 0; !ret && i < count; i++) {
		ret = common_pair(user, types[i], promote, &one);
		if (ret)
			break;
		ret = common_type_meet(&both, one, promote);
		dray_dtype_unref(one);
	}
	for (i = 0; !ret && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (weak & (1u << i))
			ret = meet_number(&both, numbers[i], promote);
	}
	if (ret)
		dray_dtype_unref(both);
	else
		*out = both;
	return ret;
}
