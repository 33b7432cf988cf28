/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels over the functions of elementary_wide.h.  Arguments out of a function's
 * range, and results beyond the range of float32, are SLEEF's.
 */
/* Asks SLEEF for lanes out of range, but for zeros of odd functions. */
static __attribute__((noinline)) int finish_wide(enum dray_function function,
						 float low, float high,
						 VECTOR_F range, VECTOR_F x,
						 VECTOR_F *result)
{
	float in[LANES_F], xs[LANES_F], out[LANES_F];
	int lane, errors = 0;

	STORE_F(in, range);
	STORE_F(xs, x);
	STORE_F(out, *result);
	for (lane = 0; lane < LANES_F; lane++)
		if (!(in[lane] >= low && in[lane] <= high) &&
		    !(in[lane] == 0 && out[lane] == 0))
			errors |= dray_kernels_scalar.plain_float[function](
				&xs[lane], NULL, &out[lane], 1);
	*result = LOAD_F(out);
	return errors;
}

ALWAYS VECTOR_F size_of_float(VECTOR_F x)
{
	return OF_BITS_F(BITS_OF_F(x) & EACH_BITS_F(~0u >> 1));
}

/* The number of an argument that is compared with the range, and its result. */
#define RANGE_ANY(x) (x)
#define RANGE_ODD(x) size_of_float(x)
#define RANGE_TURN RANGE_ODD
/* Below 0 up to -1. */
#define RANGE_ABOVE(x)                          \
	OF_BITS_F(BITS_OF_F(size_of_float(x)) | \
		  (BITS_OF_F(((x) + 1) - FLT_MIN) & EACH_BITS_F(1u << 31)))
#define SIGN_TURN SIGN_ANY
#define SIGN_ABOVE SIGN_ODD
#define SIGN_ANY(result, x) (result)
#define SIGN_ODD(result, x) \
	OF_BITS_F(BITS_OF_F(result) | (BITS_OF_F(x) & EACH_BITS_F(1u << 31)))

#define UNARY(name, kind, low, high)                                             \
	ALWAYS VECTOR_F name##_checked(VECTOR_F x, int *errors)                  \
	{                                                                        \
		const VECTOR_F range = RANGE_##kind(x);                          \
		VECTOR_F result = name##_halves(x);                              \
                                                                                 \
		if (__builtin_expect(OUTSIDE_F(range, low, high), 0))            \
			*errors |= finish_wide(DRAY_FUNCTION_##name, low,        \
					       high, range, x, &result);         \
		return result;                                                   \
	}                                                                        \
                                                                                 \
	/* Whole vectors, up to the first unusual; a call forgets constants. */  \
	static size_t name##_usual(const float *x, float *out, size_t count)     \
	{                                                                        \
		size_t i;                                                        \
                                                                                 \
		for (i = 0; i + LANES_F <= count; i += LANES_F) {                \
			const VECTOR_F in = LOAD_F(x + i);                       \
			const VECTOR_F result = name##_halves(in);               \
                                                                                 \
			if (__builtin_expect(OUTSIDE_F(RANGE_##kind(in), low,    \
						       high),                    \
					     0))                                 \
				break;                                           \
			STORE_F(out + i, result);                                \
		}                                                                \
		return i;                                                        \
	}                                                                        \
                                                                                 \
	static int name##_of_wide(const float *x, const float *y, float *out,    \
				  size_t count)                                  \
	{                                                                        \
		int errors = 0;                                                  \
		size_t i;                                                        \
                                                                                 \
		(void)y;                                                         \
		for (i = 0; i < count; i += LANES_F) {                           \
			i += name##_usual(x + i, out + i, count - i);            \
			if (i < count)                                           \
				store_float(                                     \
					out + i,                                 \
					name##_checked(load_float(x + i,         \
								  count - i),    \
						       &errors),                 \
					count - i);                              \
		}                                                                \
		return errors;                                                   \
	}

#define WIDE(name, accuracy, kind, low, high, ...)                \
	ALWAYS VECTOR_F name##_halves(VECTOR_F x)                 \
	{                                                         \
		return SIGN_##kind(HALVES(wide_##name(LOWER(x)),  \
					  wide_##name(UPPER(x))), \
				   x);                            \
	}                                                         \
                                                                  \
	UNARY(name, kind, low, high)

