// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * array_faults: each allocation and each call of the system that arrays, iterators
 * and files make fails once, then with all that come after it; each time there
 * is a code and a sentence, and the caller's memory and files are as before.  The
 * address sanitizer sees leaks.
 */
#include <unistd.h>

#include <dray/array.h>

#include "fault.h"
#include "node.h"

WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

WRAPPED(void *, realloc, (void *memory, size_t size))
{
	return fails_now() ? NULL : __real_realloc(memory, size);
}

WRAPPED(int, posix_memalign, (void **out, size_t alignment, size_t size))
{
	return fails_now() ? ENOMEM
			   : __real_posix_memalign(out, alignment, size);
}

static bool opened_directly;

WRAPPED(int, open64, (const char *path, int flags, ...))
{
	va_list args;
	mode_t mode;

	opened_directly |= flags & O_DIRECT;
	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return fails_now() ? -1 : __real_open64(path, flags, mode);
}

WRAPPED(ssize_t, write, (int fd, const void *bytes, size_t size))
{
	return fails_now() ? -1 : __real_write(fd, bytes, size);
}

WRAPPED(ssize_t, pread64, (int fd, void *bytes, size_t size, off_t at))
{
	return fails_now() ? -1 : __real_pread64(fd, bytes, size, at);
}

WRAPPED(int, rename, (const char *from, const char *to))
{
	return fails_now() ? -1 : __real_rename(from, to);
}

#define SIZE 64

static char folder[] = "/tmp/dray-faults-XXXXXX";
static char path[64], archive[64];
static int32_t numbers[SIZE];
static struct dray_view line, square, doubles;
static struct dray_node *node;

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.npy", folder);
	snprintf(archive, sizeof(archive), "%s/a.npz", folder);
	node = open_node(test_spec());
	return 0;
}

static int tear_down(void **state)
{
	dray_node_unref(node);
	unlink(path);
	unlink(archive);
	/* No temporary file is left in it. */
	return rmdir(folder);
}

FACTS_SHARE(set_up, tear_down)

static void make_views(void)
{
	for (int i = 0; i < SIZE; i++)
		numbers[i] = i;
	assert_works(dray_view_init(&line, numbers, DRAY_INT32, 1, DIMS(SIZE),
				    NULL));
	assert_works(dray_view_init(&square, numbers, DRAY_INT32, 2, DIMS(8, 8),
				    NULL));
	assert_works(dray_view_transpose(&square, NULL, &square));
	assert_works(dray_view_init(&doubles, numbers, DRAY_FLOAT64, 1,
				    DIMS(SIZE / 2), NULL));
}

/* A result is written only if there is one. */
static int done(int ret, struct dray_array **array)
{
	if (ret)
		assert_null(*array);
	dray_array_unref(*array);
	return ret;
}

static int copy(void)
{
	struct dray_array *out = NULL;

	return done(dray_array_copy(&square, DRAY_ORDER_K, &out), &out);
}

static int over_pointer(void)
{
	struct dray_array *out = NULL;

	return done(dray_array_from_pointer(&square, NULL, NULL, &out), &out);
}

static int alone(void)
{
	struct dray_array *out = NULL;

	return done(dray_array_create_alone(node, DRAY_INT32, 1, DIMS(SIZE),
					    &out),
		    &out);
}

static int scalar(void)
{
	struct dray_array *out = NULL;

	return done(dray_scalar_create(DRAY_FLOAT64, DRAY_INT32, numbers, &out),
		    &out);
}

static int take_structure(void)
{
	struct dray_view one;
	int64_t out[2] = { -1, -1 };
	dray_dtype to;
	int ret = dray_dtype_parse("[('a', '<i8'), ('b', '<i8')]", &to);

	if (ret)
		return ret;
	assert_works(dray_view_init(&one, numbers, DRAY_INT32, 0, NULL, NULL));
	ret = dray_view_get(&one, to, out);
	dray_dtype_unref(to);
	assert_int_equal(out[0], ret ? -1 : 0);
	return ret;
}

