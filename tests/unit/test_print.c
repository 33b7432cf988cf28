// SPDX-License-Identifier: Apache-2.0 OR MIT
/* print: views as text for people. */
#include <dray/array.h>

#include "pool.h"

static const int16_t numbers[] = { 1, -20, 3, 4, 5, 600 };
static const double reals[] = { 0.1, -1e300, 3 };
static const float parts[] = { 1, -2.5f };
static const uint8_t truths[] = { 1, 0 };
static const char bytes[] = "ab\0c'\n\0\0";
static const struct {
	char text[101];
	double parts[2];
} __attribute__((packed)) long_element = {
	"0123456789012345678901234567890123456789"
	"0123456789012345678901234567890123456789"
	"01234567890123456789",
	{ -1.2345678e-300, -1.2345678e-300 },
};
static const int64_t days[] = { 0, 20000, INT64_MIN };

static const struct {
	const void *data;
	const char *type;
	int ndim;
	int64_t shape[3];
	const char *text;
} cases[] = {
	{ numbers, "<i2", 0, { 0 }, "1\nshape (), type <i2\n" },
	{ numbers, "<i2", 1, { 0 }, "[]\nshape (0,), type <i2\n" },
	{ NULL,
	  "<i2",
	  2,
	  { INT64_C(1) << 50, 0 },
	  "[]\nshape (1125899906842624,0), type <i2\n" },
	{ numbers,
	  "<i2",
	  2,
	  { INT64_C(1) << 40, 0 },
	  "[]\nshape (1099511627776,0), type <i2\n" },
	{ numbers,
	  "<i2",
	  2,
	  { 2, 3 },
	  "[[  1 -20   3]\n [  4   5 600]]\nshape (2,3), type <i2\n" },
	{ numbers,
	  "<i2",
	  3,
	  { 2, 1, 2 },
	  "[[[  1 -20]]\n\n [[  3   4]]]\nshape (2,1,2), type <i2\n" },
	{ reals,
	  "<f8",
	  1,
	  { 3 },
	  "[    0.1 -1e+300       3]\nshape (3,), type <f8\n" },
	{ parts, "<c8", 0, { 0 }, "1-2.5j\nshape (), type <c8\n" },
	{ truths, "|b1", 1, { 2 }, "[ true false]\nshape (2,), type |b1\n" },
	{ bytes,
	  "|S4",
	  1,
	  { 2 },
	  "[ 'ab\\x00c' '\\x27\\x0a']\nshape (2,), type |S4\n" },
	{ days,
	  "<M8[D]",
	  1,
	  { 3 },
	  "[1970-01-01 2024-10-04        NaT]\nshape (3,), type <M8[D]\n" },
	{ numbers,
	  "[('x', '<i2'), ('y', 'u1')]",
	  1,
	  { 1 },
	  "[(1, 236)]\nshape (1,), type [('x', '<i2'), ('y', '|u1')]\n" },
	{ &long_element,
	  "[('x', 'S101'), ('y', '<c16')]",
	  0,
	  { 0 },
	  "('0123456789012345678901234567890123456789"
	  "0123456789012345678901234567890123456789"
	  "01234567890123456789', -1.2345678e...\n"
	  "shape (), type [('x', '|S101'), ('y', '<c16')]\n" },
};

static void assert_prints(const struct dray_view *view, const char *wanted)
{
	char text[4000] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	assert_works(dray_view_print(view, stream));
	fclose(stream);
	assert_string_equal(text, wanted);
}

FACT(elements_are_printed_in_columns)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_view view;
		dray_dtype dtype;

		assert_works(dray_dtype_parse(cases[i].type, &dtype));
		assert_works(dray_view_init(&view, (void *)cases[i].data, dtype,
					    cases[i].ndim, cases[i].shape,
					    NULL));
		assert_prints(&view, cases[i].text);
		dray_dtype_unref(dtype);
	}
}

FACT(the_middle_of_much_is_left_out)
{
	static uint8_t data[2000];
	struct dray_view view;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	assert_works(dray_view_init(&view, data, u1, 2, DIMS(2, 1000), NULL));
	assert_prints(&view, "[[  0   1   2 ... 229 230 231]\n"
			     " [232 233 234 ... 205 206 207]]\n"
			     "shape (2,1000), type |u1\n");
}

FACT(a_view_that_cannot_be_printed_is_an_error)
{
	struct dray_view view;
	FILE *full = fopen("/dev/full", "w");

	assert_works(dray_view_init(&view, (void *)numbers, DRAY_INT16, 1,
				    DIMS(6), NULL));
	assert_fails(dray_view_print(&view, full), -EIO, "completely");
	fclose(full);
	view.flags = DRAY_WRITE;
	assert_fails(dray_view_print(&view, stdout), -EPERM, "may not be read");
}