#define LOG(name, ...)                                          \
	ALWAYS VECTOR_F name##_halves(VECTOR_F x)               \
	{                                                       \
		VECTOR_F n, f = split_short(x, &n);             \
                                                                \
		return HALVES(wide_##name(LOWER(f), LOWER(n)),  \
			      wide_##name(UPPER(f), UPPER(n))); \
	}                                                       \
                                                                \
	UNARY(name, ANY, FLT_MIN, FLT_MAX)

DRAY_WIDE_FUNCTIONS(WIDE)
DRAY_LONG_FUNCTIONS(WIDE)
DRAY_LOG_FUNCTIONS(LOG)
#undef WIDE
#undef LOG
#undef UNARY

/*
 * Computes lanes of which at least 1 is out of range, or its result is beyond
 * float32's, or near the middle of two.  Without vectors, SLEEF does.
 */
static __attribute__((noinline)) int finish_two(enum dray_function function,
						VECTOR_F x, VECTOR_F y,
						VECTOR_F *result)
{
	float xs[LANES_F], ys[LANES_F], out[LANES_F];
	int errors;

	STORE_F(xs, x);
	STORE_F(ys, y);
	if (LANES_F == 1)
		errors = dray_kernels_scalar.plain_float[function](xs, ys, out,
								   1);
	else
		errors = dray_kernels_scalar.of_float[function](xs, ys, out,
								LANES_F);
	*result = LOAD_F(out);
	return errors;
}

/* Is a number out of range, or a result, or any of the middle's bits zero? */
#ifndef UNUSUAL_POWER
#define UNUSUAL_POWER(lower, upper, x, result)                     \
	(ANY_ZERO(lower, upper) | OUTSIDE_F(x, FLT_MIN, FLT_MAX) | \
	 UNUSUAL_F(result))
#endif

/* Both return whether a result is unusual: unusual arguments make it so. */
ALWAYS int hypot_halves(VECTOR_F x, VECTOR_F y, VECTOR_F *result)
{
	*result = HALVES(wide_hypot(LOWER(x), LOWER(y)),
			 wide_hypot(UPPER(x), UPPER(y)));
	return UNUSUAL_F(*result);
}

ALWAYS int pow_halves(VECTOR_F x, VECTOR_F y, VECTOR_F *result)
{
	VECTOR_F n, f = split_short(x, &n);
	const wide lower = wide_pow(LOWER(f), LOWER(n), LOWER(y));
	const wide upper = wide_pow(UPPER(f), UPPER(n), UPPER(y));

	*result = HALVES(lower, upper);
	return UNUSUAL_POWER(middle_bits(lower), middle_bits(upper), x,
			     *result);
}

#define BINARY(name)                                                           \
	static size_t name##_usual(const float *x, const float *y, float *out, \
				   size_t count)                               \
	{                                                                      \
		VECTOR_F result;                                               \
		size_t i;                                                      \
                                                                               \
		for (i = 0; i + LANES_F <= count; i += LANES_F) {              \
			if (__builtin_expect(name##_halves(LOAD_F(x + i),      \
							   LOAD_F(y + i),      \
							   &result),           \
					     0))                               \
				break;                                         \
			STORE_F(out + i, result);                              \
		}                                                              \
		return i;                                                      \
	}                                                                      \
                                                                               \
	static int name##_of_wide(const float *x, const float *y, float *out,  \
				  size_t count)                                \
	{                                                                      \
		VECTOR_F in_x, in_y, result;                                   \
		int errors = 0;                                                \
		size_t i;                                                      \
                                                                               \
		for (i = 0; i < count; i += LANES_F) {                         \
			i += name##_usual(x + i, y + i, out + i, count - i);   \
			if (i >= count)                                        \
				break;                                         \
			in_x = load_float(x + i, count - i);                   \
			in_y = load_float(y + i, count - i);                   \
			if (name##_halves(in_x, in_y, &result))                \
				errors |= finish_two(DRAY_FUNCTION_##name,     \
						     in_x, in_y, &result);     \
			store_float(out + i, result, count - i);               \
		}                                                              \
		return errors;                                                 \
	}

BINARY(hypot)
BINARY(pow)
#undef BINARY

/* Asks SLEEF for lanes of float64 out of range. */
static __attribute__((noinline)) int finish_long(enum dray_function function,
						 double low, double high,
						 wide range, wide x,
						 wide *result)
{
	double in[LANES_D], xs[LANES_D], out[LANES_D];
	int lane, errors = 0;

	STORE_D(in, range);
	STORE_D(xs, x);
	STORE_D(out, *result);
	for (lane = 0; lane < LANES_D; lane++)
		if (!(in[lane] >= low && in[lane] <= high) &&
		    !(in[lane] == 0 && out[lane] == 0))
			errors |= dray_kernels_scalar.plain_double[function](
				&xs[lane], NULL, &out[lane], 1);
	*result = LOAD_D(out);
	return errors;
}

#define LONG_RANGE_ANY(x) (x)
#define LONG_RANGE_ODD(x) size_of(x)

#define LONG_UNARY(name, kind, low, high)                                      \
	ALWAYS wide name##_of_lanes(wide x, int *errors)                       \
	{                                                                      \
		const wide range = LONG_RANGE_##kind(x);                       \
		wide result = long_##name(x);                                  \
                                                                               \
		if (__builtin_expect(OUTSIDE(range, low, high), 0))            \
			*errors |= finish_long(DRAY_FUNCTION_##name, low,      \
					       high, range, x, &result);       \
		return result;                                                 \
	}                                                                      \
                                                                               \
	static size_t name##_usual_long(const double *x, double *out,          \
					size_t count)                          \
	{                                                                      \
		size_t i;                                                      \
                                                                               \
		for (i = 0; i + LANES_D <= count; i += LANES_D) {              \
			const wide in = LOAD_D(x + i);                         \
			const wide result = long_##name(in);                   \
                                                                               \
			if (__builtin_expect(OUTSIDE(LONG_RANGE_##kind(in),    \
						     low, high),               \
					     0))                               \
				break;                                         \
			STORE_D(out + i, result);                              \
		}                                                              \
		return i;                                                      \
	}                                                                      \
                                                                               \
	static int name##_of_long(const double *x, const double *y,            \
				  double *out, size_t count)                   \
	{                                                                      \
		int errors = 0;                                                \
		size_t i;                                                      \
                                                                               \
		(void)y;                                                       \
		for (i = 0; i < count; i += LANES_D) {                         \
			i += name##_usual_long(x + i, out + i, count - i);     \
			if (i < count)                                         \
				store_double(                                  \
					out + i,                               \
					name##_of_lanes(                       \
						load_double(x + i, count - i), \
						&errors),                      \
					count - i);                            \
		}                                                              \
		return errors;                                                 \
	}

