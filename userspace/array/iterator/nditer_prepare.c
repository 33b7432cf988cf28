// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Operands of an iterator: checks their flags, describes their views, and
 * chooses the types that its loop sees.
 */
#include <errno.h>
#include <inttypes.h>

#include "private.h"
#include "iterator/iterator.h"
#include "iterator/nditer.h"

static int check_order(const struct dray_nditer_options *options)
{
	switch (options->order) {
	case 'C':
	case 'F':
	case 'A':
	case 'K':
	case 0:
		return 0;
	default:
		return dray_fail(-EINVAL,
				 "order 0x%x is none of 'C', 'F', 'A' and 'K'",
				 (unsigned char)options->order);
	}
}

int dray_nditer_check_flags(const struct dray_nditer_options *options)
{
	uint32_t flags = options->flags;

	if (flags & ~NDITER_PUBLIC)
		return dray_fail(-EINVAL, "unknown flags 0x%x of an iterator",
				 flags & ~NDITER_PUBLIC);
	if ((flags & NDITER_INDEX) == NDITER_INDEX)
		return dray_fail(
			-EINVAL,
			"Iterator flags C_INDEX and F_INDEX cannot both be specified");
	if ((flags & DRAY_NDITER_EXTERNAL_LOOP) &&
	    (flags & (NDITER_INDEX | DRAY_NDITER_MULTI_INDEX)))
		return dray_fail(
			-EINVAL,
			"Iterator flag EXTERNAL_LOOP cannot be used if an index or multi-index is being tracked");
	if ((flags & (DRAY_NDITER_RANGED | DRAY_NDITER_EXTERNAL_LOOP |
		      DRAY_NDITER_BUFFERED)) ==
	    (DRAY_NDITER_RANGED | DRAY_NDITER_EXTERNAL_LOOP))
		return dray_fail(
			-EINVAL,
			"Iterator flag RANGED cannot be used with the flag EXTERNAL_LOOP unless BUFFERED is also enabled");
	if (options->casting > DRAY_CASTING_UNSAFE)
		return dray_fail(-EINVAL,
				 "casting rule %u does not exist, 0 to %d do",
				 options->casting, DRAY_CASTING_UNSAFE);
	if (options->buffer_size < 0)
		return dray_fail(-EINVAL, "a buffer of %" PRId64 " elements",
				 options->buffer_size);
	return check_order(options);
}

static int check_operand_flags(uint32_t flags, int o)
{
	if (flags & ~OPERAND_PUBLIC)
		return dray_fail(-EINVAL, "operand %d: unknown flags 0x%x", o,
				 flags & ~OPERAND_PUBLIC);
	if (!(flags & OPERAND_READ_WRITE))
		return dray_fail(
			-EINVAL,
			"None of the iterator flags READ and WRITE were specified for operand %d",
			o);
	if ((flags & DRAY_OPERAND_WRITE) &&
	    (flags & (DRAY_OPERAND_COPY | DRAY_OPERAND_COPY_BACK)) ==
		    DRAY_OPERAND_COPY)
		return dray_fail(
			-EINVAL,
			"operand %d is writeable: it must use the flag COPY_BACK instead of COPY",
			o);
	if (!(flags & DRAY_OPERAND_WRITE_MASKED))
		return 0;
	if (!(flags & DRAY_OPERAND_WRITE))
		return dray_fail(
			-EINVAL,
			"operand %d: the flag WRITE_MASKED may only be used with WRITE",
			o);
	if (flags & DRAY_OPERAND_MASK)
		return dray_fail(
			-EINVAL,
			"operand %d: the flag WRITE_MASKED may not be used together with MASK",
			o);
	return 0;
}

