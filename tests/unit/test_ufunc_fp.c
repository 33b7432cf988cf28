// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ufunc_fp: floating-point errors, as the state of a thread wants them. */
#include <math.h>

#include <dray/array.h>

#include "ufunc.h"

/* Raises the processor's flags that the context has. */
static int err(char *const *data, const int64_t *strides, int64_t count,
	       void *context)
{
	(*(int *)context)++;
	feraiseexcept(*(int *)(void *)data[0]);
	return 0;
}

static struct dray_ufunc *trouble;
static int loops; /* calls of the loop */

static int set_up(void **state)
{
	assert_works(dray_ufunc_create("trouble", 1, 1, DRAY_IDENTITY_NONE,
				       &trouble));
	set_loop(trouble, (dray_dtype[]){ DRAY_INT32, DRAY_INT32 }, err, &loops,
		 0);
	set_loop(trouble, (dray_dtype[]){ DRAY_INT64, DRAY_INT64 }, err, &loops,
		 DRAY_LOOP_NO_FP_ERRORS);
	return 0;
}

static int tear_down(void **state)
{
	dray_ufunc_unref(trouble);
	return 0;
}

FACTS_SHARE(set_up, tear_down)
FACTS_ON(flags_are_kept)

static int call(int flags)
{
	struct dray_view in = view_of(&flags, DRAY_INT32, 0, NULL, NULL);
	int made;
	struct dray_view out = view_of(&made, DRAY_INT32, 0, NULL, NULL);

	return dray_ufunc_call(trouble, INPUTS(&in), INPUTS(&out), NULL, NULL);
}

static void set_all(enum dray_fp_action action,
		    void (*function)(void *context, const char *sentence,
				     unsigned int error, unsigned int errors),
		    void *context)
{
	const struct dray_fp_state state = {
		.divide = (uint8_t)action,
		.over = (uint8_t)action,
		.under = (uint8_t)action,
		.invalid = (uint8_t)action,
		.buffer_size = 8192,
		.call = function,
		.context = context,
	};

	assert_works(dray_set_fp_state(&state));
}

static const struct {
	int flag;
	unsigned int error;
	const char *sentence;
} errors[] = {
	{ FE_DIVBYZERO, DRAY_FP_DIVIDE,
	  "divide by zero encountered in trouble" },
	{ FE_OVERFLOW, DRAY_FP_OVER, "overflow encountered in trouble" },
	{ FE_UNDERFLOW, DRAY_FP_UNDER, "underflow encountered in trouble" },
	{ FE_INVALID, DRAY_FP_INVALID, "invalid value encountered in trouble" },
};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

struct heard {
	int calls;
	unsigned int errors;
	unsigned int each[4]; /* by calls */
	char sentences[512];
};

static void hear(void *context, const char *sentence, unsigned int error,
		 unsigned int set)
{
	struct heard *heard = context;
	size_t length = strlen(heard->sentences);

	heard->each[heard->calls++ % 4] = error;
	heard->errors = set;
	snprintf(heard->sentences + length, sizeof(heard->sentences) - length,
		 "%s;", sentence);
}

FACT(a_new_thread_warns_of_all_but_underflow)
{
	struct dray_fp_state fp = { .size = sizeof(fp) };

	assert_works(dray_set_fp_state(NULL));
	dray_get_fp_state(&fp);
	assert_int_equal(fp.divide, DRAY_FP_WARN);
	assert_int_equal(fp.over, DRAY_FP_WARN);
	assert_int_equal(fp.under, DRAY_FP_IGNORE);
	assert_int_equal(fp.invalid, DRAY_FP_WARN);
	assert_int_equal(fp.buffer_size, 8192);
	assert_null(fp.call);
}

FACT(each_error_is_raised_with_its_sentence)
{
	size_t i;

	set_all(DRAY_FP_RAISE, NULL, NULL);
	for (i = 0; i < ERRORS; i++) {
		assert_fails(call(errors[i].flag), -EDOM, errors[i].sentence);
		assert_works(call(0));
	}
}

