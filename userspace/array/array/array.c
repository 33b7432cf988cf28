// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays as blocks: the public preamble, then meta-data, then the elements,
 * unless another block has them.  If elements have references, the maker of the
 * array brings a function that drops them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/cast.h>
#include <dray/array/strings.h>

#include "array/array.h"
#include "private.h"
#include "cast/options.h"

/* All flags, in the order of their bits. */
static const char *const flag_names[] = {
	"read",		"write",	"immutable", "aligned",
	"c_contiguous", "f_contiguous", "owned",     "write_back",
};

#define FLAGS (sizeof(flag_names) / sizeof(flag_names[0]))

struct array {
	bool beside; /* in the memory of array.reference's object */
	bool noted; /* for snapshots of pools, at start */
	void *start; /* of the elements, even if array.data changes */
	size_t size;
	void (*destroy)(struct dray_array *array);
	struct dray_array *target; /* of a copy that is written back */
	struct dray_block_front front;
	struct dray_array array; /* meta-data and elements follow */
};

static struct array *array_of_block(const struct dray_block *block)
{
	return dray_block_around(block, struct array, array);
}

_Static_assert(DRAY_PUBLISH_AXES >= DRAY_MAX_NDIM, "axes in a snapshot");

/* Called while the array lives, by any thread. */
static void array_note_fill(const void *object, struct dray_note *note)
{
	const struct array *array = object;
	const struct dray_array_axis *axes =
		(const struct dray_array_axis *)(const void *)(array + 1);
	int32_t i;

	note->bytes = array->size;
	note->ndim = (uint32_t)array->array.ndim;
	for (i = 0; i < array->array.ndim; i++)
		note->shape[i] = axes[i].size;
	if (dray_dtype_format(array->array.dtype, note->type,
			      sizeof(note->type)) < 0)
		note->type[0] = 0;
}

void dray_array_note(struct dray_array *owner)
{
	struct array *array = array_of_block(&owner->block);

	if (owner->flags & DRAY_OWNED && array->size)
		array->noted =
			dray_note_add(array->start, array, array_note_fill);
}

struct dray_array **dray_array_target(struct dray_array *array)
{
	return &array_of_block(&array->block)->target;
}

struct dray_view *dray_array_view(const struct dray_array *array,
				  struct dray_view *view)
{
	const struct dray_array_axis *axes;
	int i;

	if (!dray_given(array, __func__) || !dray_given(view, __func__))
		return NULL;
	axes = (const struct dray_array_axis *)(const void *)(array + 1);
	view->data = array->data;
	view->dtype = array->dtype;
	view->ndim = array->ndim;
	view->flags = (uint32_t)array->flags & DRAY_VIEW_FLAGS;
	for (i = 0; i < array->ndim; i++) {
		view->shape[i] = axes[i].size;
		view->strides[i] = axes[i].stride;
	}
	return view;
}

int dray_array_write_back(struct dray_array *copy)
{
	struct dray_view to, from;
	struct dray_array *target;
	int ret;

	if (!dray_given(copy, __func__))
		return -EINVAL;
	target = *dray_array_target(copy);
	if (!target)
		return 0;
	dray_array_view(target, &to);
	to.flags |= DRAY_WRITE;
	ret = dray_view_convert(&to, dray_array_view(copy, &from),
				DRAY_CASTING_UNSAFE);
	if (!ret)
		dray_array_discard(copy);
	return ret;
}

void dray_array_discard(struct dray_array *copy)
{
	struct dray_array *target;

	if (!dray_given(copy, __func__))
		return;
	target = *dray_array_target(copy);
	if (!target)
		return;
	*dray_array_target(copy) = NULL;
	copy->flags &= ~(uint64_t)DRAY_WRITE_BACK;
	target->flags |= DRAY_WRITE;
	dray_array_unref(target);
}

static void array_destroy(struct dray_block *block)
{
	struct array *array = array_of_block(block);
	struct dray_block *reference = array->array.reference;

	if (array->target && dray_array_write_back(&array->array))
		dray_array_discard(&array->array);
	if (__builtin_expect(array->noted, 0))
		dray_note_remove(array->start);
	if (array->destroy)
		array->destroy(&array->array);
	dray_dtype_unref(array->array.dtype);
	if (!array->beside)
		free(array);
	dray_block_unref(reference);
}

