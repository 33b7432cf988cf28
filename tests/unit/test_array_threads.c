// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * array_threads: arrays and types that several threads use at once.  Each operation
 * runs in all threads together, then all of them mixed; -Db_sanitize=thread finds
 * accesses without an order.
 */
#include <dray/array.h>

#include "pool.h"

enum {
	THREADS = 4,
	ROUNDS = 200,
	SLOTS = 8,
	ROWS = 64,
	COLUMNS = 24
};

#define RECORD "[('key', '<i4'), ('value', '>f8', (2,))]"

static struct dray_pool *pool;
static struct dray_array *matrix; /* i4, the element's number */
static struct dray_array *converted; /* f8, a row for each thread */
static struct dray_array *chosen; /* i8, every second row */
static dray_dtype record;
static char path[] = "/tmp/dray-threads-XXXXXX";
static _Atomic(struct dray_array *) slots[SLOTS];
static _Atomic int failed_line, users;

/* Ends the operation: cmocka's asserts jump, which only the main thread may do. */
#define expect(fact)                                          \
	do {                                                  \
		if (!(fact)) {                                \
			atomic_store(&failed_line, __LINE__); \
			return;                               \
		}                                             \
	} while (0)

static void count(int thread, int round)
{
	struct dray_array *mine = dray_array_ref(matrix);
	dray_dtype dtype = dray_dtype_ref(record);

	expect(dray_block_count(&mine->block) >= 2);
	dray_dtype_unref(dtype);
	dray_array_unref(mine);
}

static void slice(int thread, int round)
{
	struct dray_view view, row;
	struct dray_array *part;
	const struct dray_index at = DRAY_AT(round % ROWS);
	int32_t first;

	dray_array_view(matrix, &view);
	expect(!dray_view_index(&view, &at, 1, &row));
	expect(!dray_array_over(&row, &matrix->block, &part));
	memcpy(&first, part->data, sizeof(first));
	expect(first == round % ROWS * COLUMNS);
	dray_array_unref(part);
}

static void make_types(int thread, int round)
{
	dray_dtype parsed, swapped, common;
	char text[128];

	expect(!dray_dtype_parse(RECORD, &parsed));
	expect(dray_dtype_equal(parsed, record));
	expect(!dray_dtype_with_order(record, 's', &swapped));
	expect(!dray_promote(record, swapped, &common));
	expect(dray_dtype_format(record, text, sizeof(text)) > 0);
	expect(!strcmp(text, RECORD));
	dray_dtype_unref(common);
	dray_dtype_unref(swapped);
	dray_dtype_unref(parsed);
}

static void end_user(void *context)
{
	atomic_fetch_sub(&users, 1);
}

static void make_user_type(int thread, int round)
{
	const struct dray_dtype_functions functions = {
		.size = sizeof(functions),
		.release = end_user,
	};
	struct dray_array *array;
	dray_dtype user;

	atomic_fetch_add(&users, 1);
	expect(!dray_dtype_create_user("mine", 'p', 4, 4, &functions, &users,
				       &user));
	expect(!dray_array_zeros(user, 1, DIMS(3), &array));
	dray_dtype_unref(user);
	dray_array_unref(atomic_exchange(&slots[round % SLOTS], array));
}

static void copy(int thread, int round)
{
	struct dray_view view;
	struct dray_array *other;

	dray_array_view(matrix, &view);
	expect(!dray_array_copy(&view, DRAY_ORDER_F, &other));
	expect(other->dtype == DRAY_INT32);
	dray_array_unref(other);
}

/* Converts to the thread's own row of the result. */
static void convert(int thread, int round)
{
	const struct dray_index from = DRAY_AT(round % ROWS);
	const struct dray_index to = DRAY_AT(thread);
	struct dray_view view, row, own;
	double last;

	expect(!dray_view_index(dray_array_view(matrix, &view), &from, 1,
				&row));
	expect(!dray_view_index(dray_array_view(converted, &view), &to, 1,
				&own));
	expect(!dray_view_convert(&own, &row, DRAY_CASTING_SAFE));
	expect(!dray_sort(&own, 0));
	memcpy(&last, (double *)own.data + COLUMNS - 1, sizeof(last));
	expect(last == round % ROWS * COLUMNS + COLUMNS - 1);
}

static void choose(int thread, int round)
{
	struct dray_view view, numbers, got;
	const struct dray_index by = DRAY_BY(&numbers);
	struct dray_array *rows;

	dray_array_view(matrix, &view);
	dray_array_view(chosen, &numbers);
	expect(!dray_index_get(&view, &by, 1, &rows));
	dray_array_view(rows, &got);
	expect(got.shape[0] == ROWS / 2 && got.shape[1] == COLUMNS);
	expect(dray_count_nonzero(&got) == ROWS / 2 * COLUMNS - 1);
	dray_array_unref(rows);
}

/* Sums the thread's part of the elements. */
static void walk(int thread, int round)
{
	const int64_t part = ROWS * COLUMNS / THREADS, start = thread * part;
	const struct dray_nditer_options options = {
		.flags = DRAY_NDITER_RANGED | DRAY_NDITER_BUFFERED,
		.casting = DRAY_CASTING_SAFE,
		.order = 'C',
		.buffer_size = 100,
		.dtypes = (const dray_dtype[]){ DRAY_INT64 },
	};
	struct dray_nditer *iter;
	struct dray_view view;
	int64_t sum = 0, value;

	dray_array_view(matrix, &view);
	expect(!dray_nditer_create((const struct dray_view *[]){ &view }, 1,
				   &options, &iter));
	expect(!dray_nditer_reset_range(iter, start, start + part));
	do {
		memcpy(&value, dray_nditer_data(iter)[0], sizeof(value));
		sum += value;
	} while (dray_nditer_next(iter));
	expect(!dray_nditer_destroy(iter));
	expect(sum == part * (2 * start + part - 1) / 2);
}

