// SPDX-License-Identifier: Apache-2.0 OR MIT
/* cast_view: views and single values converted, and what is refused. */
#include <fenv.h>
#include <math.h>

#include <dray/array.h>

#include "unit.h"

static double doubles[6];
static int32_t ints[6];

static struct dray_view view_of(void *data, dray_dtype dtype, int ndim,
				const int64_t *shape)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, data, dtype, ndim, shape, NULL));
	return view;
}

#define DOUBLES(...)                                                         \
	view_of(doubles, DRAY_FLOAT64, (int)(sizeof(DIMS(__VA_ARGS__)) / 8), \
		DIMS(__VA_ARGS__))
#define INTS(...)                                                       \
	view_of(ints, DRAY_INT32, (int)(sizeof(DIMS(__VA_ARGS__)) / 8), \
		DIMS(__VA_ARGS__))

static void count_up(void)
{
	for (int i = 0; i < 6; i++) {
		ints[i] = i + 1;
		doubles[i] = -1;
	}
}

static void doubles_are(const double expected[6])
{
	assert_memory_equal(doubles, expected, sizeof(doubles));
}

/* Of each kind of pair: the flags that are noted for a number in the middle. */
FACT(errors_of_numbers_are_reported)
{
	static const struct {
		const char *from, *to;
		double number;
		const char *said; /* NULL: nothing */
	} rows[] = {
		{ "f8", "f4", 1e300, "overflow encountered in cast" },
		{ "f8", "f4", 1e-300, "underflow encountered in cast" },
		{ "f8", "f2", 1e5, "overflow encountered in cast" },
		{ "i4", "f2", 70000, "overflow encountered in cast" },
		{ "f8", "i4", NAN, "invalid value encountered in cast" },
		{ "f8", "i8", 1e30, "invalid value encountered in cast" },
		{ ">f8", "<c8", 1e300, "overflow encountered in cast" },
		{ "c16", "f4", 1e300, "overflow encountered in cast" },
		{ "f8", "m8[s]", INFINITY,
		  "invalid value encountered in cast" },
		{ "[('a', 'f8')]", "[('a', 'f4')]", 1e300,
		  "overflow encountered in cast" },
		{ "f8", "f4", INFINITY, NULL },
		{ "f8", "f4", NAN, NULL },
		{ "f8", "m8[s]", NAN, NULL },
		{ "f8", "?", NAN, NULL },
		{ "i8", "i1", 300, NULL },
		{ "f8", "S32", 1e300, NULL },
		{ "i8", "f4", 16777217, NULL },
	};
	const struct dray_fp_state raises = {
		.divide = DRAY_FP_RAISE,
		.over = DRAY_FP_RAISE,
		.under = DRAY_FP_RAISE,
		.invalid = DRAY_FP_RAISE,
		.buffer_size = 8192,
	};
	int64_t few = 5;

	for (size_t i = 0; i < 3 * sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t row = i / 3, threads = i % 3 + 1;
		struct dray_array *from, *to;
		struct dray_view view, into, middle;
		dray_dtype types[2];
		int ret;

		assert_works(dray_dtype_parse(rows[row].from, &types[0]));
		assert_works(dray_dtype_parse(rows[row].to, &types[1]));
		assert_works(dray_array_zeros(types[0], 1, &few, &from));
		assert_works(dray_array_zeros(types[1], 1, &few, &to));
		assert_works(dray_view_index(dray_array_view(from, &view),
					     &(struct dray_index)DRAY_AT(3), 1,
					     &middle));
		assert_works(dray_view_fill(&middle, DRAY_FLOAT64,
					    &rows[row].number));
		assert_works(dray_set_fp_state(&raises));
		ret = dray_view_convert_threads(dray_array_view(to, &into),
						&view, DRAY_CASTING_UNSAFE,
						(unsigned int)threads);
		assert_works(dray_set_fp_state(NULL));
		if (ret != (rows[row].said ? -EDOM : 0) ||
		    (ret && strcmp(dray_last_error(), rows[row].said)))
			fail_msg("%s to %s, %g: %d, %s", rows[row].from,
				 rows[row].to, rows[row].number, ret,
				 ret ? dray_last_error() : "no error");
		dray_array_unref(from);
		dray_array_unref(to);
		dray_dtype_unref(types[0]);
		dray_dtype_unref(types[1]);
	}
}

static unsigned int noted;

static void note(void *context, const char *sentence, unsigned int error,
		 unsigned int errors)
{
	noted = errors;
}

