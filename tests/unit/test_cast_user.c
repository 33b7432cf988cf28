// SPDX-License-Identifier: Apache-2.0 OR MIT
/* cast_user: conversions that types of a user's own bring. */
#include <dray/array.h>

#include "nditer.h"
#include "user_types.h"

#define OTHER_ORDER (DRAY_NATIVE_ORDER == '<' ? '>' : '<')
#define SWAPPED_FLOAT DRAY_DTYPE('f', OTHER_ORDER, 4)
#define NEVER (DRAY_CASTING_UNSAFE + 1)

static dray_dtype bfloat, q15;

static int make_types(void **state)
{
	bfloat = make_bfloat();
	q15 = make_q15();
	return 0;
}

static int drop_types(void **state)
{
	dray_dtype_unref(bfloat);
	dray_dtype_unref(q15);
	return 0;
}

FACTS_SHARE(make_types, drop_types)

/* A type by its text, of which 'B' and 'q' are the user's. */
static dray_dtype type(const char *text)
{
	dray_dtype dtype = 0;

	if (!text)
		return 0;
	if (!strcmp(text, "B"))
		return dray_dtype_ref(bfloat);
	if (!strcmp(text, "q"))
		return dray_dtype_ref(q15);
	assert_works(dray_dtype_parse(text, &dtype));
	return dtype;
}

FACT(the_rules_are_those_that_a_type_returns)
{
	static const struct {
		const char *from, *to;
		int first; /* rule that allows it */
	} rows[] = {
		{ "B", "B", DRAY_CASTING_NO },
		{ "B", "=f4", DRAY_CASTING_SAFE },
		{ "B", "<f4", DRAY_CASTING_SAFE },
		{ "B", ">f4", DRAY_CASTING_SAFE },
		{ ">f4", "B", DRAY_CASTING_SAME_KIND },
		{ "u1", "B", DRAY_CASTING_SAFE },
		{ "B", "M8[s]", DRAY_CASTING_UNSAFE },
		{ "B", "S5", DRAY_CASTING_SAME_KIND },
		{ "q", "B", DRAY_CASTING_SAME_KIND },
		{ "f4", "q", DRAY_CASTING_UNSAFE },
		{ "B", "q", NEVER },
		{ "B", "f8", NEVER },
		{ "B", "U5", NEVER },
		{ "i4", "B", NEVER },
		{ "B", "f4,f4", DRAY_CASTING_UNSAFE },
		{ "B", "(2,)f4", DRAY_CASTING_SAFE },
		{ "(2,)u1", "B", DRAY_CASTING_UNSAFE },
		{ "i4,i4", "B", NEVER },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		dray_dtype from = type(rows[i].from), to = type(rows[i].to);

		for (int rule = 0; rule <= DRAY_CASTING_UNSAFE; rule++) {
			if (dray_can_cast(from, to, (enum dray_casting)rule) !=
			    (rule >= rows[i].first))
				fail_msg("%s to %s by the rule %d",
					 rows[i].from, rows[i].to, rule);
		}
		dray_dtype_unref(from);
		dray_dtype_unref(to);
	}
}

FACT(the_common_type_is_the_one_that_the_others_convert_to_safely)
{
	static const struct {
		const char *types[3];
		unsigned int weak;
		const char *common; /* NULL: none */
	} rows[] = {
		{ { "B" }, 0, "B" },
		{ { "B", "B" }, 0, "B" },
		{ { "B", ">f4" }, 0, "=f4" },
		{ { ">f4", "B" }, 0, "=f4" },
		{ { "u1", "B" }, 0, "B" },
		{ { "u1", "B", "f4" }, 0, "=f4" },
		{ { "f4", "u1", "B" }, 0, "=f4" },
		{ { "B", "q" }, 0, NULL },
		{ { "B", "f8" }, 0, NULL },
		{ { "i4", "f4", "B" }, 0, NULL },
		{ { "B" }, DRAY_WEAK_INT, "B" },
		{ { "B" }, DRAY_WEAK_FLOAT, NULL },
		{ { "B", "f4" }, DRAY_WEAK_FLOAT, "=f4" },
		{ { "q" }, DRAY_WEAK_INT, NULL },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		dray_dtype types[3], common = 0, wanted = type(rows[i].common);
		size_t count = 0;
		int ret;

		for (; count < 3 && rows[i].types[count]; count++)
			types[count] = type(rows[i].types[count]);
		ret = dray_result_type(types, count, rows[i].weak, &common);
		if (!wanted)
			assert_int_equal(ret, -EINVAL);
		else if (ret || !dray_dtype_equal(common, wanted))
			fail_msg("row %zu: not %s, but %d, %s", i,
				 rows[i].common, ret, dray_last_error());
		dray_dtype_unref(common);
		dray_dtype_unref(wanted);
		while (count--)
			dray_dtype_unref(types[count]);
	}
}

