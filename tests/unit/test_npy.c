// SPDX-License-Identifier: Apache-2.0 OR MIT
/* npy: arrays in .npy and .npz files, and files that are none. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <dray/array.h>

#include "pool.h"

static char folder[] = "/tmp/dray-npy-XXXXXX";
static char path[64], other[64];

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.npy", folder);
	snprintf(other, sizeof(other), "%s/a.npz", folder);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	unlink(other);
	/* No temporary file is left in it. */
	return rmdir(folder);
}

FACTS_SHARE(set_up, tear_down)

static int16_t numbers[60];

/* numbers as 3 x 4 x 5, with the axes in this order. */
static void make(struct dray_view *view, const int *axes)
{
	for (int i = 0; i < 60; i++)
		numbers[i] = (int16_t)(i * 7);
	assert_works(dray_view_init(view, numbers, DRAY_INT16, 3, DIMS(3, 4, 5),
				    NULL));
	assert_works(dray_view_transpose(view, axes, view));
}

static void assert_same(const struct dray_array *array,
			const struct dray_view *view)
{
	struct dray_array *copy;

	assert_int_equal(array->ndim, view->ndim);
	assert_works(
		dray_array_empty(view->dtype, view->ndim, view->shape, &copy));
	assert_works(dray_view_assign(whole_view(copy), view));
	assert_works(dray_view_assign(whole_view(copy), whole_view(array)));
	dray_array_unref(copy);
	for (int64_t i = 0; i < view->shape[0]; i++) {
		for (int64_t k = 0; k < view->shape[2]; k++) {
			const char *here =
				(const char *)array->data +
				i * dray_array_axes((void *)array)[0].stride +
				k * dray_array_axes((void *)array)[2].stride;
			const char *there = (const char *)view->data +
					    i * view->strides[0] +
					    k * view->strides[2];

			assert_memory_equal(here, there, 2);
		}
	}
}

FACT(each_order_comes_back)
{
	static const int orders[][3] = { { 0, 1, 2 },
					 { 2, 1, 0 },
					 { 1, 0, 2 } };

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct dray_npy_options options = { .node = open_node(
							    test_spec()) };
		struct dray_array *array;
		struct dray_view view;

		make(&view, orders[i]);
		assert_works(dray_npy_save(path, &view, i ? DRAY_NPY_PAGE : 0));
		assert_works(dray_npy_load(path, NULL, &array));
		assert_same(array, &view);
		dray_array_unref(array);
		assert_works(dray_npy_load(path, &options, &array));
		assert_same(array, &view);
		dray_array_unref(array);
		assert_works(dray_npy_map(path, DRAY_READ, &array));
		assert_same(array, &view);
		assert_false(array->flags & DRAY_WRITE);
		dray_array_unref(array);
		dray_node_unref(options.node);
	}
}

FACT(each_kind_of_type_comes_back)
{
	static const char *const texts[] = {
		">u2",
		"(2,3)<i2",
		"[('x', '<i2'), ('y', 'V1', (2,))]",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct dray_array *array;
		struct dray_view view;
		dray_dtype dtype;

		assert_works(dray_dtype_parse(texts[i], &dtype));
		assert_works(dray_view_init(&view, numbers, dtype, 1, DIMS(5),
					    NULL));
		assert_works(dray_npy_save(path, &view, 0));
		assert_works(dray_npy_load(path, NULL, &array));
		assert_true(dray_dtype_equal(array->dtype, view.dtype));
		assert_memory_equal(array->data, numbers,
				    5 * dray_dtype_itemsize(dtype));
		dray_array_unref(array);
		dray_dtype_unref(dtype);
	}
}