FACT(each_error_is_heard_of_by_the_function)
{
	size_t i;

	for (i = 0; i < ERRORS; i++) {
		struct heard heard = { 0 };

		set_all(i % 2 ? DRAY_FP_CALL : DRAY_FP_WARN, hear, &heard);
		assert_works(call(errors[i].flag));
		assert_int_equal(heard.calls, 1);
		assert_int_equal(heard.errors, errors[i].error);
		assert_int_equal(heard.each[0], errors[i].error);
		assert_true(!strncmp(heard.sentences, errors[i].sentence,
				     strlen(errors[i].sentence)));
	}
}

FACT(several_errors_are_heard_of_one_by_one)
{
	struct heard heard = { 0 };

	set_all(DRAY_FP_CALL, hear, &heard);
	assert_works(call(FE_INVALID | FE_OVERFLOW));
	assert_int_equal(heard.calls, 2);
	assert_int_equal(heard.errors, DRAY_FP_OVER | DRAY_FP_INVALID);
	assert_int_equal(heard.each[0], DRAY_FP_OVER);
	assert_int_equal(heard.each[1], DRAY_FP_INVALID);
	assert_string_equal(heard.sentences,
			    "overflow encountered in trouble;"
			    "invalid value encountered in trouble;");
}

FACT(each_error_has_its_own_action)
{
	struct heard heard = { 0 };
	const struct dray_fp_state fp = {
		.divide = DRAY_FP_CALL,
		.over = DRAY_FP_IGNORE,
		.under = DRAY_FP_RAISE,
		.invalid = DRAY_FP_IGNORE,
		.buffer_size = 16,
		.call = hear,
		.context = &heard,
	};

	assert_works(dray_set_fp_state(&fp));
	assert_works(call(FE_OVERFLOW | FE_INVALID));
	assert_int_equal(heard.calls, 0);
	assert_works(call(FE_DIVBYZERO));
	assert_int_equal(heard.calls, 1);
	assert_fails(call(FE_UNDERFLOW | FE_DIVBYZERO), -EDOM, "underflow");
}

/* Standard error of @work, as text. */
static void take_stderr(void (*work)(void), char text[512])
{
	const int kept = dup(2);
	FILE *file = tmpfile();
	size_t length;

	assert_non_null(file);
	assert_int_equal(dup2(fileno(file), 2), 2);
	work();
	assert_int_equal(dup2(kept, 2), 2);
	close(kept);
	rewind(file);
	length = fread(text, 1, 511, file);
	text[length] = '\0';
	fclose(file);
}

static void divide_twice(void)
{
	assert_works(call(FE_DIVBYZERO));
	assert_works(call(FE_DIVBYZERO));
}

FACT(a_warning_without_a_function_is_printed_once)
{
	char text[512];

	set_all(DRAY_FP_WARN, NULL, NULL);
	take_stderr(divide_twice, text);
	assert_string_equal(
		text, "dray: warning: divide by zero encountered in trouble\n");
	take_stderr(divide_twice, text);
	assert_string_equal(text, "");
}

FACT(print_prints_each_time)
{
	char text[512];

	set_all(DRAY_FP_PRINT, NULL, NULL);
	take_stderr(divide_twice, text);
	assert_string_equal(
		text, "dray: error: divide by zero encountered in trouble\n"
		      "dray: error: divide by zero encountered in trouble\n");
}

FACT(call_without_a_function_and_ignore_say_nothing)
{
	char text[512];

	set_all(DRAY_FP_CALL, NULL, NULL);
	take_stderr(divide_twice, text);
	assert_string_equal(text, "");
	set_all(DRAY_FP_IGNORE, NULL, NULL);
	take_stderr(divide_twice, text);
	assert_string_equal(text, "");
}

FACT(flags_from_before_a_call_are_not_its_errors)
{
	set_all(DRAY_FP_RAISE, NULL, NULL);
	feraiseexcept(FE_INVALID | FE_DIVBYZERO);
	assert_works(call(0));
}

FACT(a_loop_that_raises_nothing_is_not_looked_at)
{
	int64_t in = FE_INVALID, out;
	struct dray_view from = view_of(&in, DRAY_INT64, 0, NULL, NULL);
	struct dray_view to = view_of(&out, DRAY_INT64, 0, NULL, NULL);

	set_all(DRAY_FP_RAISE, NULL, NULL);
	assert_works(dray_ufunc_call(trouble, INPUTS(&from), INPUTS(&to), NULL,
				     NULL));
	feclearexcept(FE_ALL_EXCEPT);
}

