// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Arguments that an iterator refuses, each with its sentence. */
#include <dray/array.h>

#include "nditer.h"

#define RO DRAY_OPERAND_READ
#define WO DRAY_OPERAND_WRITE
#define RW (DRAY_OPERAND_READ | DRAY_OPERAND_WRITE)

static const struct dray_view *of[DRAY_MAX_OPERANDS + 1];
static struct dray_nditer *iter;

/* Makes an iterator over numbers of these forms; NULL stands for no view. */
static int try(const struct form *const *forms, int count,
	       const struct dray_nditer_options *options)
{
	static struct dray_view views[DRAY_MAX_OPERANDS];

	for (int o = 0; o < count; o++) {
		of[o] = NULL;
		if (!forms[o])
			continue;
		views[o] = view_of(forms[o]);
		of[o] = &views[o];
	}
	return dray_nditer_create(of, count, options, &iter);
}

static const struct form six = { 1, { 6 }, { 0 }, 0 };
static const struct form two_three = { 2, { 2, 3 }, { 0 }, 0 };
static const struct form three = { 1, { 3 }, { 0 }, 0 };
static const struct form two = { 1, { 2 }, { 0 }, 0 };
static const struct form one = { 0, { 0 }, { 0 }, 0 };
static const struct form tall = { 3, { 2, 1, 1 }, { 0 }, 0 };
static const struct form none = { 1, { 0 }, { 0 }, 0 };
static const struct form three_three = { 2, { 3, 3 }, { 0 }, 0 };

FACT(flags_that_exclude_each_other)
{
	static const struct {
		uint32_t flags;
		const char *sentence;
	} cases[] = {
		{ DRAY_NDITER_C_INDEX | DRAY_NDITER_F_INDEX,
		  "C_INDEX and F_INDEX cannot both be specified" },
		{ DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_MULTI_INDEX,
		  "EXTERNAL_LOOP cannot be used if an index or multi-index" },
		{ DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_C_INDEX,
		  "EXTERNAL_LOOP cannot be used if an index or multi-index" },
		{ DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_F_INDEX,
		  "EXTERNAL_LOOP cannot be used if an index or multi-index" },
		{ DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_RANGED,
		  "RANGED cannot be used with the flag EXTERNAL_LOOP unless" },
		{ 1u << 14, "unknown flags 0x4000 of an iterator" },
	};
	const struct form *forms[] = { &six };

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_fails(try(forms, 1,
				 &(struct dray_nditer_options){
					 .flags = cases[i].flags }),
			     -EINVAL, cases[i].sentence);
	assert_fails(try(forms, 1,
			 &(struct dray_nditer_options){ .order = 'G' }),
		     -EINVAL, "order 0x47 is none of");
	assert_fails(try(forms, 1,
			 &(struct dray_nditer_options){ .casting = 5 }),
		     -EINVAL, "casting rule 5 does not exist");
	assert_fails(try(forms, 1,
			 &(struct dray_nditer_options){ .buffer_size = -1 }),
		     -EINVAL, "a buffer of -1 elements");
}