FACT(names_have_the_encoding_of_the_version)
{
	static const struct {
		const char *name;
		int version;
		const char *bytes;
	} rows[] = {
		{ "e", 1, "('e'," },
		{ "\xc3\xa9\xc2\x80\xc3\xbf", 1, "('\xe9\x80\xff'," },
		{ "\xc4\x80\xc3\xa9", 3, "('\xc4\x80\xc3\xa9'," },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64], bytes[256] = "";
		struct dray_dtype_field field;
		struct dray_array *array;
		struct dray_view view;
		dray_dtype dtype;
		FILE *file;

		snprintf(text, sizeof(text), "[('%s', 'u1')]", rows[i].name);
		assert_works(dray_dtype_parse(text, &dtype));
		assert_works(dray_view_init(&view, numbers, dtype, 1, DIMS(5),
					    NULL));
		assert_works(dray_npy_save(path, &view, 0));
		file = fopen(path, "rb");
		assert_non_null(file);
		assert_true(fread(bytes, 1, sizeof(bytes) - 1, file) > 64);
		fclose(file);
		assert_int_equal(bytes[6], rows[i].version);
		assert_non_null(memmem(bytes, sizeof(bytes), rows[i].bytes,
				       strlen(rows[i].bytes)));
		assert_works(dray_npy_load(path, NULL, &array));
		dray_dtype_get_field(array->dtype, 0, &field);
		assert_string_equal(field.name, rows[i].name);
		dray_array_unref(array);
		dray_dtype_unref(dtype);
	}
}

FACT(a_mapped_file_is_written_through)
{
	const int order[] = { 0, 1, 2 };
	struct dray_array *array;
	struct dray_view view;

	make(&view, order);
	assert_works(dray_npy_save(path, &view, 0));
	assert_works(dray_npy_map(path, DRAY_READ | DRAY_WRITE, &array));
	*(int16_t *)array->data = 99;
	dray_array_unref(array);
	assert_works(dray_npy_load(path, NULL, &array));
	assert_int_equal(*(int16_t *)array->data, 99);
	dray_array_unref(array);
}

FACT(a_failed_save_leaves_the_old_file)
{
	const struct dray_dtype_functions functions = { 0 };
	const int order[] = { 0, 1, 2 };
	struct dray_array *array;
	struct dray_view view;

	make(&view, order);
	assert_works(dray_npy_save(path, &view, 0));
	assert_fails(dray_npy_save(path, &view, DRAY_NPY_NEW), -EEXIST,
		     "File exists");
	assert_fails(dray_npy_save(path, &view, 0x100), -EINVAL, "0x100");
	view.flags = DRAY_WRITE;
	assert_fails(dray_npy_save(path, &view, 0), -EPERM, "may not be read");
	view.flags = DRAY_READ;
	assert_works(dray_dtype_create_user("mine", 'q', 2, 2, &functions, NULL,
					    &view.dtype));
	assert_fails(dray_npy_save(path, &view, 0), -EINVAL, "a user type");
	dray_dtype_unref(view.dtype);
	view.dtype = DRAY_INT16;
	view.shape[0] = -1;
	assert_fails(dray_npy_save(path, &view, 0), -EINVAL, "-1 elements");
	view.shape[0] = 3;
	assert_fails(dray_npy_save("/nowhere/a.npy", &view, 0), -ENOENT,
		     "/nowhere/a.npy");
	assert_fails(dray_npy_save(folder, &view, 0), -EINVAL,
		     "not a regular file");
	assert_fails(dray_npy_save("/dev/null", &view, 0), -EINVAL,
		     "/dev/null is not a regular file");
	assert_works(dray_npy_load(path, NULL, &array));
	dray_array_unref(array);
}

FACT(a_replaced_file_keeps_its_permissions)
{
	static const mode_t modes[] = { 0600, 0640, 02664, 0666 };
	const int order[] = { 0, 1, 2 };
	mode_t mask = umask(022);
	struct stat status;
	struct dray_view view;

	make(&view, order);
	unlink(path);
	assert_works(dray_npy_save(path, &view, 0));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0644);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		assert_works(dray_npy_save(path, &view, 0));
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_mode & 07777, modes[i]);
	}
	assert_int_equal(umask(mask), 022);
}

