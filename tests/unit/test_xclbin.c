// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * xclbin: the banks in a file, and files that lie.  The files are made here, as no
 * package has one; suite `xrt` compares the layout with Debian's header.
 */
#include <endian.h>

#include "xrt/xclbin.h"
#include "unit.h"

#define BANKS 4

/* A file: a section that means nothing, then the one of banks, then 16 bytes. */
struct file {
	struct dray_xclbin_header header;
	struct dray_xclbin_section sections[2];
	struct dray_xclbin_topology topology;
	struct dray_xclbin_bank banks[BANKS];
	char rest[16];
};

static struct file file;
static struct dray_bank banks[BANKS];
static size_t count;

static int make_file(void **state)
{
	file = (struct file){
		.header = { .magic = "xclbin2",
			    .signature_length = -1,
			    .length = sizeof(file),
			    .count = 2 },
		.sections = { { .kind = 15,
				.offset = offsetof(struct file, rest),
				.size = sizeof(file.rest) },
			      { .kind = 6,
				.name = "mem",
				.offset = offsetof(struct file, topology),
				.size = sizeof(file.topology) +
					sizeof(file.banks) } },
		.topology = { .count = BANKS },
		.banks = { { 1, 1, { 0 }, 0x200000, 0, "HP0" },
			   { 6, 0, { 0 }, 0x40000, 0x4000000000, "HBM[0]" },
			   { 3, 1, { 0 }, 7, 9, "stream0" },
			   { 10, 1, { 0 }, 16, 1 << 20, "0123456789abcdef" } },
	};
	count = 0;
	memset(banks, 0x55, sizeof(banks));
	return 0;
}

/* Answers for the system: a disk or a signal cannot be had on demand. */
static struct {
	int stat_error;
	int read_error; /* of the first read */
	size_t most; /* bytes of a read; 0: all */
	off_t end; /* where the file ends by now; 0: where it did */
} answer;

static int restore(void **state)
{
	memset(&answer, 0, sizeof(answer));
	return 0;
}

WRAPPED(int, fstat64, (int fd, struct stat *about))
{
	if (answer.stat_error) {
		errno = answer.stat_error;
		return -1;
	}
	return __real_fstat64(fd, about);
}
WRAPPED(ssize_t, pread64, (int fd, void *to, size_t size, off_t offset))
{
	if (answer.read_error) {
		errno = answer.read_error;
		answer.read_error = 0;
		return -1;
	}
	if (answer.end && offset >= answer.end)
		return 0;
	if (answer.end && size > (size_t)(answer.end - offset))
		size = (size_t)(answer.end - offset);
	if (answer.most && size > answer.most)
		size = answer.most;
	return __real_pread64(fd, to, size, offset);
}

#define XCLBIN_FACT(name) FACT_WITH(name, make_file, NULL)

static int parse(void)
{
	return dray_xclbin_banks_in(&file, sizeof(file), banks, BANKS, &count);
}

static void assert_bank(const struct dray_bank *bank, uint32_t index,
			uint32_t type, uint32_t flags, uint64_t address,
			uint64_t size, const char *name)
{
	assert_int_equal(bank->index, index);
	assert_int_equal(bank->type, type);
	assert_int_equal(bank->flags, flags);
	assert_int_equal(bank->address, address);
	assert_int_equal(bank->size, size);
	assert_int_equal(bank->reserved, 0);
	assert_string_equal(bank->name, name);
}

static void assert_banks(void)
{
	assert_int_equal(count, BANKS);
	assert_bank(&banks[0], 0, DRAY_BANK_DDR4, DRAY_BANK_USED, 0,
		    (uint64_t)2 << 30, "HP0");
	assert_bank(&banks[1], 1, DRAY_BANK_HBM, 0, 0x4000000000,
		    (uint64_t)256 << 20, "HBM[0]");
	/* Its numbers are those of a stream. */
	assert_bank(&banks[2], 2, DRAY_BANK_STREAM, DRAY_BANK_USED, 0, 0,
		    "stream0");
	assert_bank(&banks[3], 3, DRAY_BANK_HOST, DRAY_BANK_USED, 1 << 20,
		    16384, "0123456789abcdef");
}

XCLBIN_FACT(banks_of_a_file_in_memory_are_read)
{
	assert_works(parse());
	assert_banks();
}

/* A path of a file of @size bytes of @file. */
static const char *written(size_t size)
{
	static char path[] = "/tmp/dray-xclbin-XXXXXX";
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &file, size), (ssize_t)size);
	close(fd);
	return path;
}

XCLBIN_FACT(banks_of_a_file_on_a_disk_are_read)
{
	const char *path = written(sizeof(file));

	assert_works(dray_xclbin_banks(path, banks, BANKS, &count));
	unlink(path);
	assert_banks();
}

