// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * manager: which one a node has, and plug-ins.  The shared objects of
 * plugins/ lie beside this program, where the system looks for libraries too:
 * main() sees to that.
 */
#include <limits.h>

#include "manager.h"

static char folder[PATH_MAX];
static char derived[PATH_MAX + 64];

static int clean_setup(void **state)
{
	unsetenv("DRAY_MEMORY_MANAGER");
	return node_setup(state);
}

static int clean_teardown(void **state)
{
	unsetenv("DRAY_MEMORY_MANAGER");
	dray_set_manager(NULL);
	return node_teardown(state);
}

#define CLEAN_FACT(name) FACT_WITH(name, clean_setup, clean_teardown)

static struct dray_manager *get(struct dray_node *node)
{
	struct dray_manager *manager = NULL;

	assert_works(dray_get_manager(node, &manager));
	return manager;
}

CLEAN_FACT(each_node_has_one_manager)
{
	struct dray_node *other = open_node(test_spec());
	struct dray_manager *manager = get(*state), *second;

	assert_string_equal(dray_manager_name(manager), "native");
	assert_ptr_equal(dray_manager_node(manager), *state);
	assert_null(dray_manager_context(manager));
	second = get(*state);
	assert_ptr_equal(second, manager);
	dray_manager_unref(second);
	/* Through another handle too. */
	second = get(other);
	assert_ptr_equal(second, manager);
	dray_manager_unref(second);
	dray_node_unref(other);
	other = open_node("host:shareable");
	second = get(other);
	assert_ptr_not_equal(second, manager);
	dray_manager_unref(second);
	dray_manager_unref(manager);
	dray_node_unref(other);
}

static int initializations;

static int counted_initialize(struct dray_manager *self)
{
	initializations++;
	return 0;
}

CLEAN_FACT(getting_a_manager_again_does_not_initialize_it_again)
{
	const struct dray_manager_ops ops = {
		.interface_version = DRAY_MANAGER_INTERFACE,
		.base = DRAY_MANAGER_NATIVE,
		.name = "counting",
		.initialize = counted_initialize,
	};
	struct dray_manager *manager, *second;

	initializations = 0;
	assert_works(dray_set_manager(&ops));
	manager = get(*state);
	assert_int_equal(initializations, 1);
	second = get(*state);
	assert_int_equal(initializations, 1);
	assert_works(dray_manager_initialize(manager));
	assert_int_equal(initializations, 2);
	dray_manager_unref(second);
	dray_manager_unref(manager);
}

CLEAN_FACT(an_object_keeps_the_manager_of_its_node)
{
	struct dray_manager *manager = get(*state);
	struct dray_memory *memory = memalloc(manager, 100);

	dray_manager_unref(manager);
	assert_ptr_equal(get(*state), manager);
	dray_memory_unref(memory);
	assert_int_equal(manager_stats(manager).pending, 1);
	dray_manager_unref(manager);
}

CLEAN_FACT(a_manager_of_the_caller_s_own_is_not_the_node_s)
{
	struct dray_manager *own = NULL, *manager;

	assert_works(dray_manager_create(*state, NULL, NULL, &own));
	manager = get(*state);
	assert_ptr_not_equal(manager, own);
	dray_manager_unref(manager);
	/* Nor does it stand in the way of another choice. */
	assert_works(dray_set_manager(NULL));
	dray_manager_unref(own);
}

CLEAN_FACT(an_empty_variable_and_native_are_dray_s_own)
{
	struct dray_manager *manager;

	setenv("DRAY_MEMORY_MANAGER", "", 1);
	manager = get(*state);
	assert_string_equal(dray_manager_name(manager), "native");
	dray_manager_unref(manager);
	setenv("DRAY_MEMORY_MANAGER", "native", 1);
	manager = get(*state);
	assert_string_equal(dray_manager_name(manager), "native");
	dray_manager_unref(manager);
}