FACT(errors_of_all_threads_are_noted_and_those_before_are_not)
{
	const struct dray_fp_state calls = {
		.over = DRAY_FP_CALL,
		.invalid = DRAY_FP_CALL,
		.buffer_size = 8192,
		.call = note,
	};
	const int64_t many = 1 << 20;
	struct dray_array *from, *to;
	struct dray_view view, into;

	assert_works(dray_array_zeros(DRAY_FLOAT64, 1, &many, &from));
	assert_works(dray_array_zeros(DRAY_FLOAT32, 1, &many, &to));
	dray_array_view(from, &view);
	dray_array_view(to, &into);
	assert_works(dray_set_fp_state(&calls));
	for (int at = -1; at < 8; at++) {
		const int64_t n = at < 0 ? 0 : many / 8 * at + 7;

		((double *)from->data)[n] = at < 0 ? 0 : 1e300;
		feraiseexcept(FE_INVALID | FE_OVERFLOW);
		noted = 0;
		assert_works(dray_view_convert_threads(&into, &view,
						       DRAY_CASTING_UNSAFE, 4));
		assert_int_equal(noted, at < 0 ? 0 : DRAY_FP_OVER);
		((double *)from->data)[n] = 0;
	}
	assert_works(dray_set_fp_state(NULL));
	dray_array_unref(from);
	dray_array_unref(to);
}

