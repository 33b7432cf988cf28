/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An executor of a real device of OpenCL, whose failures are made; skips without one. */
#ifndef DRAY_TESTS_OPENCL_DEVICE_H
#define DRAY_TESTS_OPENCL_DEVICE_H

#include <dray/opencl.h>
#include <ftw.h>

#include <dray/array.h>

#include "mock_opencl.h"
#include "pool.h"

/* For LeakSanitizer: PoCL keeps its compiler until the program ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl.so\n";
}

static dray_dtype bytes[] = { DRAY_UINT8, DRAY_UINT8 };
static dray_dtype doubles[] = { DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 };
static struct dray_opencl_loop loops[2];
static struct dray_opencl_executor_options options = {
	.loops = loops,
	.loops_count = 1,
};

static inline void set_loops(void)
{
	loops[0] = (struct dray_opencl_loop){
		.ufunc = dray_ufunc_find("invert"),
		.dtypes = bytes,
		.source = "~a",
	};
	loops[1] = (struct dray_opencl_loop){
		.ufunc = dray_ufunc_find("add"),
		.dtypes = doubles,
		.source = "a + b",
	};
	options.loops_count = 1;
	options.flags = 0;
}

/* For kernels that PoCL has compiled. */
static char cache[] = "/tmp/dray-opencl-XXXXXX";

static inline int remove_entry(const char *path, const struct stat *status,
			       int kind, struct FTW *place)
{
	return remove(path);
}

static inline void remove_cache(void)
{
	nftw(cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline bool find_device(void)
{
	struct dray_executor *executor;
	int ret;

	if (mkdtemp(cache))
		atexit(remove_cache);
	setenv("POCL_CACHE_DIR", cache, 1);
	set_loops();
	ret = dray_opencl_executor_create(&options, &executor);
	if (!ret)
		dray_executor_unref(executor);
	else
		printf("# %s\n", dray_last_error());
	return !ret;
}

/* A run that has to find a device fails without one. */
static inline bool has_device(void)
{
	static int found = -1;

	if (found < 0)
		found = find_device();
	return found || getenv("DRAY_TEST_OPENCL");
}

static const struct dray_call_cost cheap = { { 1, 1000 }, { 1, 1 } };
static const struct dray_call_cost dear = { { 1, 1000 }, { 9, 9000000 } };

static struct dray_pool *pool;
static struct dray_executor *executor;
static struct dray_call_queue *queue;

static inline int device_setup(void **state)
{
	struct dray_executor *cpu = dray_cpu_executor();

	set_loops();
	opencl.alive = opencl.launches = opencl.buffers = 0;
	opencl.bytes = 0;
	pool = open_pool("host", NULL);
	assert_works(dray_opencl_executor_create(&options, &executor));
	assert_works(dray_executor_set_cost(executor, loops[0].ufunc, bytes,
					    &cheap));
	assert_works(dray_executor_set_cost(cpu, loops[0].ufunc, bytes, &dear));
	assert_works(dray_call_queue_create(&executor, 1, NULL, &queue));
	return 0;
}

static inline int device_teardown(void **state)
{
	dray_call_queue_destroy(queue);
	dray_executor_unref(executor);
	assert_int_equal(opencl.alive, 0);
	dray_executor_set_cost(dray_cpu_executor(), loops[0].ufunc, bytes,
			       NULL);
	assert_int_equal(stats_of(pool).blocks, 0);
	assert_int_equal(stats_of(pool).parked, 0);
	dray_pool_close(pool);
	return 0;
}

#define DEVICE_FACT(name) FACT_WITH(name, device_setup, device_teardown)

/* A block of bytes as a view. */
static inline struct dray_view block_of(int64_t size, int value)
{
	struct dray_view view;
	void *block = take(pool, (size_t)size, 0);

	memset(block, value, (size_t)size);
	assert_works(dray_view_init(&view, block, u1, 1, &size, NULL));
	return view;
}

static inline void discard(const struct dray_view *view)
{
	dray_pool_free(pool, view->data);
}

static inline int submit(const struct dray_view *in,
			 const struct dray_view *out, struct dray_event **event)
{
	return dray_call_queue_submit(queue, loops[0].ufunc, &in, &out, NULL,
				      NULL, event);
}

static inline struct dray_call_explanation explain(const struct dray_view *in,
						   const struct dray_view *out)
{
	struct dray_call_explanation plan = { .size = sizeof(plan) };

	assert_works(dray_explain_call(queue, loops[0].ufunc, &in, &out, NULL,
				       &plan));
	return plan;
}

static inline bool all_bytes(const void *data, int value, size_t count)
{
	const unsigned char *at = data;

	while (count && *at == value)
		at++, count--;
	return !count;
}

#endif /* DRAY_TESTS_OPENCL_DEVICE_H */
