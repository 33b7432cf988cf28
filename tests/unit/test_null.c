// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NULL for each parameter that must not be, in the order of the headers;
 * test_library.py looks if a function is missing.  Arrays: test_null_array.c.
 */
#include "null.h"

FACT(base)
{
	allows(dray_version);
	allows(dray_last_error);
	allows(dray_last_failure);
}

FACT(a_failure_without_a_format_keeps_its_code)
{
	const char *format = NULL;

	forget();
	assert_int_equal(dray_fail(-EIO, format, 0), -EIO);
	assert_true(is_said());
}

FACT(nodes)
{
	struct dray_register_area area;
	struct dray_interrupt_line line;
	struct dray_buffer_info buffer;
	struct dray_channel_info channel;
	struct dray_heap_info heap;
	struct dray_heap_map map = { 0 };
	struct dray_reclaim freed;
	struct dray_info info;
	uint64_t id;
	size_t count;

	refuses(dray_node_open("host", NULL));
	ignores(assert_null(dray_node_ref(NULL)));
	ignores(dray_node_unref(NULL));
	refuses(dray_node_names(NULL, 0, NULL));
	refuses(dray_node_names(NULL, 1, &count));
	gives_nothing(dray_node_backend(NULL));
	gives(false, dray_node_shareable(NULL));
	refuses(dray_node_info(NULL, &info, sizeof(info)));
	refuses(dray_node_info(node, NULL, sizeof(info)));
	refuses(dray_node_heap(NULL, 0, &heap, sizeof(heap)));
	refuses(dray_node_heap(node, 0, NULL, sizeof(heap)));
	refuses(dray_node_channel(NULL, 0, &channel, sizeof(channel)));
	refuses(dray_node_channel(node, 0, NULL, sizeof(channel)));
	refuses(dray_node_list(NULL, &id, 1, &count));
	refuses(dray_node_list(node, &id, 1, NULL));
	refuses(dray_node_list(node, NULL, 1, &count));
	refuses(dray_node_buffer_info(NULL, 1, &buffer, sizeof(buffer)));
	refuses(dray_node_buffer_info(node, 1, NULL, sizeof(buffer)));
	refuses(dray_node_reclaim(NULL, 0, &freed, sizeof(freed)));
	refuses(dray_node_reclaim(node, 0, NULL, sizeof(freed)));
	ignores(dray_reason_text(-ENOMEM, DRAY_REASON_FULL, 1, NULL, 9));
	refuses(dray_node_register_area(NULL, 0, &area, sizeof(area)));
	refuses(dray_node_register_area(node, 0, NULL, sizeof(area)));
	refuses(dray_node_interrupt_line(NULL, 0, &line, sizeof(line)));
	refuses(dray_node_interrupt_line(node, 0, NULL, sizeof(line)));
	refuses(dray_node_heap_map(NULL, &map, sizeof(map)));
	refuses(dray_node_heap_map(node, NULL, sizeof(map)));
	gives(false, dray_node_needs_sync(NULL));
	refuses(dray_node_sync(NULL, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE, NULL,
			       0));
	refuses(dray_node_sync(node, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE, NULL,
			       1));
}

FACT(registers)
{
	struct dray_registers *mapped = NULL;
	struct dray_interrupt *interrupt = NULL;
	uint32_t value = 0;

	refuses(dray_registers_map(NULL, NULL, &mapped));
	refuses(dray_registers_map(node, NULL, NULL));
	ignores(assert_null(dray_registers_ref(NULL)));
	ignores(dray_registers_unref(NULL));
	gives_nothing((const void *)dray_registers_address(NULL));
	gives(0, dray_registers_size(NULL));
	gives_nothing(dray_registers_name(NULL));
	refuses(dray_registers_read(NULL, 0, &value));
	refuses(dray_registers_write(NULL, 0, 0));
	refuses(dray_interrupt_open(NULL, NULL, &interrupt));
	refuses(dray_interrupt_open(node, NULL, NULL));
	ignores(assert_null(dray_interrupt_ref(NULL)));
	ignores(dray_interrupt_unref(NULL));
	gives_nothing(dray_interrupt_name(NULL));
	gives(-1, dray_interrupt_fd(NULL));
	refuses(dray_interrupt_wait(NULL, 0, NULL));
	refuses(dray_interrupt_clear(NULL));
}

