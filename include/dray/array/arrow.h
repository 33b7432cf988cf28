/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * arrow: arrays in Arrow's C data interface and C device interface.
 *
 * An export keeps the array and passes its memory on without a copy, if Arrow's
 * layout is the same.  An import makes arrays over the producer's memory, which
 * may not be written, because Arrow's data never change.  The structures and
 * their include guards are Arrow's published ones, so that a program may
 * include another copy of them first.
 *
 *	struct ArrowSchema schema;
 *	struct ArrowArray exported;
 *
 *	ret = dray_arrow_export(array, NULL, 0, -1, &exported);
 *	if (ret)
 *		return ret;
 *	ret = dray_arrow_schema(array->dtype, array->ndim, shape, &schema);
 *	if (!ret) {
 *		puts(schema.format);	// for a consumer of both
 *		schema.release(&schema);
 *	}
 *	exported.release(&exported);
 *
 *	array's type			Arrow's format
 *	bool				b: a bit each, which needs a copy
 *	i1 i2 i4 i8, u1 u2 u4 u8	c s i l, C S I L
 *	f2 f4 f8			e f g
 *	c8 c16				+w:2 of f or g: the real part is first
 *	S<n>, V<n>			w:<n>; returns as V<n>
 *	M8[s], [ms], [us], [ns]		tss: tsm: tsu: tsn: without a time zone
 *	M8[D]				tdD: 32 bits, which needs a copy
 *	m8[s], [ms], [us], [ns]		tDs tDm tDu tDn
 *	a structure			+s: each field that is not alone in it takes
 *					a copy, because Arrow's lie apart
 *	more axes than one		+w:<extent>, nested
 *
 * An element that is not a date (NaT) becomes a null.  Imports also accept
 * dates of milliseconds (tdm, M8[ms]), times of day (tts ttm ttu ttn: durations
 * since midnight; the first two consist of 32 bits and need a copy), and
 * timestamps of a time zone, whose numbers are UTC's.  Others are refused: lists of
 * variable size, views, maps, unions, dictionaries, decimals, intervals, run-end
 * encoding.  Text and bytes of variable size are strings (strings.h) and have
 * functions of their own.
 *
 * Copies lie in memory of the handler that this thread allocates with,
 * dray_get_handler(); bits of validity do so too.  Every function may be called
 * from any thread, and a release function as well.  (Sources: Arrow's
 * specifications "C data interface" and "C device data interface".)
 */
#ifndef DRAY_ARROW_H
#define DRAY_ARROW_H

#include <dray/array/array.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

/* Flags of an ArrowSchema. */
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** The type of an array. */
struct ArrowSchema {
	const char *format;	/* a text of the table above */
	const char *name;	/* of a field, UTF-8; may be NULL */
	const char *metadata;	/* counted pairs of bytes; may be NULL */
	int64_t flags;		/* ARROW_FLAG_* */
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;	/* NULL: none */
	/* drops all of it but the children that were moved; NULL: it was */
	void (*release)(struct ArrowSchema *schema);
	void *private_data;	/* the producer's */
};

