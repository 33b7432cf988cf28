/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * cast: converts elements between types.
 *
 * All rules are NumPy 2's: for casts that are allowed, for the common type of
 * several, and for the value that a cast makes.  docs/casts.md lists the
 * differences.
 *
 *	struct dray_array *floats;
 *	struct dray_view to;
 *
 *	ret = dray_array_like(&view, DRAY_FLOAT32, DRAY_ORDER_K, &floats);
 *	if (ret)
 *		return ret;
 *	ret = dray_view_convert(dray_array_view(floats, &to), &view,
 *				DRAY_CASTING_SAME_KIND);
 *
 * Fields of structures meet by their place.  User types convert as the function
 * cast in their tables says (element.h), and to an equal type.  All functions
 * borrow the types that they are given, and may be called from any thread.
 */
#ifndef DRAY_CAST_H
#define DRAY_CAST_H

#include <dray/array/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Which casts are allowed; each level includes those before it.  Functions refuse an
 * unknown value.
 */
enum dray_casting {
	DRAY_CASTING_NO,	/* the same type */
	DRAY_CASTING_EQUIV,	/* only byte order differs */
	DRAY_CASTING_SAFE,	/* values are kept */
	DRAY_CASTING_SAME_KIND,	/* or a smaller type of the same kind */
	DRAY_CASTING_UNSAFE,	/* any that exists */
};

/**
 * Returns "no", "equiv", "safe", "same_kind" or "unsafe"; "?" for other values.
 */
DRAY_API const char *dray_casting_name(enum dray_casting casting);

/**
 * Returns whether a cast is allowed, as numpy.can_cast() does; false if a type
 * is none.  An @to of S, U or V with 0 bytes stands for the size that the cast
 * needs.
 */
DRAY_API bool dray_can_cast(dray_dtype from, dray_dtype to,
			    enum dray_casting casting);

/**
 * Writes the smallest type that both types convert to safely, in the machine's
 * byte order, as numpy.promote_types().  With a user type, it is the one of the
 * two that the other converts to safely.
 *
 * @out: a reference, as each new type
 *
 * Errors: -EINVAL (no common type, a type is none), -EOVERFLOW (a unit of time
 * that the common type is a part of does not fit), -ENOMEM (for a structure).
 */
DRAY_API int dray_promote(dray_dtype a, dray_dtype b, dray_dtype *out);

/* Numbers of a program, which take on the type of their partners (NEP 50). */
#define DRAY_WEAK_INT (1u << 0)
#define DRAY_WEAK_FLOAT (1u << 1)
#define DRAY_WEAK_COMPLEX (1u << 2)

/**
 * Writes the type of a function of several operands, as numpy.result_type().
 *
 * @dtypes: @count types, 0 to 64; may be NULL if there are none
 * @weak: kinds of the other operands, DRAY_WEAK_*.  Beside a user type, an
 *	integer stands for the first of uint8, int8 and int64 that has a common
 *	type, a float for float16 or float64, a complex for complex64 or
 *	complex128
 *
 * Errors: as dray_promote(); -EINVAL (no operands, too many).
 */
DRAY_API int dray_result_type(const dray_dtype *dtypes, size_t count,
			      unsigned int weak, dray_dtype *out);

#define DRAY_CAST_STEPS 5

/** A conversion between two types.  It may be copied and owns nothing. */
struct dray_cast {
	/* operands: destination, source; its context is the cast itself */
	dray_loop *loop;
	dray_dtype to;		/* borrowed */
	dray_dtype from;
	/* private: the needs of a loop */
	dray_loop *steps[DRAY_CAST_STEPS];
	uint32_t sizes[DRAY_CAST_STEPS];	/* bytes that each step makes */
	uint32_t steps_count;
	dray_loop *part;	/* of halves of a complex number, or a user type's */
	void *context;		/* of a user type's loop */
	int64_t numerator;	/* of units of time */
	int64_t denominator;
};

/**
 * Finds the loop between two types, whatever the rules say of it.  It takes
 * elements at any address, with any strides, as long as destination and source
 * share no byte.  A loop to or from text fails at the first wrong element, and
 * has then converted those before it.
 *
 * Errors: -EINVAL (a type is none), -EOPNOTSUPP (no such conversion),
 * -EOVERFLOW (units of time too far apart).
 */
