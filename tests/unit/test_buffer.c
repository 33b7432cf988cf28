// SPDX-License-Identifier: Apache-2.0 OR MIT
/* buffer: allocating, what is refused, growing, and addresses. */
#include "buffers.h"
#include "memory/node.h"

NODE_FACT(a_buffer_is_zero_and_whole_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct dray_buffer *buffer = alloc(*state, 3 * page + 1);
	char *data = dray_buffer_data(buffer);

	assert_int_equal(dray_buffer_size(buffer), 4 * page);
	assert_int_equal((uintptr_t)data % page, 0);
	assert_true(all_bytes_are(data, 0, 4 * page));
	memset(data, 0x5a, 4 * page);
	assert_true(all_bytes_are(data, 0x5a, 4 * page));
	assert_true(dray_buffer_writable(buffer));
	dray_buffer_unref(buffer);
}

NODE_FACT(memory_that_is_used_again_is_zero_again)
{
	for (int i = 0; i < 4; i++) {
		struct dray_buffer *buffer = alloc(*state, 1 << 18);

		assert_true(
			all_bytes_are(dray_buffer_data(buffer), 0, 1 << 18));
		memset(dray_buffer_data(buffer), 0xff, 1 << 18);
		dray_buffer_unref(buffer);
	}
}

NODE_FACT(ids_differ)
{
	struct dray_buffer *a = alloc(*state, 1), *b = alloc(*state, 1);

	assert_int_not_equal(dray_buffer_id(a), 0);
	assert_int_not_equal(dray_buffer_id(a), dray_buffer_id(b));
	dray_buffer_unref(a);
	dray_buffer_unref(b);
}

NODE_FACT(a_buffer_is_aligned_as_asked)
{
	/* Beyond 2 MiB only addresses of this process count. */
	uint64_t alignment, most = on_kernel() ? 1 << 20 : 1 << 27;
	struct dray_buffer *buffer;

	for (alignment = 1; alignment <= most; alignment *= 8) {
		struct dray_buffer_options options = { .alignment = alignment };

		assert_works(
			dray_buffer_alloc(*state, 4096, &options, &buffer));
		assert_int_equal(
			(uintptr_t)dray_buffer_data(buffer) % alignment, 0);
		dray_buffer_unref(buffer);
	}
}

NODE_FACT(wrong_sizes_are_refused)
{
	struct dray_buffer *buffer = (void *)1;

	assert_fails(dray_buffer_alloc(*state, 0, NULL, &buffer), -EINVAL,
		     "0 bytes");
	assert_fails(dray_buffer_alloc(*state, UINT64_MAX, NULL, &buffer),
		     -EINVAL, "18446744073709551615 bytes");
	assert_fails(dray_buffer_alloc(*state, UINT64_MAX - 4095, NULL,
				       &buffer),
		     -EINVAL, "can be mapped");
	assert_ptr_equal(buffer, (void *)1);
}

NODE_FACT(more_than_there_is_is_refused_with_a_number)
{
	struct dray_buffer *buffer;
	size_t before = buffers_of(*state);
	int ret = dray_buffer_alloc(*state, 1ull << 46, NULL, &buffer);

	/* The kernel answers a size that no heap could ever have as invalid. */
	assert_true(ret == -ENOMEM || (on_kernel() && ret == -EINVAL) ||
		    (sizeof(size_t) == 4 && ret == -EINVAL));
	assert_non_null(strstr(dray_last_error(), "70368744177664"));
	assert_int_equal(buffers_of(*state), before);
}

