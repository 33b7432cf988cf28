// SPDX-License-Identifier: Apache-2.0 OR MIT
/* node: specs, references and what a node tells about itself. */
#include <unistd.h>

#include "node.h"

static void a_spec_names_its_back_end(void **state)
{
	struct dray_node *node = *state;

	assert_string_equal(dray_node_backend(node),
			    on_kernel() ? "kernel" : "host");
	assert_int_equal(dray_node_shareable(node), on_kernel());
}

static void a_spec_that_names_nothing_is_refused(void **state)
{
	static const char *const specs[] = { "",	 "hos",	      "hostess",
					     "kernels",	 ":",	      "xrt",
					     "host:tmp", "kernel:a/b" };
	struct dray_node *node = (void *)1;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		assert_int_equal(dray_node_open(specs[i], &node), -EINVAL);
		assert_ptr_equal(node, (void *)1);
	}
	assert_fails(dray_node_open("xrt", &node), -EINVAL,
		     "kernel, kernel:NAME, host or host:shareable");
	assert_fails(dray_node_open("kernel:", &node), -EINVAL, "\"\"");
}

static void a_node_that_is_not_there_is_enodev(void **state)
{
	struct dray_node *node;

	(void)state;
	assert_fails(dray_node_open("kernel:dray4711", &node), -ENODEV,
		     "/dev/dray4711");
}

static void a_device_that_is_no_node_is_enodev(void **state)
{
	struct dray_node *node;

	(void)state;
	assert_fails(dray_node_open("kernel:null", &node), -ENODEV,
		     "/dev/null is no node");
}

static void the_environment_chooses_where_no_spec_does(void **state)
{
	struct dray_node *node;

	(void)state;
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

static void without_a_choice_the_module_comes_first_then_the_host(void **state)
{
	char names[1][DRAY_NAME_LEN];
	struct dray_node *node;
	size_t count = 0;
	int ret;

	(void)state;
	unsetenv("DRAY_BACKEND");
	ret = dray_node_names(names, 1, &count);
	if (ret)
		assert_int_equal(ret, -ENODEV);
	assert_works(dray_node_open(NULL, &node));
	assert_string_equal(dray_node_backend(node),
			    !ret && count ? "kernel" : "host");
	dray_node_unref(node);
}

static void names_are_those_in_dev(void **state)
{
	char names[8][DRAY_NAME_LEN] = { "untouched" }, path[64];
	size_t count = 77, i;
	int ret = dray_node_names(names, 8, &count);

	(void)state;
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

static void info_is_of_this_machine(void **state)
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
	assert_int_equal(info.channel_count, 0);
	assert_true(info.flags & DRAY_NODE_COHERENT);
	assert_false(info.flags & (DRAY_NODE_SUBMIT | DRAY_NODE_ADDRESS));
	assert_false(dray_node_needs_sync(*state));
}

static void an_older_program_gets_the_part_that_it_knows(void **state)
{
	struct dray_info info, part;

	assert_works(dray_node_info(*state, &info, sizeof(info)));
	memset(&part, 0xaa, sizeof(part));
	assert_works(dray_node_info(*state, &part, 16));
	assert_memory_equal(&part, &info, 16);
	assert_true(all_bytes_are((char *)&part + 16, 0xaa, sizeof(part) - 16));
}

static void a_newer_program_gets_zeros_for_what_is_not_known(void **state)
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

static void a_heap_tells_what_it_holds(void **state)
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

static void an_index_beyond_the_last_is_refused(void **state)
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

static void every_channel_answers(void **state)
{
	struct dray_channel_info channel;
	struct dray_info info;
	uint32_t i;

	assert_works(dray_node_info(*state, &info, sizeof(info)));
	for (i = 0; i < info.channel_count; i++) {
		assert_works(dray_node_channel(*state, i, &channel,
					       sizeof(channel)));
		assert_int_equal(channel.index, i);
		assert_true(strlen(channel.name) > 0);
	}
}

static void the_list_has_ids_that_can_be_looked_up(void **state)
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

static void the_list_writes_no_more_than_there_is_room(void **state)
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

static void a_node_lives_as_long_as_its_last_buffer(void **state)
{
	struct dray_node *node = open_node(test_spec());
	struct dray_buffer *buffer;

	(void)state;
	assert_ptr_equal(dray_node_ref(node), node);
	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	dray_node_unref(node);
	dray_node_unref(node);
	assert_ptr_equal(dray_buffer_node(buffer), node);
	assert_int_not_equal(buffers_of(node), 0);
	dray_buffer_unref(buffer);
	dray_node_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_FACT(a_spec_names_its_back_end),
		cmocka_unit_test(a_spec_that_names_nothing_is_refused),
		cmocka_unit_test(a_node_that_is_not_there_is_enodev),
		cmocka_unit_test(a_device_that_is_no_node_is_enodev),
		cmocka_unit_test(the_environment_chooses_where_no_spec_does),
		cmocka_unit_test(
			without_a_choice_the_module_comes_first_then_the_host),
		cmocka_unit_test(names_are_those_in_dev),
		NODE_FACT(info_is_of_this_machine),
		NODE_FACT(an_older_program_gets_the_part_that_it_knows),
		NODE_FACT(a_newer_program_gets_zeros_for_what_is_not_known),
		NODE_FACT(a_heap_tells_what_it_holds),
		NODE_FACT(an_index_beyond_the_last_is_refused),
		NODE_FACT(every_channel_answers),
		NODE_FACT(the_list_has_ids_that_can_be_looked_up),
		NODE_FACT(the_list_writes_no_more_than_there_is_room),
		cmocka_unit_test(a_node_lives_as_long_as_its_last_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