static void use_derived(struct dray_node *node)
{
	struct dray_manager *manager = get(node);
	struct dray_memory *memory, *host = NULL;
	const int *alive = dray_manager_context(manager);
	struct dray_capacity capacity;
	struct dray_ipc_handle handle;
	struct dray_location where;

	assert_string_equal(dray_manager_name(manager), "derived");
	memory = memalloc(manager, 100);
	assert_int_equal(*alive, 1);
	assert_int_equal(dray_memory_describe(memory)->kind, DRAY_MEMORY_HOST);
	assert_fails(dray_manager_get_memory_info(manager, &capacity),
		     -EOPNOTSUPP, "\"derived\" has no get_memory_info");
	assert_fails(dray_manager_get_ipc_handle(manager, memory, &handle),
		     -EOPNOTSUPP, "has no get_ipc_handle");
	/* What it left out is the base's. */
	assert_works(dray_manager_memhostalloc(manager, 100, 0, &host));
	assert_works(dray_locate(dray_memory_describe(host)->pointer, &where));
	assert_int_equal(dray_memory_describe(host)->kind, DRAY_MEMORY_PINNED);
	dray_memory_unref(host);
	assert_works(dray_manager_mempin(manager, &capacity, sizeof(capacity),
					 0, NULL, NULL, &host));
	dray_memory_unref(host);
	dray_memory_unref(memory);
	assert_int_equal(*alive, 0);
	assert_works(dray_manager_reset(manager));
	dray_manager_unref(manager);
}

CLEAN_FACT(a_plug_in_is_found_by_path)
{
	setenv("DRAY_MEMORY_MANAGER", derived, 1);
	use_derived(*state);
	use_derived(*state);
}

CLEAN_FACT(a_plug_in_is_found_by_name)
{
	setenv("DRAY_MEMORY_MANAGER", "derived", 1);
	use_derived(*state);
}

CLEAN_FACT(what_is_set_comes_before_the_environment)
{
	const struct dray_manager_ops *ops = NULL;

	setenv("DRAY_MEMORY_MANAGER", "/there/is/nothing.so", 1);
	assert_works(dray_manager_load(derived, &ops));
	assert_works(dray_set_manager(ops));
	use_derived(*state);
}

static void assert_not_got(struct dray_node *node, const char *name, int error,
			   const char *part)
{
	struct dray_manager *manager = NULL;

	setenv("DRAY_MEMORY_MANAGER", name, 1);
	assert_fails(dray_get_manager(node, &manager), error, part);
	assert_null(manager);
}

CLEAN_FACT(a_plug_in_that_is_not_there_is_named)
{
	assert_not_got(*state, "nobody", -ENOENT,
		       "the memory manager \"nobody\": libdray-manager-nobody");
	assert_not_got(*state, "/there/is/nothing.so", -ENOENT,
		       "/there/is/nothing.so");
}

CLEAN_FACT(a_name_that_is_too_long_is_refused)
{
	char name[5001] = { 0 };

	memset(name, 'a', sizeof(name) - 1);
	assert_not_got(*state, name, -ENOENT, "bytes long");
}

BRIEF(CLEAN_FACT(what_is_no_shared_object_is_refused),
      assert_not_got(*state, "/etc/passwd", -ENOENT, "/etc/passwd"));

CLEAN_FACT(a_shared_object_without_the_symbol_is_refused)
{
	assert_not_got(*state, "other", -ENOEXEC,
		       "lacks the symbol dray_memory_manager");
}

CLEAN_FACT(another_version_is_refused_before_all_else)
{
	assert_not_got(*state, "later", -EPROTO,
		       "\"later\" has interface version 2, this library has 1");
}

static int no_memalloc(struct dray_manager *self, size_t size, uint64_t stream,
		       struct dray_memory **out)
{
	return -EIO;
}

static int failing_create(struct dray_manager *self, void **ctx)
{
	return -EIO;
}

static int failing_initialize(struct dray_manager *self)
{
	return -EIO;
}

CLEAN_FACT(operations_that_lack_something_are_refused)
{
	struct dray_manager_ops ops = {
		.interface_version = DRAY_MANAGER_INTERFACE,
		.name = "own",
		.memalloc = no_memalloc,
	};
	struct dray_manager *manager = NULL;

	ops.memalloc = NULL;
	assert_fails(dray_set_manager(&ops), -EINVAL, "no memalloc");
	ops.base = DRAY_MANAGER_HOST_ONLY;
	assert_fails(dray_manager_create(*state, &ops, NULL, &manager), -EINVAL,
		     "no memalloc");
	ops.base = DRAY_MANAGER_NATIVE;
	assert_works(dray_set_manager(&ops));
	ops.base = 3;
	assert_fails(dray_set_manager(&ops), -EINVAL, "unknown base 3");
	ops.base = DRAY_MANAGER_NATIVE;
	ops.name = NULL;
	assert_fails(dray_set_manager(&ops), -EINVAL, "no name");
	ops.interface_version = 0;
	assert_fails(dray_set_manager(&ops), -EPROTO, "version 0");
	assert_works(dray_set_manager(NULL));
	assert_null(manager);
	assert_null(dray_manager_base_ops(DRAY_MANAGER_NONE));
}