/* User 1234 may read; the group's bits of the mode are the mask. */
static const struct {
	uint32_t version;
	struct {
		uint16_t tag, permissions;
		uint32_t id;
	} entries[5];
} access_list = { 2,
		  { { 0x01, 6, UINT32_MAX },
		    { 0x02, 4, 1234 },
		    { 0x04, 0, UINT32_MAX },
		    { 0x10, 4, UINT32_MAX },
		    { 0x20, 0, UINT32_MAX } } };

FACT(a_replaced_file_keeps_its_attributes)
{
	static const struct {
		const char *name;
		const void *value;
		size_t size;
	} rows[] = {
		{ "user.dray.test", "1", 1 },
		{ "user.dray.long", numbers, sizeof(numbers) },
		{ "user.dray.empty", "", 0 },
		{ "system.posix_acl_access", &access_list,
		  sizeof(access_list) },
	};
	const int order[] = { 0, 1, 2 };
	char value[256];
	struct dray_view view;
	struct stat before, after;
	int kept = 0;

	make(&view, order);
	unlink(path);
	assert_works(dray_npy_save(path, &view, 0));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		/* The file system may have no such attributes. */
		kept += !setxattr(path, rows[i].name, rows[i].value,
				  rows[i].size, 0);
	if (!kept)
		skip();
	assert_int_equal(stat(path, &before), 0);
	assert_works(dray_npy_save(path, &view, 0));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ssize_t size =
			getxattr(path, rows[i].name, value, sizeof(value));

		if (size < 0)
			continue;
		kept--;
		assert_int_equal(size, rows[i].size);
		assert_memory_equal(value, rows[i].value, rows[i].size);
	}
	assert_int_equal(kept, 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_mode, after.st_mode);
	assert_true(before.st_ino != after.st_ino);
}

FACT(a_replaced_file_gets_no_access_from_its_folder)
{
	const int order[] = { 0, 1, 2 };
	struct dray_view view;
	struct stat status;

	make(&view, order);
	unlink(path);
	assert_works(dray_npy_save(path, &view, 0));
	assert_int_equal(chmod(path, 0640), 0);
	if (setxattr(folder, "system.posix_acl_default", &access_list,
		     sizeof(access_list), 0))
		skip();
	assert_works(dray_npy_save(path, &view, 0));
	assert_int_equal(removexattr(folder, "system.posix_acl_default"), 0);
	assert_int_equal(getxattr(path, "system.posix_acl_access", NULL, 0),
			 -1);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	unlink(path);
}

/* Saves at @path; the file that was there stays. */
static void refuses_to_replace(int error, const char *reason)
{
	const int order[] = { 0, 1, 2 };
	struct dray_view view;
	struct stat before, after;

	make(&view, order);
	assert_int_equal(stat(path, &before), 0);
	assert_fails(dray_npy_save(path, &view, 0), error, reason);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
}