static int read_written(void)
{
	const char *path = written(sizeof(file));
	int ret = dray_xclbin_banks(path, banks, BANKS, &count);

	unlink(path);
	return ret;
}

FACT_WITH(a_file_may_come_byte_by_byte_and_after_a_signal, make_file, restore)
{
	answer.most = 1;
	answer.read_error = EINTR;
	assert_works(read_written());
	assert_banks();
}

FACT_WITH(a_file_that_cannot_be_read_is_an_error, make_file, restore)
{
	answer.read_error = EIO;
	assert_fails(read_written(), -EIO, "read of /tmp/dray-xclbin-");
	answer.stat_error = EIO;
	assert_fails(read_written(), -EIO, "fstat of /tmp/dray-xclbin-");
}

FACT_WITH(a_file_that_becomes_shorter_is_an_error, make_file, restore)
{
	for (answer.end = 1; answer.end < (off_t)offsetof(struct file, rest);
	     answer.end += 7) {
		assert_fails(read_written(), -EBADMSG, "is cut");
	}
}

XCLBIN_FACT(bytes_behind_the_length_are_a_signature_and_are_not_read)
{
	char longer[sizeof(file) + 100] = { 0 };

	memcpy(longer, &file, sizeof(file));
	assert_works(dray_xclbin_banks_in(longer, sizeof(longer), banks, BANKS,
					  &count));
	assert_banks();
}

XCLBIN_FACT(without_room_the_banks_are_counted)
{
	assert_works(
		dray_xclbin_banks_in(&file, sizeof(file), NULL, 0, &count));
	assert_int_equal(count, BANKS);
}

XCLBIN_FACT(no_more_banks_are_written_than_there_is_room)
{
	assert_works(
		dray_xclbin_banks_in(&file, sizeof(file), banks, 1, &count));
	assert_int_equal(count, BANKS);
	assert_int_equal(banks[1].index, 0x55555555);
}

XCLBIN_FACT(a_file_may_have_no_bank)
{
	file.topology.count = 0;
	assert_works(parse());
	assert_int_equal(count, 0);
}

XCLBIN_FACT(a_name_that_cannot_be_printed_has_question_marks)
{
	memcpy(file.banks[0].tag, "\x1b[2J\xff\n", 7);
	assert_works(parse());
	assert_string_equal(banks[0].name, "?[2J??");
}

/* From memory of its own, so that the address sanitizer sees a read behind it. */
XCLBIN_FACT(a_file_that_is_cut_at_any_byte_is_refused)
{
	for (size_t size = 0; size < sizeof(file); size++) {
		void *part = malloc(size ? size : 1);

		memcpy(part, &file, size);
		assert_fails(dray_xclbin_banks_in(part, size, banks, BANKS,
						  &count),
			     -EBADMSG, "the file has");
		/* Also if its header says that this is all of it. */
		if (size >= sizeof(file.header)) {
			((struct dray_xclbin_header *)part)->length = size;
			if (size < offsetof(struct file, rest))
				assert_fails(dray_xclbin_banks_in(part, size,
								  banks, BANKS,
								  &count),
					     -EBADMSG, "is cut");
		}
		free(part);
	}
}

XCLBIN_FACT(a_file_on_a_disk_that_is_cut_is_refused)
{
	const char *path = written(sizeof(file) - 1);

	assert_fails(dray_xclbin_banks(path, banks, BANKS, &count), -EBADMSG,
		     path);
	unlink(path);
}

/* Every byte of it with other values: an error or banks, and no wrong read. */
XCLBIN_FACT(no_byte_makes_it_read_outside)
{
	static const unsigned char values[] = { 0, 1, 6, 0x7f, 0x80, 0xff };
	struct file *copy = malloc(sizeof(*copy));
	int refused = 0;

	for (size_t i = 0; i < sizeof(file) * sizeof(values); i++) {
		*copy = file;
		((unsigned char *)copy)[i / sizeof(values)] =
			values[i % sizeof(values)];
		refused += dray_xclbin_banks_in(copy, sizeof(*copy), banks,
						BANKS, &count) != 0;
	}
	free(copy);
	assert_in_range(refused, 50, 1000);
}

XCLBIN_FACT(another_file_or_version_is_refused)
{
	static const char *const magics[] = { "xclbin0", "xclbin1", "xclbin3",
					      "\177ELF" };

	for (size_t i = 0; i < 4; i++) {
		memset(file.header.magic, 0, 8);
		memcpy(file.header.magic, magics[i], strlen(magics[i]));
		assert_fails(parse(), -EBADMSG, "version 2");
	}
	memcpy(file.header.magic, "xclbin22", 8);
	assert_fails(parse(), -EBADMSG, "version 2");
}

