/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of the stand-in share.  A device is a memory manager of
 * dray (dray/manager.h) with a limit; all else is book-keeping, under one
 * lock.
 */
#ifndef DRAY_TEST_CUDA_DRIVER_H
#define DRAY_TEST_CUDA_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include <dray/manager.h>

#include "api.h"

/* Two, so that there is one that is no peer of the other. */
#define DEVICES 2

struct context {
	int device;
	unsigned int references;	/* 0: a primary one that is not active */
};

/* Held around all that looks at contexts or at memory. */
extern pthread_mutex_t driver_lock;

bool device_valid(int device);
/* The manager of @device, made by the first call; a result of CUDA. */
int device_manager(int device, struct dray_manager **out);
/* What CUDA says of @error, 0 or a negative errno. */
int cuda_result_of(int error);

/* This thread's context, with the lock; a result of CUDA. */
int context_current(struct context **out);

/* Where a piece of memory comes from, and so who takes it back. */
enum origin {
	ORIGIN_DEVICE,		/* cuMemAlloc() and cuMemAllocManaged() */
	ORIGIN_HOST,		/* cuMemHostAlloc() */
	ORIGIN_REGISTERED,	/* cuMemHostRegister() */
	ORIGIN_IPC,		/* cuIpcOpenMemHandle() */
};

struct allocation {
	struct allocation *next;
	struct dray_memory *memory;	/* one reference */
	struct context *context;
	enum origin origin;
};

/* All with the lock.  Takes over @memory, on failure too. */
int allocation_add(struct context *context, enum origin origin,
		   struct dray_memory *memory);
/* The one around @address; NULL without one. */
struct allocation *allocation_find(uint64_t address);
/* The one of @origin that begins at @address ends; whether there was one. */
bool allocation_remove(enum origin origin, uint64_t address);
/* All of @context end. */
void allocation_remove_all(const struct context *context);

/*
 * Whether all @size bytes at @address are memory of a device, or of the host
 * and mapped for one; without the lock.
 */
bool device_reaches(uint64_t address, size_t size);

#endif /* DRAY_TEST_CUDA_DRIVER_H */
