// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * OpenCL's loader, found once for the process, and the errors of its functions.  A
 * platform has threads of its own, so a child of fork() cannot go on with it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "opencl.h"

#define LIBRARY "libOpenCL.so.1"

struct dray_opencl_calls dray_opencl;

#define CALL(name) { #name, offsetof(struct dray_opencl_calls, name) },

static const struct {
	const char *name;
	size_t offset;
} calls[] = { DRAY_OPENCL_CALLS(CALL) };

/* Errors that tell more than their number. */
static const struct {
	cl_int error;
	int code;
	const char *words;
} errors[] = {
	{ CL_DEVICE_NOT_FOUND, -ENOENT, "there is no device" },
	{ CL_DEVICE_NOT_AVAILABLE, -ENODEV, "the device is not available" },
	{ CL_COMPILER_NOT_AVAILABLE, -EOPNOTSUPP, "there is no compiler" },
	{ CL_MEM_OBJECT_ALLOCATION_FAILURE, -ENOMEM, "no memory for a buffer" },
	{ CL_OUT_OF_RESOURCES, -EIO, "the device is out of resources" },
	{ CL_OUT_OF_HOST_MEMORY, -ENOMEM, "no memory" },
	{ CL_INVALID_BUFFER_SIZE, -ENOMEM, "a buffer of such a size" },
	{ CL_BUILD_PROGRAM_FAILURE, -EINVAL, "the source does not compile" },
	{ CL_INVALID_BUILD_OPTIONS, -EINVAL, "options for the compiler" },
	{ CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -EIO,
	  "a kernel failed" },
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *mark; /* 1; the kernel wipes it in each child */
static int outcome;
static char reason[200];

/* The first object is the program; it names a dynamic linker unless static. */
static int find_interpreter(struct dl_phdr_info *program, size_t size,
			    void *found)
{
	int i;

	(void)size;
	for (i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_INTERP)
			*(bool *)found = true;
	return 1;
}

/* A library brings a second C library, with other locks, into a static program. */
static void *open_library(const char *name, const char **why)
{
	bool found = false;
	void *library;

	dl_iterate_phdr(find_interpreter, &found);
	library = found ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
	*why = found ? dlerror() : "a fully static program loads no library";
	return library;
}

static int load_library(void)
{
	const char *wanted = secure_getenv("DRAY_OPENCL");
	const char *name = wanted && *wanted ? wanted : LIBRARY, *said;
	void *library;
	size_t i;

	if (!strcmp(name, "none")) {
		snprintf(reason, sizeof(reason),
			 "OpenCL is not wanted: DRAY_OPENCL is none");
		return -ENOENT;
	}
	library = open_library(name, &said);
	if (!library) {
		snprintf(reason, sizeof(reason),
			 "OpenCL is not there (Debian: ocl-icd-libopencl1): %s",
			 said ? said : name);
		return -ENOENT;
	}
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *symbol = dlsym(library, calls[i].name);

		if (!symbol) {
			snprintf(reason, sizeof(reason),
				 "%.100s has no function %s", name,
				 calls[i].name);
			return -EOPNOTSUPP;
		}
		memcpy((char *)&dray_opencl + calls[i].offset, &symbol,
		       sizeof(symbol));
	}
	return 0;
}

static int make_mark(void)
{
	char *page = mmap(NULL, 1, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || madvise(page, 1, MADV_WIPEONFORK)) {
		snprintf(reason, sizeof(reason), "no memory to know a fork by");
		return -ENOMEM;
	}
	*page = 1;
	mark = page;
	return 0;
}

static void opencl_load(void)
{
	outcome = make_mark();
	if (!outcome)
		outcome = load_library();
}

bool dray_opencl_is_own(void)
{
	return *(const volatile char *)mark;
}

int dray_opencl_load(void)
{
	pthread_once(&once, opencl_load);
	if (outcome)
		return dray_fail(outcome, "%s", reason);
	if (!dray_opencl_is_own())
		return dray_fail(-ECHILD, "OpenCL is the parent's");
	return 0;
}

int dray_opencl_fail(cl_int error, const char *call)
{
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return dray_fail(errors[i].code, "%s: %s (error %d)",
					 call, errors[i].words, error);
	return dray_fail(-EIO, "%s: error %d of OpenCL", call, error);
}