#define LONG(name, accuracy, kind, low, high, long_low, long_high) \
	LONG_UNARY(name, kind, long_low, long_high)
#define LOG(name, ...) LONG_UNARY(name, ANY, DBL_MIN, DBL_MAX)

DRAY_LONG_FUNCTIONS(LONG)
DRAY_LOG_FUNCTIONS(LOG)
#undef LONG
#undef LOG

/*
 * Turns the power of a number's size into the number's, if it is below 0: a whole
 * exponent, of which the last bit is behind the point of @whole, decides the sign.
 */
ALWAYS bool pow_is_signed(wide x, wide y, wide *result)
{
	const wide_bits below = 0 - (BITS_OF(x) >> 63);
	const wide whole = y + WHOLE;
	const wide rest = OF_BITS(BITS_OF((whole - WHOLE) - y) & below);
	const wide exponent = OF_BITS(BITS_OF(y) & below);

	*result = OF_BITS(BITS_OF(*result) ^ ((BITS_OF(whole) << 63) & below));
	return !(OUTSIDE(rest, 0.0, 0.0) | OUTSIDE(exponent, -0x1p51, 0x1p51));
}

/* Whether a power is usual in all lanes.  0 is 1 on the way: its power above 0 is 0. */
ALWAYS bool pow_is_long(wide x, wide y, wide *result)
{
	const wide_bits zero = (wide_bits)(BITS_OF(x) == 0) & (wide_bits)(y > 0);
	const wide size = either(zero, EACH(1.0), size_of(x));
	wide logarithm;

	*result = long_pow(size, y, &logarithm);
	*result = OF_BITS(BITS_OF(*result) & ~zero);
	return !(OUTSIDE(size, DBL_MIN, DBL_MAX) |
		 OUTSIDE(logarithm, -LONG_POWER, LONG_POWER)) &&
	       (!OUTSIDE(x, 0.0, DBL_MAX) || pow_is_signed(x, y, result));
}

/* Uses SLEEF's results in the lanes of which the power is unusual. */
static __attribute__((noinline)) int finish_powers(wide x, wide y, wide *result)
{
	double xs[LANES_D], ys[LANES_D], logarithms[LANES_D], out[LANES_D];
	double powers[LANES_D];
	wide logarithm;
	int lane, errors;

	*result = long_pow(size_of(x), y, &logarithm);
	pow_is_signed(x, y, result);
	STORE_D(powers, *result);
	STORE_D(logarithms, logarithm);
	STORE_D(xs, x);
	STORE_D(ys, y);
	errors = pow_of_double(xs, ys, out, LANES_D);
	for (lane = 0; lane < LANES_D; lane++) {
		const double size = fabs(xs[lane]);

		if (size >= DBL_MIN && size <= DBL_MAX &&
		    fabs(logarithms[lane]) <= LONG_POWER &&
		    (xs[lane] >= 0 ||
		     (ys[lane] == rint(ys[lane]) && fabs(ys[lane]) <= 0x1p51)))
			out[lane] = powers[lane];
	}
	*result = LOAD_D(out);
	return errors;
}

static size_t pow_usual_long(const double *x, const double *y, double *out,
			     size_t count)
{
	wide result;
	size_t i;

	for (i = 0; i + LANES_D <= count; i += LANES_D) {
		if (__builtin_expect(!pow_is_long(LOAD_D(x + i), LOAD_D(y + i),
						  &result),
				     0))
			break;
		STORE_D(out + i, result);
	}
	return i;
}

static int pow_of_long(const double *x, const double *y, double *out,
		       size_t count)
{
	wide in_x, in_y, result;
	int errors = 0;
	size_t i;

	for (i = 0; i < count; i += LANES_D) {
		i += pow_usual_long(x + i, y + i, out + i, count - i);
		if (i >= count)
			break;
		in_x = load_double(x + i, count - i);
		in_y = load_double(y + i, count - i);
		/* A whole vector was unusual before. */
		if (count - i >= LANES_D || !pow_is_long(in_x, in_y, &result))
			errors |= finish_powers(in_x, in_y, &result);
		store_double(out + i, result, count - i);
	}
	return errors;
}