FACT(sources_are_broadcast_and_leading_axes_of_one_dropped)
{
	static const struct {
		int ndim;
		int64_t shape[3];
		double expected[6];
	} rows[] = {
		{ 2, { 2, 3 }, { 1, 2, 3, 4, 5, 6 } },
		{ 1, { 3 }, { 1, 2, 3, 1, 2, 3 } },
		{ 2, { 2, 1 }, { 1, 1, 1, 2, 2, 2 } },
		{ 3, { 1, 2, 1 }, { 1, 1, 1, 2, 2, 2 } },
		{ 0, { 0 }, { 1, 1, 1, 1, 1, 1 } },
		{ 3, { 1, 1, 1 }, { 1, 1, 1, 1, 1, 1 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_view to = DOUBLES(2, 3), from;

		count_up();
		from = view_of(ints, DRAY_INT32, rows[i].ndim, rows[i].shape);
		assert_works(dray_view_convert(&to, &from, DRAY_CASTING_SAFE));
		doubles_are(rows[i].expected);
	}
}

FACT(pairs_that_do_not_fit_are_refused)
{
	struct dray_view to = DOUBLES(2, 3), from = INTS(2, 3), other;

	count_up();
	other = INTS(2, 2);
	assert_fails(dray_view_convert(&to, &other, DRAY_CASTING_SAFE), -EINVAL,
		     "axis 1 has 3 elements in the destination and 2");
	other = INTS(2, 1, 3);
	assert_fails(dray_view_convert(&to, &other, DRAY_CASTING_SAFE), -EINVAL,
		     "axis 0 of the source has 2 elements");
	assert_fails(dray_view_convert(&from, &to, DRAY_CASTING_SAME_KIND),
		     -EINVAL,
		     "cannot cast from '<f8' to '<i4' according to the rule "
		     "'same_kind'");
	assert_fails(dray_view_convert(&to, &from, (enum dray_casting)5),
		     -EINVAL, "casting rule 5");
	other = to;
	other.flags = DRAY_READ;
	assert_fails(dray_view_convert(&other, &from, DRAY_CASTING_SAFE),
		     -EPERM, "read-only");
	other.flags = DRAY_READ | DRAY_IMMUTABLE;
	assert_fails(dray_view_convert(&other, &from, DRAY_CASTING_SAFE),
		     -EPERM, "immutable");
	other = from;
	other.flags = DRAY_WRITE;
	assert_fails(dray_view_convert(&to, &other, DRAY_CASTING_SAFE), -EPERM,
		     "may not be read");
	other = to;
	other.strides[0] = 0;
	assert_fails(dray_view_convert(&other, &from, DRAY_CASTING_SAFE),
		     -EINVAL, "stride of 0");
	other = to;
	other.dtype = DRAY_VOID(8);
	assert_fails(dray_view_convert(&from, &other, DRAY_CASTING_UNSAFE),
		     -EOPNOTSUPP, "|V8 do not convert");
	from = INTS(2, 2); /* Types come before shapes. */
	assert_fails(dray_view_convert(&from, &other, DRAY_CASTING_UNSAFE),
		     -EOPNOTSUPP, "|V8 do not convert");
	doubles_are((double[]){ -1, -1, -1, -1, -1, -1 });
}

FACT(views_of_no_elements_are_converted)
{
	struct dray_view to = DOUBLES(0, 3), from = INTS(1, 3);

	count_up();
	assert_works(dray_view_convert(&to, &from, DRAY_CASTING_SAFE));
	from = view_of(ints, DRAY_INT32, 0, NULL);
	assert_works(dray_view_convert(&to, &from, DRAY_CASTING_SAFE));
	doubles_are((double[]){ -1, -1, -1, -1, -1, -1 });
}

FACT(elements_of_no_bytes_are_converted)
{
	struct dray_view to = DOUBLES(6), from;

	from = view_of(ints, DRAY_BYTES(0), 1, DIMS(6));
	assert_fails(dray_view_convert(&to, &from, DRAY_CASTING_UNSAFE),
		     -EINVAL, "'' is not a value");
	assert_works(dray_view_convert(&from, &to, DRAY_CASTING_UNSAFE));
}

/* Strides that ask for tiles, of elements without bytes. */
FACT(transposed_elements_of_no_bytes_are_converted)
{
	static char texts[32][65][16];
	struct dray_view to, from;

	memset(texts, 'x', sizeof(texts));
	assert_works(dray_view_init(&to, texts, DRAY_BYTES(16), 2, DIMS(32, 65),
				    NULL));
	assert_works(dray_view_init(&from, texts, DRAY_BYTES(0), 2,
				    DIMS(32, 65), DIMS(4, 256)));
	assert_works(dray_view_convert(&from, &to, DRAY_CASTING_UNSAFE));
	assert_int_equal(texts[31][64][15], 'x');
	assert_works(dray_view_convert(&to, &from, DRAY_CASTING_UNSAFE));
	assert_int_equal(texts[31][64][0], 0);
	/* A step of two rows would overflow. */
	texts[1][64][0] = 'x';
	to.shape[0] = 2;
	assert_works(dray_view_init(&from, texts, DRAY_BYTES(0), 2, DIMS(2, 65),
				    DIMS(INT64_MAX - 256, 1)));
	assert_works(dray_view_convert(&to, &from, DRAY_CASTING_UNSAFE));
	assert_int_equal(texts[1][64][0], 0);
}

FACT(a_view_is_converted_in_its_own_memory)
{
	static int64_t memory[6];
	struct dray_view to = view_of(memory, DRAY_FLOAT64, 1, DIMS(6));
	struct dray_view from = view_of(memory, DRAY_INT32, 1, DIMS(6));
	struct dray_view low = view_of(memory, DRAY_FLOAT64, 1, DIMS(3));
	const double expected[] = { 1, 2, 3, 4, 5, 6 };

	count_up();
	memcpy(memory, ints, sizeof(ints));
	assert_works(dray_view_convert(&to, &from, DRAY_CASTING_SAFE));
	assert_memory_equal(memory, expected, sizeof(expected));
	/* Backwards, over the source. */
	low.data = memory + 3;
	memcpy(memory, ints, sizeof(ints));
	from = view_of(memory + 1, DRAY_INT32, 1, DIMS(3));
	low.strides[0] = -8;
	assert_works(dray_view_convert(&low, &from, DRAY_CASTING_SAFE));
	assert_memory_equal(memory + 1, ((double[]){ 5, 4, 3 }), 24);
}

/* A destination in C order, of a source with its axes the other way round. */
static void transpose(int64_t rows, int64_t columns, dray_dtype to_type)
{
	const size_t size = dray_dtype_itemsize(to_type);
	int64_t count = rows * columns, i, j;
	int16_t *source = malloc((size_t)count * 2);
	char *turned = malloc((size_t)count * size);
	struct dray_view from, to;
	struct dray_cast back;

	for (i = 0; i < count; i++)
		source[i] = (int16_t)i;
	from = view_of(source, DRAY_INT16, 2, DIMS(columns, rows));
	assert_works(dray_view_transpose(&from, NULL, &from));
	to = view_of(turned, to_type, 2, DIMS(rows, columns));
	assert_works(dray_view_convert(&to, &from, DRAY_CASTING_SAFE));
	assert_works(dray_cast_find(DRAY_INT16, to_type, &back));
	for (i = 0; i < rows; i++) {
		for (j = 0; j < columns; j++) {
			int16_t value;

			assert_works(dray_cast_run(
				&back, &value, 0,
				turned + (size_t)(i * columns + j) * size, 0,
				1));
			assert_int_equal(value, source[j * rows + i]);
		}
	}
	free(source);
	free(turned);
}

FACT(transposes_are_converted_by_tiles)
{
	transpose(3, 4, DRAY_FLOAT64);
	transpose(200, 130, DRAY_FLOAT32);
	transpose(65, 257, DRAY_FLOAT64);
	transpose(64, 256, DRAY_COMPLEX128);
	transpose(129, 127, DRAY_DTYPE('i', '>', 4));
}

FACT(a_view_is_filled_with_one_value)
{
	struct dray_view view = DOUBLES(2, 3);
	const int32_t seven = 7;

	count_up();
	assert_works(dray_view_fill(&view, DRAY_INT32, &seven));
	doubles_are((double[]){ 7, 7, 7, 7, 7, 7 });
	assert_works(dray_view_fill(&view, DRAY_BYTES(3), "1.5"));
	doubles_are((double[]){ 1.5, 1.5, 1.5, 1.5, 1.5, 1.5 });
	assert_fails(dray_view_fill(&view, DRAY_BYTES(3), "1.x"), -EINVAL,
		     "'1.x'");
	assert_works(dray_view_fill(&view, DRAY_FLOAT64, &doubles[2]));
	doubles_are((double[]){ 1.5, 1.5, 1.5, 1.5, 1.5, 1.5 });
	view.flags = DRAY_READ;
	assert_fails(dray_view_fill(&view, DRAY_INT32, &seven), -EPERM,
		     "read-only");
}

FACT(long_elements_are_filled_too)
{
	static char texts[2][400];
	struct dray_view view = view_of(texts, DRAY_BYTES(400), 1, DIMS(2));
	const int8_t value = -5;

	memset(texts, 'x', sizeof(texts));
	assert_works(dray_view_fill(&view, DRAY_INT8, &value));
	assert_string_equal(texts[0], "-5");
	assert_string_equal(texts[1], "-5");
	assert_int_equal(texts[1][399], 0);
}

FACT(single_values_are_taken_out_and_put_in)
{
	struct dray_view view = INTS(1, 1), several = INTS(2);
	int64_t number = -70000;
	double real = 0;
	char text[8] = "";

	count_up();
	assert_works(dray_view_put(&view, DRAY_INT64, &number));
	assert_works(dray_view_get(&view, DRAY_FLOAT64, &real));
	assert_true(real == -70000);
	assert_works(dray_view_get(&view, DRAY_BYTES(8), text));
	assert_memory_equal(text, "-70000\0", 8);
	assert_works(dray_view_put(&view, DRAY_BYTES(2), "42"));
	assert_int_equal(ints[0], 42);
	assert_fails(dray_view_put(&view, DRAY_BYTES(2), "4x"), -EINVAL,
		     "'4x'");
	assert_int_equal(ints[0], 42);
	assert_fails(dray_view_get(&several, DRAY_INT64, &number), -EINVAL,
		     "2 elements");
	assert_fails(dray_view_put(&several, DRAY_INT64, &number), -EINVAL,
		     "2 elements");
	view.flags = DRAY_READ;
	assert_fails(dray_view_put(&view, DRAY_INT64, &number), -EPERM,
		     "read-only");
}

FACT(a_structure_is_taken_out_whole_or_not_at_all)
{
	char element[] = "\1\0\0\0xyz", good[] = "\1\0\0\0"
						 "123";
	int64_t values[] = { 77, 78 };
	dray_dtype from, to;
	struct dray_view view;

	assert_works(dray_dtype_parse("[('a', '<i4'), ('b', 'S3')]", &from));
	assert_works(dray_dtype_parse("i8,i8", &to));
	assert_works(dray_view_init(&view, element, from, 0, NULL, NULL));
	assert_fails(dray_view_get(&view, to, values), -EINVAL, "'xyz'");
	assert_int_equal(values[0], 77);
	view.data = good;
	assert_works(dray_view_get(&view, to, values));
	assert_int_equal(values[0], 1);
	assert_int_equal(values[1], 123);
	dray_dtype_unref(from);
	dray_dtype_unref(to);
}

FACT(scalars_are_immutable_but_for_raw_data)
{
	static const struct {
		dray_dtype type;
		uint64_t flags;
	} rows[] = {
		{ DRAY_FLOAT64, DRAY_READ | DRAY_IMMUTABLE },
		{ DRAY_BYTES(5), DRAY_READ | DRAY_IMMUTABLE },
		{ DRAY_VOID(3), DRAY_READ | DRAY_WRITE },
	};
	const int32_t from = 65;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_array *scalar = NULL;
		int64_t value = 0;

		assert_works(dray_scalar_create(rows[i].type, DRAY_INT32, &from,
						&scalar));
		assert_int_equal(scalar->ndim, 0);
		assert_int_equal(scalar->flags & PERMISSIONS, rows[i].flags);
		assert_true(scalar->flags & DRAY_C_CONTIGUOUS);
		if (rows[i].type != DRAY_VOID(3)) {
			assert_works(dray_view_get(whole_view(scalar),
						   DRAY_INT64, &value));
			assert_int_equal(value, 65);
			assert_fails(dray_view_put(whole_view(scalar),
						   DRAY_INT64, &value),
				     -EPERM, "immutable");
		}
		dray_array_unref(scalar);
	}
}

FACT(a_scalar_of_a_wrong_value_is_not_made)
{
	struct dray_array *scalar = NULL;

	assert_fails(dray_scalar_create(DRAY_INT8, DRAY_BYTES(3), "300",
					&scalar),
		     -ERANGE, "'300'");
	assert_fails(dray_scalar_create(0, DRAY_BYTES(3), "300", &scalar),
		     -EINVAL, "none");
	assert_null(scalar);
}
