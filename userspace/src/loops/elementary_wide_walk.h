/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels over the functions of elementary_wide.h.  Arguments out of a function's range,
 * and results that float32 has no place for, are SLEEF's.
 */
/* Asks SLEEF for lanes out of range, and for results beyond float32's. */
static __attribute__((noinline)) int finish_wide(enum dray_function function,
						 double low, double high,
						 wide x, wide y, wide *result)
{
	double xs[LANES_D], ys[LANES_D], out[LANES_D];
	int lane, errors = 0;

	STORE_D(xs, x);
	STORE_D(ys, y);
	STORE_D(out, *result);
	for (lane = 0; lane < LANES_D; lane++) {
		const double size = fabs(out[lane]);
		const float in_x = (float)xs[lane], in_y = (float)ys[lane];
		float narrow;

		if (xs[lane] >= low && xs[lane] <= high &&
		    fabs(ys[lane]) <= FLT_MAX &&
		    ((size >= FLT_MIN && size <= FLT_MAX) || size == 0))
			continue;
		errors |= dray_kernels_scalar.plain_float[function](
			&in_x, &in_y, &narrow, 1);
		out[lane] = (double)narrow;
	}
	*result = LOAD_D(out);
	return errors;
}

ALWAYS wide load_wide(const float *from, size_t count)
{
	float part[LANES_D];
	size_t lane;

	if (count >= LANES_D)
		return WIDEN(from);
	for (lane = 0; lane < LANES_D; lane++)
		part[lane] = from[lane < count ? lane : count - 1];
	return WIDEN(part);
}

ALWAYS void store_wide(float *to, wide x, size_t count)
{
	float part[LANES_D];

	if (count >= LANES_D) {
		NARROW(to, x);
		return;
	}
	NARROW(part, x);
	memcpy(to, part, count * sizeof(float));
}

ALWAYS int walk_wide(wide compute(wide x), enum dray_function function,
		     double low, double high, const float *x, float *out,
		     size_t count)
{
	int errors = 0;
	size_t i;

	for (i = 0; i < count; i += LANES_D) {
		const wide in = load_wide(x + i, count - i);
		wide result = compute(in);

		if (__builtin_expect(OUTSIDE(in, low, high) |
					     OUTSIDE(size_of(result), FLT_MIN,
						     FLT_MAX),
				     0))
			errors |= finish_wide(function, low, high, in, in,
					      &result);
		store_wide(out + i, result, count - i);
	}
	return errors;
}

ALWAYS int walk_wide_two(wide compute(wide x, wide y),
			 enum dray_function function, double low, double high,
			 const float *x, const float *y, float *out,
			 size_t count)
{
	int errors = 0;
	size_t i;

	for (i = 0; i < count; i += LANES_D) {
		const wide in_x = load_wide(x + i, count - i);
		const wide in_y = load_wide(y + i, count - i);
		wide result = compute(in_x, in_y);

		if (__builtin_expect(OUTSIDE(in_x, low, high) |
					     OUTSIDE(in_y, -FLT_MAX, FLT_MAX) |
					     OUTSIDE(size_of(result), FLT_MIN,
						     FLT_MAX),
				     0))
			errors |= finish_wide(function, low, high, in_x, in_y,
					      &result);
		store_wide(out + i, result, count - i);
	}
	return errors;
}

#define WIDE(name, accuracy, low, high)                                        \
	static int name##_of_wide(const float *x, const float *y, float *out,  \
				  size_t count)                                \
	{                                                                      \
		(void)y;                                                       \
		return walk_wide(wide_##name, DRAY_FUNCTION_##name, low, high, \
				 x, out, count);                               \
	}

DRAY_WIDE_FUNCTIONS(WIDE)
#undef WIDE

static int hypot_of_wide(const float *x, const float *y, float *out,
			 size_t count)
{
	return walk_wide_two(wide_hypot, DRAY_FUNCTION_hypot, -FLT_MAX, FLT_MAX,
			     x, y, out, count);
}

static int pow_of_wide(const float *x, const float *y, float *out, size_t count)
{
	return walk_wide_two(wide_pow, DRAY_FUNCTION_pow, FLT_TRUE_MIN, FLT_MAX,
			     x, y, out, count);
}

/* Asks SLEEF for logarithms of others than normal numbers. */
static __attribute__((noinline)) int finish_log(wide x, wide *result)
{
	double xs[LANES_D], out[LANES_D];
	int lane, errors = 0;

	STORE_D(xs, x);
	STORE_D(out, *result);
	for (lane = 0; lane < LANES_D; lane++)
		if (!(xs[lane] >= DBL_MIN && xs[lane] <= DBL_MAX))
			errors |= dray_kernels_scalar.plain_log(&xs[lane], NULL,
								&out[lane], 1);
	*result = LOAD_D(out);
	return errors;
}

static int log_of_long(const double *x, const double *y, double *out,
		       size_t count)
{
	int errors = 0;
	size_t i;

	(void)y;
	for (i = 0; i < count; i += LANES_D) {
		const wide in = load_double(x + i, count - i);
		wide result = long_log(in);

		if (__builtin_expect(OUTSIDE(in, DBL_MIN, DBL_MAX), 0))
			errors |= finish_log(in, &result);
		store_double(out + i, result, count - i);
	}
	return errors;
}
