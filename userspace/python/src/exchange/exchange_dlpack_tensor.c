// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tensors over dray.Array.  An object never changes, so that the facts of its tensor
 * are found once and stay with it.  A tensor keeps the object, and has extents and
 * strides of its own, which its consumer may change.
 */
#include <errno.h>
#include <stdlib.h>

#include "exchange/exchange_dlpack.h"

/* Facts in array_object.tensor: the code and the bits of the type, and the device. */
#define FACTS_BITS_SHIFT 8
#define FACTS_DEVICE_SHIFT 16
#define FACTS_FOUND (UINT32_C(1) << 31)

struct tensor_exported {
	union {
		struct dray_dlpack_versioned versioned;
		struct dray_dlpack_managed legacy;
	};
	PyObject *owner;
	int64_t numbers[]; /* extents, strides in elements */
};

static void dlpack_tensor_give_back(struct tensor_exported *exported)
{
	PyObject *owner = exported->owner;

	free(exported);
	array_drop_owner(owner);
}

static void dlpack_tensor_delete_versioned(struct dray_dlpack_versioned *self)
{
	dlpack_tensor_give_back(self->manager_ctx);
}

static void dlpack_tensor_delete_legacy(struct dray_dlpack_managed *self)
{
	dlpack_tensor_give_back(self->manager_ctx);
}

/* A deleter may be Python's code, which must see no pending exception. */
void dlpack_drop(const struct dlpack_tensor *tensor)
{
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	dray_dlpack_drop(tensor->versioned);
	dray_dlpack_drop_legacy(tensor->legacy);
	PyErr_Restore(type, value, traceback);
}

/* Finds the facts; any thread finds the same.  0 with an exception. */
static uint32_t dlpack_tensor_find(struct array_object *self)
{
	int64_t strides[DRAY_MAX_NDIM];
	struct dray_dlpack_tensor tensor;
	struct dray_view view;
	uint32_t facts;
	int ret;

	ret = dray_dlpack_describe(array_moved(self, &view), strides, &tensor);
	if (ret) {
		raise_array_error(ARRAY_EXCHANGE, ret);
		return 0;
	}
	array_steps(self, strides);
	facts = FACTS_FOUND |
		(uint32_t)tensor.device.device_type << FACTS_DEVICE_SHIFT |
		(uint32_t)tensor.dtype.bits << FACTS_BITS_SHIFT |
		tensor.dtype.code;
	__atomic_store_n(&self->tensor, facts, __ATOMIC_RELEASE);
	return facts;
}

int dlpack_describe(struct array_object *self, struct dray_dlpack_tensor *out)
{
	uint32_t facts = __atomic_load_n(&self->tensor, __ATOMIC_ACQUIRE);

	if (!facts)
		facts = dlpack_tensor_find(self);
	if (!facts)
		return -1;
	*out = (struct dray_dlpack_tensor){
		.data = self->data,
		.device.device_type =
			(facts & ~FACTS_FOUND) >> FACTS_DEVICE_SHIFT,
		.ndim = self->ndim,
		.dtype = { .code = facts & UINT8_MAX,
			   .bits = facts >> FACTS_BITS_SHIFT & UINT8_MAX,
			   .lanes = 1 },
		.shape = self->numbers,
		.strides = self->numbers + (ptrdiff_t)2 * self->ndim,
	};
	return 0;
}

struct awaited {
	const struct dray_view *view;
	unsigned int access;
};

static int dlpack_tensor_wait_once(void *object, int timeout_ms)
{
	const struct awaited *awaited = object;

	return dray_view_wait(awaited->view, awaited->access, timeout_ms);
}

int dlpack_wait(const struct array_object *self, unsigned int access)
{
	struct awaited awaited = { .access = access };
	struct dray_view view;
	int ret;

	/* Mostly nothing is in flight: no other thread need go on. */
	if (!dray_transfers_in_flight())
		return 0;
	awaited.view = array_moved(self, &view);
	ret = dlpack_tensor_wait_once(&awaited, 0);
	if (ret == -ETIME || ret == -EINTR)
		ret = wait_for_end(dlpack_tensor_wait_once, &awaited, -1);
	if (ret && ret != -EINTR)
		raise_array_error(ARRAY_EXCHANGE, ret);
	return ret ? -1 : 0;
}

/*
 * Makes the memory of a tensor that keeps the object, with numbers of its own.  NULL
 * with an exception.
 */
static struct tensor_exported *
dlpack_tensor_allocate(struct array_object *self,
		       struct dray_dlpack_tensor *tensor)
{
	size_t size = (size_t)self->ndim * sizeof(int64_t);
	struct tensor_exported *exported = malloc(sizeof(*exported) + 2 * size);
	int64_t *shape, *strides;
	int i;

	if (!exported) {
		PyErr_NoMemory();
		return NULL;
	}
	shape = exported->numbers;
	strides = shape + self->ndim;
	exported->owner = Py_NewRef((PyObject *)self);
	/* Mostly few: calls of memcpy() would take longer. */
	for (i = 0; i < self->ndim; i++) {
		shape[i] = tensor->shape[i];
		strides[i] = tensor->strides[i];
	}
	tensor->shape = shape;
	tensor->strides = strides;
	return exported;
}

static int export_versioned(struct array_object *self, uint32_t flags,
			    struct dray_dlpack_tensor *tensor,
			    struct dlpack_tensor *out)
{
	struct tensor_exported *exported = dlpack_tensor_allocate(self, tensor);
	uint64_t marks = 0;

	if (!exported)
		return -1;
	if (!(dlpack_flags(self) & DRAY_WRITE))
		marks |= DRAY_DLPACK_FLAG_READ_ONLY;
	if (flags & DRAY_DLPACK_COPIED)
		marks |= DRAY_DLPACK_FLAG_IS_COPIED;
	exported->versioned = (struct dray_dlpack_versioned){
		.version = { DRAY_DLPACK_MAJOR, DRAY_DLPACK_MINOR },
		.manager_ctx = exported,
		.deleter = dlpack_tensor_delete_versioned,
		.flags = marks,
		.dl_tensor = *tensor,
	};
	*out = (struct dlpack_tensor){ .versioned = &exported->versioned };
	return 0;
}

static int export_legacy(struct array_object *self,
			 struct dray_dlpack_tensor *tensor,
			 struct dlpack_tensor *out)
{
	struct tensor_exported *exported;

	if (!(dlpack_flags(self) & DRAY_WRITE)) {
		PyErr_SetString(
			PyExc_BufferError,
			"a read-only array; a tensor before DLPack 1.0 cannot say so");
		return -1;
	}
	exported = dlpack_tensor_allocate(self, tensor);
	if (!exported)
		return -1;
	exported->legacy = (struct dray_dlpack_managed){
		.dl_tensor = *tensor,
		.manager_ctx = exported,
		.deleter = dlpack_tensor_delete_legacy,
	};
	*out = (struct dlpack_tensor){ .legacy = &exported->legacy };
	return 0;
}

int dlpack_export(struct array_object *self, uint32_t flags, bool legacy,
		  struct dlpack_tensor *out)
{
	struct dray_dlpack_tensor tensor;

	if (dlpack_describe(self, &tensor) ||
	    (!(flags & DRAY_DLPACK_NO_WAIT) &&
	     dlpack_wait(self, dlpack_access(self))))
		return -1;
	return legacy ? export_legacy(self, &tensor, out)
		      : export_versioned(self, flags, &tensor, out);
}
