/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels of one type.  elementary_vector.h includes this file for each type, and
 * defines TYPE, VECTOR, LANES, LOAD, STORE, UNUSUAL (is some lane zero,
 * subnormal, infinite or no number?) and SLEEF (the name of a function of vectors);
 * ON(name) is a name with the type.
 */

typedef VECTOR ON(unary)(VECTOR x);
typedef VECTOR ON(binary)(VECTOR x, VECTOR y);

/* Loads @count elements; lanes that are missing repeat the last. */
ALWAYS VECTOR ON(load)(const TYPE *from, size_t count)
{
	TYPE part[LANES];
	size_t lane;

	if (count >= LANES)
		return LOAD(from);
	for (lane = 0; lane < LANES; lane++)
		part[lane] = from[lane < count ? lane : count - 1];
	return LOAD(part);
}

ALWAYS void ON(store)(TYPE *to, VECTOR x, size_t count)
{
	TYPE part[LANES];

	if (count >= LANES) {
		STORE(to, x);
		return;
	}
	STORE(part, x);
	memcpy(to, part, count * sizeof(TYPE));
}

static __attribute__((noinline)) int ON(mend)(enum dray_function function,
					      VECTOR x, VECTOR y, VECTOR *out)
{
	TYPE xs[LANES], ys[LANES], results[LANES];
	int errors;

	STORE(xs, x);
	STORE(ys, y);
	STORE(results, *out);
	errors = ON(dray_mend)(function, xs, ys, results, LANES);
	*out = LOAD(results);
	return errors;
}

ALWAYS int ON(walk)(ON(unary) * compute, enum dray_function function,
		    const TYPE *x, TYPE *out, size_t count)
{
	int errors = 0;
	size_t i;

	for (i = 0; i < count; i += LANES) {
		const VECTOR in = ON(load)(x + i, count - i);
		VECTOR result = compute(in);

		if (__builtin_expect(UNUSUAL(result), 0))
			errors |= ON(mend)(function, in, in, &result);
		ON(store)(out + i, result, count - i);
	}
	return errors;
}

ALWAYS int ON(walk_two)(ON(binary) * compute, enum dray_function function,
			const TYPE *x, const TYPE *y, TYPE *out, size_t count)
{
	int errors = 0;
	size_t i;

	for (i = 0; i < count; i += LANES) {
		const VECTOR in_x = ON(load)(x + i, count - i);
		const VECTOR in_y = ON(load)(y + i, count - i);
		VECTOR result = compute(in_x, in_y);

		if (__builtin_expect(UNUSUAL(result), 0))
			errors |= ON(mend)(function, in_x, in_y, &result);
		ON(store)(out + i, result, count - i);
	}
	return errors;
}

/* To some compilers, SLEEF's functions return constants: hence the cast. */
#define UNARY(name, accuracy, ...)                                        \
	static int ON(name##_of)(const TYPE *x, const TYPE *y, TYPE *out, \
				 size_t count)                            \
	{                                                                 \
		(void)y;                                                  \
		return ON(walk)((ON(unary) *)SLEEF(name, accuracy),       \
				DRAY_FUNCTION_##name, x, out, count);     \
	}

#define BINARY(name, accuracy)                                               \
	static int ON(name##_of)(const TYPE *x, const TYPE *y, TYPE *out,    \
				 size_t count)                               \
	{                                                                    \
		return ON(walk_two)((ON(binary) *)SLEEF(name, accuracy),     \
				    DRAY_FUNCTION_##name, x, y, out, count); \
	}

DRAY_WIDE_FUNCTIONS(UNARY)
DRAY_LONG_FUNCTIONS(UNARY)
DRAY_LOG_FUNCTIONS(UNARY)
BINARY(atan2, u10)
DRAY_WIDE_BINARY_FUNCTIONS(BINARY)

#undef UNARY
#undef BINARY
