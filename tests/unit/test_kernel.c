// SPDX-License-Identifier: Apache-2.0 OR MIT
/* kernel: nodes, allocations and questions, and what the module answers. */
#include "stand_in.h"

STAND_IN_FACT(a_node_that_may_not_be_opened_is_eacces)
{
	struct dray_node *node;

	module.open_error = EACCES;
	assert_fails(dray_node_open("kernel:dray7", &node), -EACCES,
		     "/dev/dray7: Permission denied");
	module.open_error = ENXIO;
	assert_fails(dray_node_open("kernel:dray7", &node), -ENODEV,
		     "no node /dev/dray7: dmactl nodes lists those that exist");
	module.nodes = (const char *const[]){ "dray3", NULL };
	assert_fails(
		dray_node_open("kernel:dray7", &node), -ENODEV,
		"no node /dev/dray7: there is dray3; open it as kernel:dray3");
}

STAND_IN_FACT(a_module_of_another_version_is_refused)
{
	struct dray_node *node;

	module.abi_version = 99;
	assert_fails(dray_node_open("kernel:dray7", &node), -EPROTO,
		     "version 99");
	fail_with(DRAY_IOC_INFO, ENODEV, 0, 0);
	assert_fails(dray_node_open("kernel:dray7", &node), -ENODEV,
		     "/dev/dray7 is not a node");
}

STAND_IN_FACT(a_signal_does_not_end_a_call)
{
	struct dray_info info;

	module.interruptions = 3;
	module.calls = 0;
	assert_works(dray_node_info(*state, &info, sizeof(info)));
	assert_int_equal(module.calls, 4);
}

STAND_IN_FACT(a_signal_ends_a_submission)
{
	struct dray_submit args = { .count = 1 };

	module.interruptions = 1;
	module.calls = 0;
	assert_int_equal(dray_node_submit(*state, &args), -EINTR);
	assert_int_equal(module.calls, 1);
	assert_works(dray_node_submit(*state, &args));
}

STAND_IN_FACT(a_refused_submission_says_why)
{
	struct dray_submit args = { .count = 3, .runs = 70000 };

	fail_with(DRAY_IOC_SUBMIT, E2BIG, DRAY_REASON_RUNS, 65536);
	assert_fails(dray_node_submit(*state, &args), -E2BIG,
		     "70000 descriptors");
	assert_non_null(strstr(dray_last_error(), "number 2"));
	assert_non_null(strstr(dray_last_error(), "at most 65536"));
}

STAND_IN_FACT(a_full_heap_is_enomem_with_both_numbers)
{
	struct dray_buffer *buffer;

	fail_with(DRAY_IOC_ALLOC, ENOMEM, DRAY_REASON_FULL, 12288);
	assert_fails(dray_buffer_alloc(*state, MIB, NULL, &buffer), -ENOMEM,
		     "1048576 cached bytes of any heap");
	assert_non_null(strstr(dray_last_error(), "12288 bytes are free"));
}

STAND_IN_FACT(a_mode_that_a_heap_lacks_is_not_supported)
{
	struct dray_buffer_options options = {
		.heap = "heap1",
		.mode = DRAY_MODE_WRITE_COMBINED,
	};
	struct dray_buffer *buffer;

	fail_with(DRAY_IOC_ALLOC, EINVAL, DRAY_REASON_MODE, 0);
	assert_fails(dray_buffer_alloc(*state, MIB, &options, &buffer),
		     -EOPNOTSUPP, "write-combined bytes of heap 1");
}

STAND_IN_FACT(what_was_asked_reaches_the_module)
{
	struct dray_buffer_options options = {
		.heap = "heap1",
		.name = "photo",
		.alignment = 65536,
		.address_limit = 0xffffffff,
		.mode = DRAY_MODE_COHERENT,
		.flags = DRAY_ALLOC_TOP,
	};
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(*state, 100, &options, &buffer));
	assert_int_equal(module.alloc.size, sysconf(_SC_PAGESIZE));
	assert_int_equal(module.alloc.alignment, 65536);
	assert_int_equal(module.alloc.address_limit, 0xffffffff);
	assert_int_equal(module.alloc.heap, 1);
	assert_int_equal(module.alloc.mode, DRAY_MODE_COHERENT);
	assert_int_equal(module.alloc.flags, DRAY_ALLOC_TOP);
	assert_string_equal(module.alloc.name, "photo");
	assert_int_equal(dray_buffer_id(buffer), 4711);
	dray_buffer_unref(buffer);

	assert_works(dray_buffer_alloc(*state, 100, NULL, &buffer));
	assert_int_equal(module.alloc.heap, DRAY_HEAP_ANY);
	dray_buffer_unref(buffer);
}

STAND_IN_FACT(an_unknown_heap_is_answered_with_those_there_are)
{
	struct dray_buffer_options options = { .heap = "cma" };
	struct dray_buffer *buffer;

	assert_fails(dray_buffer_alloc(*state, 1, &options, &buffer), -EINVAL,
		     "no heap \"cma\" on dray7, which has: heap0, heap1");
	fail_with(DRAY_IOC_HEAP_INFO, ENODEV, 0, 0);
	assert_fails(dray_buffer_alloc(*state, 1, &options, &buffer), -ENODEV,
		     "HEAP_INFO of heap 0");
}

STAND_IN_FACT(a_buffer_that_cannot_be_mapped_is_closed)
{
	struct dray_buffer *buffer;
	int before = open_descriptors();

	module.mmap_fails = true;
	assert_fails(dray_buffer_alloc(*state, MIB, NULL, &buffer), -ENOMEM,
		     "mapping 1048576 bytes of a buffer: the process locks");
	assert_int_equal(open_descriptors(), before);
}

