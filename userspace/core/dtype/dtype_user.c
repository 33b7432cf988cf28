// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Types of a user's own: an opaque element with functions.  Functions that the
 * user leaves out are those of plain bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/dtype.h"
#include "dtype/element.h"
#include "base/error.h"
#include "base/number.h"
#include "base/options.h"

static int dtype_user_check(const char *name, char kind, uint32_t alignment)
{
	if (!name[0])
		return dray_fail(-EINVAL, "a type needs a name");
	if (kind < '!' || kind > '~' || strchr("?biufcmMSUVOT", kind))
		return dray_fail(
			-EINVAL,
			"kind 0x%02x of type '%.64s' is not a free letter",
			(unsigned char)kind, name);
	if (!dray_is_power_of_two(alignment))
		return dray_fail(
			-EINVAL,
			"an alignment of %u bytes of type '%.64s' is not a power of two",
			alignment, name);
	return 0;
}

/* Searches by the type's own order. */
static int64_t user_argmax(dray_dtype dtype, const void *elements,
			   int64_t stride, int64_t count)
{
	return dray_element_argmax_by(
		dray_dtype_as_user(dtype)->functions.compare, dtype, elements,
		stride, count);
}

/* Sets functions that are NULL to those of plain bytes. */
static void fill_functions(struct dray_dtype_functions *to)
{
#define DEFAULT(function)  \
	if (!to->function) \
	to->function = dray_element_bytes.function
	DEFAULT(get);
	DEFAULT(set);
	DEFAULT(copyswap);
	DEFAULT(nonzero);
	DEFAULT(compare);
	DEFAULT(fill);
#undef DEFAULT
	if (!to->argmax)
		to->argmax = user_argmax;
}

int dray_dtype_create_user(const char *name, char kind, uint32_t itemsize,
			   uint32_t alignment,
			   const struct dray_dtype_functions *functions,
			   void *context, dray_dtype *out)
{
	struct dray_dtype_functions known;
	struct dray_dtype_user *user;
	size_t length;
	int ret;

	if (!dray_given(name, __func__) || !dray_given(functions, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, functions,
				DRAY_DTYPE_FUNCTIONS_SIZE_FIRST);
	if (!ret)
		ret = dtype_user_check(name, kind, alignment);
	if (ret)
		return ret;
	fill_functions(&known);
	length = strlen(name) + 1;
	user = malloc(sizeof(*user) + length);
	if (!user)
		return dray_fail(-ENOMEM, "no memory for type '%.64s'", name);
	user->functions = known;
	memcpy(user->name, name, length);
	user->context = context;
	user->start.depth = 1;
	user->start.object.kind = (uint8_t)kind;
	*out = dray_dtype_finish(&user->start, itemsize, alignment,
				 DRAY_DTYPE_USER | DRAY_DTYPE_LOCAL);
	return 0;
}

void *dray_dtype_context(dray_dtype dtype)
{
	const struct dray_dtype_user *user = dray_dtype_as_user(dtype);

	return user ? user->context : NULL;
}

const char *dray_dtype_name(dray_dtype dtype)
{
	const struct dray_dtype_user *user = dray_dtype_as_user(dtype);

	return user ? user->name : NULL;
}