FACT(a_link_stays_a_link)
{
	const int order[] = { 0, 1, 2 };
	char target[64], name[sizeof("b.npy")];
	struct dray_view view;
	struct stat status;

	make(&view, order);
	unlink(path);
	snprintf(target, sizeof(target), "%s/b.npy", folder);
	/* Relative to the folder of the link. */
	assert_int_equal(symlink("b.npy", path), 0);
	assert_fails(dray_npy_save(path, &view, 0), -ENOENT,
		     "is a link to a file that is not there");
	assert_works(dray_npy_save(target, &view, 0));
	assert_int_equal(truncate(target, 1), 0);
	assert_works(dray_npy_save(path, &view, 0));
	assert_int_equal(readlink(path, name, sizeof(name)), 5);
	assert_int_equal(lstat(target, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_in_range(status.st_size, 120, 500);
	unlink(target);
	unlink(path);
}

FACT(a_file_of_two_names_is_not_torn_apart)
{
	const int order[] = { 0, 1, 2 };
	struct dray_view view;
	char second[64];

	make(&view, order);
	unlink(path);
	assert_works(dray_npy_save(path, &view, 0));
	snprintf(second, sizeof(second), "%s/b.npy", folder);
	assert_int_equal(link(path, second), 0);
	refuses_to_replace(-EMLINK, "a hard link to a file of 2 names");
	unlink(second);
	assert_works(dray_npy_save(path, &view, 0));
}

FACT(a_file_keeps_its_owner)
{
	const int order[] = { 0, 1, 2 };
	struct dray_view view;
	struct stat status;
	int child;

	if (geteuid()) /* nobody else gives files away */
		skip();
	make(&view, order);
	unlink(path);
	assert_works(dray_npy_save(path, &view, 0));
	assert_int_equal(chown(path, 1234, 5678), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_works(dray_npy_save(path, &view, 0));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_uid, 1234);
	assert_int_equal(status.st_gid, 5678);
	/* Another user, who may write to the file and the folder */
	assert_int_equal(chmod(folder, 0777), 0);
	child = fork();
	if (!child) {
		bool good = !setresgid(77, 77, 77) && !setresuid(77, 77, 77) &&
			    dray_npy_save(path, &view, 0) == -EPERM &&
			    strstr(dray_last_error(),
				   "belongs to user 1234 and group 5678");

		_exit(!good);
	}
	assert_int_equal(waitpid(child, &child, 0) < 0, 0);
	assert_int_equal(child, 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_uid, 1234);
	/* And a file that nobody may write to */
	assert_int_equal(chmod(path, 0444), 0);
	child = fork();
	if (!child) {
		bool good = !setresgid(77, 77, 77) && !setresuid(77, 77, 77) &&
			    dray_npy_save(path, &view, 0) == -EACCES;

		_exit(!good);
	}
	assert_int_equal(waitpid(child, &child, 0) < 0, 0);
	assert_int_equal(child, 0);
	unlink(path);
}

/* In a namespace of users that has a number for none. */
static int save_hidden(void)
{
	const int order[] = { 0, 1, 2 };
	struct dray_view view;

	if (unshare(CLONE_NEWUSER))
		return 77;
	make(&view, order);
	return dray_npy_save(path, &view, 0) == -EPERM &&
			       strstr(dray_last_error(), "without a number")
		       ? 0
		       : 1;
}

FACT(a_file_of_a_hidden_user_is_not_made_somebody_elses)
{
	const int order[] = { 0, 1, 2 };
	struct dray_view view;
	int child;

	make(&view, order);
	unlink(path);
	assert_works(dray_npy_save(path, &view, 0));
	assert_int_equal(chmod(path, 0666), 0);
	child = fork();
	if (!child)
		_exit(save_hidden());
	assert_int_equal(waitpid(child, &child, 0) < 0, 0);
	if (WEXITSTATUS(child) == 77)
		skip();
	assert_int_equal(child, 0);
}

FACT(the_longest_structure_comes_back)
{
	static struct dray_dtype_field fields[DRAY_DTYPE_MAX_FIELDS];
	struct dray_array *array, *loaded;
	dray_dtype dtype;

	for (size_t i = 0; i < DRAY_DTYPE_MAX_FIELDS; i++)
		fields[i].dtype = DRAY_UINT8;
	assert_works(dray_dtype_create_struct(fields, DRAY_DTYPE_MAX_FIELDS, 0,
					      0, &dtype));
	assert_works(dray_array_zeros(dtype, 1, DIMS(2), &array));
	assert_works(dray_npy_save(path, whole_view(array), 0));
	assert_works(dray_npy_load(path, NULL, &loaded));
	assert_true(dray_dtype_equal(loaded->dtype, dtype));
	dray_array_unref(loaded);
	dray_array_unref(array);
	dray_dtype_unref(dtype);
}

static void write_file(const char *name, const char *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* A file of version 1.0 with this text, padded to 64 bytes, and 24 of data. */
static void write_text(const char *text)
{
	char bytes[1000];
	size_t length = strlen(text);

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, "\x93NUMPY\1\0", 8);
	bytes[8] = (char)(length & 0xff);
	bytes[9] = (char)(length >> 8);
	memcpy(bytes + 10, text, length);
	write_file(path, bytes, 10 + length + 24);
}

#define KEYS(descr, order, shape)                                          \
	"{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape \
	", }\n"

FACT(wrong_headers_are_refused)
{
	static const struct {
		const char *text;
		int error;
		const char *part;
	} cases[] = {
		{ KEYS("'<i4'", "False", "(6,)"), 0, NULL },
		{ KEYS("'<i4'", "False", "(7,)"), -EBADMSG,
		  "24 bytes of elements, its shape needs 28" },
		{ KEYS("'<i4'", "False", "(-1,)"), -EBADMSG, "axis 0" },
		{ KEYS("'<i4'", "False", "(2, 'x')"), -EBADMSG, "axis 1" },
		{ KEYS("'<i4'", "False", "6"), -EBADMSG, "not a tuple" },
		{ KEYS("'<i4'", "0", "(6,)"), -EBADMSG, "keys" },
		{ KEYS("'O'", "False", "(6,)"), -EBADMSG, "objects" },
		{ KEYS("'<x4'", "False", "(6,)"), -EBADMSG, "'descr' of" },
		{ KEYS("'<i4'", "False", "(4611686018427387904, 8)"), -EBADMSG,
		  "63 bits" },
		{ "{'descr': '<i4', 'shape': (6,)}", -EBADMSG, "keys" },
		{ "{'descr': '<i4', 'fortran_order': True, 'shape': (6,), "
		  "'more': 1}",
		  -EBADMSG, "keys" },
		{ "['<i4']", -EBADMSG, "not a dictionary" },
		{ "{'descr': '<i4", -EBADMSG, path },
		{ "", -EBADMSG, path },
		{ "__import__('os').abort()", -EBADMSG, path },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_array *array = NULL, *mapped = NULL;
		int ret;

		write_text(cases[i].text);
		ret = dray_npy_load(path, NULL, &array);
		if (ret != cases[i].error ||
		    (ret && !strstr(dray_last_error(), cases[i].part)))
			fail_msg("case %zu: %d, %s", i, ret, dray_last_error());
		assert_int_equal(dray_npy_map(path, DRAY_READ, &mapped),
				 cases[i].error);
		dray_array_unref(array);
		dray_array_unref(mapped);
	}
}

/* A whole page of spaces, of which the header goes on behind the file's end. */
static void make_long_header(char page[4096])
{
	memset(page, ' ', 4096);
	memcpy(page, "\x93NUMPY\1\0\xff\xff", 10);
}

FACT(files_that_are_none_are_refused)
{
	static const struct {
		const char *bytes;
		size_t size;
		int error;
		const char *part;
	} cases[] = {
		{ "", 0, -EBADMSG, "not in .npy format" },
		{ "\x93NUMP", 5, -EBADMSG, "not in .npy format" },
		{ "PK\3\4 and so on", 14, -EBADMSG, "not in .npy format" },
		{ "\x93NUMPY\4\0\0\0", 10, -EPROTO, "version 4.0" },
		{ "\x93NUMPY\1\1\0\0", 10, -EPROTO, "version 1.1" },
		{ "\x93NUMPY\2\0\0\0", 10, -EBADMSG, "ends in its header" },
		{ "\x93NUMPY\1\0\x80\0{}", 12, -EBADMSG, "ends after 12 of" },
		{ "\x93NUMPY\1\0\0\x10{}", 12, -EBADMSG,
		  "ends after 12 of 4106" },
		{ "\x93NUMPY\1\0\0\0{}", 12, -EBADMSG, "header of 0 bytes" },
		{ "\x93NUMPY\1\0\1\0{}", 12, -EBADMSG, "header of 1 bytes" },
		{ "\x93NUMPY\2\0\0\0\0\x10", 12, -EBADMSG,
		  "header of 268435456 bytes" },
	};
	struct dray_npy_options options = { .node = open_node(test_spec()) };
	struct dray_array *array = NULL;
	char page[4096];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(path, cases[i].bytes, cases[i].size);
		assert_fails(dray_npy_load(path, NULL, &array), cases[i].error,
			     cases[i].part);
		assert_fails(dray_npy_load(path, &options, &array),
			     cases[i].error, cases[i].part);
	}
	make_long_header(page);
	write_file(path, page, sizeof(page));
	assert_fails(dray_npy_load(path, &options, &array), -EBADMSG,
		     "ends after 4096 of 65545 bytes");
	dray_node_unref(options.node);
	assert_fails(dray_npy_load(folder, NULL, &array), -EINVAL,
		     "not a regular file");
	assert_fails(dray_npy_load("/nowhere.npy", NULL, &array), -ENOENT,
		     "/nowhere.npy");
	assert_null(array);
}

