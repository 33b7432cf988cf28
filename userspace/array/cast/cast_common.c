// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The common type of types that are equal, or are structures with the same names:
 * then it has the common types of their fields.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cast/cast.h"
#include "private.h"

int dray_fail_common(const dray_dtype *types, size_t count)
{
	char first[DRAY_DTYPE_TYPESTR_SIZE], last[DRAY_DTYPE_TYPESTR_SIZE];

	if (count == 1)
		return dray_fail(
			-EINVAL,
			"type %s has no type in common with a program's number",
			dray_dtype_text(types[0], first));
	return dray_fail(-EINVAL, "types %s%s%s have no type in common",
			 dray_dtype_text(types[0], first),
			 count > 2 ? ", ... and " : " and ",
			 dray_dtype_text(types[count - 1], last));
}

/* Types without a class of their own, and raw data, have to be equal. */
int dray_common_equal(const dray_dtype *types, size_t count, dray_dtype *out)
{
	size_t i;

	for (i = 1; i < count; i++) {
		if (!dray_dtype_equal(types[0], types[i]))
			return dray_fail_common(types, count);
	}
	*out = dray_dtype_ref(types[0]);
	return 0;
}

/* Promotes a field, or its items. */
static int common_field(dray_dtype a, dray_dtype b, dray_promote_fn *promote,
			dray_dtype *out)
{
	const int64_t *shape = NULL, *other = NULL;
	const int ndim = dray_dtype_shape(a, &shape);
	dray_dtype base = 0;
	int ret;

	if (ndim != dray_dtype_shape(b, &other) ||
	    (ndim && memcmp(shape, other, (size_t)ndim * sizeof(*shape))))
		return dray_fail_common((dray_dtype[]){ a, b }, 2);
	ret = promote(dray_dtype_base(a), dray_dtype_base(b), &base);
	if (!ret)
		ret = dray_dtype_create_subarray(base, ndim, shape, out);
	dray_dtype_unref(base);
	return ret;
}

static int promote_fields(const struct dray_dtype_structure *a,
			  const struct dray_dtype_structure *b,
			  dray_promote_fn *promote,
			  struct dray_dtype_field *fields)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < a->count; i++) {
		fields[i] = a->fields[i];
		fields[i].dtype = 0;
		if (!dray_same_text(a->fields[i].name, b->fields[i].name) ||
		    !dray_same_text(a->fields[i].title, b->fields[i].title))
			ret = dray_fail(
				-EINVAL,
				"fields '%s' and '%s' at place %zu do not have the same names",
				a->fields[i].name, b->fields[i].name, i);
		else
			ret = common_field(a->fields[i].dtype,
					   b->fields[i].dtype, promote,
					   &fields[i].dtype);
	}
	return ret;
}

/* Fields of the same names follow one another in the common structure. */
static int common_structure(const struct dray_dtype_structure *a,
			    const struct dray_dtype_structure *b,
			    dray_promote_fn *promote, dray_dtype *out)
{
	const uint32_t flags = (a->start.object.flags | b->start.object.flags) &
			       DRAY_DTYPE_ALIGNED;
	struct dray_dtype_field *fields;
	size_t i;
	int ret;

	if (a->count != b->count)
		return dray_fail(
			-EINVAL,
			"structures of %zu and of %zu fields have no type in common",
			a->count, b->count);
	fields = calloc(a->count + 1, sizeof(*fields));
	if (!fields)
		return dray_fail(-ENOMEM, "there is no memory for %zu fields",
				 a->count);
	ret = promote_fields(a, b, promote, fields);
	if (!ret)
		ret = dray_dtype_create_struct(fields, a->count, flags, 0, out);
	for (i = 0; i < a->count; i++)
		dray_dtype_unref(fields[i].dtype);
	free(fields);
	return ret;
}

int dray_common_object(const dray_dtype *types, size_t count,
		       dray_promote_fn *promote, dray_dtype *out)
{
	const struct dray_dtype_structure *structure;
	dray_dtype both = dray_dtype_ref(types[0]), next;
	size_t i;
	int ret = 0;

	for (i = 0; i < count; i++) {
		if (!dray_dtype_as_structure(types[i])) {
			dray_dtype_unref(both);
			return dray_common_equal(types, count, out);
		}
	}
	/* A single type meets itself, and becomes packed too. */
	for (i = 0; !ret && i < count; i++) {
		structure = dray_dtype_as_structure(both);
		ret = common_structure(structure,
				       dray_dtype_as_structure(types[i]),
				       promote, &next);
		if (!ret) {
			dray_dtype_unref(both);
			both = next;
		}
	}
	if (ret)
		dray_dtype_unref(both);
	else
		*out = both;
	return ret;
}