static void array_range(const struct dray_block *block,
			struct dray_block_range *out)
{
	const struct array *array = array_of_block(block);

	out->data = array->start;
	out->size = array->size;
	out->writable = array->array.flags & DRAY_WRITE;
}

/* Writes the type in words, as DyND does: "strided * strided * <f4". */
static void dump_type(const struct dray_array *array, FILE *stream)
{
	char text[512];
	int32_t i;

	fprintf(stream, " type: ");
	for (i = 0; i < array->ndim; i++)
		fprintf(stream, "strided * ");
	if (dray_dtype_kind(array->dtype) == DRAY_KIND_STRING)
		fprintf(stream, "string\n");
	else if (dray_dtype_format(array->dtype, text, sizeof(text)) < 0)
		fprintf(stream, "0x%016" PRIx64 "\n", array->dtype);
	else
		fprintf(stream, "%s\n", text);
}

static void array_dump(const struct dray_block *block, FILE *stream)
{
	struct dray_array *array = &array_of_block(block)->array;
	const struct dray_array_axis *axes = dray_array_axes(array);
	size_t flag;
	int32_t i;

	fprintf(stream, " flags: %" PRIu64, array->flags);
	for (flag = 0; flag < FLAGS; flag++) {
		if (array->flags & (1u << flag))
			fprintf(stream, " %s", flag_names[flag]);
	}
	fprintf(stream, "\n");
	dump_type(array, stream);
	fprintf(stream, " meta-data: %u bytes\n", array->meta_size);
	for (i = 0; i < array->ndim; i++)
		fprintf(stream,
			"  axis %d: size %" PRId64 ", stride %" PRId64 "\n", i,
			axes[i].size, axes[i].stride);
	fprintf(stream, " first element: %p\n", array->data);
	if (array->reference)
		fprintf(stream, " reference: %p (%s, count %" PRIu32 ")\n",
			(void *)array->reference,
			dray_block_type_name(array->reference->type),
			dray_block_count(array->reference));
	else
		fprintf(stream, " reference: none (in the array's memory)\n");
}

static const struct dray_block_class array_class = {
	.type = DRAY_BLOCK_ARRAY,
	.destroy = array_destroy,
	.range = array_range,
	.dump = array_dump,
};

static bool array_holds(const struct dray_block *block,
			const struct dray_block_range *range, const void *data,
			size_t size)
{
	const struct dray_block_class *class = dray_block_class(block);

	if (class->holds)
		return class->holds(block, data, size);
	return dray_range_holds(range->data, range->size, data, size);
}

static int check_reference(const struct dray_array_options *options)
{
	const struct dray_block *reference = options->reference;
	struct dray_block_range range = { 0 };

	if (!reference)
		return options->data
			       ? dray_fail(
					 -EINVAL,
					 "elements at %p, which no block holds",
					 options->data)
			       : 0;
	dray_block_class(reference)->range(reference, &range);
	if (options->bytes &&
	    !array_holds(reference, &range, options->data, options->bytes))
		return dray_fail(-EINVAL,
				 "%zu bytes at %p do not lie in block %p (%s)",
				 options->bytes, options->data,
				 (const void *)reference,
				 dray_block_type_name(reference->type));
	if ((options->flags & DRAY_WRITE) && !range.writable)
		return dray_fail(-EPERM, "block %p (%s) may not be written",
				 (const void *)reference,
				 dray_block_type_name(reference->type));
	return 0;
}

static int array_check_options(const struct dray_array_options *options)
{
	uint64_t flags = options->flags;

	if (flags >> FLAGS ||
	    ((flags & DRAY_WRITE) && (flags & DRAY_IMMUTABLE)))
		return dray_fail(-EINVAL,
				 "flags 0x%" PRIx64
				 " are unknown or exclude each other",
				 flags);
	if (options->alignment && !dray_is_power_of_two(options->alignment))
		return dray_fail(
			-EINVAL,
			"an alignment of %zu bytes is not a power of two",
			options->alignment);
	if (options->ndim < 0 || options->ndim > DRAY_MAX_NDIM)
		return dray_fail(-EINVAL,
				 "an array of %d axes, 0 to %d are possible",
				 options->ndim, DRAY_MAX_NDIM);
	return check_reference(options);
}