FACT(buffers)
{
	struct dray_buffer *buffer = NULL;
	struct dray_segment segment;
	size_t count;

	refuses(dray_buffer_alloc(NULL, 4096, NULL, &buffer));
	refuses(dray_buffer_alloc(node, 4096, NULL, NULL));
	refuses(dray_buffer_import(NULL, 0, &buffer));
	refuses(dray_buffer_import(node, 0, NULL));
	ignores(assert_null(dray_buffer_ref(NULL)));
	ignores(dray_buffer_unref(NULL));
	gives_nothing(dray_buffer_data(NULL));
	gives(0, dray_buffer_size(NULL));
	gives(0, dray_buffer_id(NULL));
	gives(-1, dray_buffer_fd(NULL));
	gives_nothing(dray_buffer_node(NULL));
	gives(false, dray_buffer_writable(NULL));
	refuses(dray_buffer_addresses(NULL, 0, 0, &segment, 1, &count));
	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	refuses(dray_buffer_addresses(buffer, 0, 0, &segment, 1, NULL));
	refuses(dray_buffer_addresses(buffer, 0, 0, NULL, 1, &count));
	dray_buffer_unref(buffer);
}

static int visit_block(void *argument, const struct dray_pool_block *block)
{
	return 0;
}

FACT(pools)
{
	void *block = take(pool, 100, 0);
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	struct dray_location where;
	struct dray_pool *none;

	refuses(dray_pool_create(NULL, NULL, &none));
	refuses(dray_pool_create(node, NULL, NULL));
	ignores(dray_pool_close(NULL));
	gives_nothing(dray_pool_node(NULL));
	gives_nothing(dray_pool_alloc(NULL, 100, 0));
	gives_nothing(dray_pool_alloc(NULL, 100, 4096));
	gives_nothing(dray_pool_alloc(NULL, 1 << 20, 0));
	gives_nothing(dray_pool_calloc(NULL, 1, 100));
	gives_nothing(dray_pool_realloc(NULL, NULL, 100));
	gives_nothing(dray_pool_realloc(NULL, block, 100));
	ignores(dray_pool_free(pool, NULL));
	ignores(dray_pool_free(NULL, NULL));
	refuses(dray_free_after(block, NULL));
	ignores(assert_int_equal(dray_usable_size(NULL), 0));
	assert_int_equal(dray_locate(NULL, &where), -ENOENT);
	refuses(dray_locate(block, NULL));
	refuses(dray_pool_walk(NULL, visit_block, NULL));
	refuses(dray_pool_walk(pool, NULL, NULL));
	does_nothing(dray_pool_set_pressure(NULL, NULL, NULL));
	refuses(dray_pool_stats(NULL, &stats));
	refuses(dray_pool_stats(pool, NULL));
	gives(0, dray_pool_trim(NULL));
	dray_pool_free(pool, block);
	assert_int_equal(stats_of(pool).blocks, 0);
}

/* The pool is only where a wrong free is counted. */
FACT(a_block_is_freed_without_its_pool)
{
	void *small = take(pool, 100, 0), *large = take(pool, 100000, 0);

	dray_pool_free(NULL, small);
	dray_pool_free(NULL, large);
	assert_int_equal(stats_of(pool).blocks, 0);
	dray_pool_free(NULL, small);
	dray_pool_free(NULL, &small);
	assert_int_equal(stats_of(pool).bad_frees, 0);
}

FACT(handlers)
{
	const struct dray_handler *handler = dray_handler_default(), *none;
	struct dray_check check = { .size = sizeof(check) };

	gives_nothing(dray_handler_for(NULL));
	gives(0, dray_handler_is_pools(NULL));
	allows(dray_handler_default);
	refuses(dray_handler_split(NULL, 100, handler, &none));
	refuses(dray_handler_split(pool, 100, NULL, &none));
	refuses(dray_handler_split(pool, 100, handler, NULL));
	gives_nothing(dray_handler_behind(NULL, NULL));
	refuses(dray_handler_split_end(NULL));
	gives_nothing(dray_handler_alloc(NULL, 1));
	gives_nothing(dray_handler_zalloc(NULL, 1));
	gives_nothing(dray_handler_realloc(NULL, NULL, 1));
	does_nothing(dray_handler_free(NULL, &none, 1));
	ignores(dray_handler_free(handler, NULL, 1));
	allows(dray_set_handler);
	allows(dray_set_caller);
	allows(dray_get_handler);
	allows(dray_log_handlers);
	refuses(dray_watch_add(NULL));
	refuses(dray_watch_remove(NULL));
	refuses(dray_handler_check(NULL, NULL, &none));
	refuses(dray_handler_check(handler, NULL, NULL));
	refuses(dray_check_get(NULL, &check));
	refuses(dray_check_report(NULL, stderr));
	assert_works(dray_handler_check(handler, NULL, &none));
	refuses(dray_check_get(none, NULL));
	refuses(dray_check_report(none, NULL));
}