static bool has_archives(void)
{
	struct dray_npz *npz = NULL;

	return dray_npz_open("/nowhere.npz", &npz) != -EOPNOTSUPP;
}

FACT(an_archive_has_each_array_by_its_name)
{
	const int order[] = { 2, 1, 0 };
	const char *const names[] = { "one", "folder/two" };
	struct dray_view one, two;
	const struct dray_view *const views[] = { &one, &two };
	struct dray_array *array;
	struct dray_npz *npz;

	if (!has_archives())
		skip();
	make(&one, order);
	assert_works(dray_view_index(&one, &DRAY_STEP(-2), 1, &two));
	for (uint32_t flags = 0; flags <= DRAY_NPZ_COMPRESS;
	     flags += DRAY_NPZ_COMPRESS) {
		assert_works(dray_npz_save(other, names, views, 2, flags));
		assert_works(dray_npz_open(other, &npz));
		assert_int_equal(dray_npz_count(npz), 2);
		for (size_t i = 0; i < 2; i++) {
			assert_string_equal(dray_npz_name(npz, i), names[i]);
			assert_works(dray_npz_load(npz, names[i], &array));
			assert_same(array, views[i]);
			dray_array_unref(array);
		}
		assert_null(dray_npz_name(npz, 2));
		assert_fails(dray_npz_load(npz, "three", &array), -ENOENT,
			     "'three'");
		dray_npz_close(npz);
	}
}

