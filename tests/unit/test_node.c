// SPDX-License-Identifier: Apache-2.0 OR MIT
/* node: specs, references and what a node tells about itself. */
#include "memory/backend.h"
#include "memory/node.h"
#include "node.h"

NODE_FACT(a_spec_names_its_back_end)
{
	struct dray_node *node = *state;

	assert_string_equal(dray_node_backend(node),
			    on_kernel() ? "kernel" : "host");
	assert_int_equal(dray_node_shareable(node), on_kernel());
}

FACT(a_spec_that_names_nothing_is_refused)
{
	static const char *const specs[] = { "",	 "hos",	      "hostess",
					     "kernels",	 ":",	      "xrt",
					     "host:tmp", "kernel:a/b" };
	struct dray_node *node = (void *)1;
	size_t i;

	for (i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		assert_int_equal(dray_node_open(specs[i], &node), -EINVAL);
		assert_ptr_equal(node, (void *)1);
	}
	assert_fails(dray_node_open("xrt", &node), -EINVAL,
		     "kernel, kernel:NAME, host, host:shareable or shareable");
	assert_fails(dray_node_open("kernel:", &node), -EINVAL, "\"\"");
}

FACT(a_node_that_is_not_there_is_enodev)
{
	struct dray_node *node;

	assert_fails(dray_node_open("kernel:dray4711", &node), -ENODEV,
		     "no node /dev/dray4711: ");
}

FACT(a_device_that_is_no_node_is_enodev)
{
	struct dray_node *node;

	assert_fails(dray_node_open("kernel:null", &node), -ENODEV,
		     "/dev/null is not a node");
}

FACT(the_environment_chooses_where_no_spec_does)
{
	struct dray_node *node;

	setenv("DRAY_BACKEND", "host:shareable", 1);
	assert_works(dray_node_open(NULL, &node));
	assert_string_equal(dray_node_backend(node), "host");
	assert_true(dray_node_shareable(node));
	dray_node_unref(node);
	setenv("DRAY_BACKEND", "nonsense", 1);
	assert_fails(dray_node_open(NULL, &node), -EINVAL,
		     "\"nonsense\" in DRAY_BACKEND");
	unsetenv("DRAY_BACKEND");
}

FACT(without_a_choice_the_module_comes_first_then_the_host)
{
	char names[1][DRAY_NAME_LEN];
	struct dray_node *node;
	size_t count = 0;
	int ret;

	unsetenv("DRAY_BACKEND");
	ret = dray_node_names(names, 1, &count);
	if (ret)
		assert_int_equal(ret, -ENODEV);
	assert_works(dray_node_open(NULL, &node));
	assert_string_equal(dray_node_backend(node),
			    !ret && count ? "kernel" : "host");
	dray_node_unref(node);
}

