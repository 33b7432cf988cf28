// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * block_file: ranges of files as blocks, and files that are none or not long
 * enough.
 */
#include "node.h"

enum {
	LENGTH = 10000
};
static const uint32_t read_write = DRAY_READ | DRAY_WRITE;
static char folder[] = "/tmp/dray-block-XXXXXX";
static char path[64];

/* LENGTH bytes, of which each says where it is. */
static int make_file(void **state)
{
	unsigned char bytes[LENGTH];
	int fd, i;

	for (i = 0; i < LENGTH; i++)
		bytes[i] = (unsigned char)(i * 7);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (fd < 0 || write(fd, bytes, LENGTH) != LENGTH)
		return -1;
	return close(fd);
}

static int remove_file(void **state)
{
	return unlink(path) && errno != ENOENT ? -1 : 0;
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int remove_folder(void **state)
{
	return rmdir(folder);
}

static bool has_bytes_from(const struct dray_block *block, size_t offset)
{
	const unsigned char *bytes = dray_block_data(block);
	size_t i;

	for (i = 0; i < dray_block_size(block); i++) {
		if (bytes[i] != (unsigned char)((offset + i) * 7))
			return false;
	}
	return true;
}

#define FILE_FACT(name) FACT_WITH(name, make_file, remove_file)

FILE_FACT(a_whole_file_is_mapped)
{
	struct dray_block *block;

	assert_works(dray_block_create_mapped(path, 0, 0, DRAY_READ, &block));
	assert_int_equal(dray_block_type(block), DRAY_BLOCK_MAPPED);
	assert_int_equal(dray_block_size(block), LENGTH);
	assert_false(dray_block_writable(block));
	assert_true(has_bytes_from(block, 0));
	dray_block_unref(block);
}

FILE_FACT(any_range_of_a_file_is_mapped)
{
	static const size_t ranges[][2] = {
		{ 1, 1 },     { 4095, 2 }, { 4096, 100 },
		{ 4097, 99 }, { 9999, 1 }, { 5000, 5000 },
	};
	struct dray_block *block;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		assert_works(dray_block_create_mapped(
			path, ranges[i][0], ranges[i][1], DRAY_READ, &block));
		assert_int_equal(dray_block_size(block), ranges[i][1]);
		assert_true(has_bytes_from(block, ranges[i][0]));
		dray_block_unref(block);
	}
	assert_works(
		dray_block_create_mapped(path, 9000, 0, DRAY_READ, &block));
	assert_int_equal(dray_block_size(block), LENGTH - 9000);
	dray_block_unref(block);
}

FILE_FACT(what_is_written_is_in_the_file)
{
	unsigned char byte = 0;
	struct dray_block *block;
	int fd;

	assert_works(
		dray_block_create_mapped(path, 5001, 10, read_write, &block));
	assert_true(dray_block_writable(block));
	memset(dray_block_data(block), 0xab, 10);
	dray_block_unref(block);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &byte, 1, 5001), 1);
	assert_int_equal(byte, 0xab);
	assert_int_equal(pread(fd, &byte, 1, 5011), 1);
	assert_int_equal(byte, (unsigned char)(5011 * 7));
	close(fd);
}

FILE_FACT(a_deleted_file_stays_mapped)
{
	struct dray_block *block;

	assert_works(dray_block_create_mapped(path, 3, 0, DRAY_READ, &block));
	assert_int_equal(unlink(path), 0);
	assert_true(has_bytes_from(block, 3));
	dray_block_unref(block);
}

/* Said in the header: no library can prevent it. */
FILE_FACT(behind_the_end_of_a_shortened_file_is_a_bus_error)
{
	struct dray_block *block;
	int status;
	pid_t child;

	assert_works(dray_block_create_mapped(path, 0, 0, DRAY_READ, &block));
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(((unsigned char *)dray_block_data(block))[99],
			 (unsigned char)(99 * 7));
	child = fork();
	if (!child) {
		/* a sanitizer would report it and exit */
		signal(SIGBUS, SIG_DFL);
		_exit(*((volatile char *)dray_block_data(block) + 9999) * 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	dray_block_unref(block);
}

FILE_FACT(a_file_that_is_not_there_is_said)
{
	struct dray_block *block = NULL;

	unlink(path);
	assert_fails(dray_block_create_mapped(path, 0, 0, read_write, &block),
		     -ENOENT, path);
	assert_fails(dray_block_create_mapped("", 0, 0, read_write, &block),
		     -ENOENT, "open");
	assert_null(block);
}

FILE_FACT(an_empty_file_is_refused)
{
	struct dray_block *block = NULL;

	assert_int_equal(truncate(path, 0), 0);
	assert_fails(dray_block_create_mapped(path, 0, 0, read_write, &block),
		     -EINVAL, "is empty");
	assert_fails(dray_block_create_mapped(path, 0, 1, read_write, &block),
		     -EINVAL, "is empty");
	assert_null(block);
}

FILE_FACT(a_range_that_is_not_in_the_file_is_refused)
{
	static const uint64_t ranges[][2] = {
		{ LENGTH, 0 },	   { LENGTH - 1, 2 },
		{ 0, LENGTH + 1 }, { 1, UINT64_MAX },
		{ UINT64_MAX, 1 }, { UINT64_MAX - 4095, 8192 },
	};
	struct dray_block *block = NULL;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		assert_fails(dray_block_create_mapped(path, ranges[i][0],
						      ranges[i][1], DRAY_READ,
						      &block),
			     -EINVAL, "which has 10000");
	assert_null(block);
}

FILE_FACT(what_is_no_regular_file_is_refused)
{
	struct dray_block *block = NULL;
	int fds = open("/dev/null", O_RDONLY), after;

	close(fds);
	assert_fails(dray_block_create_mapped(folder, 0, 0, DRAY_READ, &block),
		     -EINVAL, "not a regular file");
	assert_fails(dray_block_create_mapped(folder, 0, 0, read_write, &block),
		     -EISDIR, folder);
	assert_fails(dray_block_create_mapped("/dev/zero", 0, 1, read_write,
					      &block),
		     -EINVAL, "not a regular file");
	/* nobody writes to it, nor does that keep anybody waiting */
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_fails(dray_block_create_mapped(path, 0, 0, DRAY_READ, &block),
		     -EINVAL, "not a regular file");
	assert_null(block);
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(after, fds);
}

FILE_FACT(other_flags_are_refused)
{
	const uint32_t flags[] = { 0, DRAY_WRITE, DRAY_IMMUTABLE,
				   DRAY_READ | DRAY_IMMUTABLE, read_write | 8 };
	struct dray_block *block = NULL;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		assert_fails(dray_block_create_mapped(path, 0, 0, flags[i],
						      &block),
			     -EINVAL, "flags");
	assert_null(block);
}

FILE_FACT(a_dump_names_the_file)
{
	struct dray_block *block;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_works(dray_block_create_mapped(path, 77, 0, DRAY_READ, &block));
	assert_works(dray_block_dump(block, stream));
	dray_block_unref(block);
	fclose(stream);
	assert_non_null(strstr(text, path));
	assert_non_null(strstr(text, " offset: 77\n"));
	assert_non_null(strstr(text, " access: read\n"));
	free(text);
}

FACTS_SHARE(make_folder, remove_folder)