FACT(wrong_archives_are_refused)
{
	const int order[] = { 0, 1, 2 };
	const char *const same[] = { "a", "a" };
	struct dray_view view;
	const struct dray_view *const views[] = { &view, &view };
	struct dray_array *array = NULL;
	struct dray_npz *npz = NULL;
	char byte = 0x55, start[100] = "";
	off_t header;
	int fd;

	if (!has_archives())
		skip();
	make(&view, order);
	assert_fails(dray_npz_save(other, same, views, 2, 0), -EINVAL,
		     "two arrays are named 'a'");
	assert_fails(dray_npz_save(other, (const char *[]){ "" }, views, 1, 0),
		     -EINVAL, "name 0");
	assert_fails(dray_npz_save(other, same, views, 1, 1), -EINVAL, "0x1");
	assert_fails(dray_npz_open(path, &npz), -EBADMSG, "zip archive");
	assert_fails(dray_npz_open("/nowhere.npz", &npz), -ENOENT, "nowhere");
	assert_works(dray_npz_save(other, same, views, 1, 0));
	/* Change an element: the checksum tells. */
	fd = open(other, O_RDWR);
	assert_int_equal(pwrite(fd, &byte, 1, 200), 1);
	close(fd);
	assert_works(dray_npz_open(other, &npz));
	assert_fails(dray_npz_load(npz, "a", &array), -EBADMSG, "checksum");
	dray_npz_close(npz);
	/* Neither may the header's length be too small to hold one. */
	fd = open(other, O_RDWR);
	assert_int_equal(pread(fd, start, sizeof(start), 0), sizeof(start));
	header = (char *)memmem(start, sizeof(start), "\x93NUMPY", 6) - start;
	assert_int_equal(pwrite(fd, "", 1, header + 8), 1);
	close(fd);
	assert_works(dray_npz_open(other, &npz));
	assert_fails(dray_npz_load(npz, "a", &array), -EBADMSG,
		     "header of 0 bytes");
	dray_npz_close(npz);
	assert_null(array);
}
