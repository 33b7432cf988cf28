// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rates of engine and CPU by size, the time of a small transfer, and the cost of
 * a sync.  They are figures: only an error fails.
 */
#include <inttypes.h>
#include <string.h>

#include "base/progress.h"
#include "base/quantity.h"
#include "selftest.h"

#define MOST (16u << 20) /* bytes */
#define ENOUGH 20000000 /* nanoseconds that one figure takes */
#define REPEATS 64
#define LONGEST 2000000000 /* nanoseconds of all repeats, when one is over */
#define MIB (1u << 20)

struct figures {
	struct selftest *test;
	const struct engine *engine; /* NULL: none */
	struct dray_buffer *buffers[2];
	char *src;
	char *dst;
	uint64_t size; /* bytes of each buffer */
};

enum task {
	TASK_COPY,
	TASK_FILL,
	TASK_MEMCPY,
	TASK_MEMSET,
	TASKS
};

static const char *const task_words[] = { "copy", "fill", "memcpy", "memset" };

static int do_task(const struct figures *figures, enum task task, uint64_t size)
{
	switch (task) {
	case TASK_COPY:
		return engine_copy(figures->engine, figures->dst, figures->src,
				   size, 0);
	case TASK_FILL:
		return engine_fill(figures->engine, figures->dst, size);
	case TASK_MEMCPY:
		memcpy(figures->dst, figures->src, (size_t)size);
		return 0;
	default:
		memset(figures->dst, 0, (size_t)size);
		return 0;
	}
}

/* Measures bytes per second; repeats until that takes long enough. */
static int test_rates_measure(const struct figures *figures, enum task task,
			      uint64_t size, uint64_t *rate)
{
	uint64_t enough = figures->test->quick ? ENOUGH / 10 : ENOUGH;
	uint64_t start = clock_now();
	uint64_t taken, rounds = 0;
	int ret;

	do {
		ret = do_task(figures, task, size);
		taken = clock_now() - start;
		rounds++;
	} while (!ret && taken < enough);
	*rate = rate_of(size * rounds, taken);
	return ret;
}

static void add_rate(json_t *row, char **line, enum task task, uint64_t rate)
{
	char speed[QUANTITY_ROOM];

	document_number(row, task_words[task], rate);
	text_append(line, "  %s %s/s", task_words[task],
		    quantity_size(speed, rate, false));
}

static void test_speed(const struct figures *figures)
{
	json_t *values = json_object();
	json_t *rows = json_array();
	char *lines = NULL;
	char *text;
	uint64_t size, rate;
	int ret = 0;
	int task;

	for (size = 4096; size <= figures->size && !ret; size *= 16) {
		json_t *row = json_object();
		char room[QUANTITY_ROOM];

		document_number(row, "bytes", size);
		text_append(&lines, "\n%6s:", quantity_size(room, size, false));
		for (task = figures->engine ? 0 : TASK_MEMCPY;
		     task < TASKS && !ret; task++) {
			ret = test_rates_measure(figures, (enum task)task, size,
						 &rate);
			if (!ret)
				add_rate(row, &lines, (enum task)task, rate);
		}
		document_set(rows, NULL, row);
	}
	document_set(values, "rates", rows);
	text = text_format("\n%s", ret ? dray_last_error() : "");
	selftest_add(figures->test, "rates", ret ? OUTCOME_FAIL : OUTCOME_PASS,
		     values, "%s%s%s",
		     figures->engine
			     ? "copy and fill by the engine, memcpy and "
			       "memset by the CPU"
			     : "by the CPU alone",
		     lines, ret ? text : "");
	free(text);
	free(lines);
}

static int rates_compare_times(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return first < second ? -1 : first > second;
}