/* Calls the loop ten times, along the rows of a matrix with gaps. */
static int call_rows(dray_dtype dtype, bool swapped)
{
	static int in[10][40][2], out[10][40][2];
	const int flag = FE_INVALID;
	struct dray_view from, to;

	if (swapped)
		dtype ^= (dray_dtype)('<' ^ '>') << 8;
	from = view_of(in, dtype, 2, DIMS(10, 36), DIMS(320, 8));
	to = view_of(out, DRAY_INT32, 2, DIMS(10, 36), DIMS(320, 8));
	in[0][0][0] =
		swapped ? (int)__builtin_bswap32((unsigned int)flag) : flag;
	loops = 0;
	return dray_ufunc_call(trouble, INPUTS(&from), INPUTS(&to), NULL, NULL);
}

FACT(an_error_that_is_raised_ends_the_call_after_its_loop)
{
	struct dray_fp_state fp = { .size = sizeof(fp) };

	set_all(DRAY_FP_RAISE, NULL, NULL);
	assert_fails(call_rows(DRAY_INT32, false), -EDOM, "invalid value");
	assert_int_equal(loops, 1);
	dray_get_fp_state(&fp);
	fp.buffer_size = 36;
	assert_works(dray_set_fp_state(&fp));
	assert_fails(call_rows(DRAY_INT32, true), -EDOM, "invalid value");
	assert_int_equal(loops, 1);
	set_all(DRAY_FP_IGNORE, NULL, NULL);
	assert_works(call_rows(DRAY_INT32, false));
	assert_int_equal(loops, 10);
}

/* Converts a number for a loop of ints, which has no errors of its own. */
static int convert(double number)
{
	struct dray_ufunc *mix = make_mix();
	struct dray_view in = view_of(&number, DRAY_FLOAT64, 0, NULL, NULL);
	const struct dray_ufunc_options options = {
		.dtype = DRAY_INT32,
		.casting = 1 + DRAY_CASTING_UNSAFE,
	};
	int32_t made;
	struct dray_view out = view_of(&made, DRAY_INT32, 0, NULL, NULL);
	int ret = dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&out), &options,
				  NULL);

	dray_ufunc_unref(mix);
	return ret;
}

FACT(errors_of_conversions_are_those_of_the_call)
{
	set_all(DRAY_FP_RAISE, NULL, NULL);
	assert_fails(convert(NAN), -EDOM, "invalid value encountered in mix");
	assert_works(convert(3.5));
}

static void *get_state(void *state)
{
	dray_get_fp_state(state);
	return NULL;
}

FACT(each_thread_has_its_own_state)
{
	struct dray_fp_state fp = { .size = sizeof(fp) };
	pthread_t thread;

	set_all(DRAY_FP_RAISE, NULL, NULL);
	assert_int_equal(pthread_create(&thread, NULL, get_state, &fp), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(fp.divide, DRAY_FP_WARN);
	dray_get_fp_state(&fp);
	assert_int_equal(fp.divide, DRAY_FP_RAISE);
}

FACT(a_state_that_does_not_exist_is_refused)
{
	struct dray_fp_state fp = { .size = sizeof(fp) };
	struct dray_fp_state kept = { .size = sizeof(kept) };

	set_all(DRAY_FP_IGNORE, NULL, NULL);
	dray_get_fp_state(&fp);
	fp.under = 5;
	assert_fails(dray_set_fp_state(&fp), -EINVAL,
		     "no action 5 on a floating-point error: they are 0 to 4");
	fp.under = 0;
	fp.buffer_size = 15;
	assert_fails(dray_set_fp_state(&fp), -EINVAL,
		     "16 to 16777216 elements, not 15");
	fp.buffer_size = (1 << 24) + 1;
	assert_fails(dray_set_fp_state(&fp), -EINVAL, "not 16777217");
	dray_get_fp_state(&kept);
	assert_int_equal(kept.buffer_size, 8192);
	assert_works(dray_set_fp_state(NULL));
}