static bool never(void *ctx, size_t size, int error)
{
	return false;
}

static int visit_outstanding(void *ctx, const struct dray_outstanding *block)
{
	return 0;
}

FACT(resources)
{
	const struct dray_resource_ops ops = { .size = sizeof(ops) };
	const struct dray_handler *handler;
	struct dray_resource *resource = NULL, *none = NULL;
	struct dray_capacity capacity;
	void *block;

	assert_works(dray_resource_malloc(&resource));
	refuses(dray_resource_create(NULL, NULL, &none));
	refuses(dray_resource_create(&ops, NULL, NULL));
	ignores(assert_null(dray_resource_ref(NULL)));
	ignores(dray_resource_unref(NULL));
	gives_nothing(dray_resource_name(NULL));
	refuses(dray_resource_allocate(NULL, 1, 0, 0, &block));
	refuses(dray_resource_allocate(resource, 1, 0, 0, NULL));
	refuses(dray_resource_deallocate(NULL, &block, 1, 0));
	refuses(dray_resource_deallocate(NULL, NULL, 1, 0));
	refuses(dray_resource_capacity(NULL, &capacity));
	refuses(dray_resource_capacity(resource, NULL));
	refuses(dray_resource_pool(NULL, &none));
	refuses(dray_resource_pool(pool, NULL));
	refuses(dray_resource_malloc(NULL));
	refuses(dray_resource_limit(NULL, 1, &none));
	refuses(dray_resource_limit(resource, 1, NULL));
	refuses(dray_resource_statistics(NULL, &none));
	refuses(dray_resource_statistics(resource, NULL));
	refuses(dray_resource_tracking(NULL, 0, &none));
	refuses(dray_resource_tracking(resource, 0, NULL));
	refuses(dray_resource_on_failure(NULL, never, NULL, &none));
	refuses(dray_resource_on_failure(resource, NULL, NULL, &none));
	refuses(dray_resource_on_failure(resource, never, NULL, NULL));
	refuses(dray_resource_log(NULL, "/dev/null", &none));
	refuses(dray_resource_log_wide(NULL, "/dev/null", &none));
	refuses(dray_resource_log_wide(resource, NULL, &none));
	refuses(dray_resource_log_wide(resource, "/dev/null", NULL));
	refuses(dray_resource_log(resource, NULL, &none));
	refuses(dray_resource_log(resource, "/dev/null", NULL));
	refuses(dray_log_check(NULL));
	refuses(dray_resource_prefetch(NULL, &none));
	refuses(dray_resource_prefetch(resource, NULL));
	refuses(dray_resource_handler(NULL, &handler));
	refuses(dray_resource_handler(resource, NULL));
	refuses(dray_resource_handler_end(NULL));
	dray_resource_unref(resource);
}

FACT(what_resources_count)
{
	struct dray_resource *heap = NULL, *counted = NULL, *tracked = NULL;
	struct dray_statistics statistics = { .size = sizeof(statistics) };
	struct dray_tracking tracking = { .size = sizeof(tracking) };

	assert_works(dray_resource_malloc(&heap));
	assert_works(dray_resource_statistics(heap, &counted));
	assert_works(dray_resource_tracking(heap, 0, &tracked));
	refuses(dray_statistics_get(NULL, &statistics));
	refuses(dray_statistics_get(counted, NULL));
	refuses(dray_statistics_push(NULL));
	refuses(dray_statistics_pop(NULL, &statistics));
	refuses(dray_tracking_get(NULL, &tracking));
	refuses(dray_tracking_get(tracked, NULL));
	refuses(dray_tracking_visit(NULL, visit_outstanding, NULL));
	refuses(dray_tracking_visit(tracked, NULL, NULL));
	refuses(dray_tracking_report(NULL, stderr));
	refuses(dray_tracking_report(tracked, NULL));
	dray_resource_unref(tracked);
	dray_resource_unref(counted);
	dray_resource_unref(heap);
}