static void test_latency(const struct figures *figures)
{
	json_t *values = json_object();
	uint64_t times[REPEATS], all = 0;
	char median[QUANTITY_ROOM], worst[QUANTITY_ROOM];
	int ret = 0;
	size_t i;

	for (i = 0; i < REPEATS && all < LONGEST && !ret; i++) {
		uint64_t start = clock_now();

		ret = engine_copy(figures->engine, figures->dst, figures->src,
				  figures->engine->unit, 0);
		times[i] = clock_now() - start;
		all += times[i];
	}
	if (ret) {
		json_decref(values);
		selftest_add(figures->test, "latency", OUTCOME_FAIL, NULL, "%s",
			     dray_last_error());
		return;
	}
	qsort(times, i, sizeof(*times), rates_compare_times);
	document_number(values, "bytes", figures->engine->unit);
	document_number(values, "median_ns", times[i / 2]);
	document_number(values, "worst_ns", times[i - 1]);
	selftest_add(figures->test, "latency", OUTCOME_PASS, values,
		     "a copy of %" PRIu64 " bytes takes %s, at worst %s",
		     figures->engine->unit, quantity_time(median, times[i / 2]),
		     quantity_time(worst, times[i - 1]));
}

/* Returns the median time of a sync of @size bytes, or 0 after an error. */
static uint64_t sync_time(const struct figures *figures, uint64_t size,
			  enum dray_sync_owner owner)
{
	uint64_t times[REPEATS / 4];
	size_t count = sizeof(times) / sizeof(*times), i;

	for (i = 0; i < count; i++) {
		uint64_t start;

		/* lines in the cache, as after work on the memory */
		memset(figures->dst, (int)i, (size_t)size);
		start = clock_now();
		if (selftest_sync(figures->test, figures->buffers[1], 0, size,
				  owner))
			return 0;
		times[i] = clock_now() - start;
	}
	qsort(times, count, sizeof(*times), rates_compare_times);
	return times[count / 2] + 1;
}

static void test_sync(const struct figures *figures)
{
	uint64_t size = figures->size < MIB ? figures->size : MIB;
	json_t *values;
	uint64_t device, cpu;
	char first[QUANTITY_ROOM], second[QUANTITY_ROOM];

	if (!dray_node_needs_sync(figures->test->node->node)) {
		selftest_add(figures->test, "sync", OUTCOME_SKIP, NULL,
			     "the node needs none");
		return;
	}
	device = sync_time(figures, size, DRAY_SYNC_FOR_DEVICE) * MIB / size;
	cpu = sync_time(figures, size, DRAY_SYNC_FOR_CPU) * MIB / size;
	if (!device || !cpu) {
		selftest_add(figures->test, "sync", OUTCOME_FAIL, NULL, "%s",
			     dray_last_error());
		return;
	}
	values = json_object();
	document_number(values, "for_device_ns", device);
	document_number(values, "for_cpu_ns", cpu);
	selftest_add(figures->test, "sync", OUTCOME_PASS, values,
		     "1.0M for the device takes %s, for the CPU %s",
		     quantity_time(first, device), quantity_time(second, cpu));
}

static bool take_buffers(struct figures *figures)
{
	figures->size = figures->test->quick ? MIB : MOST;
	if (figures->size > figures->test->size / 2)
		figures->size = figures->test->size / 2;
	while (figures->size >= 4096) {
		if (!selftest_take(figures->test, figures->size, 0,
				   &figures->buffers[0])) {
			if (!selftest_take(figures->test, figures->size, 0,
					   &figures->buffers[1]))
				return true;
			dray_buffer_unref(figures->buffers[0]);
		}
		figures->size /= 2;
	}
	return false;
}

void test_rates(struct selftest *test)
{
	struct figures figures = { .test = test };
	struct engine engine;

	if (!take_buffers(&figures)) {
		selftest_add(test, "rates", OUTCOME_SKIP, NULL, "no memory");
		return;
	}
	figures.src = dray_buffer_data(figures.buffers[0]);
	figures.dst = dray_buffer_data(figures.buffers[1]);
	if (engine_open_any(test, &engine))
		figures.engine = &engine;
	test_speed(&figures);
	if (figures.engine) {
		test_latency(&figures);
		engine_close(&engine);
	}
	test_sync(&figures);
	dray_buffer_unref(figures.buffers[0]);
	dray_buffer_unref(figures.buffers[1]);
}