/** The memory of an array, of a type that it does not name itself. */
struct ArrowArray {
	int64_t length;		/* elements, without those before the offset */
	int64_t null_count;	/* -1: not counted */
	int64_t offset;		/* elements in front, which are not part of it */
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;	/* validity, a bit each (NULL: all); elements */
	struct ArrowArray **children;
	struct ArrowArray *dictionary;	/* NULL: none */
	void (*release)(struct ArrowArray *array);	/* as a schema's */
	void *private_data;	/* the producer's */
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#define ARROW_C_DEVICE_DATA_INTERFACE

/** A kind of memory; the numbers are DLPack's. */
typedef int32_t ArrowDeviceType;

#define ARROW_DEVICE_CPU 1
#define ARROW_DEVICE_CUDA 2
#define ARROW_DEVICE_CUDA_HOST 3
#define ARROW_DEVICE_OPENCL 4
#define ARROW_DEVICE_VULKAN 7
#define ARROW_DEVICE_METAL 8
#define ARROW_DEVICE_VPI 9
#define ARROW_DEVICE_ROCM 10
#define ARROW_DEVICE_ROCM_HOST 11
#define ARROW_DEVICE_EXT_DEV 12
#define ARROW_DEVICE_CUDA_MANAGED 13
#define ARROW_DEVICE_ONEAPI 14
#define ARROW_DEVICE_WEBGPU 15
#define ARROW_DEVICE_HEXAGON 16

/** An array and the place of its memory. */
struct ArrowDeviceArray {
	struct ArrowArray array;	/* its release ends all of this */
	int64_t device_id;		/* -1: a single device */
	ArrowDeviceType device_type;
	void *sync_event;	/* to wait for before a use; NULL: nothing */
	int64_t reserved[3];	/* 0 */
};

#endif /* ARROW_C_DEVICE_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/** Arrays of the same type, in sequence. */
struct ArrowArrayStream {
	/* write a structure that the caller releases; 0 or a positive errno */
	int (*get_schema)(struct ArrowArrayStream *stream,
			  struct ArrowSchema *out);
	/* at the end, an array that is released */
	int (*get_next)(struct ArrowArrayStream *stream,
			struct ArrowArray *out);
	/* a sentence about the last error, until the next call; may be NULL */
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	/* ends the stream, not its arrays; NULL: it was */
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;	/* the producer's */
};

#endif /* ARROW_C_STREAM_INTERFACE */

/* Allows copies; without it an array that needs a copy is refused. */
#define DRAY_ARROW_COPY (1u << 0)

/**
 * Describes the type of arrays in Arrow's words.
 *
 * @dtype: borrowed
 * @ndim: axes, 1 to DRAY_MAX_NDIM
 * @shape: @ndim extents; the first does not matter
 * @out: the caller's to release, by out->release(out), or to pass on
 *
 * Errors: -EINVAL (no axes; as dray_view_init()), -EOPNOTSUPP (a type that
 * Arrow lacks), -EOVERFLOW (an element, or an axis behind the first, of more
 * than INT32_MAX bytes or elements), -ENOMEM.
 */
DRAY_API int dray_arrow_schema(dray_dtype dtype, int ndim, const int64_t *shape,
			       struct ArrowSchema *out);

/**
 * Passes an array on.  Waits until no transfer writes it, so that nothing is in
 * flight in it afterwards.  The elements must not change as long as a consumer
 * holds them: Arrow's never do.
 *
 * @array: kept by a reference until @out, and each child that was moved out of
 *	it, are released
 * @mask: a bool for each element, true for a null, as in NumPy's masked arrays;
 *	for a structure, a bool or a structure of bools with the same names.
 *	NULL: no nulls.  Becomes bits; borrowed for the call
 * @flags: DRAY_ARROW_COPY or 0
 * @timeout_ms: for transfers to end, in milliseconds; below 0: without a limit
 * @out: the caller's, as a schema; dray_arrow_schema() describes it
 *
 * Errors: as dray_arrow_schema(), -EAGAIN (it needs a copy, which @flags does
 * not allow: gaps, other byte orders, elements that are not aligned, bools,
 * days, several fields), -EOPNOTSUPP (memory that the CPU does not reach),
 * -EINVAL (flags; a mask of another shape or type), -EPERM (it may not be
 * read), -ERANGE (days beyond 32 bits), as dray_view_wait().
 */
DRAY_API int dray_arrow_export(struct dray_array *array,
			       const struct dray_view *mask, uint32_t flags,
			       int timeout_ms, struct ArrowArray *out);

/**
 * Does the same for the C device interface: ARROW_DEVICE_CPU, or
 * ARROW_DEVICE_EXT_DEV for memory that the CPU does not reach (DRAY_MODE_DEVICE),
 * each without a number (-1), and no event.  Such memory is not read: copies
 * and masks are refused, and dates that are NaT stay numbers.
 */
DRAY_API int dray_arrow_export_device(struct dray_array *array,
				      const struct dray_view *mask,
				      uint32_t flags, int timeout_ms,
				      struct ArrowDeviceArray *out);

/**
 * Makes an array over Arrow's array.  Lists of a fixed size become axes.  A
 * structure becomes an array of a structured type, which needs a copy;
 * dray_arrow_import_fields() needs none.
 *
 * @schema: borrowed: the caller releases it
 * @from: moved: on success its release is NULL, and the producer's function is
 *	called once, after the last array over its memory, in the thread that
 *	drops that.  On failure it is as it was, still the caller's
 * @flags: DRAY_ARROW_COPY or 0
 * @timeout_ms: as of an export: the elements may lie in dray's memory, and producers
 *	know nothing of transfers
 * @out: a reference; immutable, unless it is a copy
 * @mask: set to a bool for each element, true for a null, or to a structure of
 *	such bools; a reference.  Set to NULL if there are no nulls.  May itself
 *	be NULL: nulls are refused.  Elements that are null may be of any value
 *
 * All numbers and formats are checked.  The lengths of the buffers are not in
 * the structures: the producer is trusted with those.
 *
 * Errors: -EINVAL (a structure that was released, or breaks a rule of the
 * specification; an unknown format; nulls without @mask; more than 64 levels or
 * axes), -EOPNOTSUPP (a type of Arrow's without an equal here), -EAGAIN (it
 * needs a copy), -EOVERFLOW (a length beyond the address space), -ENOMEM, as
 * dray_view_wait().
 */
DRAY_API int dray_arrow_import(const struct ArrowSchema *schema,
			       struct ArrowArray *from, uint32_t flags,
			       int timeout_ms, struct dray_array **out,
			       struct dray_array **mask);

/**
 * Makes an array for each child of a structure of Arrow's (format +s), such as
 * the columns of a record batch.  schema->children[i]->name is the name of out[i].
 * A null of the structure is a null of all its children.
 *
 * @count: room in @out and @masks; schema->n_children
 * @out: @count references
 * @masks: @count masks, each as of dray_arrow_import(); NULL: nulls are refused
 *
 * Errors: also -EINVAL (another format or number of children).
 */
DRAY_API int dray_arrow_import_fields(const struct ArrowSchema *schema,
				      struct ArrowArray *from, uint32_t flags,
				      int timeout_ms, size_t count,
				      struct dray_array **out,
				      struct dray_array **masks);

/**
 * Makes a finished array of strings over the bytes of an array of text or bytes:
 * formats u, U, z, Z, vu, vz.  A null becomes a null.  Text is not checked to be
 * UTF-8.
 *
 * @schema, @from, @timeout_ms: as of dray_arrow_import(); of vu and vz strings of at
 *	most 12 bytes lie in the producer's views, others in its buffers
 * @out: a reference
 *
 * Offsets must not decrease; the size of their buffer is trusted, as above.
 *
 * Errors: as dray_arrow_import(), -EOPNOTSUPP (another format).
 */
DRAY_API int dray_arrow_import_strings(const struct ArrowSchema *schema,
				       struct ArrowArray *from, int timeout_ms,
				       struct dray_block **out);

/**
 * Passes finished strings on.  Offsets and bits of validity are made anew; the
 * bytes are the same if they lie side by side, as those of dray_strings_copy() and of
 * imports do, and of slices of them by a step of 1.
 *
 * @format: "u" or "U" for text, "z" or "Z" for bytes; the small letters have offsets of
 *	32 bits
 * @flags: DRAY_ARROW_COPY or 0
 * @out: the caller's; dray_arrow_schema_strings() describes it
 *
 * Errors: -EINVAL (flags, text that is not UTF-8), -EPERM (strings that are not
 * finished), -EAGAIN (it needs a copy, which @flags does not allow), -EOVERFLOW
 * (more than INT32_MAX bytes in u or z), -EOPNOTSUPP (another format), -ENOMEM.
 */
DRAY_API int dray_arrow_export_strings(const struct dray_block *strings,
				       const char *format, uint32_t flags,
				       struct ArrowArray *out);

/**
 * Describes strings in Arrow's words; @format and @out as above.
 *
 * Errors: -EOPNOTSUPP (another format), -ENOMEM.
 */
DRAY_API int dray_arrow_schema_strings(const char *format,
				       struct ArrowSchema *out);

/**
 * Checks that the CPU may read a device array now, so that &from->array can be
 * imported: memory of the CPU, or of its host for CUDA or ROCm, and no event.
 *
 * An event is of the producer's kind; a program with an event waits for it by
 * that library, and sets it to NULL.
 *
 * Reserved numbers are not looked at: pyarrow 26 leaves some undefined.
 *
 * Errors: -EOPNOTSUPP (another device; an event).
 */
DRAY_API int dray_arrow_check_device(const struct ArrowDeviceArray *from);

/**
 * Reads the array of a stream of exactly one array, such as a column of a data
 * frame without pieces.  May block as long as the producer's functions do.
 *
 * @stream: borrowed: the caller releases it
 * @schema, @out: the caller's to release, for dray_arrow_import()
 *
 * Errors: -EINVAL (a stream that was released, or lacks a function), -ENODATA (no
 * array), -E2BIG (more than one), the producer's error with its sentence, or -EIO
 * if that is not an errno.
 */
DRAY_API int dray_arrow_read_stream(struct ArrowArrayStream *stream,
				    struct ArrowSchema *schema,
				    struct ArrowArray *out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_ARROW_H */
