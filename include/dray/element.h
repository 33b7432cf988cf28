/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * element: functions for the elements of each type, and types of a user's own.
 *
 * dray_dtype_functions() returns the table of a type.  Its functions accept
 * elements at any address, aligned or not, and in the type's byte order.  They
 * may be called from any thread; the caller orders writes to elements that
 * other threads read.
 *
 *	const struct dray_dtype_functions *functions;
 *	struct dray_scalar value;
 *	float element = 1.5;
 *
 *	functions = dray_dtype_functions(DRAY_FLOAT32);
 *	ret = functions->get(DRAY_FLOAT32, &element, &value);
 *	if (!ret)
 *		printf("%g\n", value.real);
 */
#ifndef DRAY_ELEMENT_H
#define DRAY_ELEMENT_H

#include <dray/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The C type of a value: the member of struct dray_scalar that holds it.  A
 * caller reads no member for an unknown value; set() refuses it with -EINVAL.
 */
enum dray_scalar_kind {
	DRAY_SCALAR_BOOLEAN = 1,
	DRAY_SCALAR_SIGNED,	/* dates and durations too */
	DRAY_SCALAR_UNSIGNED,
	DRAY_SCALAR_REAL,
	DRAY_SCALAR_COMPLEX,
	DRAY_SCALAR_BYTES,
};

/** A complex value: <complex.h> defines the name complex. */
struct dray_scalar_parts {
	double real;
	double imaginary;
};

/**
 * Bytes, borrowed from the element: its own, of S and U without zeros at the
 * end; UCS-4 of U is in the type's byte order.
 */
struct dray_scalar_bytes {
	const void *data;
	size_t size;
};

/** An element as a value of C. */
struct dray_scalar {
	enum dray_scalar_kind kind;
	union {
		bool boolean;
		int64_t integer;
		uint64_t natural;
		double real;	/* a long double is rounded to it */
		struct dray_scalar_parts parts;
		struct dray_scalar_bytes bytes;
	};
};

/** The value (not a date) that stands for no date and no duration. */
#define DRAY_NOT_A_TIME (-0x7fffffffffffffff - 1)

/** The functions of a type.  Strides are in bytes and may be negative or 0. */
DRAY_NAMESAKE_BEGIN
struct dray_dtype_functions {
	size_t size;	/* of this structure; 0: the first version's */

	/**
	 * Writes an element's value to @out.  Builtin numbers yield their own
	 * kind, all others bytes.  -EOPNOTSUPP: a long double of another
	 * machine.
	 */
	int (*get)(dray_dtype dtype, const void *element,
		   struct dray_scalar *out);

	/**
	 * Stores a value, converted to the type.  Reals are cut off for
	 * integers and rounded for shorter floats; bytes are cut off, or filled
	 * up with zeros.  Numbers do not become bytes, nor bytes numbers.
	 *
	 * Errors: -ERANGE (an integer, or a real for an integer, that does not
	 * fit), -EINVAL (not a number for an integer, a complex for anything
	 * else, another kind of value), -EOPNOTSUPP.
	 */
	int (*set)(dray_dtype dtype, void *element,
		   const struct dray_scalar *value);

	/**
	 * Copies @count elements.  @swap: changes the byte order of their parts
	 * on the way.  Without it, nothing is converted.  The operands are the
	 * same, with the same stride, or do not overlap.
	 */
	void (*copyswap)(dray_dtype dtype, void *to, int64_t to_stride,
			 const void *from, int64_t from_stride, int64_t count,
			 bool swap);

	/** Whether an element is not zero, empty, or false; NaN is not zero. */
	bool (*nonzero)(dray_dtype dtype, const void *element);

	/**
	 * Compares two elements in the order that NumPy sorts in: below, equal
	 * to or above 0.  NaN and NaT are last.  Structures compare by their
	 * fields, sub-arrays by their elements, voids by their bytes.
	 */
	int (*compare)(dray_dtype dtype, const void *a, const void *b);

	/** Copies the element at @value to @count elements. */
	void (*fill)(dray_dtype dtype, void *to, int64_t stride, int64_t count,
		     const void *value);

	/**
	 * Returns the number of the first largest of @count elements, 1 or
	 * more, or of the first that is NaN or no date.
	 */
	int64_t (*argmax)(dray_dtype dtype, const void *elements,
			  int64_t stride, int64_t count);

	/**
	 * Chooses a loop that converts elements of @from, at data[1], to @to,
	 * at data[0]. Either is this type, the other a builtin type or another
	 * user type; of two user types, @from is asked first, then @to.
	 * Numbers and dates are in the machine's byte order, which the library
	 * changes; U may be of another.  Elements lie at any address.
	 * Structures and sub-arrays convert part by part, by the same loops.
	 *
	 * @loop: set to the loop, which may be called from any thread
	 * @context: for each call of the loop, valid as long as both types;
	 *	NULL at first
	 *
	 * Returns the first rule that allows the conversion, as enum
	 * dray_casting in cast.h: DRAY_CASTING_SAFE, which also makes @to the
	 * common type of the two, DRAY_CASTING_SAME_KIND, or any other number
	 * for DRAY_CASTING_UNSAFE; or -EOPNOTSUPP for a pair that does not
	 * convert.  NULL for builtin types, which the library converts; of a
	 * user type: it converts to none.
	 */
	int (*cast)(dray_dtype from, dray_dtype to, dray_loop **loop,
		    void **context);

	/** Of a user type: called with its context when the type ends. */
	void (*release)(void *context);
};

/**
 * Returns the functions of @dtype, valid as long as the type; NULL without a
 * type.
 */
DRAY_API const struct dray_dtype_functions *
dray_dtype_functions(dray_dtype dtype);
DRAY_NAMESAKE_END

/**
 * Makes a type of a user's own.
 *
 * @name: for people: dray_dtype_format() prints it; copied
 * @kind: a printable ASCII letter or sign that no builtin type uses
 * @itemsize: bytes of an element
 * @alignment: bytes, a power of two
 * @functions: copied; functions that are NULL work as for plain bytes, except
 *	for argmax, which calls compare, and for cast and release
 * @context: for dray_dtype_context()
 * @out: a reference
 *
 * If it fails, release is not called.
 *
 * Errors: -EINVAL (no name, a kind in use, an alignment that is not a power of
 * two), -ENOMEM.
 */
DRAY_API int
dray_dtype_create_user(const char *name, char kind, uint32_t itemsize,
		       uint32_t alignment,
		       const struct dray_dtype_functions *functions,
		       void *context, dray_dtype *out);

/** Returns the context of a user type; NULL for any other. */
DRAY_API void *dray_dtype_context(dray_dtype dtype);

/** Returns the name of a user type, borrowed; NULL for any other. */
DRAY_API const char *dray_dtype_name(dray_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_ELEMENT_H */
