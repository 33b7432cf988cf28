// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * block_array: arrays as blocks: the preamble, its meta-data, elements inline
 * and elsewhere.
 */
#include <dray/array.h>

#include "pool.h"

static struct dray_array *make(const struct dray_array_options *options)
{
	struct dray_array *array = NULL;

	assert_works(dray_array_make(options, &array));
	assert_ptr_equal(dray_block_as_array(&array->block), array);
	return array;
}

/* On every machine, so that one who reads bytes finds the fields. */
FACT(the_preamble_has_its_layout)
{
	struct dray_array *array =
		make(&(struct dray_array_options){ .dtype = 0x1122334455,
						   .flags = 3,
						   .ndim = 2,
						   .element_meta = 8,
						   .bytes = 16 });
	const unsigned char *bytes = (const unsigned char *)array;
	uint64_t word;

	memcpy(&word, bytes + 8, 8);
	assert_true(word == 0x1122334455);
	assert_memory_equal(bytes + 16, &array->data, sizeof(void *));
	memcpy(&word, bytes + 24, 8);
	assert_int_equal(word, 3);
	assert_true(all_bytes_are(bytes + 32, 0, 8));
	assert_int_equal(array->ndim, 2);
	assert_int_equal(array->meta_size, 2 * 16 + 8);
	assert_ptr_equal(dray_array_axes(array), bytes + 48);
	assert_ptr_equal(dray_array_meta(array), bytes + 48 + 32);
	dray_block_unref(&array->block);
}

FACT(inline_elements_and_meta_data_are_zero)
{
	struct dray_array *array =
		make(&(struct dray_array_options){ .flags = DRAY_READ,
						   .ndim = 3,
						   .element_meta = 5,
						   .bytes = 1000,
						   .alignment = 256 });

	assert_null(array->reference);
	assert_int_equal(array->meta_size, 3 * 16 + 8);
	assert_true(all_bytes_are(dray_array_axes(array), 0, 56));
	assert_int_equal((uintptr_t)array->data % 256, 0);
	assert_true((char *)array->data >= (char *)(array + 1) + 56);
	assert_true(all_bytes_are(array->data, 0, 1000));
	memset(array->data, 1, 1000);
	assert_ptr_equal(dray_block_data(&array->block), array->data);
	assert_int_equal(dray_block_size(&array->block), 1000);
	assert_false(dray_block_writable(&array->block));
	array->flags |= DRAY_WRITE;
	assert_true(dray_block_writable(&array->block));
	dray_block_unref(&array->block);
}

FACT(an_array_of_nothing_has_no_data)
{
	struct dray_array *array = make(&(struct dray_array_options){ 0 });

	assert_null(array->data);
	assert_int_equal(array->meta_size, 0);
	assert_int_equal(dray_block_size(&array->block), 0);
	dray_block_unref(&array->block);
}

POOL_FACT(elements_keep_the_block_that_holds_them)
{
	struct dray_array_options options = {
		.flags = DRAY_READ | DRAY_WRITE,
		.bytes = 500,
	};
	struct dray_array *array;

	assert_works(
		dray_block_create_pooled(*state, 1000, 0, &options.reference));
	options.data = (char *)dray_block_data(options.reference) + 500;
	array = make(&options);
	assert_int_equal(dray_block_count(options.reference), 2);
	dray_block_unref(options.reference);
	assert_ptr_equal(array->reference, options.reference);
	assert_ptr_equal(array->data, options.data);
	memset(array->data, 1, 500);
	assert_int_equal(stats_of(*state).blocks, 1);
	dray_block_unref(&array->block);
}

POOL_FACT(elements_may_be_in_an_array_or_in_an_arena)
{
	const struct dray_block_allocator *allocator;
	struct dray_array_options outer = { .flags = DRAY_READ | DRAY_WRITE,
					    .bytes = 100 };
	struct dray_array_options inner = { .flags = DRAY_READ, .bytes = 50 };
	struct dray_array *first, *second;
	char *begin, *end;

	assert_works(dray_block_create_pod(*state, &outer.reference));
	assert_works(dray_block_get_allocator(outer.reference, &allocator));
	assert_works(
		allocator->allocate(outer.reference, 100, 1, &begin, &end));
	outer.data = begin;
	first = make(&outer);
	outer.data = begin + 1; /* one byte too far */
	assert_int_equal(dray_array_make(&outer, &second), -EINVAL);
	dray_block_unref(outer.reference);
	inner.reference = &first->block;
	inner.data = begin + 50;
	second = make(&inner);
	dray_block_unref(&first->block);
	memset(second->data, 1, 50);
	dray_block_unref(&second->block);
}

POOL_FACT(elements_that_the_reference_does_not_hold_are_refused)
{
	struct dray_array_options options = { .flags = DRAY_READ };
	struct dray_array *array = NULL;
	char *data;

	assert_works(
		dray_block_create_pooled(*state, 1000, 0, &options.reference));
	data = dray_block_data(options.reference);
	options.data = data;
	options.bytes = 1001;
	assert_fails(dray_array_make(&options, &array), -EINVAL,
		     "do not lie in block");
	options.data = data + 1;
	options.bytes = SIZE_MAX;
	assert_fails(dray_array_make(&options, &array), -EINVAL,
		     "do not lie in block");
	options.data = data - 1;
	options.bytes = 1;
	assert_fails(dray_array_make(&options, &array), -EINVAL,
		     "do not lie in block");
	options.data = NULL;
	assert_fails(dray_array_make(&options, &array), -EINVAL,
		     "do not lie in block");
	assert_int_equal(dray_block_count(options.reference), 1);
	dray_block_unref(options.reference);
	options.reference = NULL;
	options.data = data;
	assert_fails(dray_array_make(&options, &array), -EINVAL,
		     "no block holds");
	assert_null(array);
}