XCLBIN_FACT(too_many_sections_are_refused)
{
	file.header.count = 0x10001;
	assert_fails(parse(), -EBADMSG, "65537 sections, at most 65536");
	file.header.count = UINT32_MAX;
	assert_fails(parse(), -EBADMSG, "4294967295 sections");
	file.header.count = 0x10000;
	file.sections[1].kind = 0;
	assert_fails(parse(), -EBADMSG, "is cut: its list of sections");
}

XCLBIN_FACT(a_file_without_banks_says_so)
{
	file.sections[1].kind = 7;
	assert_fails(parse(), -ENODATA, "among its 2 sections");
	file.header.count = 1;
	assert_fails(parse(), -ENODATA, "among its 1 section");
	file.header.count = 0;
	assert_fails(parse(), -ENODATA, "among its 0 sections");
}

XCLBIN_FACT(a_table_behind_the_end_is_refused)
{
	file.sections[1].offset = sizeof(file) - 8;
	assert_fails(parse(), -EBADMSG, "is cut: the table of memory banks");
	file.sections[1].offset = sizeof(file) + 1;
	assert_fails(parse(), -EBADMSG, "is cut: the table of memory banks");
	file.sections[1].offset = UINT64_MAX - 4;
	assert_fails(parse(), -EBADMSG, "ends at byte 18446744073709551615");
	file.sections[1].offset = 8;
	file.sections[1].size = UINT64_MAX;
	assert_fails(parse(), -EBADMSG, "ends at byte 18446744073709551615");
}

XCLBIN_FACT(more_banks_than_the_section_holds_are_refused)
{
	file.topology.count = BANKS + 1;
	assert_fails(parse(), -EBADMSG, "5 memory banks, its table holds 4");
	file.topology.count = -1;
	assert_fails(parse(), -EBADMSG, "-1 memory banks");
	file.topology.count = INT32_MAX;
	assert_fails(parse(), -EBADMSG, "2147483647 memory banks");
	file.topology.count = BANKS;
	file.sections[1].size -= 1;
	assert_fails(parse(), -EBADMSG, "4 memory banks, its table holds 3");
	file.sections[1].size = 7;
	assert_fails(parse(), -EBADMSG, "has 7 bytes, at least 8");
}

XCLBIN_FACT(a_table_of_more_banks_than_numbers_is_refused)
{
	struct file *large;
	size_t size = sizeof(file) + 40 * 0x10001;

	large = calloc(1, size);
	*large = file;
	large->header.length = size;
	large->sections[1].size = 8 + 40 * 0x10001;
	large->topology.count = 0x10000;
	assert_works(dray_xclbin_banks_in(large, size, NULL, 0, &count));
	assert_int_equal(count, 0x10000);
	large->topology.count = 0x10001;
	assert_fails(dray_xclbin_banks_in(large, size, NULL, 0, &count),
		     -EBADMSG, "65537 memory banks, at most 65536");
	free(large);
}

XCLBIN_FACT(a_bank_that_ends_above_all_addresses_is_refused)
{
	file.banks[1].kilobytes = UINT64_MAX / 1024 + 1;
	assert_fails(parse(), -EBADMSG, "memory bank 1 of the xclbin");
	file.banks[1].kilobytes = 4;
	file.banks[1].address = UINT64_MAX - 4094;
	assert_fails(parse(), -EBADMSG, "4 KiB from 0xfffffffffffff001");
	file.banks[1].address = UINT64_MAX - 4096;
	assert_works(parse());
	/* A failure writes no count. */
	count = 99;
	file.banks[3].kilobytes = UINT64_MAX;
	assert_fails(parse(), -EBADMSG, "memory bank 3");
	assert_int_equal(count, 99);
}

XCLBIN_FACT(other_things_than_files_are_refused)
{
	char path[] = "/tmp/dray-fifo-XXXXXX";

	assert_fails(dray_xclbin_banks("/nowhere/x", banks, 1, &count), -ENOENT,
		     "open of /nowhere/x");
	assert_fails(dray_xclbin_banks("/tmp", banks, 1, &count), -EISDIR,
		     "/tmp is a directory");
	assert_fails(dray_xclbin_banks("/dev/null", banks, 1, &count), -EINVAL,
		     "not a regular file");
	assert_non_null(mkdtemp(path));
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_fails(dray_xclbin_banks(path, banks, 1, &count), -EINVAL,
		     "not a regular file");
	unlink(path);
}

XCLBIN_FACT(types_have_names)
{
	assert_string_equal(dray_bank_type_name(DRAY_BANK_DDR4), "DDR4");
	assert_string_equal(dray_bank_type_name(DRAY_BANK_PS_KERNEL),
			    "PS kernel");
	assert_string_equal(dray_bank_type_name(12), "unknown");
	assert_string_equal(dray_bank_type_name(UINT32_MAX), "unknown");
}