NODE_FACT(wrong_options_are_refused)
{
	struct dray_buffer *buffer;
	struct dray_buffer_options alignment = { .alignment = 24 };
	struct dray_buffer_options heap = { .heap = "nowhere" };
	struct dray_buffer_options mode = { .mode = 4 };
	struct dray_buffer_options flags = { .flags = 0x10 };

	assert_fails(dray_buffer_alloc(*state, 1, &alignment, &buffer), -EINVAL,
		     "24 bytes is not a power of two");
	assert_fails(dray_buffer_alloc(*state, 1, &heap, &buffer), -EINVAL,
		     "no heap \"nowhere\" on");
	assert_fails(dray_buffer_alloc(*state, 1, &mode, &buffer), -EINVAL,
		     "4 is not a cache mode: 0 to 3");
	assert_fails(dray_buffer_alloc(*state, 1, &flags, &buffer), -EINVAL,
		     "unknown flags 0x10");
}

NODE_FACT(a_long_name_is_cut)
{
	struct dray_buffer_options options = {
		.name = "a name of more than thirty-one characters",
	};
	struct dray_buffer_info info;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(*state, 1, &options, &buffer));
	assert_works(dray_node_buffer_info(*state, dray_buffer_id(buffer),
					   &info, sizeof(info)));
	assert_string_equal(info.name, "a name of more than thirty-one ");
	dray_buffer_unref(buffer);
}

NODE_FACT(a_reference_keeps_the_memory)
{
	struct dray_buffer *buffer = alloc(*state, 4096);
	char *data = dray_buffer_data(buffer);

	assert_ptr_equal(dray_buffer_ref(buffer), buffer);
	dray_buffer_unref(buffer);
	data[4095] = 7;
	assert_int_equal(data[4095], 7);
	dray_buffer_unref(buffer);
	dray_buffer_unref(NULL);
}

NODE_FACT(addresses_are_used_again)
{
	struct dray_buffer *buffer = alloc(*state, 4096);
	void *first = dray_buffer_data(buffer);

	dray_buffer_unref(buffer);
	for (int i = 0; i < 1000; i++) {
		buffer = alloc(*state, 4096);
		assert_ptr_equal(dray_buffer_data(buffer), first);
		dray_buffer_unref(buffer);
	}
}

