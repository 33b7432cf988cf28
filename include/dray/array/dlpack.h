/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * dlpack: arrays in the memory protocol of array libraries.
 *
 * A DLPack tensor is a description of memory with a function that releases it.
 * An array is exported as a tensor, and a tensor is imported as an array,
 * without a copy: both see the same bytes.  The structures follow DLPack 1.3,
 * in both of its forms, under names of dray's own: a program may include the
 * published dlpack.h too, and cast between pointers to both.  (Source: DLPack
 * 1.3, its C header and its specification for Python.)
 *
 *	struct dray_dlpack_versioned *tensor;
 *	struct dray_array *imported;
 *
 *	ret = dray_dlpack_export(array, 0, -1, &tensor);
 *	if (ret)
 *		return ret;
 *	// in another library
 *	ret = dray_dlpack_import(tensor, 0, -1, &imported);
 *	if (ret)
 *		dray_dlpack_drop(tensor);
 *
 * Types, both ways, each of a single lane:
 *
 *	dray				code		bits
 *	bool				6 bool		8
 *	int8, 16, 32, 64		0 int		8, 16, 32, 64
 *	uint8, 16, 32, 64		1 uint		8, 16, 32, 64
 *	float16, 32, 64			2 float		16, 32, 64
 *	complex64, 128			5 complex	64, 128
 *
 * All others are refused: dates, text, raw data, structures, user types and the
 * other byte order, which lack a code; bfloat16, the floats of 4, 6 and 8 bits,
 * bools of a single bit and vectors, which dray lacks; and opaque handles,
 * which mean something only between libraries that agreed on it.
 *
 * Devices: memory that the CPU reaches is on DRAY_DLPACK_CPU, number 0.  Memory of
 * DRAY_MODE_DEVICE, which it does not reach, is on DRAY_DLPACK_EXT_DEV.
 *
 * Transfers: an export or an import waits until nothing is in flight on its
 * memory, on any queue or stream of this process, unless the caller asks not to
 * wait.
 *
 * Every function may be called from any thread.
 */
#ifndef DRAY_DLPACK_H
#define DRAY_DLPACK_H

#include <dray/array/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the structures here. */
#define DRAY_DLPACK_MAJOR 1
#define DRAY_DLPACK_MINOR 3

/** The version of a tensor: with another major number, its layout is another. */
struct dray_dlpack_version {
	uint32_t major;
	uint32_t minor;
};

/* Types of devices; more exist, all of which are refused. */
#define DRAY_DLPACK_CPU 1
#define DRAY_DLPACK_CUDA_HOST 3	/* pinned; the CPU reaches it */
#define DRAY_DLPACK_ROCM_HOST 11	/* as well */
#define DRAY_DLPACK_EXT_DEV 12	/* of a kind of its producer's */
#define DRAY_DLPACK_CUDA_MANAGED 13	/* the CPU reaches it */

/** Where the memory is. */
struct dray_dlpack_device {
	int32_t device_type;	/* DRAY_DLPACK_CPU, ... */
	int32_t device_id;	/* 0 for the CPU */
};

/* Codes of types. */
#define DRAY_DLPACK_INT 0
#define DRAY_DLPACK_UINT 1
#define DRAY_DLPACK_FLOAT 2
#define DRAY_DLPACK_OPAQUE 3
#define DRAY_DLPACK_BFLOAT 4
#define DRAY_DLPACK_COMPLEX 5
#define DRAY_DLPACK_BOOL 6

/** The type of an element, in the machine's byte order. */
struct dray_dlpack_dtype {
	uint8_t code;		/* DRAY_DLPACK_INT, ... */
	uint8_t bits;		/* of a lane */
	uint16_t lanes;		/* 1; more for vectors */
};

/** A description of memory; it owns nothing. */
struct dray_dlpack_tensor {
	void *data;		/* may be NULL without elements */
	struct dray_dlpack_device device;
	int32_t ndim;
	struct dray_dlpack_dtype dtype;
	int64_t *shape;		/* ndim extents */
	/*
	 * ndim strides in elements.  NULL, for C order, only without axes and
	 * before version 1.2.
	 */
	int64_t *strides;
	uint64_t byte_offset;	/* from data to the element [0, 0, ...] */
};

/** A tensor to be released, of the form before version 1. */
struct dray_dlpack_managed {
	struct dray_dlpack_tensor dl_tensor;
	void *manager_ctx;	/* the producer's */
	/* frees the tensor, in any thread; NULL: there is nothing to do */
	void (*deleter)(struct dray_dlpack_managed *self);
};

/* dray_dlpack_versioned.flags */
#define DRAY_DLPACK_FLAG_READ_ONLY (1ull << 0)
#define DRAY_DLPACK_FLAG_IS_COPIED (1ull << 1)	/* the consumer's alone */
#define DRAY_DLPACK_FLAG_IS_SUBBYTE_TYPE_PADDED (1ull << 2)

