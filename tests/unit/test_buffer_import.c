// SPDX-License-Identifier: Apache-2.0 OR MIT
/* buffer: what is imported and what is not, and memory that can be shared. */
#include <sys/sysinfo.h>

#include "buffers.h"
#include "memory/node.h"

FACT(private_memory_has_no_descriptor)
{
	struct dray_node *node = open_node("host");
	struct dray_buffer *buffer = alloc(node, 4096);

	assert_int_equal(dray_buffer_fd(buffer), -1);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

FACT(an_import_is_the_same_memory)
{
	struct dray_node *node = open_sharing();
	struct dray_buffer *buffer = alloc(node, 8192), *same;
	int before = open_descriptors();
	char *a = dray_buffer_data(buffer), *b;

	assert_works(dray_buffer_import(node, dray_buffer_fd(buffer), &same));
	b = dray_buffer_data(same);
	assert_ptr_not_equal(a, b);
	assert_int_equal(dray_buffer_size(same), 8192);
	assert_true(dray_buffer_writable(same));
	a[8191] = 42;
	assert_int_equal(b[8191], 42);
	b[0] = 43;
	assert_int_equal(a[0], 43);
	assert_int_equal(open_descriptors(), before + 1);

	/* It outlives the original. */
	dray_buffer_unref(buffer);
	assert_int_equal(b[8191], 42);
	dray_buffer_unref(same);
	assert_int_equal(open_descriptors(), before - 1);
	dray_node_unref(node);
}

NODE_FACT(what_is_no_buffer_is_not_imported)
{
	struct dray_node *node = *state;
	struct dray_buffer *buffer = (void *)1;
	int before = open_descriptors(), ends[2], file;

	assert_int_equal(pipe(ends), 0);
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_fails(dray_buffer_import(node, ends[0], &buffer), -EINVAL,
		     on_kernel() ? "not a dma-buf" : "not a memfd");
	assert_fails(dray_buffer_import(node, file, &buffer), -EINVAL,
		     on_kernel() ? "not a dma-buf" : "not a memfd");
	close(file);
	assert_fails(dray_buffer_import(node, file, &buffer), -EBADF,
		     strerror(EBADF));
	assert_fails(dray_buffer_import(node, -1, &buffer), -EBADF, "-1");
	close(ends[0]);
	close(ends[1]);
	assert_ptr_equal(buffer, (void *)1);
	assert_int_equal(open_descriptors(), before);
}

static int make_memfd(off_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

FACT(a_memfd_that_may_shrink_is_not_imported)
{
	struct dray_node *node = open_node("host");
	struct dray_buffer *buffer;
	int fd = make_memfd(8192, F_SEAL_GROW);

	assert_fails(dray_buffer_import(node, fd, &buffer), -EPERM,
		     "not sealed against shrinking");
	close(fd);
	dray_node_unref(node);
}

FACT(a_memfd_of_huge_pages_is_not_imported)
{
	struct dray_node *node = open_node("host");
	int fd = memfd_create("huge",
			      MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	struct dray_buffer *buffer;

	if (fd < 0) {
		print_message("skipped: memfd_create(MFD_HUGETLB): %s\n",
			      strerror(errno));
		dray_node_unref(node);
		skip();
	}
	/* needs no huge page yet: its pages come when they are touched */
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_fails(dray_buffer_import(node, fd, &buffer), -EPERM,
		     "huge pages");
	close(fd);
	dray_node_unref(node);
}

FACT(a_memfd_longer_than_the_machine_has_memory_is_not_imported)
{
	struct dray_node *node = open_node("host");
	struct dray_buffer *buffer;
	struct sysinfo memory;
	uint64_t most;
	int fd, before;

	assert_int_equal(sysinfo(&memory), 0);
	most = ((uint64_t)memory.totalram + memory.totalswap) * memory.mem_unit;
	/* It takes no memory: nothing of it was touched. */
	fd = make_memfd((off_t)(most / 4096 + 1) * 4096, F_SEAL_SHRINK);
	before = open_descriptors();
	assert_fails(dray_buffer_import(node, fd, &buffer), -ENOMEM,
		     "the machine has");
	assert_int_equal(open_descriptors(), before);
	close(fd);
	dray_node_unref(node);
}

FACT(a_memfd_of_odd_length_is_not_imported)
{
	static const off_t sizes[] = { 0, 1, 4097 };
	struct dray_node *node = open_node("host");
	struct dray_buffer *buffer;

	for (size_t i = 0; i < 3; i++) {
		int fd = make_memfd(sizes[i], F_SEAL_SHRINK);

		assert_fails(dray_buffer_import(node, fd, &buffer), -EINVAL,
			     "not a multiple of the page size");
		close(fd);
	}
	dray_node_unref(node);
}

FACT(a_read_only_memfd_is_imported_read_only)
{
	struct dray_node *node = open_node("host");
	struct dray_buffer *buffer;
	char path[64];
	int fd = make_memfd(8192, F_SEAL_SHRINK), reader;

	assert_int_equal(pwrite(fd, "x", 1, 5), 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_works(dray_buffer_import(node, reader, &buffer));
	assert_false(dray_buffer_writable(buffer));
	assert_int_equal(((char *)dray_buffer_data(buffer))[5], 'x');
	dray_buffer_unref(buffer);
	close(reader);

	/* So is one whose content is sealed, however it was opened. */
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	assert_works(dray_buffer_import(node, fd, &buffer));
	assert_false(dray_buffer_writable(buffer));
	dray_buffer_unref(buffer);
	close(fd);
	dray_node_unref(node);
}

FACT(nobody_can_shrink_a_shareable_buffer)
{
	struct dray_node *node = open_node("host:shareable");
	struct dray_buffer *buffer = alloc(node, 8192);

	assert_int_equal(ftruncate(dray_buffer_fd(buffer), 4096), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(
		fcntl(dray_buffer_fd(buffer), F_ADD_SEALS, F_SEAL_GROW), -1);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

FACT(a_shareable_buffer_has_limits_too)
{
	struct dray_node *node = open_node("host:shareable");
	struct dray_buffer *buffer;
	int before = open_descriptors();

	/* A memfd may be sparse: without a check this would be a SIGBUS. */
	assert_fails(dray_buffer_alloc(node, 1ull << 37, NULL, &buffer),
		     sizeof(size_t) == 4 ? -EINVAL : -ENOMEM,
		     "137438953472 bytes");
	assert_int_equal(open_descriptors(), before);
	dray_node_unref(node);
}

static void set_file_limit(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* More than that is no mere failure to the system, but a SIGXFSZ. */
FACT(memory_for_sharing_is_as_long_as_a_file_may_be)
{
	struct dray_node *node = open_node("host:shareable");
	struct dray_pool_options options = { .initial = 1 << 20 };
	int before = open_descriptors();
	struct dray_buffer *buffer;
	struct dray_pool *pool;
	void *block;

	set_file_limit(8 << 20);
	assert_fails(dray_buffer_alloc(node, 16 << 20, NULL, &buffer), -ENOMEM,
		     "RLIMIT_FSIZE, ulimit -f): 8388608");
	assert_int_equal(open_descriptors(), before);
	assert_works(dray_buffer_alloc(node, 8 << 20, NULL, &buffer));
	dray_buffer_unref(buffer);
	/* Memory that grows. */
	assert_works(dray_pool_create(node, &options, &pool));
	errno = 0;
	assert_null(dray_pool_alloc(pool, 16 << 20, 0));
	assert_int_equal(errno, ENOMEM);
	set_file_limit(RLIM_INFINITY);
	block = dray_pool_alloc(pool, 16 << 20, 0);
	assert_non_null(block);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
	dray_node_unref(node);
}