/* The nearest number of eight significant bits, of even ones if two are. */
static float nearest(float value)
{
	int exponent;
	const double fraction = frexp((double)value, &exponent);

	return (float)ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

#define COUNT 1500 /* more than a buffer of steps has */

FACT(random_floats_of_both_orders_are_converted_there_and_back)
{
	static float from[2 * COUNT], back[COUNT];
	static uint16_t between[3 * COUNT];
	struct dice dice = { 0x1234567 };

	for (int trial = 0; trial < 20; trial++) {
		const dray_dtype dtype =
			trial & 1 ? SWAPPED_FLOAT : DRAY_FLOAT32;
		const int64_t step = 1 + trial / 2 % 2, leap = 1 + trial % 3;
		struct dray_view a, b, c;

		for (int i = 0; i < 2 * COUNT; i++)
			from[i] = ldexpf((float)(int32_t)roll(&dice, 1u << 31),
					 (int)roll(&dice, 60) - 60);
		assert_works(dray_view_init(&a, from, DRAY_FLOAT32, 1,
					    DIMS(COUNT), DIMS(4 * step)));
		assert_works(dray_view_init(&b, between, bfloat, 1, DIMS(COUNT),
					    DIMS(2 * leap)));
		assert_works(
			dray_view_init(&c, back, dtype, 1, DIMS(COUNT), NULL));
		/* There from the other order too. */
		assert_works(dray_view_convert(&c, &a, DRAY_CASTING_SAFE));
		assert_works(dray_view_convert(&b, &c, DRAY_CASTING_SAME_KIND));
		memset(back, 0, sizeof(back));
		assert_works(dray_view_convert(&c, &b, DRAY_CASTING_SAFE));
		c.dtype = DRAY_FLOAT32;
		for (int i = 0; i < COUNT; i++) {
			const float wanted = nearest(from[i * step]);
			uint32_t bits;
			float value;

			memcpy(&bits, &back[i], sizeof(bits));
			if (dtype == SWAPPED_FLOAT)
				bits = __builtin_bswap32(bits);
			memcpy(&value, &bits, sizeof(value));
			if (value != wanted)
				fail_msg("%.9g became %.9g, not %.9g",
					 (double)from[i * step], (double)value,
					 (double)wanted);
		}
	}
}

FACT(single_values_are_taken_out_and_put_in)
{
	uint16_t element = 0;
	int64_t date = 0;
	struct dray_array *scalar;
	struct dray_view view;
	char text[6] = "";
	float value = 0;

	assert_works(dray_view_init(&view, &element, bfloat, 0, NULL, NULL));
	assert_works(dray_view_put(&view, DRAY_FLOAT32, &(float){ -2.5f }));
	assert_int_equal(element, 0xc020);
	assert_works(dray_view_get(&view, DRAY_FLOAT32, &value));
	assert_true(value == -2.5f);
	assert_works(dray_view_get(&view, DRAY_BYTES(5), text));
	assert_string_equal(text, "-2.5b");
	assert_works(dray_view_get(&view, type(">M8[s]"), &date));
	assert_int_equal((int64_t)__builtin_bswap64((uint64_t)date), -2);
	assert_works(dray_view_fill(&view, DRAY_UINT8, "\7"));
	assert_works(
		dray_scalar_create(DRAY_FLOAT32, bfloat, &element, &scalar));
	memcpy(&value, scalar->data, sizeof(value));
	assert_true(value == 7);
	dray_array_unref(scalar);
	assert_fails(dray_view_get(&view, DRAY_FLOAT64, &date), -EOPNOTSUPP,
		     "elements of bfloat16 do not convert to <f8");
}

FACT(elements_are_printed_by_their_conversion_to_text)
{
	uint16_t elements[2] = { 0x3f80, 0xc020 };
	struct dray_view view;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	assert_works(dray_view_init(&view, elements, bfloat, 1, DIMS(2), NULL));
	assert_works(dray_view_print(&view, stream));
	fclose(stream);
	assert_string_equal(text, "[   1b -2.5b]\nshape (2,), type bfloat16\n");
	free(text);
}

FACT(a_loop_that_fails_ends_the_conversion)
{
	static const float given[4] = { 0.5f, -1, 1, 0.25f };
	int16_t fractions[4] = { 1, 1, 1, 1 };
	struct dray_view to, from;

	assert_works(dray_view_init(&from, (void *)(uintptr_t)given,
				    DRAY_FLOAT32, 1, DIMS(4), NULL));
	assert_works(dray_view_init(&to, fractions, q15, 1, DIMS(4), NULL));
	assert_fails(dray_view_convert(&to, &from, DRAY_CASTING_SAME_KIND),
		     -EINVAL, "from '<f4' to 'q15' according to the rule");
	assert_int_equal(dray_view_convert(&to, &from, DRAY_CASTING_UNSAFE),
			 -ERANGE);
	assert_memory_equal(fractions, ((int16_t[]){ 16384, INT16_MIN, 1, 1 }),
			    8);
}

FACT(parts_of_elements_convert_by_the_same_loops)
{
	struct dray_dtype_field field = { "x", NULL, 0, 0 };
	uint16_t pairs[4] = { 0x3f80, 0x4000, 0x4040, 0x4080 };
	dray_dtype pair, record, floats = type("[('x', '>f4', (2,))]");
	dray_dtype native = type("[('x', '=f4', (2,))]"), both;
	struct dray_view to, from;
	uint32_t bits[4];

	assert_works(dray_dtype_create_subarray(bfloat, 1, DIMS(2), &pair));
	field.dtype = pair;
	assert_works(dray_dtype_create_struct(&field, 1, 0, 0, &record));
	assert_true(dray_can_cast(record, floats, DRAY_CASTING_SAFE));
	assert_works(dray_promote(record, floats, &both));
	assert_true(dray_dtype_equal(both, native));
	assert_works(dray_view_init(&from, pairs, record, 1, DIMS(2), NULL));
	assert_works(dray_view_init(&to, bits, floats, 1, DIMS(2), NULL));
	assert_works(dray_view_convert(&to, &from, DRAY_CASTING_SAFE));
	for (int i = 0; i < 4; i++) {
		const float wanted = (float)(i + 1);
		float value;

		bits[i] = OTHER_ORDER == '>' ? __builtin_bswap32(bits[i])
					     : bits[i];
		memcpy(&value, &bits[i], sizeof(value));
		assert_true(value == wanted);
	}
	dray_dtype_unref(both);
	dray_dtype_unref(native);
	dray_dtype_unref(floats);
	dray_dtype_unref(record);
	dray_dtype_unref(pair);
}

FACT(buffers_of_iterators_convert_on_the_way_in_and_out)
{
	uint16_t elements[24];
	const struct form form = { 2, { 4, 3 }, { 6, 2 }, 0 };
	struct dray_view view = view_in(elements, bfloat, &form);
	struct dray_nditer *iter;
	char **data;

	for (int i = 0; i < 24; i++)
		store_bfloat(&elements[i], (float)i);
	iter = iterate(
		&view, 1,
		&(struct dray_nditer_options){
			.flags = DRAY_NDITER_BUFFERED,
			.casting = DRAY_CASTING_SAME_KIND,
			.buffer_size = 5,
			.dtypes = (const dray_dtype[]){ SWAPPED_FLOAT },
			.operand_flags = (const uint32_t[]){
				DRAY_OPERAND_READ | DRAY_OPERAND_WRITE } });
	data = dray_nditer_data(iter);
	do {
		uint32_t bits = __builtin_bswap32((uint32_t)int_at(data[0]));
		float value;

		memcpy(&value, &bits, sizeof(value));
		value = -value;
		memcpy(&bits, &value, sizeof(bits));
		bits = __builtin_bswap32(bits);
		memcpy(data[0], &bits, sizeof(bits));
	} while (dray_nditer_next(iter));
	assert_works(dray_nditer_destroy(iter));
	for (int i = 0; i < 24; i++)
		assert_true(load_bfloat(&elements[i]) ==
			    (float)(i % 2 ? i : -i));
}

FACT(a_type_without_conversions_converts_to_itself_only)
{
	static const struct dray_dtype_functions plain;
	dray_dtype dtype = make_type("plain", 'B', &plain), common = 0;
	struct dray_cast cast;

	assert_works(dray_cast_find(dtype, dtype, &cast));
	assert_fails(dray_cast_find(DRAY_FLOAT32, dtype, &cast), -EOPNOTSUPP,
		     "elements of plain do not convert to <f4");
	assert_false(dray_can_cast(dtype, DRAY_FLOAT32, DRAY_CASTING_UNSAFE));
	assert_fails(dray_promote(DRAY_FLOAT32, dtype, &common), -EINVAL, "no");
	dray_dtype_unref(dtype);
}
