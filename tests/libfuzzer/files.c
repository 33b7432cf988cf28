// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Files of arrays: the input is a .npy file, the only array of an archive, and an
 * archive itself.  Each way to read the file has the same result, and the array
 * is written and read again.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzzer.h"

static int file = -1;
static char path[64], saved[64];
static struct dray_node *node;

static void start(void)
{
	file = memfd_create("fuzzer", MFD_CLOEXEC);
	holds(file >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	snprintf(saved, sizeof(saved), "/dev/shm/dray-fuzzer-%d.npy", getpid());
	holds(!dray_node_open("host", &node));
}

static void fill(const void *bytes, size_t size)
{
	holds(!ftruncate(file, 0));
	holds(pwrite(file, bytes, size, 0) == (ssize_t)size);
}

/* Puts a number of @size bytes at @*at, in the order of an archive. */
static void put(unsigned char **at, uint64_t number, int size)
{
	while (size--) {
		*(*at)++ = number & 0xff;
		number >>= 8;
	}
}

/* Puts the fields that both headers of an archive's file have. */
static void put_file(unsigned char **at, const void *bytes, size_t size)
{
	put(at, 20, 2);
	put(at, 0, 2 + 2 + 4);
	put(at, crc32(0, bytes, (unsigned int)size), 4);
	put(at, size, 4);
	put(at, size, 4);
	put(at, 5, 2);
	put(at, 0, 2);
}

/* Fills the file with an archive of a.npy alone, which is not compressed. */
static void fill_archive(const void *bytes, size_t size)
{
	unsigned char *whole = malloc(size + 200), *at = whole, *list;

	holds(whole);
	put(&at, 0x04034b50, 4);
	put_file(&at, bytes, size);
	memcpy(at, "a.npy", 5);
	at += 5;
	memcpy(at, bytes, size);
	at += size;
	list = at;
	put(&at, 0x02014b50, 4);
	put(&at, 20, 2);
	put_file(&at, bytes, size);
	put(&at, 0, 2 + 2 + 2 + 4 + 4);
	memcpy(at, "a.npy", 5);
	at += 5;
	size = (size_t)(at - list);
	put(&at, 0x06054b50, 4);
	put(&at, 0, 4);
	put(&at, 1, 2);
	put(&at, 1, 2);
	put(&at, size, 4);
	put(&at, (uint64_t)(list - whole), 4);
	put(&at, 0, 2);
	fill(whole, (size_t)(at - whole));
	free(whole);
}

/* Writes the array, reads it, and finds the same. */
static void save_again(const struct dray_array *array)
{
	struct dray_array *again;
	struct dray_view view;

	dray_array_view(array, &view);
	/* A list of fields cannot describe each type that a file may have. */
	if (dray_npy_save(saved, &view, 0))
		return;
	holds(!dray_npy_load(saved, NULL, &again));
	holds(same_arrays(array, again));
	dray_array_unref(again);
	unlink(saved);
}

/* Reads each array of an archive. */
static size_t read_archive(struct dray_array **out)
{
	struct dray_array *array;
	struct dray_npz *npz;
	size_t i, count;

	*out = NULL;
	if (dray_npz_open(path, &npz))
		return 0;
	count = dray_npz_count(npz);
	for (i = 0; i < count; i++) {
		if (dray_npz_load(npz, dray_npz_name(npz, i), &array))
			continue;
		dray_array_unref(*out);
		*out = array;
	}
	dray_npz_close(npz);
	return count;
}

/* Drops @other, the same array read in another way. */
static void compare(const struct dray_array *array, struct dray_array *other)
{
	holds(!array == !other);
	holds(!array || same_arrays(array, other));
	dray_array_unref(other);
}

static void read_npy(const uint8_t *bytes, size_t size)
{
	struct dray_array *loaded = NULL, *other = NULL;
	struct dray_npy_options options = { .node = node };

	fill(bytes, size);
	dray_npy_load(path, NULL, &loaded);
	dray_npy_load(path, &options, &other);
	compare(loaded, other);
	other = NULL;
	dray_npy_map(path, DRAY_READ, &other);
	compare(loaded, other);
	fill_archive(bytes, size);
	holds(read_archive(&other) == 1);
	compare(loaded, other);
	if (loaded)
		save_again(loaded);
	dray_array_unref(loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dray_array *array;

	if (file < 0)
		start();
	if (size >= 2 && !memcmp(data, "PK", 2)) {
		fill(data, size);
		read_archive(&array);
		dray_array_unref(array);
		return 0;
	}
	read_npy(data, size);
	return 0;
}