STAND_IN_FACT(questions_that_fail_name_the_call)
{
	struct dray_channel_info channel;
	struct dray_buffer_info info;
	struct dray_heap_info heap;
	struct dray_info node;
	size_t count;

	fail_with(DRAY_IOC_INFO, ENODEV, 0, 0);
	assert_fails(dray_node_info(*state, &node, sizeof(node)), -ENODEV,
		     "INFO of dray7");
	fail_with(DRAY_IOC_HEAP_INFO, EIO, 0, 0);
	assert_fails(dray_node_heap(*state, 1, &heap, sizeof(heap)), -EIO,
		     "heap 1 of dray7");
	fail_with(DRAY_IOC_CHANNEL_INFO, EIO, 0, 0);
	assert_fails(dray_node_channel(*state, 0, &channel, sizeof(channel)),
		     -EIO, "channel 0 of dray7");
	fail_with(DRAY_IOC_LIST, EFAULT, 0, 0);
	assert_fails(dray_node_list(*state, NULL, 0, &count), -EFAULT,
		     "LIST of dray7");
	fail_with(DRAY_IOC_BUFFER_INFO, EPERM, 0, 0);
	assert_fails(dray_node_buffer_info(*state, 9, &info, sizeof(info)),
		     -EPERM, "BUFFER_INFO of 9");
	fail_with(DRAY_IOC_BUFFER_INFO, ENOENT, 0, 0);
	assert_fails(dray_node_buffer_info(*state, 9, &info, sizeof(info)),
		     -ENOENT, "no buffer or attachment 9 to be seen on dray7");
}

STAND_IN_FACT(reclaim_asks_the_module_and_tells_what_was_freed)
{
	struct dray_reclaim freed;
	const size_t size = sizeof(freed);

	assert_works(dray_node_reclaim(*state, 17, &freed, size));
	assert_int_equal(module.reclaim.id, 17);
	assert_int_equal(freed.count, 2);
	assert_int_equal(freed.attachments, 1);
	assert_int_equal(freed.bytes, 3 * MIB);
	fail_with(DRAY_IOC_RECLAIM, ENOENT, 0, 0);
	assert_fails(dray_node_reclaim(*state, 17, &freed, size), -ENOENT,
		     "nothing with id 17 is held");
	assert_int_equal(freed.count, 0);
	fail_with(DRAY_IOC_RECLAIM, EPERM, DRAY_REASON_PERMISSION, 0);
	assert_fails(dray_node_reclaim(*state, 0, &freed, size), -EPERM,
		     "CAP_SYS_RAWIO is missing");
}

STAND_IN_FACT(a_map_asks_the_module_and_fills_the_parts)
{
	struct dray_part parts[2] = { 0 };
	struct dray_heap_map map = { .heap = 1,
				     .alignment = 8192,
				     .address_limit = UINT32_MAX,
				     .parts = (uintptr_t)parts,
				     .room = 1 };

	assert_works(dray_node_heap_map(*state, &map, sizeof(map)));
	assert_int_equal(module.map.heap, 1);
	assert_int_equal(module.map.alignment, 8192);
	assert_int_equal(module.map.address_limit, UINT32_MAX);
	assert_int_equal(map.count, 2);
	assert_int_equal(map.size, 4 * MIB);
	assert_int_equal(map.reach, 3 * MIB);
	assert_int_equal(parts[0].id, 4711);
	assert_int_equal(parts[1].length, 0);
}

STAND_IN_FACT(a_map_that_is_refused_says_why_and_changes_nothing)
{
	struct dray_heap_map map = { .heap = 1, .alignment = 3, .count = 9 };

	fail_with(DRAY_IOC_HEAP_MAP, EINVAL, DRAY_REASON_ALIGNMENT, 8192);
	assert_fails(dray_node_heap_map(*state, &map, sizeof(map)), -EINVAL,
		     "HEAP_MAP of heap 1 of dray7");
	assert_int_equal(map.count, 9);
	map.heap = 2;
	assert_fails(dray_node_heap_map(*state, &map, sizeof(map)), -EINVAL,
		     "heap 2: dray7 has 2");
}

STAND_IN_FACT(nodes_are_named_in_the_order_of_their_numbers)
{
	static const char *const dev[] = {
		"dray10", "tty",    "dray2",	      "dray",  "draya",
		"dray0x", "dray-1", "dray1234567890", "dray1", NULL
	};
	char names[3][DRAY_NAME_LEN];
	struct dray_node *node;
	size_t count;

	module.nodes = dev;
	assert_works(dray_node_names(names, 3, &count));
	assert_int_equal(count, 3);
	assert_string_equal(names[0], "dray1");
	assert_string_equal(names[1], "dray2");
	assert_string_equal(names[2], "dray10");
	names[1][0] = 'x';
	assert_works(dray_node_names(names, 1, &count));
	assert_int_equal(count, 3);
	assert_int_equal(names[1][0], 'x');

	assert_works(dray_node_open("kernel", &node));
	assert_string_equal(module.opened, "/dev/dray1");
	dray_node_unref(node);
	unsetenv("DRAY_BACKEND");
	assert_works(dray_node_open(NULL, &node));
	assert_string_equal(dray_node_backend(node), "kernel");
	dray_node_unref(node);
	/* One that is there and may not be used is never replaced unseen. */
	module.open_error = EACCES;
	assert_fails(dray_node_open(NULL, &node), -EACCES, "/dev/dray1");

	module.nodes = NULL;
	assert_fails(dray_node_names(names, 1, &count), -EMFILE, "/dev: ");
}
