// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times each loop that is compiled for several levels of the processor's instructions,
 * at all of them in turn, on lines that lie in the cache.  Prints a line for each loop
 * and layout: its list, its name, the layout, and the nanoseconds of a call at the
 * baseline, with AVX2 and with AVX-512, the least of all rounds.
 *
 *	loop-levels [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "private.h"
#include "cast/cast_half.h"
#include "loops/elementary.h"
#include "loops/line.h"
#include "loops/loops.h"

#define LEVELS 3
#define OPERANDS 6
#define ROOM (2 * 32768)
/* Nanoseconds of a sample: many calls, but less than a turn of the scheduler. */
#define SAMPLE 30000

#define EACH_LIST(OF)  \
	OF(arithmetic) \
	OF(bits)       \
	OF(compare)    \
	OF(divide)     \
	OF(extremes)   \
	OF(logical)    \
	OF(parts)      \
	OF(power)      \
	OF(powers)     \
	OF(root)       \
	OF(rounding)   \
	OF(sizes)      \
	OF(tests)
#define EACH_LINES(OF) OF(sum) OF(best) OF(bit)

#define DECLARE_LIST(name)                                        \
	extern const struct dray_ufunc_list dray_##name##_ufuncs, \
		dray_##name##_ufuncs_avx2, dray_##name##_ufuncs_avx512;
#define DECLARE_LINES(name)                                     \
	extern const struct dray_line_list dray_##name##_lines, \
		dray_##name##_lines_avx2, dray_##name##_lines_avx512;
EACH_LIST(DECLARE_LIST)
EACH_LINES(DECLARE_LINES)
extern const struct dray_half_casts dray_half_casts_of, dray_half_casts_of_avx2,
	dray_half_casts_of_avx512;

#define LIST_ENTRY(name)                                       \
	{ #name,                                               \
	  { &dray_##name##_ufuncs, &dray_##name##_ufuncs_avx2, \
	    &dray_##name##_ufuncs_avx512 } },
#define LINES_ENTRY(name)                                    \
	{ #name "_lines",                                    \
	  { &dray_##name##_lines, &dray_##name##_lines_avx2, \
	    &dray_##name##_lines_avx512 } },

static const struct {
	const char *name;
	const struct dray_ufunc_list *levels[LEVELS];
} lists[] = { EACH_LIST(LIST_ENTRY) };

static const struct {
	const char *name;
	const struct dray_line_list *levels[LEVELS];
} line_lists[] = { EACH_LINES(LINES_ENTRY) };

static const struct dray_half_casts *const casts[LEVELS] = {
	&dray_half_casts_of, &dray_half_casts_of_avx2,
	&dray_half_casts_of_avx512
};

/* How operands lie. */
static const struct layout {
	const char *name;
	size_t bytes; /* of the elements of the widest operand */
	int gap; /* a stride is so many elements */
} layouts[] = {
	{ "4 KiB", 4096, 1 },
	{ "32 KiB", 32768, 1 },
	{ "4 KiB, every other", 4096, 2 },
};

/* A call: all that a loop of any kind is given. */
struct timed_call {
	void (*run)(const struct timed_call *call, int level);
	const void *of[LEVELS]; /* an entry, a line or a function */
	char *data[OPERANDS];
	int64_t strides[OPERANDS];
	int64_t count;
	int function; /* of a set of kernels */
};

static char *operands[OPERANDS];
static int64_t indices[ROOM];
static int rounds = 15;

static size_t letter_size(char letter)
{
	switch (letter) {
	case '?':
	case 'b':
	case 'B':
		return 1;
	case 'h':
	case 'H':
	case 'e':
		return 2;
	case 'i':
	case 'I':
	case 'f':
		return 4;
	case 'D':
		return 16;
	default:
		return 8;
	}
}

/* Fills an operand with numbers that no function has trouble with. */
static void fill_operand(char *to, char letter)
{
	const size_t size = letter_size(letter);
	size_t i;

	for (i = 0; i < ROOM / size; i++) {
		const int number = 1 + rand() % 5;
		const double real = 0.5 + rand() % 1000 / 300.;
		char *at = to + i * size;

		switch (letter) {
		case '?':
			*at = (char)(number & 1);
			break;
		case 'e':
			*(uint16_t *)(void *)at =
				(uint16_t)(0x3800 + rand() % 0x0c00);
			break;
		case 'f':
			*(float *)(void *)at = (float)real;
			break;
		case 'd':
			*(double *)(void *)at = real;
			break;
		case 'F':
			((float *)(void *)at)[0] = (float)real;
			((float *)(void *)at)[1] = (float)number;
			break;
		case 'D':
			((double *)(void *)at)[0] = real;
			((double *)(void *)at)[1] = number;
			break;
		default:
			memset(at, 0, size);
			*at = (char)number; /* little-endian */
		}
	}
}

static double time_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_sample(const struct timed_call *call, int level, long calls)
{
	const double start = time_now();
	long i;

	for (i = 0; i < calls; i++)
		call->run(call, level);
	return (time_now() - start) / (double)calls;
}

static void time_call(const struct timed_call *call, const char *list,
		      const char *name, const struct layout *layout)
{
	double best[LEVELS] = { 0 };
	long calls[LEVELS];
	int level, round;

	for (level = 0; level < LEVELS; level++) {
		best[level] = time_sample(call, level, 3);
		calls[level] = 1 + (long)(SAMPLE / best[level]);
	}
	for (round = 0; round < rounds; round++)
		for (level = 0; level < LEVELS; level++) {
			const double ns =
				time_sample(call, level, calls[level]);

			if (ns < best[level])
				best[level] = ns;
		}
	printf("%s\t%s\t%s\t%.1f\t%.1f\t%.1f\n", list, name, layout->name,
	       best[0], best[1], best[2]);
}

/* Places operands of types; returns the number of elements. */
static void place_operands(struct timed_call *call, const char *letters,
			   const struct layout *layout)
{
	size_t widest = 1;
	int o;

	for (o = 0; letters[o]; o++) {
		const size_t size = letter_size(letters[o]);

		fill_operand(operands[o], letters[o]);
		call->data[o] = operands[o];
		call->strides[o] = (int64_t)size * layout->gap;
		if (size > widest)
			widest = size;
	}
	call->count = (int64_t)(layout->bytes / widest);
}

static void run_entry(const struct timed_call *call, int level)
{
	const struct dray_loop_entry *const entry = call->of[level];

	entry->loop(call->data, call->strides, call->count, entry->context);
}

static void time_entry(const char *list, const char *name, size_t definition,
		       size_t entry,
		       const struct dray_ufunc_list *const *levels)
{
	struct timed_call call = { .run = run_entry };
	char text[64];
	size_t i;
	int level;

	for (level = 0; level < LEVELS; level++)
		call.of[level] =
			&levels[level]->definitions[definition].loops[entry];
	snprintf(text, sizeof(text), "%s %s", name,
		 levels[0]->definitions[definition].loops[entry].types);
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		place_operands(
			&call,
			levels[0]->definitions[definition].loops[entry].types,
			&layouts[i]);
		time_call(&call, list, text, &layouts[i]);
	}
}

static void time_list(size_t number)
{
	const struct dray_ufunc_list *const *levels = lists[number].levels;
	size_t d, e;

	for (d = 0; d < levels[0]->count; d++)
		for (e = 0; e < levels[0]->definitions[d].count; e++)
			time_entry(lists[number].name,
				   levels[0]->definitions[d].name, d, e,
				   levels);
}

static void run_shortcut(const struct timed_call *call, int level)
{
	const struct dray_line *const line = call->of[level];

	line->loop(call->data[0], call->data[1], call->strides[1], call->count);
}

static void run_running(const struct timed_call *call, int level)
{
	const struct dray_line *const line = call->of[level];

	line->running(call->data[0], call->strides[0], call->data[1],
		      call->strides[1], call->count - 1);
}

static void run_placing(const struct timed_call *call, int level)
{
	const struct dray_line *const line = call->of[level];

	line->placing(call->data[0], call->strides[0], indices, call->count,
		      call->data[1], call->strides[1]);
}

/* The rows are as long as the whole line. */
static void run_rows(const struct timed_call *call, int level)
{
	const struct dray_line *const line = call->of[level];

	line->rows(call->data[0], call->data[1], 0, call->count);
}

static char dtype_letter(dray_dtype dtype)
{
	const uint32_t size = dray_dtype_itemsize(dtype);

	switch (dray_dtype_kind(dtype)) {
	case 'f':
		return size == 2 ? 'e' : size == 4 ? 'f' : 'd';
	case 'c':
		return size == 8 ? 'F' : 'D';
	case '?':
	case 'b':
		return '?';
	default:
		return "?bh?i???q"[size];
	}
}

static void time_line(const char *list, size_t number,
		      const struct dray_line_list *const *levels)
{
	const struct dray_line *line = &levels[0]->lines[number];
	const char letters[] = { dtype_letter(line->dtype),
				 dtype_letter(line->from), '\0' };
	const struct {
		const char *name;
		bool there;
		void (*run)(const struct timed_call *call, int level);
	} ways[] = {
		{ "line", line->loop, run_shortcut },
		{ "running", line->running, run_running },
		{ "placing", line->placing, run_placing },
		{ "rows", line->rows && letters[0] == letters[1], run_rows },
	};
	struct timed_call call;
	char text[64];
	size_t way, i;
	int level;

	for (level = 0; level < LEVELS; level++)
		call.of[level] = &levels[level]->lines[number];
	for (way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
		for (i = 0; ways[way].there &&
			    i < sizeof(layouts) / sizeof(layouts[0]);
		     i++) {
			call.run = ways[way].run;
			place_operands(&call, letters, &layouts[i]);
			snprintf(text, sizeof(text), "%s %s %s", line->name,
				 letters, ways[way].name);
			time_call(&call, list, text, &layouts[i]);
		}
}

static void run_to_float(const struct timed_call *call, int level)
{
	casts[level]->to_float(call->data, call->strides, call->count, NULL);
}

static void run_to_double(const struct timed_call *call, int level)
{
	casts[level]->to_double(call->data, call->strides, call->count, NULL);
}

static void run_of_float(const struct timed_call *call, int level)
{
	casts[level]->of_float(call->data, call->strides, call->count);
}

static void run_of_double(const struct timed_call *call, int level)
{
	casts[level]->of_double(call->data, call->strides, call->count);
}

static void time_casts(void)
{
	static const struct {
		const char *letters;
		void (*run)(const struct timed_call *call, int level);
	} ways[] = { { "fe", run_to_float },
		     { "de", run_to_double },
		     { "ef", run_of_float },
		     { "ed", run_of_double } };
	size_t way, i;

	for (way = 0; way < 4; way++)
		for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
			struct timed_call call = { .run = ways[way].run };

			place_operands(&call, ways[way].letters, &layouts[i]);
			time_call(&call, "cast_half", ways[way].letters,
				  &layouts[i]);
		}
}

#ifdef DRAY_HAS_SLEEF
#define FUNCTION_NAME(name, ...) #name,
static const char *const functions[] = {
	DRAY_WIDE_FUNCTIONS(FUNCTION_NAME) DRAY_LONG_FUNCTIONS(FUNCTION_NAME)
		DRAY_LOG_FUNCTIONS(FUNCTION_NAME) "atan2",
	DRAY_WIDE_BINARY_FUNCTIONS(FUNCTION_NAME)
};

static void run_floats(const struct timed_call *call, int level)
{
	const struct dray_kernels *const set = call->of[level];

	set->of_float[call->function]((const float *)(void *)call->data[1],
				      (const float *)(void *)call->data[2],
				      (float *)(void *)call->data[0],
				      (size_t)call->count);
}

static void run_doubles(const struct timed_call *call, int level)
{
	const struct dray_kernels *const set = call->of[level];

	set->of_double[call->function]((const double *)(void *)call->data[1],
				       (const double *)(void *)call->data[2],
				       (double *)(void *)call->data[0],
				       (size_t)call->count);
}

/* Kernels take lines without gaps alone. */
static void time_kernels(const char *list,
			 const struct dray_kernels *const *levels)
{
	struct timed_call call = { .function = 0 };
	char text[64];
	size_t i;

	memcpy(call.of, levels, sizeof(call.of));
	for (; call.function < DRAY_FUNCTION_COUNT; call.function++)
		for (i = 0; i < 2; i++) {
			snprintf(text, sizeof(text), "%s f",
				 functions[call.function]);
			place_operands(&call, "fff", &layouts[i]);
			call.run = run_floats;
			time_call(&call, list, text, &layouts[i]);
			text[strlen(text) - 1] = 'd';
			place_operands(&call, "ddd", &layouts[i]);
			call.run = run_doubles;
			time_call(&call, list, text, &layouts[i]);
		}
}

static void time_elementary(void)
{
	static const struct dray_kernels *const exact[] = {
		&dray_kernels_sse2, &dray_kernels_avx, &dray_kernels_avx512
	};
	static const struct dray_kernels *const fused[] = {
		&dray_kernels_avx, &dray_kernels_avx2_fused,
		&dray_kernels_avx512_fused
	};

	time_kernels("elementary", exact);
	time_kernels("elementary, fused", fused);
}
#else
static void time_elementary(void)
{
}
#endif

int main(int argc, char **argv)
{
	size_t i, n;

	if (argc > 1)
		rounds = atoi(argv[1]);
	if (!dray_cpu_has_avx512() || rounds < 1) {
		fputs("usage: loop-levels [ROUNDS], on a processor with AVX-512\n",
		      stderr);
		return 1;
	}
	for (i = 0; i < OPERANDS; i++) {
		operands[i] = aligned_alloc(4096, 4 * ROOM);
		if (!operands[i])
			return 1;
		/* Lines of several operands do not meet in one set of the cache. */
		operands[i] += 64 * (2 * i + 1);
	}
	for (i = 0; i < ROOM; i++)
		indices[i] = (int64_t)(i * 7919 % 512);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		time_list(i);
	for (i = 0; i < sizeof(line_lists) / sizeof(line_lists[0]); i++)
		for (n = 0; n < line_lists[i].levels[0]->count; n++)
			time_line(line_lists[i].name, n, line_lists[i].levels);
	time_casts();
	time_elementary();
	return 0;
}