/** A tensor to be released, with its version. */
struct dray_dlpack_versioned {
	struct dray_dlpack_version version;
	void *manager_ctx;
	/* as above; may be called for any version */
	void (*deleter)(struct dray_dlpack_versioned *self);
	uint64_t flags;		/* DRAY_DLPACK_FLAG_* */
	struct dray_dlpack_tensor dl_tensor;
};

/** The start of a table of functions, the same in every version. */
struct dray_dlpack_api_header {
	struct dray_dlpack_version version;
	struct dray_dlpack_api_header *prev_api;	/* an older table, or NULL */
};

/**
 * The functions by which an array library of Python exchanges tensors with C, at
 * the class of its arrays.  They return 0, or -1 with an exception.
 */
struct dray_dlpack_api {
	struct dray_dlpack_api_header header;
	/* makes an array of the type, the shape and the device of @prototype */
	int (*managed_tensor_allocator)(
		struct dray_dlpack_tensor *prototype,
		struct dray_dlpack_versioned **out, void *error_ctx,
		void (*set_error)(void *error_ctx, const char *kind,
				  const char *message));
	int (*managed_tensor_from_py_object_no_sync)(
		void *py_object, struct dray_dlpack_versioned **out);
	/* owns the tensor from then on */
	int (*managed_tensor_to_py_object_no_sync)(
		struct dray_dlpack_versioned *tensor, void **out_py_object);
	/* borrows all from the object; may be NULL */
	int (*dltensor_from_py_object_no_sync)(void *py_object,
					       struct dray_dlpack_tensor *out);
	int (*current_work_stream)(int32_t device_type, int32_t device_id,
				   void **out_current_stream);
};

#ifdef __cplusplus
#define DRAY_ABI(fact) static_assert(fact, #fact)
#else
#define DRAY_ABI(fact) _Static_assert(fact, #fact)
#endif
DRAY_ABI(sizeof(struct dray_dlpack_version) == 8);
DRAY_ABI(sizeof(struct dray_dlpack_device) == 8);
DRAY_ABI(sizeof(struct dray_dlpack_dtype) == 4);
DRAY_ABI(offsetof(struct dray_dlpack_tensor, device) == sizeof(void *));
DRAY_ABI(offsetof(struct dray_dlpack_tensor, ndim) == sizeof(void *) + 8);
DRAY_ABI(offsetof(struct dray_dlpack_tensor, dtype) == sizeof(void *) + 12);
DRAY_ABI(offsetof(struct dray_dlpack_tensor, shape) == sizeof(void *) + 16);
DRAY_ABI(offsetof(struct dray_dlpack_tensor, strides) ==
	 2 * sizeof(void *) + 16);
DRAY_ABI(offsetof(struct dray_dlpack_managed, manager_ctx) ==
	 sizeof(struct dray_dlpack_tensor));
DRAY_ABI(offsetof(struct dray_dlpack_versioned, manager_ctx) == 8);
DRAY_ABI(offsetof(struct dray_dlpack_versioned, deleter) == 8 + sizeof(void *));
DRAY_ABI(offsetof(struct dray_dlpack_versioned, flags) ==
	 8 + 2 * sizeof(void *));
DRAY_ABI(offsetof(struct dray_dlpack_versioned, dl_tensor) ==
	 16 + 2 * sizeof(void *));
#undef DRAY_ABI

/** Writes DLPack's code of @dtype.  Errors: -EOPNOTSUPP (no code). */
DRAY_API int dray_dlpack_from_dtype(dray_dtype dtype,
				    struct dray_dlpack_dtype *out);

/** Writes the type of a code, a builtin one.  Errors: -EOPNOTSUPP. */
DRAY_API int dray_dlpack_to_dtype(const struct dray_dlpack_dtype *type,
				  dray_dtype *out);

/**
 * Finds the device that the memory of @view is on.  The memory must exist
 * during the call.  Errors: as dray_view_init() for a bad view.
 */
DRAY_API int dray_dlpack_find_device(const struct dray_view *view,
				     struct dray_dlpack_device *out);

/**
 * Describes @view as a tensor that owns nothing: for a call that reads a
 * tensor, and keeps nothing of it.  Does not wait.
 *
 * @strides: room for @view->ndim strides
 * @out: borrows @view's shape, @strides, and the memory
 *
 * byte_offset is 0, and strides are never NULL.  Without elements too, data is the
 * address of the view: torch 1.13 never releases a tensor with NULL.
 *
 * Errors: -EINVAL (a stride that is not a multiple of the size of an element, data
 * that is not aligned for the type), -EOPNOTSUPP (a type without a code), -EPERM (a
 * view that may not be read), as dray_view_init() for a bad view.
 */
DRAY_API int dray_dlpack_describe(const struct dray_view *view,
				  int64_t *strides,
				  struct dray_dlpack_tensor *out);