/* Checks an operand without a view, and takes its type if one is given. */
static int prepare_missing(struct dray_nditer *iter, int o, dray_dtype wanted)
{
	struct nditer_operand *operand = &iter->operand[o];

	if (!(operand->flags & DRAY_OPERAND_ALLOCATE))
		return dray_fail(
			-EINVAL,
			"Iterator operand %d was NULL, but the ALLOCATE flag was not specified",
			o);
	if (!(operand->flags & DRAY_OPERAND_WRITE))
		return dray_fail(
			-EINVAL,
			"Automatic allocation was requested for iterator operand %d, but it wasn't flagged for writing",
			o);
	if ((iter->flags &
	     (DRAY_NDITER_BUFFERED | DRAY_NDITER_DELAY_BUFFERS)) ==
		    DRAY_NDITER_BUFFERED &&
	    (operand->flags & DRAY_OPERAND_READ))
		return dray_fail(
			-EINVAL,
			"Automatic allocation was requested for iterator operand %d, and it was flagged as readable, but buffering without delayed allocation was enabled",
			o);
	if (!wanted && (operand->flags & DRAY_OPERAND_MASK))
		wanted = DRAY_BOOL;
	if (wanted && dray_dtype_check(wanted, &wanted))
		return -EINVAL; /* With its sentence. */
	operand->dtype = dray_dtype_ref(wanted);
	return 0;
}

static void nditer_prepare_describe(struct dray_nditer *iter, int o,
				    const struct dray_view *view)
{
	struct nditer_operand *operand = &iter->operand[o];
	int64_t *extents = iter->extents + operand->extents_at;
	int i;

	operand->ndim = view->ndim;
	operand->data = view->data;
	operand->stored = dray_dtype_ref(view->dtype);
	operand->permissions =
		view->flags & (DRAY_READ | DRAY_WRITE | DRAY_IMMUTABLE);
	for (i = 0; i < view->ndim; i++) {
		extents[i] = view->shape[i];
		extents[view->ndim + i] = view->strides[i];
	}
	iter->first[o] = view->data;
}

static int prepare_view(struct dray_nditer *iter, int o,
			const struct dray_view *view, dray_dtype wanted)
{
	struct nditer_operand *operand = &iter->operand[o];
	struct dray_extent extent;
	int ret;

	ret = dray_view_check_inline(view, dray_operand_names[o], &extent);
	if (ret)
		return ret;
	if ((operand->flags & DRAY_OPERAND_WRITE) &&
	    !(view->flags & DRAY_WRITE))
		return dray_fail(
			-EPERM,
			"operand %d with iterator write flag set is read-only",
			o);
	if (!(iter->flags & DRAY_NDITER_ZEROSIZE_OK) && !extent.elements)
		return dray_fail(
			-EINVAL,
			"Iteration of zero-sized operands is not enabled, and operand %d is without elements",
			o);
	if (wanted && dray_dtype_check(wanted, &wanted))
		return -EINVAL; /* With its sentence. */
	nditer_prepare_describe(iter, o, view);
	if (!wanted)
		wanted = view->dtype;
	if ((operand->flags & DRAY_OPERAND_NATIVE_ORDER) &&
	    dray_dtype_native(wanted) != wanted) {
		wanted = dray_dtype_native(wanted);
		operand->flags |= OPERAND_CONVERTS;
	}
	if ((operand->flags & DRAY_OPERAND_ALIGNED) &&
	    !dray_view_is_aligned(view))
		operand->flags |= OPERAND_CONVERTS;
	operand->dtype = dray_dtype_ref(wanted);
	return 0;
}

static int nditer_prepare_check_mask(struct dray_nditer *iter)
{
	bool is_used = false;
	int o;

	iter->mask = -1;
	for (o = 0; o < iter->operands; o++) {
		uint32_t flags = iter->operand[o].flags;

		is_used |= !!(flags & DRAY_OPERAND_WRITE_MASKED);
		if (!(flags & DRAY_OPERAND_MASK))
			continue;
		if (iter->mask >= 0)
			return dray_fail(
				-EINVAL,
				"Only one iterator operand may receive a MASK flag, not both %d and %d",
				iter->mask, o);
		iter->mask = o;
	}
	if (is_used && iter->mask < 0)
		return dray_fail(
			-EINVAL,
			"An iterator operand was flagged as WRITE_MASKED, but no MASK operand was given to supply the mask");
	if (!is_used && iter->mask >= 0)
		return dray_fail(
			-EINVAL,
			"Iterator operand %d was flagged as the MASK, but no WRITE_MASKED operands were given to use the mask",
			iter->mask);
	return 0;
}