FACT(managers)
{
	const struct dray_manager_ops *ops;
	struct dray_manager *manager = NULL, *none = NULL;
	struct dray_resource *resource;
	struct dray_manager_stats stats = { .size = sizeof(stats) };

	allows(dray_manager_base_ops);
	allows(dray_set_manager);
	refuses(dray_get_manager(NULL, &none));
	refuses(dray_get_manager(node, NULL));
	refuses(dray_manager_load(NULL, &ops));
	refuses(dray_manager_load("native", NULL));
	refuses(dray_manager_create(NULL, NULL, NULL, &none));
	refuses(dray_manager_create(node, NULL, NULL, NULL));
	assert_works(dray_manager_create(node, NULL, NULL, &manager));
	ignores(assert_null(dray_manager_ref(NULL)));
	ignores(dray_manager_unref(NULL));
	gives_nothing(dray_manager_name(NULL));
	gives_nothing(dray_manager_node(NULL));
	gives_nothing(dray_manager_context(NULL));
	refuses(dray_manager_resource(NULL, &resource));
	refuses(dray_manager_resource(manager, NULL));
	refuses(dray_manager_initialize(NULL));
	refuses(dray_manager_reset(NULL));
	does_nothing(dray_manager_defer_cleanup(NULL));
	refuses(dray_manager_end_deferral(NULL));
	refuses(dray_manager_set_pending(NULL, 1, 1));
	gives(0, dray_manager_flush(NULL));
	does_nothing(dray_manager_stats(NULL, &stats));
	does_nothing(dray_manager_stats(manager, NULL));
	gives(DRAY_MEMORY_UNKNOWN, dray_manager_kind_of(NULL, NULL));
	dray_manager_unref(manager);
}

FACT(memory_objects)
{
	const struct dray_memory_description description = { .bytes = 1 };
	struct dray_manager *manager = NULL;
	struct dray_memory *memory = NULL, *none;
	struct dray_ipc_handle handle = { .size = 0 };
	struct dray_capacity capacity;
	uint64_t address;

	assert_works(dray_manager_create(node, NULL, NULL, &manager));
	assert_works(dray_memory_create(manager, &description, &memory));
	refuses(dray_memory_create(NULL, &description, &none));
	refuses(dray_memory_create(manager, NULL, &none));
	refuses(dray_memory_create(manager, &description, NULL));
	refuses(dray_memory_view(NULL, 0, 0, &none));
	refuses(dray_memory_view(memory, 0, 0, NULL));
	ignores(assert_null(dray_memory_ref(NULL)));
	ignores(dray_memory_unref(NULL));
	gives_nothing(dray_memory_describe(NULL));
	refuses(dray_memory_device_address(NULL, &address));
	refuses(dray_memory_device_address(memory, NULL));
	gives_nothing(dray_memory_manager_of(NULL));
	refuses(dray_manager_memalloc(NULL, 1, 0, &none));
	refuses(dray_manager_memalloc(manager, 1, 0, NULL));
	refuses(dray_manager_memhostalloc(NULL, 1, 0, &none));
	refuses(dray_manager_memhostalloc(manager, 1, 0, NULL));
	refuses(dray_manager_mempin(NULL, &none, 1, 0, NULL, NULL, &none));
	refuses(dray_manager_mempin(manager, &none, 1, 0, NULL, NULL, NULL));
	refuses(dray_manager_get_memory_info(NULL, &capacity));
	refuses(dray_manager_get_memory_info(manager, NULL));
	refuses(dray_manager_get_ipc_handle(NULL, memory, &handle));
	refuses(dray_manager_get_ipc_handle(manager, NULL, &handle));
	refuses(dray_manager_get_ipc_handle(manager, memory, NULL));
	refuses(dray_manager_open_ipc_handle(NULL, &handle, &none));
	refuses(dray_manager_open_ipc_handle(manager, NULL, &none));
	refuses(dray_manager_open_ipc_handle(manager, &handle, NULL));
	dray_memory_unref(memory);
	dray_manager_unref(manager);
}

