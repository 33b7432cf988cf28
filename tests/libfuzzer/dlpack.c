// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tensors of DLPack, filled in by a stranger: an import fails and keeps nothing, or
 * its array covers the bytes of the tensor's numbers, and gives the tensor back once.
 * Views of any layout that leave as a tensor come in as the same view.
 */
#include "exchange.h"

/* A tensor on the heap, freed when it is given back: sanitizers see uses after. */
struct stranger {
	union {
		struct dray_dlpack_versioned versioned;
		struct dray_dlpack_managed legacy;
	};
	int64_t *shape;
	int64_t *strides;
};

static int given_back;

/* A block of dray's: the only memory of a device that is taken. */
static unsigned char *own;

static void start(void)
{
	struct dray_node *node;
	struct dray_pool *pool;

	views_start();
	views_fill();
	holds(!dray_node_open("host", &node));
	holds(!dray_pool_create(node, NULL, &pool));
	own = dray_pool_alloc(pool, MEMORY, 0);
	holds(own);
}

static void free_stranger(struct stranger *stranger)
{
	free(stranger->shape);
	free(stranger->strides);
	free(stranger);
	given_back++;
}

static void delete_versioned(struct dray_dlpack_versioned *self)
{
	free_stranger((struct stranger *)(void *)self);
}

static void delete_legacy(struct dray_dlpack_managed *self)
{
	free_stranger((struct stranger *)(void *)self);
}

/* Makes @count numbers, few of them odd; NULL one time in @nulls. */
static int64_t *read_numbers(struct input *input, int count, int limit,
			     int nulls)
{
	int64_t *numbers;
	int i;

	if (!input_below(input, nulls))
		return NULL;
	numbers = malloc((size_t)count * sizeof(*numbers) + !count);
	holds(numbers);
	for (i = 0; i < count; i++)
		numbers[i] = stranger_number(input, limit);
	return numbers;
}

static struct dray_dlpack_dtype read_type(struct input *input)
{
	static const struct dray_dlpack_dtype types[] = {
		{ DRAY_DLPACK_UINT, 8, 1 },	 { DRAY_DLPACK_INT, 16, 1 },
		{ DRAY_DLPACK_FLOAT, 32, 1 },	 { DRAY_DLPACK_FLOAT, 64, 1 },
		{ DRAY_DLPACK_COMPLEX, 128, 1 }, { DRAY_DLPACK_BOOL, 8, 1 },
	};
	int which = input_below(input, 8);

	if (which < 6)
		return types[which];
	return (struct dray_dlpack_dtype){
		(uint8_t)input_below(input, which == 6 ? 7 : 256),
		which == 6 ? (uint8_t)(8u << input_below(input, 5))
			   : (uint8_t)input_number(input, 1),
		which == 6 ? 1 : (uint16_t)input_number(input, 2),
	};
}

static void read_tensor(struct input *input, struct stranger *stranger,
			struct dray_dlpack_tensor *tensor)
{
	static const int32_t devices[] = { 1, 1, 1, 1, 3, 11, 12, 13 };
	static const int32_t counts[] = { 6,  63, 64,	     65,
					  66, -1, INT32_MIN, INT32_MAX };
	int count, i;

	tensor->dtype = read_type(input);
	tensor->ndim = input_below(input, 8) ? input_below(input, 6)
					     : counts[input_below(input, 8)];
	if (tensor->ndim == INT32_MAX)
		tensor->ndim = (int32_t)input_number(input, 4);
	count = tensor->ndim < 0 || tensor->ndim > DRAY_MAX_NDIM ? 0
								 : tensor->ndim;
	stranger->shape = read_numbers(input, count, 6, 32);
	stranger->strides = read_numbers(input, count, 12, 4);
	for (i = 0; stranger->strides && i < count; i++)
		if (!input_below(input, 4))
			stranger->strides[i] =
				(int64_t) - (uint64_t)stranger->strides[i];
	tensor->shape = stranger->shape;
	tensor->strides = stranger->strides;
	tensor->device.device_type = input_below(input, 16)
					     ? devices[input_below(input, 8)]
					     : (int32_t)input_number(input, 4);
	tensor->device.device_id = (int32_t)input_number(input, 1);
	tensor->byte_offset = (uint64_t)stranger_number(input, 64);
	switch (input_below(input, 16)) {
	case 0:
		tensor->data = NULL;
		break;
	case 1:
		tensor->data = (void *)(uintptr_t)input_number(input, 8);
		break;
	case 2:
		tensor->device.device_type = DRAY_DLPACK_EXT_DEV;
		/* near one of its ends */
		tensor->data = own + MEMORY * input_below(input, 2) +
			       8 * input_around(input, 8);
		break;
	default:
		tensor->data = memory + 16 * input_below(input, MEMORY / 16);
	}
}