DRAY_API int dray_cast_find(dray_dtype to, dray_dtype from,
			    struct dray_cast *out);

/** Converts @count elements, 1 or more; strides are in bytes. */
DRAY_INLINED(int dray_cast_run(const struct dray_cast *cast, void *to,
			int64_t to_stride, const void *from,
			int64_t from_stride, int64_t count))
{
	char *const data[2] = {
		DRAY_STATIC_CAST(char *, to),
		DRAY_REINTERPRET_CAST(
			char *, DRAY_REINTERPRET_CAST(uintptr_t, from)),
	};
	const int64_t strides[2] = { to_stride, from_stride };

	return cast->loop(
		data, strides, count,
		DRAY_REINTERPRET_CAST(
			void *, DRAY_REINTERPRET_CAST(uintptr_t, cast)));
}

/**
 * Copies elements with the CPU and converts them.  The source is broadcast to the
 * shape of the destination; axes of a single element in front of it may be left
 * over.  If the two overlap, the result is as if the source was copied aside first.
 * A conversion that fails may have written elements before the wrong one.
 *
 * Errors: -EINVAL (shapes do not fit, a rule that does not exist, a cast that
 * @casting does not allow, text that is not a number or a date), -EPERM
 * (read-only), -ERANGE (a number in a text does not fit its type), -EILSEQ (text
 * beyond ASCII to or from bytes), -ENOSPC (too few characters for a date),
 * -ENOMEM (for the copy aside), as dray_cast_find(), and -EDOM as the thread wants
 * it for numbers that overflow or are not numbers in the other type, "overflow
 * encountered in cast" (<dray/array/fp_state.h>): after all elements were written.
 */
DRAY_API int dray_view_convert(const struct dray_view *dst,
			       const struct dray_view *src,
			       enum dray_casting casting);

/**
 * Does the same by up to @threads threads, the caller among them.  With
 * DRAY_CASTING_NO it is a copy.  The others are made for the call, take no signal that
 * is sent, and have ended when it returns, so a program may fork at any time.  If one
 * cannot be made, the rest do its part.
 *
 * Several pay for tens of MiB: each has 1 MiB of the destination or more, or is
 * not used.  Transposes and conversions gain most, because a thread leaves much of
 * the memory's rate; a straight copy gains little.  A single thread works if
 * elements of the destination may share bytes, as those of dray_view_as_strided().
 *
 * @threads: 0 is 1, at most 64 are used.  A type's own loop (dray/element.h) is
 *	called by all of them at once.
 *
 * Errors: as dray_view_convert(); of several wrong elements, the error is of the
 * nearest to the start, and any elements may have been written.
 */
DRAY_API int dray_view_convert_threads(const struct dray_view *dst,
				       const struct dray_view *src,
				       enum dray_casting casting,
				       unsigned int threads);

/**
 * Sets all elements to a value, converted as by DRAY_CASTING_UNSAFE.
 *
 * @value: an element of @dtype, at any address
 *
 * Errors: as dray_view_convert().
 */
DRAY_API int dray_view_fill(const struct dray_view *view, dray_dtype dtype,
			    const void *value);

/**
 * Reads the only element of a view as another type: DRAY_INT64 and an int64_t,
 * DRAY_FLOAT64 and a double, DRAY_BYTES(n) and text of up to n bytes, ...
 *
 * @out: an element of @dtype, at any address; unchanged on failure
 *
 * Errors: -EINVAL (several elements or none), as dray_view_convert(), but errors of
 * numbers stay in the flags of the processor.
 */
DRAY_API int dray_view_get(const struct dray_view *view, dray_dtype dtype,
			   void *out);

/**
 * Writes it from another type.
 *
 * Errors: -EINVAL (several elements or none), as dray_view_fill().
 */
DRAY_API int dray_view_put(const struct dray_view *view, dray_dtype dtype,
			   const void *value);

/**
 * Makes a scalar: an array without axes that has its element inline.  It is
 * immutable unless its type is raw data or a structure.  (Source: NumPy's array
 * scalars.)  The array, which may be written, has a sub-array's axes.
 *
 * @value: an element of @from, converted to @dtype
 * @out: a reference
 *
 * Errors: as dray_view_get(), -ENOMEM.
 */
DRAY_API int dray_scalar_create(dray_dtype dtype, dray_dtype from,
				const void *value, struct dray_array **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_CAST_H */