FACT(records)
{
	struct dray_ipc_record record = { .bytes = { 0 } };
	struct dray_ipc_memory *memory;
	void *block = take(pool, 100, 0);
	uint64_t size;
	size_t count;

	refuses(dray_ipc_export(NULL, 1, 0, &record));
	refuses(dray_ipc_export(block, 1, 0, NULL));
	refuses(dray_ipc_revoke(NULL));
	allows(dray_ipc_wait);
	refuses(dray_ipc_handovers(NULL, 0, NULL));
	refuses(dray_ipc_handovers(NULL, 1, &count));
	refuses(dray_ipc_open(NULL, node, &memory));
	refuses(dray_ipc_open(&record, node, NULL));
	refuses(dray_ipc_copy(NULL, block, 100, &size));
	refuses(dray_ipc_copy(&record, NULL, 100, &size));
	refuses(dray_ipc_copy(&record, block, 100, NULL));
	ignores(dray_ipc_close(NULL));
	gives_nothing(dray_ipc_data(NULL));
	gives(0, dray_ipc_size(NULL));
	gives_nothing(dray_ipc_buffer(NULL));
	gives(false, dray_ipc_writable(NULL));
	refuses(dray_ipc_check(NULL));
	dray_pool_free(pool, block);
}

FACT(records_of_views)
{
	char record[DRAY_VIEW_RECORD_SIZE] = "", bytes[2] = "";
	struct dray_block *block;
	struct dray_view view, out;
	uint64_t needed;
	size_t size;

	assert_works(dray_view_init(&view, bytes, u1, 1, DIMS(2), NULL));
	refuses(dray_view_send(-1, NULL));
	refuses(dray_view_receive(-1, NULL, NULL, &block));
	refuses(dray_view_receive(-1, NULL, &out, NULL));
	refuses(dray_view_export(NULL, 0, record, sizeof(record), &size));
	refuses(dray_view_export(&view, 0, NULL, sizeof(record), &size));
	refuses(dray_view_export(&view, 0, record, sizeof(record), NULL));
	refuses(dray_view_open(NULL, sizeof(record), NULL, &out, &block));
	refuses(dray_view_open(record, sizeof(record), NULL, NULL, &block));
	refuses(dray_view_open(record, sizeof(record), NULL, &out, NULL));
	refuses(dray_view_fetch(NULL, sizeof(record), bytes, 2, &needed, &out));
	refuses(dray_view_fetch(record, sizeof(record), bytes, 2, NULL, &out));
	refuses(dray_view_fetch(record, sizeof(record), bytes, 2, &needed,
				NULL));
}

FACT(publish)
{
	allows(dray_publish_start);
	allows(dray_publish_stop);
	ignores(dray_publish_set_arrays(NULL));
}

FACT(structures_of_any_size)
{
	struct dray_queue_options to, from = { .size = sizeof(from) };

	refuses(dray_options_adapt(NULL, sizeof(to), &from, 24, "f"));
	refuses(dray_options_adapt(&to, sizeof(to), NULL, 24, "f"));
	refuses(dray_options_adapt(&to, sizeof(to), &from, 24, NULL));
	refuses(dray_result_write(NULL, &from, sizeof(from), 24, "f"));
	refuses(dray_result_write(&to, NULL, sizeof(from), 24, "f"));
	refuses(dray_result_write(&to, &from, sizeof(from), 24, NULL));
}

FACT(banks)
{
	struct dray_segment segment = { 0, 1 };
	struct dray_buffer *buffer = NULL;
	const struct dray_bank *found;
	struct dray_bank bank = { 0 };
	size_t count;

	refuses(dray_xclbin_banks(NULL, &bank, 1, &count));
	refuses(dray_xclbin_banks("/dev/null", NULL, 1, &count));
	refuses(dray_xclbin_banks("/dev/null", &bank, 1, NULL));
	refuses(dray_xclbin_banks_in(NULL, 1, &bank, 1, &count));
	refuses(dray_xclbin_banks_in("x", 1, NULL, 1, &count));
	refuses(dray_xclbin_banks_in("x", 1, &bank, 1, NULL));
	allows(dray_bank_type_name(0));
	refuses(dray_bank_find(NULL, 1, &segment, 1, &found));
	refuses(dray_bank_find(&bank, 1, NULL, 1, &found));
	refuses(dray_bank_find(&bank, 1, &segment, 1, NULL));
	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	refuses(dray_bank_of_buffer(NULL, 1, buffer, 0, 0, &found));
	refuses(dray_bank_of_buffer(&bank, 1, NULL, 0, 0, &found));
	refuses(dray_bank_of_buffer(&bank, 1, buffer, 0, 0, NULL));
	dray_buffer_unref(buffer);
	refuses(dray_bank_of_heap(NULL, 1, node, NULL, &found));
	refuses(dray_bank_of_heap(&bank, 1, NULL, NULL, &found));
	refuses(dray_bank_of_heap(&bank, 1, node, NULL, NULL));
}

FACTS_SHARE(set_up, tear_down)