int dray_nditer_prepare(struct dray_nditer *iter,
			const struct dray_view *const *views,
			const struct dray_nditer_options *options)
{
	int ret, o;

	for (o = 0; o < iter->operands; o++) {
		dray_dtype wanted = options->dtypes ? options->dtypes[o] : 0;
		uint32_t flags = options->operand_flags
					 ? options->operand_flags[o]
					 : DRAY_OPERAND_READ;

		ret = check_operand_flags(flags, o);
		if (ret)
			return ret;
		iter->operand[o].flags = flags;
		ret = views[o] ? prepare_view(iter, o, views[o], wanted)
			       : prepare_missing(iter, o, wanted);
		if (ret)
			return ret;
	}
	return nditer_prepare_check_mask(iter);
}

/*
 * Finds the type that operands promote to, all or those that are read, with a
 * reference.
 */
static int nditer_prepare_promote(struct dray_nditer *iter,
				  const struct dray_nditer_options *options,
				  bool all, dray_dtype *out)
{
	dray_dtype dtypes[DRAY_MAX_OPERANDS];
	size_t count = 0, same = 0;
	bool scalar = false;
	int o;

	for (o = 0; o < iter->operands; o++) {
		const struct nditer_operand *operand = &iter->operand[o];

		if (!operand->dtype ||
		    (!all && !(operand->flags & DRAY_OPERAND_READ)))
			continue;
		dtypes[count++] = operand->dtype;
		scalar |= !operand->ndim && operand->stored &&
			  !(options->dtypes && options->dtypes[o]);
	}
	if (!count)
		return dray_fail(
			-EINVAL,
			"an operand or a type is required to find the type of an allocated operand");
	while (same < count && dray_dtype_equal(dtypes[same], dtypes[0]))
		same++;
	if (same < count)
		return dray_result_type(dtypes, count, 0, out);
	/* A type alone keeps its byte order, but not that of a scalar. */
	*out = dray_dtype_ref(count == 1 && !scalar
				      ? dtypes[0]
				      : dray_dtype_native(dtypes[0]));
	return 0;
}

static int prepare_fail_cast(int o, dray_dtype from, dray_dtype to,
			     enum dray_casting casting)
{
	char from_text[DRAY_DTYPE_TYPESTR_SIZE],
		to_text[DRAY_DTYPE_TYPESTR_SIZE];

	return dray_fail_as(
		-EINVAL, DRAY_FAILURE_CASTING,
		"Iterator operand %d could not be cast from %s to %s according to the rule '%s'",
		o, dray_dtype_text(from, from_text),
		dray_dtype_text(to, to_text), dray_casting_name(casting));
}

/* Checks that an operand that exists can be converted as it is used. */
static int check_casts(struct dray_nditer *iter, int o,
		       enum dray_casting casting)
{
	struct nditer_operand *operand = &iter->operand[o];

	if (!operand->stored || operand->stored == operand->dtype ||
	    dray_dtype_equal(operand->stored, operand->dtype))
		return 0;
	if ((operand->flags & DRAY_OPERAND_READ) &&
	    !dray_can_cast(operand->stored, operand->dtype, casting))
		return prepare_fail_cast(o, operand->stored, operand->dtype,
					 casting);
	if ((operand->flags & DRAY_OPERAND_WRITE) &&
	    !dray_can_cast(operand->dtype, operand->stored, casting))
		return prepare_fail_cast(o, operand->dtype, operand->stored,
					 casting);
	operand->flags |= OPERAND_CONVERTS;
	return 0;
}

int dray_nditer_choose_types(struct dray_nditer *iter,
			     const struct dray_nditer_options *options)
{
	bool all = options->flags & DRAY_NDITER_COMMON_DTYPE;
	bool missing = false;
	dray_dtype common;
	int ret, o;

	for (o = 0; o < iter->operands; o++)
		missing |= !iter->operand[o].dtype;
	if (missing || all) {
		ret = nditer_prepare_promote(iter, options, all, &common);
		if (ret)
			return ret;
		for (o = 0; o < iter->operands; o++) {
			struct nditer_operand *operand = &iter->operand[o];

			if (operand->dtype && !all)
				continue;
			dray_dtype_unref(operand->dtype);
			operand->dtype = dray_dtype_ref(common);
		}
		dray_dtype_unref(common);
	}
	for (o = 0; o < iter->operands; o++) {
		ret = check_casts(iter, o, options->casting);
		if (ret)
			return ret;
	}
	return 0;
}