CLEAN_FACT(an_operation_that_nobody_has_is_not_supported)
{
	const struct dray_manager_ops ops = {
		.interface_version = DRAY_MANAGER_INTERFACE,
		.name = "bare",
		.memalloc = no_memalloc,
	};
	struct dray_manager *manager = NULL;
	struct dray_memory *memory = NULL;
	int local;

	assert_works(dray_manager_create(*state, &ops, NULL, &manager));
	assert_int_equal(dray_manager_memalloc(manager, 1, 0, &memory), -EIO);
	assert_fails(dray_manager_memhostalloc(manager, 1, 0, &memory),
		     -EOPNOTSUPP, "\"bare\" has no memhostalloc");
	assert_fails(dray_manager_mempin(manager, &local, 1, 0, NULL, NULL,
					 &memory),
		     -EOPNOTSUPP, "\"bare\" has no mempin");
	assert_works(dray_manager_reset(manager));
	dray_manager_unref(manager);
}

CLEAN_FACT(a_manager_that_does_not_begin_leaves_nothing)
{
	struct dray_manager_ops ops = {
		.interface_version = DRAY_MANAGER_INTERFACE,
		.base = DRAY_MANAGER_NATIVE,
		.name = "failing",
		.create = failing_create,
	};
	struct dray_manager *manager = NULL;
	struct dray_memory *memory = NULL;

	assert_works(dray_set_manager(&ops));
	assert_int_equal(dray_get_manager(*state, &manager), -EIO);
	ops.create = NULL;
	ops.initialize = failing_initialize;
	assert_int_equal(dray_get_manager(*state, &manager), -EIO);
	assert_null(manager);
	assert_works(dray_manager_create(*state, &ops, NULL, &manager));
	assert_int_equal(dray_manager_memalloc(manager, 1, 0, &memory), -EIO);
	dray_manager_unref(manager);
	assert_works(dray_set_manager(NULL));
}

CLEAN_FACT(a_manager_in_use_is_not_replaced)
{
	struct dray_manager *manager = get(*state);
	struct dray_memory *memory = memalloc(manager, 1);

	assert_fails(dray_set_manager(NULL), -EBUSY, "\"native\" is in use");
	dray_manager_unref(manager);
	assert_int_equal(dray_set_manager(NULL), -EBUSY);
	dray_memory_unref(memory);
	assert_works(dray_set_manager(NULL));
}

static void *get_and_drop(void *node)
{
	struct dray_manager *manager = NULL;
	struct dray_memory *memory = NULL;

	for (int i = 0; i < 300; i++) {
		if (dray_get_manager(node, &manager) ||
		    dray_manager_memalloc(manager, 100, 0, &memory))
			abort();
		if (i % 2)
			dray_manager_unref(manager);
		dray_memory_unref(memory);
		if (i % 2 == 0)
			dray_manager_unref(manager);
	}
	return NULL;
}

CLEAN_FACT(threads_make_and_end_one_manager_over_and_over)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, get_and_drop,
						*state),
				 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	/* None of them is left. */
	assert_works(dray_set_manager(NULL));
}

/* The loader reads its variable once, before main(). */
static void search_own_folder(char **argv)
{
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	const char *path = getenv("LD_LIBRARY_PATH");

	assert_true(length > 0);
	folder[length] = 0;
	*strrchr(folder, '/') = 0;
	snprintf(derived, sizeof(derived), "%s/libdray-manager-derived.so",
		 folder);
	if (path && !strcmp(path, folder))
		return;
	setenv("LD_LIBRARY_PATH", folder, 1);
	execv("/proc/self/exe", argv);
	abort();
}

int main(int argc, char **argv)
{
	search_own_folder(argv);
	return unit_run(argc > 1 ? argv[1] : NULL);
}
