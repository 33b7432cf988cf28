// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * kind: of addresses and views in each sort of memory.  On the host no memory is for
 * devices alone: a buffer is marked so.  tests/python has a carve-out's.
 */
#include "memory/backend.h"
#include "pool.h"

static enum dray_memory_kind usual(void)
{
	return on_kernel() ? DRAY_MEMORY_SHARED : DRAY_MEMORY_HOST;
}

NODE_FACT(memory_of_a_node_has_the_kind_of_its_back_end)
{
	struct dray_buffer *buffer;
	unsigned char *data;

	assert_works(dray_buffer_alloc(*state, 8192, NULL, &buffer));
	data = dray_buffer_data(buffer);
	assert_int_equal(dray_address_kind(data, NULL), usual());
	assert_int_equal(dray_address_kind(data + 8191, *state), usual());
	assert_int_equal(dray_address_kind(data + 8192, NULL),
			 DRAY_MEMORY_UNKNOWN);
	dray_buffer_unref(buffer);
	assert_int_equal(dray_address_kind(data, NULL), DRAY_MEMORY_UNKNOWN);
}

NODE_FACT(a_block_has_a_kind_until_it_is_freed)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);
	void *block = take(pool, 100, 0);

	assert_int_equal(dray_address_kind(block, NULL), usual());
	dray_pool_free(pool, block);
	assert_int_equal(dray_address_kind(block, NULL), DRAY_MEMORY_UNKNOWN);
	dray_pool_close(pool);
}

NODE_FACT(memory_of_a_device_alone_is_not_read)
{
	struct dray_manager *manager;
	struct dray_buffer *buffer;
	enum dray_memory_kind kind;
	struct dray_view view;

	assert_works(dray_buffer_alloc(*state, 4096, NULL, &buffer));
	buffer->mode = DRAY_MODE_DEVICE;
	assert_int_equal(mprotect(dray_buffer_data(buffer), 4096, PROT_NONE),
			 0);
	assert_works(dray_view_init(&view, dray_buffer_data(buffer), u1, 1,
				    DIMS(4096), NULL));
	assert_works(dray_view_kind(&view, NULL, &kind));
	assert_int_equal(kind, DRAY_MEMORY_DEVICE);
	assert_works(dray_get_manager(*state, &manager));
	assert_int_equal(dray_manager_kind_of(manager, view.data),
			 DRAY_MEMORY_DEVICE);
	dray_manager_unref(manager);
	dray_buffer_unref(buffer);
}

NODE_FACT(memory_of_another_node_is_unknown)
{
	struct dray_node *other =
		open_node(on_kernel() ? "host" : "host:shareable");
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(other, 4096, NULL, &buffer));
	assert_int_equal(dray_address_kind(dray_buffer_data(buffer), NULL),
			 DRAY_MEMORY_HOST);
	assert_int_equal(dray_address_kind(dray_buffer_data(buffer), *state),
			 DRAY_MEMORY_UNKNOWN);
	dray_buffer_unref(buffer);
	dray_node_unref(other);
}

FACT(other_memory_is_unknown)
{
	int local = 0;

	assert_int_equal(dray_address_kind(NULL, NULL), DRAY_MEMORY_UNKNOWN);
	assert_int_equal(dray_address_kind(&local, NULL), DRAY_MEMORY_UNKNOWN);
	assert_int_equal(dray_address_kind((void *)UINTPTR_MAX, NULL),
			 DRAY_MEMORY_UNKNOWN);
}

/* Elements from @first on, @stride bytes apart, in a buffer of 4096 bytes. */
NODE_FACT(a_view_has_a_kind_if_all_of_it_is_in_one_block)
{
	static const struct {
		int64_t first, shape, stride;
		bool known;
	} views[] = {
		{ 0, 4096, 1, true },	   { 4095, 4096, -1, true },
		{ 4000, 96, 1, true },	   { 0, 0, 1, false },
		{ 4000, 97, 1, false },	   { 0, 2, 4096, false },
		{ 4000, 2, -4001, false },
	};
	struct dray_buffer *buffer;
	enum dray_memory_kind kind;
	struct dray_view view;

	assert_works(dray_buffer_alloc(*state, 4096, NULL, &buffer));
	if (dray_buffer_size(buffer) != 4096)
		skip(); /* longer pages */
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		assert_works(dray_view_init(
			&view,
			(char *)dray_buffer_data(buffer) + views[i].first, u1,
			1, &views[i].shape, &views[i].stride));
		assert_works(dray_view_kind(&view, *state, &kind));
		assert_int_equal(kind, views[i].known ? usual()
						      : DRAY_MEMORY_UNKNOWN);
	}
	dray_buffer_unref(buffer);
}

FACT(a_bad_view_has_no_kind)
{
	struct dray_view view = { .dtype = u1, .ndim = -1 };
	enum dray_memory_kind kind;

	assert_fails(dray_view_kind(&view, NULL, &kind), -EINVAL, "-1 axes");
}

FACT(kinds_have_names)
{
	assert_string_equal(dray_memory_kind_name(DRAY_MEMORY_UNKNOWN),
			    "unknown");
	assert_string_equal(dray_memory_kind_name(DRAY_MEMORY_DEVICE),
			    "device");
	assert_null(dray_memory_kind_name((enum dray_memory_kind)6));
	assert_null(dray_memory_kind_name((enum dray_memory_kind) - 1));
}