/* Checks that memory of what @spec opens can be passed on. */
static void opens_shareable(const char *spec, const char *backend)
{
	struct dray_node *node = open_node(spec);
	struct dray_buffer *buffer = NULL;

	assert_string_equal(dray_node_backend(node), backend);
	assert_works(dray_buffer_alloc(node, 1, NULL, &buffer));
	assert_true(dray_buffer_fd(buffer) >= 0);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

FACT(shareable_is_the_module_or_shareable_memory_of_the_host)
{
	size_t count = 0;
	int ret = dray_node_names(NULL, 0, &count);
	const char *there = !ret && count ? "kernel" : "host";

	unsetenv("DRAY_BACKEND");
	opens_shareable("shareable", there);
	setenv("DRAY_BACKEND", "shareable", 1);
	opens_shareable(NULL, there);
	opens_shareable("shareable", there);
	setenv("DRAY_BACKEND", "host", 1);
	opens_shareable("shareable", "host");
	unsetenv("DRAY_BACKEND");
}

FACT(names_are_those_in_dev)
{
	char names[8][DRAY_NAME_LEN] = { "untouched" }, path[64];
	size_t count = 77, i;
	int ret = dray_node_names(names, 8, &count);

	if (ret) {
		assert_fails(ret, -ENODEV, "not loaded");
		assert_int_equal(count, 77);
		assert_string_equal(names[0], "untouched");
		assert_false(on_kernel());
		return;
	}
	for (i = 0; i < count && i < 8; i++) {
		snprintf(path, sizeof(path), "/dev/%s", names[i]);
		assert_int_equal(access(path, F_OK), 0);
	}
	assert_works(dray_node_names(NULL, 0, &i));
	assert_int_equal(i, count);
}

NODE_FACT(info_is_of_this_machine)
{
	struct dray_info info;

	assert_works(dray_node_info(*state, &info, sizeof(info)));
	assert_int_equal(info.abi_version, DRAY_ABI_VERSION);
	assert_int_equal(info.page_size, sysconf(_SC_PAGESIZE));
	assert_true(info.cache_line >= 16);
	assert_true(info.heap_count >= 1);
	assert_true(info.dma_mask > 0);
	assert_string_equal(info.version, dray_version());
	if (on_kernel())
		return;
	assert_string_equal(info.name, "host");
	assert_int_equal(info.channel_count, 4); /* its streams */
	assert_true(info.flags & DRAY_NODE_COHERENT);
	assert_false(info.flags & (DRAY_NODE_SUBMIT | DRAY_NODE_ADDRESS));
	assert_false(dray_node_needs_sync(*state));
}

NODE_FACT(an_older_program_gets_the_part_that_it_knows)
{
	struct dray_info info, part;

	assert_works(dray_node_info(*state, &info, sizeof(info)));
	memset(&part, 0xaa, sizeof(part));
	assert_works(dray_node_info(*state, &part, 16));
	assert_memory_equal(&part, &info, 16);
	assert_true(all_bytes_are((char *)&part + 16, 0xaa, sizeof(part) - 16));
}

NODE_FACT(a_newer_program_gets_zeros_for_what_is_not_known)
{
	struct {
		struct dray_heap_info known;
		uint64_t more[4];
	} heap;

	memset(&heap, 0xaa, sizeof(heap));
	assert_works(dray_node_heap(*state, 0, &heap.known, sizeof(heap)));
	assert_true(heap.known.total > 0);
	assert_true(all_bytes_are(heap.more, 0, sizeof(heap.more)));
}

NODE_FACT(a_heap_tells_what_it_holds)
{
	struct dray_heap_info before, after;
	struct dray_buffer *buffer;

	assert_works(dray_node_heap(*state, 0, &before, sizeof(before)));
	assert_true(before.total >= before.free);
	assert_true(before.largest_request > 0);
	assert_true(strlen(before.name) > 0);
	assert_works(dray_buffer_alloc(
		*state, 65536,
		&(struct dray_buffer_options){ .heap = before.name }, &buffer));
	assert_works(dray_node_heap(*state, 0, &after, sizeof(after)));
	assert_int_equal(after.buffers, before.buffers + 1);
	assert_int_equal(after.used, before.used + dray_buffer_size(buffer));
	dray_buffer_unref(buffer);
	assert_works(dray_node_heap(*state, 0, &after, sizeof(after)));
	assert_int_equal(after.buffers, before.buffers);
	assert_int_equal(after.used, before.used);
}

NODE_FACT(an_index_beyond_the_last_is_refused)
{
	struct dray_channel_info channel;
	struct dray_heap_info heap;
	struct dray_info info;

	assert_works(dray_node_info(*state, &info, sizeof(info)));
	assert_fails(dray_node_heap(*state, info.heap_count, &heap,
				    sizeof(heap)),
		     -EINVAL, "heap");
	assert_fails(dray_node_channel(*state, info.channel_count, &channel,
				       sizeof(channel)),
		     -EINVAL, "channel");
}

NODE_FACT(every_channel_answers)
{
	struct dray_channel_info channel;
	struct dray_info info;

	assert_works(dray_node_info(*state, &info, sizeof(info)));
	for (uint32_t i = 0; i < info.channel_count; i++) {
		assert_works(dray_node_channel(*state, i, &channel,
					       sizeof(channel)));
		assert_int_equal(channel.index, i);
		assert_true(strlen(channel.name) > 0);
	}
}

NODE_FACT(the_list_has_ids_that_can_be_looked_up)
{
	struct dray_buffer_options options = { .name = "listed" };
	struct dray_buffer_info info;
	struct dray_buffer *buffer;
	uint64_t ids[1024];
	size_t before = buffers_of(*state), count, i;

	assert_works(dray_buffer_alloc(*state, 12345, &options, &buffer));
	assert_int_equal(buffers_of(*state), before + 1);
	assert_works(dray_node_list(*state, ids, 1024, &count));
	for (i = 0; i < count && ids[i] != dray_buffer_id(buffer);)
		i++;
	assert_true(i < count);
	assert_works(
		dray_node_buffer_info(*state, ids[i], &info, sizeof(info)));
	assert_int_equal(info.id, ids[i]);
	assert_int_equal(info.size, dray_buffer_size(buffer));
	assert_int_equal(info.pid, getpid());
	assert_int_equal(info.uid, getuid());
	assert_int_equal(info.mapped, 1);
	assert_string_equal(info.name, "listed");
	assert_true(strlen(info.comm) > 0);
	assert_true(strlen(info.heap_name) > 0);
	dray_buffer_unref(buffer);
	assert_int_equal(buffers_of(*state), before);
	assert_fails(dray_node_buffer_info(*state, ids[i], &info, sizeof(info)),
		     -ENOENT, "no buffer");
}

NODE_FACT(the_list_writes_no_more_than_there_is_room)
{
	struct dray_buffer *a, *b;
	uint64_t ids[2] = { 0, 0xaaaa };
	size_t count;

	assert_works(dray_buffer_alloc(*state, 1, NULL, &a));
	assert_works(dray_buffer_alloc(*state, 1, NULL, &b));
	assert_works(dray_node_list(*state, ids, 1, &count));
	assert_true(count >= 2);
	assert_int_not_equal(ids[0], 0);
	assert_int_equal(ids[1], 0xaaaa);
	dray_buffer_unref(a);
	dray_buffer_unref(b);
}

FACT(a_node_lives_as_long_as_its_last_buffer)
{
	struct dray_node *node = open_node(test_spec());
	struct dray_buffer *buffer;

	assert_ptr_equal(dray_node_ref(node), node);
	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	dray_node_unref(node);
	dray_node_unref(node);
	assert_ptr_equal(dray_buffer_node(buffer), node);
	assert_int_not_equal(buffers_of(node), 0);
	dray_buffer_unref(buffer);
	dray_node_unref(NULL);
}

static int info_of_a_device_that_may_be_gone(struct dray_node *node,
					     struct dray_info *info)
{
	*info = node->info;
	return node->fd < 0 ? -ENODEV : 0;
}

/* A stand-in for the module: no test can take its device away here. */
NODE_FACT(handles_of_one_device_are_the_same_node)
{
	const struct dray_backend backend = {
		.info = info_of_a_device_that_may_be_gone,
	};
	struct dray_node old = { .backend = &backend, .fd = 3 }, now = old;
	struct dray_node *other = open_node(test_spec());

	assert_true(dray_node_same(*state, *state));
	assert_true(dray_node_same(*state, other));
	assert_false(dray_node_same(other, &now));
	dray_node_unref(other);
	strcpy(old.info.name, "dray0");
	strcpy(now.info.name, "dray1");
	assert_false(dray_node_same(&old, &now));
	strcpy(now.info.name, "dray0");
	assert_true(dray_node_same(&old, &now));
	/* A new device has the name of one that is gone. */
	old.fd = -1;
	assert_false(dray_node_same(&old, &now));
	assert_false(dray_node_same(&now, &old));
}
