// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * load: all of the library loads others here.
 *
 * A library brings the shared C library.  In a fully static program it would be a
 * second one beside the program's own, with other locks, threads and heap: glibc
 * supports that for its very same version only, and musl not at all.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/load.h"

/* The first object is the program; it names a dynamic linker unless static. */
static int find_linker(struct dl_phdr_info *program, size_t size, void *found)
{
	int i;

	(void)size;
	for (i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_INTERP)
			*(bool *)found = true;
	return 1;
}

static bool is_static(void)
{
	bool found = false;

	dl_iterate_phdr(find_linker, &found);
	return !found;
}

void *dray_load(const char *path, int flags)
{
	return is_static() ? NULL : dlopen(path, flags);
}

const char *dray_load_failure(void)
{
	return is_static() ? "a fully static program loads no library; link it "
			     "with a shared C library"
			   : dlerror();
}
