/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A mock of XRT, to which the linker sends the library's calls of the loader: a
 * machine without XRT, and an XRT that fails in each of its functions, cannot
 * be had otherwise.  Its memory is the C library's, and a memfd counts as a dma-buf.
 * It calls the system in ways that fault.h does not reach.
 * Suite xrt runs the real XRT.
 */
#ifndef DRAY_TESTS_MOCK_XRT_H
#define DRAY_TESTS_MOCK_XRT_H

#include <dlfcn.h>
#include <sys/vfs.h>

#include "unit.h"

#define DMA_BUF_MAGIC 0x444d4142
#define NO_ADDRESS UINT64_MAX

struct mock_bo {
	struct mock_bo *root;	/* of a part */
	size_t size, offset;
	char *memory;
	uint64_t address;
	int fd;			/* of its export; -1: none yet */
	bool mine;		/* the memory, to be freed */
	bool alive;
};

static struct {
	const char *absent;	/* part of the names of libraries that are not there */
	const char *lacks;	/* a function that the library does not have */
	const char *fails;	/* a function that fails */
	bool bad_map;		/* xrtBOMap() gives MAP_FAILED */
	bool no_address;	/* of imports, as on a PCIe card */
	char tried[512];	/* the names of libraries, in their order */
	int loads;
	int devices;		/* that are open */
	int bos;		/* that are alive */
	int imports;
	int syncs;
	void (*in_sync)(void);	/* called in it; may be NULL */
	int direction;		/* of the last sync */
	size_t sync_size, sync_offset;
	char ends[256];		/* a letter for each object that was freed */
} xrt;

static inline bool mock_fails(const char *name)
{
	return xrt.fails && !strcmp(xrt.fails, name);
}

static inline void *mock_device_open(unsigned int index)
{
	if (index > 1 || mock_fails("xrtDeviceOpen"))
		return NULL;
	xrt.devices++;
	return malloc(1);
}

static inline int mock_device_close(void *device)
{
	strcat(xrt.ends, "d");
	xrt.devices--;
	free(device);
	return 0;
}

static char mock_shim;

static inline void *mock_to_xcl(void *device)
{
	return mock_fails("xrtDeviceToXclDevice") ? NULL : &mock_shim;
}

static inline struct mock_bo *mock_new(const char *function, size_t size,
				       char *memory)
{
	struct mock_bo *bo;

	if (mock_fails(function))
		return NULL;
	bo = malloc(sizeof(*bo));
	assert_non_null(bo);
	*bo = (struct mock_bo){
		.size = size,
		.memory = memory,
		.address = 0x100000,
		.fd = -1,
		.alive = true,
	};
	xrt.bos++;
	return bo;
}

static inline void *mock_alloc(void *device, size_t size, uint64_t flags,
			       uint32_t bank)
{
	struct mock_bo *bo = mock_new("xrtBOAlloc", size, NULL);

	if (!bo)
		return NULL;
	bo->memory = malloc(size);
	bo->mine = true;
	return bo;
}

static inline void *mock_user(void *device, void *address, size_t size,
			      uint64_t flags, uint32_t bank)
{
	return mock_new("xrtBOAllocUserPtr", size, address);
}

static inline void *mock_import(void *device, int32_t fd)
{
	struct mock_bo *bo = mock_new("xrtBOImport",
				      (size_t)lseek(fd, 0, SEEK_END), NULL);

	if (!bo)
		return NULL;
	xrt.imports++;
	if (xrt.no_address)
		bo->address = NO_ADDRESS;
	return bo;
}

/* The memory is another one, which only its size has to do with. */
static inline int32_t mock_export(void *handle)
{
	struct mock_bo *bo = handle;

	if (mock_fails("xrtBOExport"))
		return -1;
	if (bo->root)
		return mock_export(bo->root);
	if (bo->fd < 0) {
		bo->fd = (int)syscall(SYS_memfd_create, "bo",
				      MFD_CLOEXEC | MFD_ALLOW_SEALING);
		syscall(SYS_ftruncate, bo->fd, (bo->size + 4095) & ~4095ul);
		syscall(SYS_fcntl, bo->fd, F_ADD_SEALS, F_SEAL_SHRINK);
	}
	return bo->fd;
}