/* Offsets in an array's memory. */
struct sizes {
	size_t alignment;
	uint32_t meta; /* bytes of the meta-data */
	size_t elements; /* bytes before inline elements */
	size_t whole;
};

static int array_measure(const struct dray_array_options *options,
			 struct sizes *sizes)
{
	uint64_t bytes =
		(uint64_t)options->ndim * sizeof(struct dray_array_axis) +
		options->element_meta;
	uint64_t elements = options->reference ? 0 : (uint64_t)options->bytes;
	uint64_t before, whole;

	sizes->alignment = options->reference ? 0 : options->alignment;
	if (sizes->alignment < _Alignof(max_align_t))
		sizes->alignment = _Alignof(max_align_t);
	if (dray_round_up_overflow(bytes, 8, &bytes) || bytes > UINT32_MAX)
		return dray_fail(-EOVERFLOW,
				 "meta-data of %" PRIu64
				 " bytes, at most %u are possible",
				 bytes, UINT32_MAX);
	if (dray_round_up_overflow(sizeof(struct array) + bytes,
				   sizes->alignment, &before) ||
	    dray_add_overflow(before, elements, &whole) || whole > PTRDIFF_MAX)
		return dray_fail(
			-EOVERFLOW,
			"an array of %zu bytes exceeds the address space",
			options->bytes);
	sizes->meta = (uint32_t)bytes;
	sizes->elements = (size_t)before;
	sizes->whole = (size_t)whole;
	return 0;
}

static void *array_allocate(size_t alignment, size_t size)
{
	void *memory;

	if (alignment <= _Alignof(max_align_t))
		return malloc(size);
	return posix_memalign(&memory, alignment, size) ? NULL : memory;
}

int dray_array_make(const struct dray_array_options *options,
		    struct dray_array **out)
{
	struct dray_array_options known;
	struct sizes sizes = { 0 };
	struct array *array;
	void *memory;
	int ret;

	if (!options || !out)
		return dray_fail(-EINVAL,
				 "the options or the result pointer are NULL");
	ret = DRAY_READ_OPTIONS(&known, options, DRAY_ARRAY_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = array_check_options(&known);
	if (!ret)
		ret = array_measure(&known, &sizes);
	if (ret)
		return ret;
	memory = array_allocate(sizes.alignment, sizes.whole);
	if (!memory)
		return dray_fail(-ENOMEM, "no memory for an array of %zu bytes",
				 sizes.whole);
	array = memset(memory, 0, sizes.whole);
	/* Never of 0 bytes: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	array->destroy = known.destroy;
	array->size = known.bytes;
	array->start = known.data;
	if (!known.reference && known.bytes)
		array->start = (char *)memory + sizes.elements;
	array->array.dtype = dray_dtype_ref(known.dtype);
	array->array.data = array->start;
	array->array.flags = known.flags;
	array->array.reference = dray_block_ref(known.reference);
	array->array.ndim = known.ndim;
	array->array.meta_size = sizes.meta;
	dray_block_init(&array->array.block, &array_class);
	*out = &array->array;
	return 0;
}

size_t dray_array_room(int ndim)
{
	return sizeof(struct array) +
	       (size_t)ndim * sizeof(struct dray_array_axis);
}

struct dray_array *dray_array_place(const struct dray_view *view, void *start,
				    size_t bytes, uint32_t flags,
				    struct dray_block *base)
{
	struct array *array = dray_block_room(base);
	struct dray_array_axis *axes = dray_array_axes(&array->array);
	int i;

	array->beside = true;
	array->noted = false;
	array->start = start;
	array->size = bytes;
	array->destroy = NULL;
	array->target = NULL;
	array->array.dtype = dray_dtype_ref(view->dtype);
	array->array.data = view->data;
	array->array.flags = view->flags | flags;
	array->array.reference = base;
	array->array.ndim = view->ndim;
	array->array.meta_size = (uint32_t)(view->ndim * sizeof(axes[0]));
	for (i = 0; i < view->ndim; i++)
		axes[i] = (struct dray_array_axis){ view->shape[i],
						    view->strides[i] };
	dray_block_init(&array->array.block, &array_class);
	if (dray_notes_are_wanted())
		dray_array_note(&array->array);
	return &array->array;
}
