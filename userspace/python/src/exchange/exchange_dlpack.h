/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * DLPack in Python, for the files that implement it: tensors of arrays
 * (exchange_dlpack_tensor.c), capsules (exchange_dlpack_capsule.c),
 * from_dlpack() (exchange_dlpack_from.c) with its arguments (exchange_dlpack_wish.c),
 * and the table of C functions (exchange_dlpack_table.c).
 */
#ifndef DRAY_PYTHON_EXCHANGE_DLPACK_H
#define DRAY_PYTHON_EXCHANGE_DLPACK_H

#include "object/array_object.h"

/* Names of capsules, before and after a consumer has taken the tensor. */
#define DLPACK_LEGACY "dltensor"
#define DLPACK_LEGACY_USED "used_dltensor"
#define DLPACK_VERSIONED "dltensor_versioned"
#define DLPACK_VERSIONED_USED "used_dltensor_versioned"

/* A tensor of one of the two forms; the other is NULL. */
struct dlpack_tensor {
	struct dray_dlpack_versioned *versioned;
	struct dray_dlpack_managed *legacy;
};

void dlpack_drop(const struct dlpack_tensor *tensor);

/* Describes the array by a tensor that borrows all of it.  -1 with an exception. */
int dlpack_describe(struct array_object *self, struct dray_dlpack_tensor *out);

/*
 * Makes a tensor that keeps @self, after a wait for transfers unless @flags say not
 * to: DRAY_DLPACK_*.  -1 with an exception.
 */
int dlpack_export(struct array_object *self, uint32_t flags, bool legacy,
		  struct dlpack_tensor *out);

/*
 * Makes an object over a tensor, after such a wait.  On failure NULL with an
 * exception, and the tensor is still the caller's.
 */
PyObject *dlpack_import(PyTypeObject *type, const struct dlpack_tensor *tensor,
			uint32_t flags);

/* Waits for transfers that the CPU would overtake; -1 with an exception. */
int dlpack_wait(const struct array_object *self, unsigned int access);

/* The permissions of an array's memory, of a device's too. */
static inline uint32_t dlpack_flags(const struct array_object *self)
{
	struct dray_view view;

	return self->flags & DRAY_READ ? self->flags
				       : array_moved(self, &view)->flags;
}

/* The access for which a user of the array waits. */
static inline unsigned int dlpack_access(const struct array_object *self)
{
	return dlpack_flags(self) & DRAY_WRITE
		       ? DRAY_ACCESS_READ | DRAY_ACCESS_WRITE
		       : DRAY_ACCESS_READ;
}

/*
 * Returns a copy in memory of the current handler, after such a wait; BufferError
 * for memory that the CPU does not reach.
 */
PyObject *dlpack_copy(PyObject *self, uint32_t flags);

/* How the caller of from_dlpack() wants the array. */
struct dlpack_wish {
	uint32_t flags; /* DRAY_DLPACK_WRITABLE */
	int copy; /* 1: always, 0: never, -1: if needed */
	bool read_only;
	int32_t device_type; /* 0: any */
	PyObject *device; /* a pair, borrowed, or None */
	PyObject *version; /* the newest, a pair, borrowed; NULL: all of ours */
};

/* Takes the arguments of from_dlpack().  -1 with an exception. */
int dlpack_wish_take(PyObject *const *args, Py_ssize_t count, PyObject *names,
		     PyObject **x, struct dlpack_wish *wish);
/* Checks that memory is where it is to be; -1 with BufferError if not. */
int dlpack_check_device(const struct dlpack_wish *wish,
			const struct dray_dlpack_device *device);
/*
 * Copies an object over the memory, taken over, or makes it read-only, as wished.
 * NULL stays NULL.
 */
PyObject *dlpack_fulfil(PyObject *object, const struct dlpack_wish *wish);

/* Takes two numbers; false with TypeError that names the argument. */
bool dlpack_pair_take(PyObject *object, const char *name, long pair[2]);

/* Make the constants of the other files; may be called again. */
int dlpack_names_init(void);
int dlpack_from_init(void);
int dlpack_wish_init(void);

/* The table at a type, borrowed, if it is of a version that is known; or NULL. */
const struct dray_dlpack_api *dlpack_table_of(PyTypeObject *type);

#endif /* DRAY_PYTHON_EXCHANGE_DLPACK_H */