static inline void *mock_part(void *handle, size_t size, size_t offset)
{
	struct mock_bo *root = handle, *bo;

	bo = mock_new("xrtBOSubAlloc", size, root->memory);
	if (!bo)
		return NULL;
	bo->root = root;
	bo->offset = offset;
	bo->memory = root->memory ? root->memory + offset : NULL;
	/* XRT forgets where the parent of a part begins. */
	bo->address = root->address == NO_ADDRESS ? NO_ADDRESS
						  : 0x100000 + offset;
	return bo;
}

static inline int mock_free(void *handle)
{
	struct mock_bo *bo = handle;

	assert_true(bo->alive);
	bo->alive = false;
	strcat(xrt.ends, bo->root ? "p" : "b");
	xrt.bos--;
	if (bo->mine)
		free(bo->memory);
	if (bo->fd >= 0)
		close(bo->fd);
	free(bo);
	return 0;
}

static inline size_t mock_size(void *handle)
{
	return mock_fails("xrtBOSize") ? SIZE_MAX
				       : ((struct mock_bo *)handle)->size;
}

static inline uint64_t mock_address(void *handle)
{
	return mock_fails("xrtBOAddress")
		       ? NO_ADDRESS
		       : ((struct mock_bo *)handle)->address;
}

static inline int mock_sync(void *handle, int direction, size_t size,
			    size_t offset)
{
	if (mock_fails("xrtBOSync"))
		return -1;
	xrt.syncs++;
	if (xrt.in_sync)
		xrt.in_sync();
	xrt.direction = direction;
	xrt.sync_size = size;
	xrt.sync_offset = offset;
	return 0;
}

static inline void *mock_map(void *handle)
{
	if (xrt.bad_map)
		return MAP_FAILED;
	return mock_fails("xrtBOMap") ? NULL
				      : ((struct mock_bo *)handle)->memory;
}

static const struct {
	const char *name;
	void *function;
} mock_functions[] = {
	{ "xrtDeviceOpen", mock_device_open },
	{ "xrtDeviceClose", mock_device_close },
	{ "xrtDeviceToXclDevice", mock_to_xcl },
	{ "xrtBOAlloc", mock_alloc },
	{ "xrtBOAllocUserPtr", mock_user },
	{ "xrtBOImport", mock_import },
	{ "xrtBOExport", mock_export },
	{ "xrtBOSubAlloc", mock_part },
	{ "xrtBOFree", mock_free },
	{ "xrtBOSize", mock_size },
	{ "xrtBOAddress", mock_address },
	{ "xrtBOSync", mock_sync },
	{ "xrtBOMap", mock_map },
};

#define MOCK_FUNCTIONS (sizeof(mock_functions) / sizeof(mock_functions[0]))

static char mock_library;

WRAPPED(void *, dlopen, (const char *name, int flags))
{
	if (!name || !strstr(name, "libxrt_"))
		return __real_dlopen(name, flags);
	assert_int_equal(flags, RTLD_NOW | RTLD_GLOBAL);
	strcat(strcat(xrt.tried, name), " ");
	if (xrt.absent && strstr(name, xrt.absent))
		return NULL;
	xrt.loads++;
	return &mock_library;
}

WRAPPED(char *, dlerror, (void))
{
	return xrt.absent ? "the loader's words" : __real_dlerror();
}

WRAPPED(void *, dlsym, (void *library, const char *name))
{
	size_t i;

	if (library != &mock_library)
		return __real_dlsym(library, name);
	for (i = 0; i < MOCK_FUNCTIONS; i++)
		if (!strcmp(name, mock_functions[i].name))
			break;
	assert_true(i < MOCK_FUNCTIONS);
	return xrt.lacks && !strcmp(xrt.lacks, name)
		       ? NULL
		       : mock_functions[i].function;
}

/* In programs with fault.h, its own function does so. */
#ifndef DRAY_TESTS_FAULT_H
WRAPPED(int, fstatfs64, (int fd, struct statfs *system))
{
	int ret = __real_fstatfs64(fd, system);

	system->f_type = DMA_BUF_MAGIC;
	return ret;
}
#endif

#endif /* DRAY_TESTS_MOCK_XRT_H */
