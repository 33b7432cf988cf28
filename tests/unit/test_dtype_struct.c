// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dtype: type objects, from fields and from texts.  test_dtype_numpy.py compares
 * them with NumPy's.
 */
#include "unit.h"

static dray_dtype parsed(const char *text)
{
	dray_dtype dtype = 0;

	assert_works(dray_dtype_parse(text, &dtype));
	return dtype;
}

/* Checks the text of @dtype, and drops it. */
static void reads(dray_dtype dtype, const char *wanted)
{
	char text[512];
	int length = dray_dtype_format(dtype, text, sizeof(text));

	assert_int_equal(length, strlen(wanted));
	assert_string_equal(text, wanted);
	dray_dtype_unref(dtype);
}

FACT(texts_have_one_form)
{
	static const char *const cases[][2] = {
		{ "i4,(2,3)f8,S3",
		  "[('f0', '<i4'), ('f1', '<f8', (2, 3)), ('f2', '|S3')]" },
		{ "[ ( \"x\" , 'f4' , ) , ]", "[('x', '<f4')]" },
		{ "[(('title','name'),'>i2',(2,3))]",
		  "[(('title', 'name'), '>i2', (2, 3))]" },
		{ "[('', '|V3'), ('x', '<f4'), ('', 'V1')]",
		  "[('', '|V3'), ('x', '<f4'), ('', '|V1')]" },
		{ "[('', 'f4'), ('', 'f4')]",
		  "[('f0', '<f4'), ('f1', '<f4')]" },
		{ "{'names':['a','b'],'formats':['i1','i4'],'aligned':True}",
		  "{'names': ['a', 'b'], 'formats': ['|i1', '<i4'], 'offsets': [0, 4], 'itemsize': 8, 'aligned': True}" },
		{ "{'names':['a','b'],'formats':['i1','i4'],'offsets':[4,0]}",
		  "{'names': ['a', 'b'], 'formats': ['|i1', '<i4'], 'offsets': [4, 0], 'itemsize': 5}" },
		{ "{'names':['a','b'],'formats':['i4','i4'],'offsets':[0,0],'titles':['t',None]}",
		  "{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [0, 0], 'titles': ['t', None], 'itemsize': 4}" },
		{ "('f4', (2, 3))", "('<f4', (2, 3))" },
		{ "3f4", "('<f4', (3,))" },
		{ "[('a', [('b', '?'), ('c', 'M8[us]')])]",
		  "[('a', [('b', '|b1'), ('c', '<M8[us]')])]" },
		{ "[('it\\'s', 'u1'), ('\\u00e9\\x41\\t', 'u1')]",
		  "[('it\\'s', '|u1'), ('\xc3\xa9"
		  "A\\x09', '|u1')]" },
		{ "[(u'a', b'u1', 3L)]", "[('a', '|u1', (3,))]" },
		{ "[]", "[]" },
		{ "('S', 5)", "|S5" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_dtype dtype = parsed(cases[i][0]);
		dray_dtype again = parsed(cases[i][1]);

		assert_true(dray_dtype_equal(dtype, again));
		reads(dtype, cases[i][1]);
		reads(again, cases[i][1]);
	}
}

FACT(a_text_is_cut_off_as_by_snprintf)
{
	dray_dtype dtype = parsed("i4,f8");
	char text[12] = "untouched";

	assert_int_equal(dray_dtype_format(dtype, NULL, 0), 30);
	assert_int_equal(dray_dtype_format(dtype, text, 0), 30);
	assert_string_equal(text, "untouched");
	assert_int_equal(dray_dtype_format(dtype, text, sizeof(text)), 30);
	assert_string_equal(text, "[('f0', '<i");
	assert_int_equal(dray_dtype_format(dtype, text, 1), 30);
	assert_string_equal(text, "");
	dray_dtype_unref(dtype);
}

FACT(malformed_texts_are_refused_with_a_sentence)
{
	static const struct {
		const char *text;
		int error;
		const char *part;
	} cases[] = {
		{ "[", -EINVAL, "no literal at byte 1" },
		{ "[('a', 'i4')", -EINVAL, "no comma" },
		{ "[('a' 'i4')]", -EINVAL, "no comma" },
		{ "[('a', 'i4')]]", -EINVAL, "more than a literal" },
		{ "[('a", -EINVAL, "does not end" },
		{ "[('a\\", -EINVAL, "unknown escape" },
		{ "[('a\\x1', 'i4')]", -EINVAL, "lacks digits" },
		{ "[('a\\x00', 'i4')]", -EINVAL, "not a character" },
		{ "[('a\\ud800', 'i4')]", -EINVAL, "not a character" },
		{ "[('a\n', 'i4')]", -EINVAL, "does not end" },
		{ "[(1, 'i4')]", -EINVAL, "name is not a string" },
		{ "[('a',)]", -EINVAL, "not a tuple" },
		{ "[['a', 'i4']]", -EINVAL, "not a tuple" },
		{ "[('a', None)]", -EINVAL, "not a string, a list" },
		{ "[('a', 'i4', None)]", -EINVAL, "shape" },
		{ "[('a', 'i4', (2, 'x'))]", -EINVAL, "axis 1" },
		{ "[('a', 'i4', (2, -1))]", -EINVAL, "axis 1" },
		{ "[('a', 'i4', 99999999999999999999)]", -EINVAL, "63 bits" },
		{ "[('a', 'V4294967295'), ('b', 'u1')]", -EOVERFLOW,
		  "32 bits" },
		{ "[('a', 'O')]", -EINVAL, "objects" },
		{ "[('a', 'i4'), ('a', 'i4')]", -EINVAL, "more than once" },
		{ "[('\xff', 'i4')]", -EINVAL, "UTF-8" },
		{ "[('\xc0\x80', 'i4')]", -EINVAL, "UTF-8" },
		{ "[('\xe2\x82', 'i4')]", -EINVAL, "UTF-8" },
		{ "{'names': ['a']}", -EINVAL, "'formats'" },
		{ "{'names': ['a'], 'formats': []}", -EINVAL, "1 items" },
		{ "{'names' ['a']}", -EINVAL, "without a value" },
		{ "{'names'}", -EINVAL, "without a value" },
		{ "{'names', : []}", -EINVAL, "without a value" },
		{ "{'names':['a'],'formats':['i4'],'itemsize':3}", -EINVAL,
		  "4 bytes" },
		{ "{'names':['a'],'formats':['i4'],'itemsize':0}", -EINVAL,
		  "4 bytes" },
		{ "{'names':['a'],'formats':['i4'],'aligned':1}", -EINVAL,
		  "True or False" },
		{ "{'names':['a'],'formats':['i4'],'offsets':[4294967295]}",
		  -EOVERFLOW, "32 bits" },
		{ "{'names':['a'],'formats':['i4'],'offsets':[2],'aligned':True}",
		  -EINVAL, "alignment of 4" },
		{ "{'names':['a'],'formats':['i4'],'titles':[3]}", -EINVAL,
		  "title" },
		{ "__import__('os')", -EINVAL, "not understood" },
		{ "[1.5]", -EINVAL, "no comma" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_dtype dtype = 'x';

		if (dray_dtype_parse(cases[i].text, &dtype) != cases[i].error)
			fail_msg("'%s': %s", cases[i].text, dray_last_error());
		assert_fails(dray_dtype_parse(cases[i].text, &dtype),
			     cases[i].error, cases[i].part);
		assert_int_equal(dtype, 'x');
	}
}

/* "('f4', (1,))" in itself @depth times. */
static char *nested(const char *open, const char *close, int depth)
{
	size_t length = strlen(open) + strlen(close);
	char *text = calloc((size_t)depth * length + 16, 1);

	assert_non_null(text);
	for (int i = 0; i < depth; i++)
		strcat(text, open);
	strcat(text, "'f4'");
	for (int i = 0; i < depth; i++)
		strcat(text, close);
	return text;
}

FACT(depth_and_length_have_limits)
{
	char *text = nested("(", ", (1,))", DRAY_DTYPE_MAX_DEPTH);
	dray_dtype dtype;

	dray_dtype_unref(parsed(text));
	free(text);
	text = nested("[('a', ", ")]", DRAY_DTYPE_MAX_DEPTH);
	dray_dtype_unref(parsed(text));
	free(text);
	text = nested("(", ", (1,))", DRAY_DTYPE_MAX_DEPTH + 1);
	assert_fails(dray_dtype_parse(text, &dtype), -EINVAL, "33 deep");
	free(text);
	text = nested("[", "]", 6000);
	assert_fails(dray_dtype_parse(text, &dtype), -EINVAL, "too deep");
	free(text);
	text = nested("     ", " ", DRAY_DTYPE_MAX_TEXT);
	assert_fails(dray_dtype_parse(text, &dtype), -EINVAL, "65535");
	free(text);
}

static const struct dray_dtype_field pair[] = {
	{ "a", "title", DRAY_INT8, 3 },
	{ NULL, NULL, DRAY_FLOAT64, 8 },
};

FACT(fields_are_placed_packed_aligned_or_as_asked)
{
	static const struct {
		uint32_t flags, itemsize;
		uint32_t offsets[2], size, alignment;
		bool packed;
	} cases[] = {
		{ 0, 0, { 0, 1 }, 9, 1, true },
		{ 0, 12, { 0, 1 }, 12, 1, false },
		{ DRAY_DTYPE_ALIGNED,
		  0,
		  { 0, _Alignof(uint64_t) },
		  8 + _Alignof(uint64_t),
		  _Alignof(uint64_t),
		  false },
		{ DRAY_DTYPE_PLACED, 0, { 3, 8 }, 16, 1, false },
		{ DRAY_DTYPE_PLACED | DRAY_DTYPE_ALIGNED,
		  24,
		  { 3, 8 },
		  24,
		  _Alignof(uint64_t),
		  false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_dtype_field field;
		dray_dtype dtype;
		size_t at;

		assert_works(dray_dtype_create_struct(
			pair, 2, cases[i].flags, cases[i].itemsize, &dtype));
		assert_int_equal(dray_dtype_itemsize(dtype), cases[i].size);
		assert_int_equal(dray_dtype_alignment(dtype),
				 cases[i].alignment);
		assert_int_equal(dray_dtype_is_packed(dtype), cases[i].packed);
		assert_int_equal(dray_dtype_kind(dtype), 'V');
		assert_int_equal(dray_dtype_field_count(dtype), 2);
		for (size_t j = 0; j < 2; j++) {
			assert_works(dray_dtype_get_field(dtype, j, &field));
			assert_int_equal(field.offset, cases[i].offsets[j]);
		}
		assert_string_equal(field.name, "f1");
		assert_null(field.title);
		assert_works(dray_dtype_find_field(dtype, "title", &at));
		assert_int_equal(at, 0);
		assert_works(dray_dtype_find_field(dtype, "f1", &at));
		assert_int_equal(at, 1);
		assert_fails(dray_dtype_find_field(dtype, "b", &at), -ENOENT,
			     "'b'");
		assert_fails(dray_dtype_get_field(dtype, 2, &field), -ERANGE,
			     "field 2");
		dray_dtype_unref(dtype);
	}
}

FACT(fields_that_do_not_fit_are_refused)
{
	static struct dray_dtype_field many[DRAY_DTYPE_MAX_FIELDS + 1];
	struct dray_dtype_field wrong[2] = { pair[0], pair[1] };
	dray_dtype dtype = 'x';

	assert_fails(dray_dtype_create_struct(many, DRAY_DTYPE_MAX_FIELDS + 1,
					      0, 0, &dtype),
		     -EINVAL, "at most 8192");
	assert_fails(dray_dtype_create_struct(pair, 2, 1u << 9, 0, &dtype),
		     -EINVAL, "0x200");
	assert_fails(dray_dtype_create_struct(pair, 2, DRAY_DTYPE_ALIGNED, 17,
					      &dtype),
		     -EINVAL, "17 bytes");
	assert_fails(dray_dtype_create_struct(pair, 2, 0, 8, &dtype), -EINVAL,
		     "9 bytes");
	wrong[1].dtype = 0;
	assert_fails(dray_dtype_create_struct(wrong, 2, 0, 0, &dtype), -EINVAL,
		     "field 1");
	wrong[1] = pair[1];
	wrong[1].name = "title";
	assert_fails(dray_dtype_create_struct(wrong, 2, 0, 0, &dtype), -EINVAL,
		     "'title' occurs more than once");
	wrong[1] = pair[1];
	wrong[1].offset = UINT32_MAX;
	assert_fails(dray_dtype_create_struct(wrong, 2, DRAY_DTYPE_PLACED, 0,
					      &dtype),
		     -EOVERFLOW, "4294967303");
	assert_int_equal(dtype, 'x');
}

FACT(sub_arrays_have_a_base_and_a_shape)
{
	const int64_t shape[] = { 2, 3 }, large[] = { 1 << 20, 1 << 20 };
	dray_dtype dtype, same;
	const int64_t *there;

	assert_works(
		dray_dtype_create_subarray(DRAY_FLOAT32, 2, shape, &dtype));
	assert_int_equal(dray_dtype_itemsize(dtype), 24);
	assert_int_equal(dray_dtype_alignment(dtype), 4);
	assert_true(dray_dtype_base(dtype) == DRAY_FLOAT32);
	assert_int_equal(dray_dtype_shape(dtype, &there), 2);
	assert_memory_equal(there, shape, sizeof(shape));
	assert_int_equal(dray_dtype_field_count(dtype), 0);
	same = parsed("(2,3)f4");
	assert_true(dray_dtype_equal(dtype, same));
	dray_dtype_unref(same);
	same = parsed("(3,2)f4");
	assert_false(dray_dtype_equal(dtype, same));
	dray_dtype_unref(same);
	assert_false(dray_dtype_equal(dtype, DRAY_VOID(24)));
	dray_dtype_unref(dtype);
	assert_works(dray_dtype_create_subarray(f4, 0, NULL, &dtype));
	assert_true(dtype == f4);
	assert_fails(dray_dtype_create_subarray(f4, 65, large, &dtype), -EINVAL,
		     "65 axes");
	assert_fails(dray_dtype_create_subarray(f4, 2, DIMS(1, -1), &dtype),
		     -EINVAL, "axis 1");
	assert_fails(dray_dtype_create_subarray(DRAY_VOID(0), 2,
						DIMS(65536, 65536), &dtype),
		     -EOVERFLOW, "all of them do not fit 32 bits");
	assert_fails(dray_dtype_create_subarray(f4, 2, large, &dtype),
		     -EOVERFLOW, "axis 1");
}

FACT(types_differ_in_names_titles_offsets_and_parts)
{
	static const char *const texts[] = {
		"[('a', 'i4')]",
		"[('b', 'i4')]",
		"[(('t', 'a'), 'i4')]",
		"[('a', '>i4')]",
		"[('a', 'i4'), ('', 'V1')]",
		"[('', 'V1'), ('a', 'i4')]",
		"[('a', 'i4', (1,))]",
		"[('a', [('a', 'i4')])]",
		"('i4', (1,))",
		"i4",
		"V4",
		"[]",
	};
	size_t count = sizeof(texts) / sizeof(texts[0]), i, j;

	for (i = 0; i < count; i++) {
		for (j = 0; j < count; j++) {
			dray_dtype a = parsed(texts[i]), b = parsed(texts[j]);

			if (dray_dtype_equal(a, b) != (i == j))
				fail_msg("%s and %s", texts[i], texts[j]);
			dray_dtype_unref(a);
			dray_dtype_unref(b);
		}
	}
}

FACT(a_type_keeps_its_parts)
{
	dray_dtype inner = parsed("i4,f4"), outer;
	struct dray_dtype_field field = { "x", NULL, inner, 0 };

	assert_works(dray_dtype_create_struct(&field, 1, 0, 0, &outer));
	assert_int_equal(dray_block_count(&dray_dtype_as_object(inner)->block),
			 2);
	dray_dtype_unref(inner);
	reads(outer, "[('x', [('f0', '<i4'), ('f1', '<f4')])]");
}

FACT(flags_tell_what_a_type_is)
{
	static const struct {
		const char *text;
		uint32_t flags;
	} cases[] = {
		{ "f4", 0 },
		{ "V3", 0 },
		{ ">f4", DRAY_DTYPE_SWAPPED },
		{ "i4,f4", DRAY_DTYPE_STRUCT },
		{ "i4,>f4", DRAY_DTYPE_STRUCT | DRAY_DTYPE_SWAPPED },
		{ "(2,3)f8", DRAY_DTYPE_SUBARRAY },
		{ "(2,)>U3", DRAY_DTYPE_SUBARRAY | DRAY_DTYPE_SWAPPED },
		{ "{'names': ['x'], 'formats': ['<f4'], 'aligned': True}",
		  DRAY_DTYPE_STRUCT | DRAY_DTYPE_ALIGNED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_dtype dtype = parsed(cases[i].text);

		assert_int_equal(dray_dtype_flags(dtype), cases[i].flags);
		dray_dtype_unref(dtype);
	}
}

FACT(a_type_is_dumped_in_words)
{
	dray_dtype dtype = parsed("i4,f4");
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_works(
		dray_block_dump(&dray_dtype_as_object(dtype)->block, stream));
	fclose(stream);
	assert_non_null(
		strstr(text, " type: [('f0', '<i4'), ('f1', '<f4')]\n"));
	assert_non_null(strstr(text, " element: 8 bytes, aligned to 1\n"));
	free(text);
	dray_dtype_unref(dtype);
}

/* Both ways of one kind of text. */
struct language {
	int (*parse)(const char *text, dray_dtype *out);
	int (*format)(dray_dtype dtype, char *text, size_t room);
	const char *seeds[5];
};

/* Damages texts at random: each is parsed to a type with a text, or refused. */
static void damage(const struct language *language)
{
	static const char signs[] =
		"[]{}(),:'\"\\ 0123456789ifSVUMu<>|=xaeN\n^@Zdws";
	struct dice dice = { 2207 };
	int accepted = 0;

	for (int round = 0; round < 30000; round++) {
		char text[128], back[4096], third[4096];
		size_t length;
		dray_dtype dtype, again;

		strcpy(text, language->seeds[roll(&dice, 5)]);
		length = strlen(text);
		for (uint64_t n = 1 + roll(&dice, 3); n; n--)
			text[roll(&dice, length)] =
				signs[roll(&dice, sizeof(signs) - 1)];
		if (!roll(&dice, 4))
			text[roll(&dice, length)] = (char)roll(&dice, 256);
		if (language->parse(text, &dtype)) {
			assert_true(strlen(dray_last_error()) > 10);
			continue;
		}
		accepted++;
		assert_true(language->format(dtype, back, sizeof(back)) >= 0);
		assert_works(language->parse(back, &again));
		assert_true(language->format(again, third, sizeof(third)) >= 0);
		if (strcmp(third, back) ||
		    dray_dtype_itemsize(again) != dray_dtype_itemsize(dtype))
			fail_msg("'%s' became '%s'", text, back);
		dray_dtype_unref(dtype);
		dray_dtype_unref(again);
	}
	assert_true(accepted > 1000 && accepted < 29000);
}

FACT(bytes_with_a_shape_are_no_gap_if_they_are_alone)
{
	static const struct {
		const char *format, *text;
	} cases[] = {
		{ "(4)12x", "('|V12', (4,))" },
		{ "12x", "|V12" },
		{ "(4)12xB", "[('', '|V48'), ('f0', '|u1')]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200];
		dray_dtype dtype;

		assert_works(dray_dtype_from_pep3118(cases[i].format, &dtype));
		dray_dtype_format(dtype, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
		dray_dtype_unref(dtype);
	}
}

FACT(random_damage_to_texts_is_refused_or_means_something)
{
	damage(&(struct language){
		dray_dtype_parse,
		dray_dtype_format,
		{ "[('x', '<f4'), (('title', 'name'), '>i2', (2, 3))]",
		  "{'names':['a','b'],'formats':['i4','(2,)f8'],'offsets':[0,8],'itemsize':24,'aligned':True}",
		  "('<f4', (2, 3))", "i4,(2,3)f8,S3,M8[25us]",
		  "[('a', [('b', {'names':['c'],'formats':['?']})], 4)]" } });
}

FACT(random_damage_to_formats_is_refused_or_means_something)
{
	damage(&(struct language){
		dray_dtype_from_pep3118,
		dray_dtype_to_pep3118,
		{ "T{b:x:3x(2,3)>i:y:}", "T{T{d:a:}:n:=Zf:c:7w:t:}", "(2,3)<f",
		  "^T{i:x:b:y:}", "T{12s:a:@b:b:i:c:g:d:}" } });
}