FACT(operands_that_do_not_fit_their_flags)
{
	static const struct {
		const struct form *form;
		uint32_t operand, flags;
		int error;
		const char *sentence;
	} cases[] = {
		{ &six, 0, 0, -EINVAL,
		  "None of the iterator flags READ and WRITE" },
		{ &six, RO | 1u << 12, 0, -EINVAL,
		  "operand 0: unknown flags 0x1000" },
		{ &six, RW | DRAY_OPERAND_COPY, 0, -EINVAL,
		  "must use the flag COPY_BACK instead of COPY" },
		{ &six, RO | DRAY_OPERAND_WRITE_MASKED, 0, -EINVAL,
		  "WRITE_MASKED may only be used with WRITE" },
		{ &six, RW | DRAY_OPERAND_WRITE_MASKED | DRAY_OPERAND_MASK, 0,
		  -EINVAL, "WRITE_MASKED may not be used together with MASK" },
		{ &six, RW | DRAY_OPERAND_WRITE_MASKED, 0, -EINVAL,
		  "no MASK operand was given" },
		{ &six, RO | DRAY_OPERAND_MASK, 0, -EINVAL,
		  "no WRITE_MASKED operands were given" },
		{ NULL, RO, 0, -EINVAL,
		  "was NULL, but the ALLOCATE flag was not specified" },
		{ NULL, RO | DRAY_OPERAND_ALLOCATE, 0, -EINVAL,
		  "but it wasn't flagged for writing" },
		{ NULL, RW | DRAY_OPERAND_ALLOCATE, DRAY_NDITER_BUFFERED,
		  -EINVAL, "buffering without delayed allocation" },
		{ NULL, WO | DRAY_OPERAND_ALLOCATE, 0, -EINVAL,
		  "required to find the type of an allocated operand" },
		{ &none, RO, 0, -EINVAL,
		  "zero-sized operands is not enabled, and operand 0 is without elements" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_fails(try(&cases[i].form, 1,
				 &(struct dray_nditer_options){
					 .flags = cases[i].flags,
					 .operand_flags = &cases[i].operand }),
			     cases[i].error, cases[i].sentence);
}

FACT(shapes_that_do_not_fit)
{
	static const struct {
		const struct form *forms[3];
		int count;
		uint32_t flags[3];
		const char *sentence;
	} cases[] = {
		{ { &two, &three },
		  2,
		  { RO, RO },
		  "operands could not be broadcast together with shapes (2,) (3,)" },
		{ { &two_three, &two },
		  2,
		  { RO, RO },
		  "together with shapes (2,3) (2,)" },
		{ { &two_three, &three_three },
		  2,
		  { RO, RO },
		  "together with shapes (2,3) (3,3)" },
		{ { &two_three, &one },
		  2,
		  { RO, RO | DRAY_OPERAND_NO_BROADCAST },
		  "non-broadcastable operand 1 with shape () doesn't match the broadcast shape (2,3)" },
		{ { &tall, &two },
		  2,
		  { WO | DRAY_OPERAND_NO_BROADCAST, RO },
		  "non-broadcastable output operand 0 with shape (2,1,1) doesn't match the broadcast shape (2,1,2)" },
		{ { &two_three, &three },
		  2,
		  { RO, RW },
		  "output operand 1 requires a reduction along dimension 0, but the reduction is not enabled" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_fails(try(cases[i].forms, cases[i].count,
				 &(struct dray_nditer_options){
					 .operand_flags = cases[i].flags }),
			     -EINVAL, cases[i].sentence);
	assert_fails(try((const struct form *[]){ &two_three, &three }, 2,
			 &(struct dray_nditer_options){
				 .flags = DRAY_NDITER_REDUCE_OK,
				 .operand_flags = (uint32_t[]){ RO, WO } }),
		     -EINVAL, "is flagged as write-only, not read-write");
	assert_fails(
		try((const struct form *[]){ &two_three, &two_three, &three },
		    3,
		    &(struct dray_nditer_options){
			    .flags = DRAY_NDITER_REDUCE_OK,
			    .operand_flags =
				    (uint32_t[]){
					    RO, WO | DRAY_OPERAND_WRITE_MASKED,
					    RW | DRAY_OPERAND_MASK } }),
		-EINVAL, "flagged as the MASK operand");
}

FACT(maps_that_do_not_fit)
{
	static const int own[] = { 0, 1, -1 }, far[] = { 2, 1, -1 },
			 twice[] = { 0, 0, -1 }, beyond[] = { 64, 0, -1 },
			 gap[] = { 0, 2, -1 }, deep[] = { 0, 1, 3 },
			 reduced[] = { 0, DRAY_REDUCTION_AXIS(1), -1 },
			 first[] = { 0, -1, -1 };
	static const struct {
		const struct form *second;
		int ndim;
		const int *map[2];
		int64_t shape[3];
		const char *sentence;
	} cases[] = {
		{ &two_three,
		  65,
		  { own, own },
		  { -1 },
		  "have 65 axes, 0 to 64 are possible" },
		{ &two_three,
		  3,
		  { far, own },
		  { -1, -1, -1 },
		  "operand_axes[0][0] (==2) is not a valid axis of operand 0, which has 2 dimensions" },
		{ &two_three,
		  3,
		  { own, twice },
		  { -1, -1, -1 },
		  "operand 1 contained duplicate value 0" },
		{ &two_three,
		  3,
		  { own, beyond },
		  { -1, -1, -1 },
		  "operand 1 contained invalid value 64" },
		{ NULL,
		  3,
		  { own, gap },
		  { -1, -1, -1 },
		  "missing an entry for dimension 1" },
		{ NULL,
		  3,
		  { own, deep },
		  { -1, -1, -1 },
		  "cannot include dimension 3 which is too large for the iterator dimension of 3" },
		{ &two_three,
		  1,
		  { NULL, NULL },
		  { -1 },
		  "operand 0 is of 2 dimensions, more than the 1 allowed" },
		{ &two_three,
		  3,
		  { own, own },
		  { -1, 1, 4 },
		  "remapped shapes [original->remapped]: (2,3)->(2,3,newaxis) (2,3)->(2,3,newaxis) and requested shape (1,4)" },
		{ &two,
		  3,
		  { own, first },
		  { 4, 3, -1 },
		  "(2,)->(2,newaxis,newaxis) and requested shape (4,3,newaxis)" },
		{ &two_three,
		  3,
		  { own, reduced },
		  { -1, -1, -1 },
		  "reduction along axis 1, but the length of the axis is 3" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_fails(
			try((const struct form *[]){ &two_three,
						     cases[i].second },
			    2,
			    &(struct dray_nditer_options){
				    .ndim = (int16_t)cases[i].ndim,
				    .operand_axes = cases[i].map,
				    .shape = cases[i].shape,
				    .operand_flags =
					    (uint32_t[]){
						    RO,
						    cases[i].second
							    ? RO
							    : WO | DRAY_OPERAND_ALLOCATE } }),
			-EINVAL, cases[i].sentence);
}

FACT(conversions_that_were_not_allowed)
{
	static const struct {
		dray_dtype dtype;
		uint8_t casting;
		uint32_t operand;
		const char *sentence;
	} cases[] = {
		{ DRAY_FLOAT32, DRAY_CASTING_SAFE, RO,
		  "operand 0 could not be cast from <i4 to <f4 according to the rule 'safe'" },
		{ DRAY_FLOAT64, DRAY_CASTING_SAFE, RW,
		  "operand 0 could not be cast from <f8 to <i4 according to the rule 'safe'" },
		{ DRAY_FLOAT64, DRAY_CASTING_SAFE, RO,
		  "required copying or buffering, but neither" },
		{ DRAY_INT32, DRAY_CASTING_NO, RO | DRAY_OPERAND_CONTIGUOUS,
		  "required buffering, to be contiguous as requested" },
	};
	static const struct form spread = { 1, { 3 }, { 2 }, 0 };

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_fails(try((const struct form *[]){ &spread }, 1,
				 &(struct dray_nditer_options){
					 .dtypes = &cases[i].dtype,
					 .casting = cases[i].casting,
					 .operand_flags = &cases[i].operand }),
			     -EINVAL, cases[i].sentence);
}

FACT(views_that_are_bad)
{
	struct dray_view view = view_of(&two_three);
	const uint32_t write = WO;

	for (int o = 0; o <= DRAY_MAX_OPERANDS; o++)
		of[o] = &view;
	assert_fails(dray_nditer_create(of, 9, NULL, &iter), -EINVAL,
		     "9 operands were given, 1 to 8 are possible");
	assert_fails(dray_nditer_create(of, 0, NULL, &iter), -EINVAL,
		     "0 operands were given");
	view.flags = DRAY_READ;
	assert_fails(dray_nditer_create(of, 1,
					&(struct dray_nditer_options){
						.operand_flags = &write },
					&iter),
		     -EPERM,
		     "operand 0 with iterator write flag set is read-only");
	view.shape[1] = -1;
	assert_fails(dray_nditer_create(of, 1, NULL, &iter), -EINVAL,
		     "axis 1 of operand 0 has -1 elements");
	view.ndim = 65;
	assert_fails(dray_nditer_create(of, 1, NULL, &iter), -EINVAL,
		     "operand 0 has 65 axes, 0 to 64 are possible");
}

FACT(a_copy_of_an_axis_without_elements_that_is_left_out)
{
	const struct form *const forms[] = { &none };
	static const dray_dtype dtypes[] = { DRAY_FLOAT64 };
	static const uint32_t copied[] = { RO | DRAY_OPERAND_COPY };
	static const int nowhere[1];
	struct dray_nditer_options options = {
		.flags = DRAY_NDITER_ZEROSIZE_OK | DRAY_NDITER_BUFFERED,
		.casting = DRAY_CASTING_UNSAFE,
		.operand_axes = (const int *const[]){ nowhere },
		.dtypes = dtypes,
	};

	assert_fails(try(forms, 1, &options), -EINVAL,
		     "operand 0 has no elements to copy: its axis 0");
	options.flags = DRAY_NDITER_ZEROSIZE_OK;
	options.operand_flags = copied;
	assert_fails(try(forms, 1, &options), -EINVAL,
		     "operand 0 has no elements to copy: its axis 0");
	options.operand_flags = NULL;
	/* Without a buffer nothing is read. */
	options.dtypes = NULL;
	assert_works(try(forms, 1, &options));
	assert_works(dray_nditer_destroy(iter));
}

FACT(more_elements_than_can_be_counted)
{
	struct dray_view row = { .dtype = DRAY_UINT8,
				 .data = numbers,
				 .ndim = 2,
				 .shape = { 1, INT64_C(1) << 40 } };
	struct dray_view column = { .dtype = DRAY_UINT8,
				    .data = numbers,
				    .ndim = 2,
				    .shape = { INT64_C(1) << 40, 1 } };
	int64_t at[2] = { 0 };

	of[0] = &row;
	of[1] = &column;
	assert_fails(dray_nditer_create(of, 2, NULL, &iter), -EOVERFLOW,
		     "iterator is too large");
	/* Coordinates allow to remove an axis, and nothing before that. */
	assert_works(dray_nditer_create(
		of, 2,
		&(struct dray_nditer_options){
			.flags = DRAY_NDITER_MULTI_INDEX | DRAY_NDITER_RANGED },
		&iter));
	assert_int_equal(dray_nditer_size(iter), -1);
	assert_fails(dray_nditer_go(iter, at), -EOVERFLOW, "too large");
	assert_fails(dray_nditer_go_position(iter, 0), -EOVERFLOW, "too large");
	assert_fails(dray_nditer_reset_range(iter, 0, 1), -EOVERFLOW,
		     "too large");
	assert_fails(dray_nditer_remove_multi_index(iter), -EOVERFLOW,
		     "too large");
	assert_false(dray_nditer_next(iter));
	assert_int_equal(dray_nditer_error(iter), -EOVERFLOW);
	assert_works(dray_nditer_remove_axis(iter, 0));
	assert_int_equal(dray_nditer_size(iter), INT64_C(1) << 40);
	assert_true(dray_nditer_next(iter));
	assert_works(dray_nditer_destroy(iter));
}