/* Checks a view of a tensor that is still there. */
static void check_view(const struct dray_dlpack_tensor *tensor,
		       const struct dray_view *view)
{
	struct layout layout = {
		.ndim = tensor->ndim,
		.shape = tensor->shape,
		.strides = tensor->strides,
		.unit = tensor->dtype.bits / 8,
		.itemsize = tensor->dtype.bits / 8,
	};
	int64_t low, high;

	layout_check(&layout,
		     (wide)(uintptr_t)tensor->data + tensor->byte_offset, view);
	holds(!bytes_of(view) ||
	      !((uintptr_t)view->data % dray_dtype_alignment(view->dtype)));
	dray_view_span(view, &low, &high);
	if (low != high && tensor->device.device_type == DRAY_DLPACK_EXT_DEV)
		holds((unsigned char *)view->data + low >= own &&
		      (unsigned char *)view->data + high <= own + MEMORY);
}

/* Checks an array; its tensor stays until its end. */
static void check_array(const struct dray_dlpack_tensor *tensor,
			struct dray_array *array, bool writable)
{
	struct dray_array *slice;
	struct dray_view view;

	holds(array->flags & DRAY_READ);
	holds(!!(array->flags & DRAY_WRITE) == writable);
	check_view(tensor, dray_array_view(array, &view));
	/* Another array over the memory keeps it, too. */
	holds(!dray_array_over(&view, &array->block, &slice));
	dray_array_unref(array);
	holds(!given_back);
	dray_array_unref(slice);
	holds(given_back == 1);
}

static void import(struct input *input)
{
	bool legacy = !input_below(input, 4);
	uint32_t flags = (uint32_t)input_below(input, 4) << 0;
	struct stranger *stranger = calloc(1, sizeof(*stranger));
	struct dray_dlpack_versioned *versioned = &stranger->versioned;
	struct dray_dlpack_managed *tensor = &stranger->legacy;
	struct dray_dlpack_tensor *inner;
	struct dray_array *array;
	struct dray_view view;
	bool writable;
	int ret, read;

	holds(stranger);
	flags = DRAY_DLPACK_NO_WAIT * (flags & 1) +
		DRAY_DLPACK_WRITABLE * (flags >> 1);
	if (!input_below(input, 32))
		flags = (uint32_t)input_number(input, 4);
	given_back = 0;
	if (legacy) {
		inner = &tensor->dl_tensor;
		tensor->deleter = delete_legacy;
		read_tensor(input, stranger, inner);
		ret = dray_dlpack_import_legacy(tensor, flags, 0, &array);
		read = dray_dlpack_read(inner, NULL, &view);
		writable = flags & DRAY_DLPACK_WRITABLE;
	} else {
		inner = &versioned->dl_tensor;
		versioned->version.major = 1;
		versioned->version.minor = (uint32_t)input_below(input, 5);
		if (!input_below(input, 16))
			versioned->version.major =
				(uint32_t)input_number(input, 4);
		versioned->flags =
			input_number(input, input_below(input, 16) ? 1 : 8);
		versioned->deleter = delete_versioned;
		read_tensor(input, stranger, inner);
		ret = dray_dlpack_import(versioned, flags, 0, &array);
		read = dray_dlpack_read(inner, &versioned->version, &view);
		writable = !(versioned->flags & DRAY_DLPACK_FLAG_READ_ONLY);
		holds(ret || writable || !(flags & DRAY_DLPACK_WRITABLE));
	}
	holds(ret <= 0);
	holds(!given_back);
	holds(ret || !read);
	if (!read)
		check_view(inner, &view);
	if (!ret)
		check_array(inner, array, writable);
	else
		free_stranger(stranger);
}

static void release_view(void *owner)
{
	++*(int *)owner;
}

/* Sends a view out and takes it in again, in one of both forms. */
static void round_trip(struct input *input)
{
	struct dray_dlpack_versioned *versioned = NULL;
	struct dray_dlpack_managed *legacy = NULL;
	bool old = input_below(input, 2);
	int changes = input_below(input, 4), released = 0, ret;
	struct dray_array *array;
	struct dray_view view, back;

	views_make(input, &view);
	while (changes--)
		views_change(input, &view);
	if (old)
		ret = dray_dlpack_export_view_legacy(&view, release_view,
						     &released, 0, 0, &legacy);
	else
		ret = dray_dlpack_export_view(&view, release_view, &released, 0,
					      0, &versioned);
	holds(ret <= 0);
	if (ret) {
		holds(!released);
		return;
	}
	if (old) {
		check_view(&legacy->dl_tensor, &view);
		ret = dray_dlpack_import_legacy(legacy, DRAY_DLPACK_WRITABLE, 0,
						&array);
	} else {
		holds(!versioned->dl_tensor.byte_offset);
		check_view(&versioned->dl_tensor, &view);
		ret = dray_dlpack_import(versioned, 0, 0, &array);
	}
	holds(!ret);
	holds((array->flags & DRAY_WRITE) == (view.flags & DRAY_WRITE));
	check_same_view(&view, dray_array_view(array, &back));
	holds(!released);
	dray_array_unref(array);
	holds(released == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (!memory)
		start();
	if (input_below(&input, 4))
		import(&input);
	else
		round_trip(&input);
	return 0;
}