/* Leaves an array of one of two handlers for another thread to free. */
static void change_handler(int thread, int round)
{
	const struct dray_handler *handler =
		(thread + round) % 2 ? dray_handler_for(pool) : NULL;
	const struct dray_handler *before = dray_set_handler(handler);
	struct dray_array *array;

	expect(before == dray_handler_default());
	expect(!dray_array_full(record, 1, DIMS(50), matrix->data, &array));
	expect(dray_array_handler(array) == dray_get_handler());
	expect(dray_set_handler(before) ==
	       (handler ? handler : dray_handler_default()));
	dray_array_unref(atomic_exchange(&slots[round % SLOTS], array));
}

static void print(int thread, int round)
{
	static const char summary[] = "shape (64,24), type <i4\n";
	struct dray_view view;
	char text[2000] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	expect(!dray_view_print(dray_array_view(matrix, &view), stream));
	fclose(stream);
	expect(strstr(text, summary));
}

static void load(int thread, int round)
{
	struct dray_array *array;

	expect(!(round % 2 ? dray_npy_map(path, DRAY_READ, &array)
			   : dray_npy_load(path, NULL, &array)));
	expect(!memcmp(array->data, matrix->data,
		       ROWS * COLUMNS * sizeof(int32_t)));
	dray_array_unref(array);
}

/* Each thread has the sentence of its own failure. */
static void fail_alone(int thread, int round)
{
	const struct dray_index at = DRAY_AT(ROWS + thread);
	struct dray_view view, part;
	char sentence[64];

	expect(dray_view_index(dray_array_view(matrix, &view), &at, 1, &part) ==
	       -ERANGE);
	snprintf(sentence, sizeof(sentence), "index %d is out of bounds",
		 ROWS + thread);
	expect(strstr(dray_last_error(), sentence));
}

static const struct {
	const char *name;
	void (*body)(int thread, int round);
} operations[] = {
	{ "count", count },
	{ "slice", slice },
	{ "make types", make_types },
	{ "make user types", make_user_type },
	{ "copy", copy },
	{ "convert and sort", convert },
	{ "choose by an array", choose },
	{ "walk a range", walk },
	{ "change the handler", change_handler },
	{ "print", print },
	{ "load a file", load },
	{ "fail", fail_alone },
};

#define OPERATIONS ((int)(sizeof(operations) / sizeof(operations[0])))

struct worker {
	pthread_t id;
	int thread;
	int operation; /* -1: any */
};

static void *work(void *argument)
{
	const struct worker *worker = argument;
	struct dice dice = { (uint64_t)worker->thread * 7919 + 1 };

	for (int round = 0; round < rounds(ROUNDS); round++) {
		int operation = worker->operation < 0
					? (int)roll(&dice, OPERATIONS)
					: worker->operation;

		operations[operation].body(worker->thread, round);
	}
	return NULL;
}

static void run(int operation, const char *name)
{
	struct worker workers[THREADS];
	int i;

	atomic_store(&failed_line, 0);
	for (i = 0; i < THREADS; i++) {
		workers[i].thread = i;
		workers[i].operation = operation;
		assert_int_equal(pthread_create(&workers[i].id, NULL, work,
						&workers[i]),
				 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].id, NULL);
	if (atomic_load(&failed_line))
		fail_msg("%s: line %d", name, atomic_load(&failed_line));
	assert_int_equal(dray_block_count(&matrix->block), 1);
	for (i = 0; i < SLOTS; i++)
		dray_array_unref(atomic_exchange(&slots[i], NULL));
	assert_int_equal(atomic_load(&users), 0);
	assert_int_equal(stats_of(pool).blocks, 0);
}

static int set_up(void **state)
{
	struct dray_array *numbers;
	struct dray_view view;
	int file = mkstemp(path);

	pool = open_pool(test_spec(), NULL);
	assert_true(file >= 0);
	close(file);
	assert_works(dray_dtype_parse(RECORD, &record));
	assert_works(
		dray_array_arange(DRAY_INT32, 0, ROWS * COLUMNS, 1, &numbers));
	assert_works(dray_array_arange(0, 0, ROWS, 2, &chosen));
	assert_works(dray_array_zeros(DRAY_FLOAT64, 2, DIMS(THREADS, COLUMNS),
				      &converted));
	dray_array_view(numbers, &view);
	assert_works(dray_view_reshape(&view, 2, DIMS(ROWS, COLUMNS),
				       DRAY_ORDER_C, &view));
	assert_works(dray_array_over(&view, &numbers->block, &matrix));
	dray_array_unref(numbers);
	assert_works(dray_npy_save(path, &view, 0));
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	dray_array_unref(matrix);
	dray_array_unref(converted);
	dray_array_unref(chosen);
	dray_dtype_unref(record);
	dray_pool_close(pool);
	return 0;
}

FACTS_SHARE(set_up, tear_down)

FACT(each_operation_runs_in_all_threads)
{
	for (int i = 0; i < OPERATIONS; i++)
		run(i, operations[i].name);
}

FACT(all_operations_run_together)
{
	run(-1, "all together");
}