/**
 * Fills a view of a tensor, which it borrows.  Does not wait.  Any number in the
 * tensor may be wrong, and none is followed before it was checked; addresses are
 * trusted.
 *
 * @version: of the tensor; NULL: the form before version 1
 * @out: may be read and written
 *
 * Errors: -EINVAL (a number of axes, an extent below 0, no shape or, from version
 * 1.2 on, no strides, elements without data, data that is not aligned for the
 * type), -EOVERFLOW (strides and extents that leave 63 bits or the address space),
 * -EOPNOTSUPP (a type that dray lacks; a device whose memory the CPU does not
 * reach, but for memory of dray), -EPROTO (another major version).
 */
DRAY_API int dray_dlpack_read(const struct dray_dlpack_tensor *tensor,
			      const struct dray_dlpack_version *version,
			      struct dray_view *out);

/* Flags of exports and imports. */
#define DRAY_DLPACK_NO_WAIT (1u << 0)	/* does not wait for transfers */
/*
 * Of an export: the array is a copy that its maker passes on, which a tensor
 * with a version says.
 */
#define DRAY_DLPACK_COPIED (1u << 1)
/*
 * On the way in: the array is to be written.  A tensor without a version, which
 * cannot say whether it may be, is trusted; without this it is read-only.
 */
#define DRAY_DLPACK_WRITABLE (1u << 2)

/**
 * Makes a tensor of an array.  It keeps a reference, which its deleter drops,
 * in the thread that calls it.
 *
 * @flags: DRAY_DLPACK_NO_WAIT, DRAY_DLPACK_COPIED
 * @timeout_ms: how long to wait for transfers, as of dray_view_wait(); below 0: no
 *	limit
 * @out: the caller's, to be released by its deleter, once
 *
 * A view that may not be written yields a tensor with
 * DRAY_DLPACK_FLAG_READ_ONLY.
 *
 * Errors: as dray_dlpack_describe(), as dray_view_wait() (-ETIME, -EINTR, -EBUSY),
 * -EINVAL (flags), -ENOMEM.
 */
DRAY_API int dray_dlpack_export(const struct dray_array *array, uint32_t flags,
				int timeout_ms,
				struct dray_dlpack_versioned **out);

/**
 * Does the same in the form before version 1, which cannot say that memory is
 * read-only.  Errors: also -EPERM (an array that may not be written).
 */
DRAY_API int dray_dlpack_export_legacy(const struct dray_array *array,
				       uint32_t flags, int timeout_ms,
				       struct dray_dlpack_managed **out);

/**
 * Makes a tensor of any view, with a function that releases its memory.
 *
 * @release: called once, with @owner, by the tensor's deleter; may be NULL
 *
 * On failure it is not called.  Errors: as dray_dlpack_export().
 */
DRAY_API int dray_dlpack_export_view(const struct dray_view *view,
				     void (*release)(void *owner), void *owner,
				     uint32_t flags, int timeout_ms,
				     struct dray_dlpack_versioned **out);

/** Does the same in the form before version 1.  Errors: also -EPERM. */
DRAY_API int
dray_dlpack_export_view_legacy(const struct dray_view *view,
			       void (*release)(void *owner), void *owner,
			       uint32_t flags, int timeout_ms,
			       struct dray_dlpack_managed **out);

/**
 * Makes an array over the memory of a tensor.  Its deleter is called once, in the
 * thread that drops the last array over the memory.
 *
 * @flags: DRAY_DLPACK_NO_WAIT, DRAY_DLPACK_WRITABLE
 * @timeout_ms: as of dray_dlpack_export(): the tensor may lie in dray's memory, and
 *	its producer may know nothing of transfers
 *
 * On failure the deleter is not called: the tensor is still the caller's, to be
 * released by dray_dlpack_drop(), also if it is of a future version.
 *
 * Errors: as dray_dlpack_read(), as dray_view_wait(), -EPERM (a read-only tensor is
 * to be written), -EINVAL (flags), -ENOMEM.
 */
DRAY_API int dray_dlpack_import(struct dray_dlpack_versioned *tensor,
				uint32_t flags, int timeout_ms,
				struct dray_array **out);

/** Does the same with a tensor of the form before version 1. */
DRAY_API int dray_dlpack_import_legacy(struct dray_dlpack_managed *tensor,
				       uint32_t flags, int timeout_ms,
				       struct dray_array **out);

/** Releases a tensor to its producer; NULL is ignored. */
DRAY_INLINED(void dray_dlpack_drop(struct dray_dlpack_versioned *tensor))
{
	if (tensor && tensor->deleter)
		tensor->deleter(tensor);
}

/** Does the same with a tensor of the form before version 1. */
DRAY_INLINED(void dray_dlpack_drop_legacy(struct dray_dlpack_managed *tensor))
{
	if (tensor && tensor->deleter)
		tensor->deleter(tensor);
}

#ifdef __cplusplus
}
#endif

#endif /* DRAY_DLPACK_H */