/* An operand of each kind: buffered, copied, overlapping, allocated. */
static int iterate(void)
{
	const struct dray_view *const views[] = { &square, &square, NULL };
	const dray_dtype dtypes[] = { DRAY_FLOAT64, DRAY_INT32, DRAY_INT64 };
	const uint32_t flags[] = {
		DRAY_OPERAND_READ | DRAY_OPERAND_COPY,
		DRAY_OPERAND_READ | DRAY_OPERAND_WRITE | DRAY_OPERAND_COPY_BACK,
		DRAY_OPERAND_WRITE | DRAY_OPERAND_ALLOCATE,
	};
	const struct dray_nditer_options options = {
		.flags = DRAY_NDITER_BUFFERED | DRAY_NDITER_COPY_IF_OVERLAP |
			 DRAY_NDITER_DELAY_BUFFERS,
		.casting = DRAY_CASTING_UNSAFE,
		.operand_flags = flags,
		.dtypes = dtypes,
		.buffer_size = 5,
	};
	struct dray_nditer *iter = NULL, *other = NULL;
	int ret, ended;

	ret = dray_nditer_create(views, 3, &options, &iter);
	if (ret) {
		assert_null(iter);
		return ret;
	}
	ret = dray_nditer_reset(iter);
	if (!ret)
		ret = dray_nditer_copy(iter, &other);
	while (!ret && dray_nditer_next(iter))
		;
	assert_works(dray_nditer_destroy(other));
	ended = dray_nditer_destroy(iter);
	return ret ? ret : ended;
}

static int buffer(void)
{
	const struct dray_view *const views[] = { &line };
	const dray_dtype dtypes[] = { DRAY_FLOAT64 };
	const struct dray_nditer_options options = {
		.flags = DRAY_NDITER_BUFFERED,
		.casting = DRAY_CASTING_UNSAFE,
		.dtypes = dtypes,
	};
	struct dray_nditer *iter = NULL, *other = NULL;
	int ret = dray_nditer_create(views, 1, &options, &iter);

	if (!ret)
		ret = dray_nditer_copy(iter, &other);
	assert_works(dray_nditer_destroy(other));
	assert_works(dray_nditer_destroy(iter));
	return ret;
}

static int save(void)
{
	return dray_npy_save(path, &square, 0);
}

static int save_gaps(void)
{
	struct dray_view gaps;

	assert_works(dray_view_index(&line, &DRAY_STEP(-2), 1, &gaps));
	return dray_npy_save(path, &gaps, 0);
}

static int load(void)
{
	struct dray_array *out = NULL;

	return done(dray_npy_load(path, NULL, &out), &out);
}

static int load_into_buffer(void)
{
	const struct dray_npy_options options = { .node = node };
	struct dray_array *out = NULL;

	return done(dray_npy_load(path, &options, &out), &out);
}

static int map(void)
{
	struct dray_array *out = NULL;

	return done(dray_npy_map(path, DRAY_READ, &out), &out);
}

static int save_archive(void)
{
	const char *const names[] = { "a" };
	const struct dray_view *const views[] = { &square };

	return dray_npz_save(archive, names, views, 1, 0);
}

static int load_archive(void)
{
	struct dray_array *out = NULL;
	struct dray_npz *npz = NULL;
	int ret = dray_npz_open(archive, &npz);

	if (ret) {
		assert_null(npz);
		return ret;
	}
	ret = done(dray_npz_load(npz, "a", &out), &out);
	dray_npz_close(npz);
	return ret;
}

/* Whether the call that was to fail was made. */
static bool fail_call(int (*work)(void), int n, bool last)
{
	int ret;

	make_views();
	arm_with(n, last);
	ret = work();
	disarm_after(ret);
	for (int i = 0; i < SIZE; i++)
		assert_int_equal(numbers[i], i);
	/* The files of before, or whole ones, are there. */
	assert_works(load());
	return faulted;
}

FACT(a_buffer_takes_the_file_past_the_page_cache)
{
	const struct dray_npy_options options = { .node = node };
	struct dray_array *out;

	make_views();
	assert_works(dray_npy_save(path, &line, DRAY_NPY_PAGE));
	opened_directly = false;
	assert_works(load());
	assert_false(opened_directly);
	assert_works(dray_npy_load(path, &options, &out));
	assert_true(opened_directly);
	/* Header and elements are loaded together. */
	assert_ptr_equal(out->data,
			 (char *)dray_block_data(out->reference) + 4096);
	assert_memory_equal(out->data, numbers, sizeof(numbers));
	dray_array_unref(out);
}

FACT(each_call_may_fail)
{
	static int (*const works[])(void) = {
		copy,		over_pointer, alone,  scalar,
		take_structure, iterate,      buffer, save,
		save_gaps,	load,	      map,    load_into_buffer,
		save_archive,	load_archive,
	};
	bool has_archives;

	make_views();
	assert_works(save());
	has_archives = save_archive() != -EOPNOTSUPP;
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (!has_archives &&
		    (works[i] == save_archive || works[i] == load_archive))
			continue;
		fail_each_call(fail_call, works[i]);
	}
}