FACT(what_may_not_be_written_has_no_writable_elements)
{
	static char constant[10];
	struct dray_array_options options = {
		.flags = DRAY_READ | DRAY_WRITE,
		.data = constant,
		.bytes = 10,
	};
	struct dray_array *array = NULL;

	assert_works(dray_block_create_external(constant, 10, DRAY_READ, NULL,
						NULL, &options.reference));
	assert_fails(dray_array_make(&options, &array), -EPERM,
		     "may not be written");
	options.flags = DRAY_READ | DRAY_IMMUTABLE;
	dray_block_unref(&make(&options)->block);
	dray_block_unref(options.reference);
}

FACT(bad_options_are_refused)
{
	struct dray_array_options options = { .flags = 0x100 };
	struct dray_array *array = NULL;

	assert_fails(dray_array_make(&options, &array), -EINVAL, "flags 0x100");
	options.flags = DRAY_WRITE | DRAY_IMMUTABLE;
	assert_fails(dray_array_make(&options, &array), -EINVAL, "flags 0x6");
	options.flags = DRAY_READ;
	options.alignment = 12;
	assert_fails(dray_array_make(&options, &array), -EINVAL,
		     "alignment of 12");
	options.alignment = 0;
	options.ndim = -1;
	assert_fails(dray_array_make(&options, &array), -EINVAL, "-1 axes");
	options.ndim = 65;
	assert_fails(dray_array_make(&options, &array), -EINVAL,
		     "65 axes, 0 to 64 are possible");
	options.ndim = 0;
	options.element_meta = UINT32_MAX;
	assert_fails(dray_array_make(&options, &array), -EOVERFLOW,
		     "meta-data");
	options.element_meta = 0;
	options.bytes = SIZE_MAX;
	assert_fails(dray_array_make(&options, &array), -EOVERFLOW,
		     "exceeds the address space");
	options.bytes = PTRDIFF_MAX;
	assert_fails(dray_array_make(&options, &array), -EOVERFLOW,
		     "exceeds the address space");
	assert_null(array);
}

static struct dray_block *seen;

/* Elements are still there when what they refer to is given up. */
static void give_up(struct dray_array *array)
{
	assert_int_equal(dray_block_count(array->reference), 1);
	assert_int_equal(*(char *)array->data, 'x');
	seen = &array->block;
	dray_block_unref(*(struct dray_block **)dray_array_meta(array));
}

POOL_FACT(what_meta_data_refers_to_goes_before_the_elements)
{
	struct dray_array_options options = {
		.flags = DRAY_READ | DRAY_WRITE,
		.element_meta = sizeof(struct dray_block *),
		.bytes = 1,
		.destroy = give_up,
	};
	struct dray_array *array;
	struct dray_block **meta;

	assert_works(
		dray_block_create_pooled(*state, 1, 0, &options.reference));
	options.data = dray_block_data(options.reference);
	array = make(&options);
	dray_block_unref(options.reference);
	*(char *)array->data = 'x';
	meta = dray_array_meta(array);
	assert_works(dray_block_create_pooled(*state, 1, 0, meta));
	seen = NULL;
	dray_block_unref(&array->block);
	assert_ptr_equal(seen, array);
}

POOL_FACT(only_an_array_is_taken_for_one)
{
	struct dray_block *block;

	assert_works(dray_block_create_pooled(*state, 1, 0, &block));
	assert_null(dray_block_as_array(block));
	dray_block_unref(block);
}

POOL_FACT(a_dump_shows_preamble_and_axes)
{
	struct dray_array_options options = {
		.dtype = DRAY_DTYPE('u', '<', 4),
		.flags = DRAY_READ | DRAY_IMMUTABLE,
		.ndim = 1,
		.bytes = 16,
	};
	struct dray_array *array;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_works(
		dray_block_create_pooled(*state, 16, 0, &options.reference));
	options.data = dray_block_data(options.reference);
	array = make(&options);
	*dray_array_axes(array) = (struct dray_array_axis){ 4, 4 };
	assert_works(dray_block_dump(&array->block, stream));
	dray_block_unref(&array->block);
	dray_block_unref(options.reference);
	options.reference = NULL;
	options.data = NULL;
	array = make(&options);
	assert_works(dray_block_dump(&array->block, stream));
	dray_block_unref(&array->block);
	fclose(stream);
	assert_non_null(strstr(text, "------ array\n"));
	assert_non_null(strstr(text, " flags: 5 read immutable\n"));
	assert_non_null(strstr(text, " type: strided * <u4\n"));
	assert_non_null(strstr(text, "  axis 0: size 4, stride 4\n"));
	assert_non_null(strstr(text, " (pooled, count 2)\n"));
	assert_non_null(strstr(text, " reference: none"));
	free(text);
}