/* What a forked child's write to the first byte does to the parent's. */
static char after_a_childs_write(struct dray_buffer *buffer)
{
	volatile char *data = dray_buffer_data(buffer);
	int status;
	pid_t child;

	data[0] = 1;
	child = fork();
	if (!child) {
		data[0] = 2;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return data[0];
}

FACT(a_forked_child_has_a_copy_of_private_memory)
{
	struct dray_node *node = open_node("host");
	struct dray_buffer *buffer = alloc(node, 4096);

	assert_int_equal(after_a_childs_write(buffer), 1);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

FACT(a_forked_child_shares_shareable_memory)
{
	struct dray_node *node = open_sharing();
	struct dray_buffer *buffer = alloc(node, 4096);

	assert_int_equal(after_a_childs_write(buffer), 2);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

FACT(a_buffer_grows_where_its_back_end_can)
{
	static const char *const specs[] = { "host", "host:shareable" };
	struct dray_node *node;
	struct dray_buffer *buffer;
	size_t i;

	for (i = 0; i < 2; i++) {
		char *data;

		node = open_node(specs[i]);
		assert_works(dray_buffer_alloc_growing(node, 4096, 1 << 24,
						       NULL, &buffer));
		data = dray_buffer_data(buffer);
		memset(data, 1, 4096);
		assert_works(dray_buffer_grow(buffer, 1 << 23));
		assert_ptr_equal(dray_buffer_data(buffer), data);
		assert_int_equal(dray_buffer_size(buffer), 1 << 23);
		assert_true(all_bytes_are(data, 1, 4096));
		assert_true(all_bytes_are(data + 4096, 0, (1 << 23) - 4096));
		data[(1 << 23) - 1] = 1;
		/* Growing to less is no shrinking. */
		assert_works(dray_buffer_grow(buffer, 4096));
		assert_int_equal(dray_buffer_size(buffer), 1 << 23);
		assert_fails(dray_buffer_grow(buffer, (1 << 24) + 1), -ENOMEM,
			     "may have 16777216");
		dray_buffer_unref(buffer);
		dray_node_unref(node);
	}
}

FACT(a_punched_range_is_zero_and_its_neighbours_are_not)
{
	static const char *const specs[] = { "host", "host:shareable" };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;

	for (i = 0; i < 2; i++) {
		struct dray_node *node = open_node(specs[i]);
		struct dray_buffer *buffer = alloc(node, 4 * page);
		char *data = dray_buffer_data(buffer);

		memset(data, 7, 4 * page);
		assert_works(dray_buffer_punch(buffer, page, 2 * page));
		assert_true(all_bytes_are(data, 7, page));
		assert_true(all_bytes_are(data + page, 0, 2 * page));
		assert_true(all_bytes_are(data + 3 * page, 7, page));
		dray_buffer_unref(buffer);
		dray_node_unref(node);
	}
}

FACT_ON(on_kernel, a_buffer_of_the_kernel_neither_grows_nor_is_punched,
	node_setup, node_teardown)
{
	struct dray_buffer *buffer = alloc(*state, 8192);

	assert_false(dray_node_grows(*state));
	assert_fails(dray_buffer_grow(buffer, 16384), -EOPNOTSUPP,
		     "keep their size");
	assert_fails(dray_buffer_punch(buffer, 0, 4096), -EOPNOTSUPP,
		     "given back whole");
	dray_buffer_unref(buffer);
}

FACT(only_what_was_given_out_counts_as_exposed)
{
	struct dray_node *node = open_sharing();
	struct dray_buffer *buffer = alloc(node, 4096);

	assert_true(dray_buffer_descriptor(buffer) >= 0);
	assert_false(dray_buffer_exposed(buffer));
	assert_int_equal(dray_buffer_fd(buffer),
			 dray_buffer_descriptor(buffer));
	assert_true(dray_buffer_exposed(buffer));
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

NODE_FACT(addresses_stay_inside_the_buffer)
{
	struct dray_buffer *buffer = alloc(*state, 8192);
	struct dray_segment segments[4];
	size_t count = 99;

	assert_fails(dray_buffer_addresses(buffer, 8192, 0, segments, 4,
					   &count),
		     -EINVAL, "of 8192 bytes");
	assert_fails(dray_buffer_addresses(buffer, 4096, 4097, segments, 4,
					   &count),
		     -EINVAL, "4097 bytes at offset 4096");
	assert_fails(dray_buffer_addresses(buffer, 1, UINT64_MAX, segments, 4,
					   &count),
		     -EINVAL, "leave buffer");
	assert_int_equal(count, 99);
	dray_buffer_unref(buffer);
}

NODE_FACT(the_kernel_tells_addresses_and_the_host_has_none)
{
	struct dray_buffer *buffer = alloc(*state, 8192);
	struct dray_segment segments[4];
	struct dray_info info;
	uint64_t bytes = 0;
	size_t count, i;

	if (!on_kernel()) {
		assert_fails(dray_buffer_addresses(buffer, 0, 0, segments, 4,
						   &count),
			     -EOPNOTSUPP, "no DMA addresses");
		dray_buffer_unref(buffer);
		return;
	}
	assert_works(dray_node_info(*state, &info, sizeof(info)));
	if (!(info.flags & DRAY_NODE_ADDRESS)) {
		assert_fails(dray_buffer_addresses(buffer, 0, 0, segments, 4,
						   &count),
			     -EPERM, "right");
	} else {
		assert_works(dray_buffer_addresses(buffer, 4096, 0, segments, 4,
						   &count));
		assert_in_range(count, 1, 4);
		for (i = 0; i < count; i++)
			bytes += segments[i].length;
		assert_int_equal(bytes, 4096);
		assert_true(dray_buffer_exposed(buffer));
	}
	dray_buffer_unref(buffer);
}
