// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Degrees and radians: products with a factor, of which the hardware notes errors. */
#include <fenv.h>

#include "loops/elementary_part.h"
#include "loops/loops.h"

#define PI 3.14159265358979323846

struct factor {
	double of_double;
	float of_float;
};

static const struct factor to_degrees = { 180.0 / PI, 180.0f / (float)PI };
static const struct factor to_radians = { PI / 180.0, (float)PI / 180.0f };

static int scale_double(char *const *data, const int64_t *strides,
			int64_t count, void *context)
{
	const double factor = ((const struct factor *)context)->of_double;
	const bool compact =
		strides[0] == sizeof(double) && strides[1] == sizeof(double);
	const double *x = (const double *)(void *)data[0];
	double *out = (double *)(void *)data[1];
	int64_t i;

	for (i = 0; compact && i < count; i++)
		out[i] = x[i] * factor;
	for (i = 0; !compact && i < count; i++)
		*(double *)(void *)(data[1] + i * strides[1]) =
			*(const double *)(void *)(data[0] + i * strides[0]) *
			factor;
	return 0;
}

static int scale_float(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	const float factor = ((const struct factor *)context)->of_float;
	const bool compact =
		strides[0] == sizeof(float) && strides[1] == sizeof(float);
	const float *x = (const float *)(void *)data[0];
	float *out = (float *)(void *)data[1];
	int64_t i;

	for (i = 0; compact && i < count; i++)
		out[i] = x[i] * factor;
	for (i = 0; !compact && i < count; i++)
		*(float *)(void *)(data[1] + i * strides[1]) =
			*(const float *)(void *)(data[0] + i * strides[0]) *
			factor;
	return 0;
}

static int scale_half(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	const float factor = ((const struct factor *)context)->of_float;
	float part[DRAY_PART];
	int64_t i, j, size;
	int errors = 0;

	for (i = 0; i < count; i += size) {
		size = dray_part_size(count - i);
		dray_take_half(data[0] + i * strides[0], strides[0], size,
			       part);
		for (j = 0; j < size; j++)
			part[j] *= factor;
		errors |= dray_put_half(data[1] + i * strides[1], strides[1],
					size, part);
	}
	if (errors)
		feraiseexcept(errors);
	return 0;
}

#define LOOPS(factor)                                                 \
	{                                                             \
		{ "ee", scale_half, (void *)&(factor), 0 },           \
			{ "ff", scale_float, (void *)&(factor), 0 },  \
			{ "dd", scale_double, (void *)&(factor), 0 }, \
	}

static const struct dray_loop_entry degrees[] = LOOPS(to_degrees);
static const struct dray_loop_entry radians[] = LOOPS(to_radians);

static const struct dray_ufunc_definition definitions[] = {
	{ "deg2rad", 1, 1, DRAY_IDENTITY_NONE, radians, 3, NULL },
	{ "degrees", 1, 1, DRAY_IDENTITY_NONE, degrees, 3, NULL },
	{ "rad2deg", 1, 1, DRAY_IDENTITY_NONE, degrees, 3, NULL },
	{ "radians", 1, 1, DRAY_IDENTITY_NONE, radians, 3, NULL },
};

const struct dray_ufunc_list dray_angle_ufuncs = {
	definitions,
	sizeof(definitions) / sizeof(definitions[0]),
};
