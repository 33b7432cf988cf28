// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arrow_hostile: structures of a producer that breaks rules.  Each one is refused
 * with a sentence, stays the caller's, and is never read beyond its end.
 */
#include <dray/array.h>

#include "arrow.h"

/*
 * A structure of a list of two 16-bit numbers, and a column of bools, three rows
 * each, with one element in front everywhere.  Numbers are chosen freely.
 */
struct tree {
	struct ArrowSchema root, list, numbers, bools;
	struct ArrowSchema *root_types[2], *list_types[1];
	struct ArrowArray rows, pairs, items, flags;
	struct ArrowArray *row_children[2], *pair_children[1];
	const void *row_buffers[3], *pair_buffers[3], *item_buffers[3],
		*flag_buffers[3];
	int16_t values[16];
	uint8_t bits[2];
	int released;
};

static void release_schema(struct ArrowSchema *schema)
{
	schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
	if (array->private_data)
		++*(int *)array->private_data;
	array->release = NULL;
}

static void set_type(struct ArrowSchema *schema, const char *format,
		     struct ArrowSchema **children, int64_t count)
{
	*schema = (struct ArrowSchema){
		.format = format,
		.name = format,
		.n_children = count,
		.children = children,
		.release = release_schema,
	};
}

static void set_array(struct ArrowArray *array, const void **buffers,
		      int64_t count, struct ArrowArray **children,
		      int64_t length)
{
	*array = (struct ArrowArray){
		.length = length,
		.offset = 1,
		.n_buffers = count,
		.buffers = buffers,
		.n_children = 0,
		.children = children,
		.release = release_array,
	};
}

static void plant(struct tree *tree)
{
	*tree = (struct tree){ .bits = { 0x55, 0xaa } };
	for (int i = 0; i < 16; i++)
		tree->values[i] = (int16_t)i;
	tree->root_types[0] = &tree->list;
	tree->root_types[1] = &tree->bools;
	tree->list_types[0] = &tree->numbers;
	set_type(&tree->root, "+s", tree->root_types, 2);
	set_type(&tree->list, "+w:2", tree->list_types, 1);
	set_type(&tree->numbers, "s", NULL, 0);
	set_type(&tree->bools, "b", NULL, 0);
	tree->row_children[0] = &tree->pairs;
	tree->row_children[1] = &tree->flags;
	tree->pair_children[0] = &tree->items;
	tree->item_buffers[1] = tree->values;
	tree->flag_buffers[0] = tree->bits;
	tree->flag_buffers[1] = tree->bits;
	/* Three rows of the structure begin at row 1 of four. */
	set_array(&tree->rows, tree->row_buffers, 1, tree->row_children, 3);
	set_array(&tree->pairs, tree->pair_buffers, 1, tree->pair_children, 4);
	set_array(&tree->items, tree->item_buffers, 2, NULL, 10);
	set_array(&tree->flags, tree->flag_buffers, 2, NULL, 4);
	tree->rows.n_children = 2;
	tree->pairs.n_children = 1;
	tree->flags.null_count = -1;
	tree->rows.private_data = &tree->released;
}

static int import(struct tree *tree, struct dray_array **out,
		  struct dray_array **mask)
{
	return dray_arrow_import(&tree->root, &tree->rows, DRAY_ARROW_COPY, -1,
				 out, mask);
}

FACT(the_tree_as_planted_is_read_from_its_offsets)
{
	struct dray_array *out = NULL, *mask = NULL;
	struct tree tree;

	plant(&tree);
	assert_works(import(&tree, &out, &mask));
	assert_int_equal(tree.released, 1);
	/* Row 0: list 2 of the pairs, from item 1 + 4; flag 2. */
	assert_memory_equal(out->data,
			    "\5\0\6\0\1"
			    "\7\0\10\0\0"
			    "\11\0\12\0\1",
			    15);
	assert_memory_equal(mask->data,
			    "\0\0\0"
			    "\0\0\1"
			    "\0\0\0",
			    9);
	dray_array_unref(out);
	dray_array_unref(mask);
}

#define CASE(change, error, part)            \
	{                                    \
		change, #change, error, part \
	}
#define CHANGE(name, ...)                   \
	static void name(struct tree *tree) \
	{                                   \
		__VA_ARGS__;                \
	}                                   \
	struct tree

static struct dray_array *none;
static struct ArrowSchema *no_types[2];
static struct ArrowArray *no_children[2];

CHANGE(schema_released, tree->root.release = NULL);
CHANGE(array_released, tree->rows.release = NULL);
CHANGE(child_released, tree->pairs.release = NULL);
CHANGE(child_schema_released, tree->list.release = NULL);
CHANGE(grandchild_released, tree->items.release = NULL);
CHANGE(no_format, tree->numbers.format = NULL);
CHANGE(no_root_format, tree->root.format = NULL);
CHANGE(empty_format, tree->numbers.format = "");
CHANGE(long_format, tree->numbers.format = "sssssssssssssssssssssssssssssss");
CHANGE(text, tree->numbers.format = "u");
CHANGE(interval, tree->numbers.format = "tiD");
CHANGE(view_list, tree->list.format = "+vl");
CHANGE(signed_size, tree->list.format = "+w:+2");
CHANGE(no_size, tree->list.format = "+w:");
CHANGE(large_size, tree->list.format = "+w:2147483648");
CHANGE(huge_size, tree->list.format = "+w:99999999999999999999999");
CHANGE(longer_lists, tree->list.format = "+w:3");
CHANGE(size_overflow, tree->list.format = "+w:2147483647";
       tree->pairs.offset = INT64_C(1) << 60);
CHANGE(a_dictionary, tree->numbers.dictionary = &tree->numbers);
CHANGE(dictionary_array, tree->items.dictionary = &tree->items);
CHANGE(negative_length, tree->items.length = -1);
CHANGE(negative_offset, tree->items.offset = -1);
CHANGE(fewest_nulls, tree->items.null_count = INT64_MIN);
CHANGE(more_nulls_than_elements, tree->items.null_count = 11);
CHANGE(nulls_without_bits, tree->items.null_count = 1);
CHANGE(list_nulls_without_bits, tree->pairs.null_count = 1);
CHANGE(row_nulls_without_bits, tree->rows.null_count = 1);
CHANGE(offset_overflow, tree->items.offset = INT64_MAX - 3);
CHANGE(bytes_overflow, tree->items.offset = INT64_MAX / 2 - 3);
CHANGE(root_length_overflow, tree->rows.length = INT64_MAX);
CHANGE(short_child, tree->flags.length = 3);
CHANGE(short_grandchild, tree->items.length = 7);
CHANGE(no_buffers, tree->items.n_buffers = 0);
CHANGE(one_buffer, tree->items.n_buffers = 1);
CHANGE(three_buffers, tree->items.n_buffers = 3);
CHANGE(many_buffers, tree->items.n_buffers = INT64_MAX);
CHANGE(row_buffers, tree->rows.n_buffers = 2);
CHANGE(list_buffers, tree->pairs.n_buffers = 2);
CHANGE(buffers_null, tree->items.buffers = NULL);
CHANGE(data_null, tree->item_buffers[1] = NULL);
CHANGE(bits_null, tree->flag_buffers[1] = NULL);
CHANGE(missing_children, tree->rows.n_children = 1);
CHANGE(missing_types, tree->root.n_children = 1);
CHANGE(negative_children, tree->rows.n_children = tree->root.n_children = -1);
CHANGE(many_children, tree->rows.n_children = tree->root.n_children = 8193);
CHANGE(children_null, tree->rows.children = NULL);
CHANGE(types_null, tree->root.children = NULL);
CHANGE(child_null, tree->rows.children = no_children);
CHANGE(type_null, tree->root.children = no_types);
CHANGE(child_of_numbers, tree->numbers.n_children = 1);
CHANGE(two_lists, tree->list.n_children = tree->pairs.n_children = 2);
CHANGE(same_names, tree->list.name = tree->bools.name = "a");
CHANGE(bad_name, tree->list.name = "\xff\xfe");
CHANGE(itself, tree->list_types[0] = &tree->list;
       tree->pair_children[0] = &tree->pairs;
       tree->pairs.length = INT64_MAX - 1);

FACT(hostile_structures_are_refused)
{
	static const struct {
		void (*change)(struct tree *tree);
		const char *name;
		int error;
		const char *part;
	} cases[] = {
		CASE(schema_released, -EINVAL,
		     "the schema of Arrow was released"),
		CASE(array_released, -EINVAL,
		     "the array of Arrow was released"),
		CASE(child_released, -EINVAL, "child 0 of \"+s\" is missing"),
		CASE(child_schema_released, -EINVAL, "child 0 of \"+s\""),
		CASE(grandchild_released, -EINVAL, "child 0 of \"+w:2\""),
		CASE(no_format, -EINVAL, "lacks its format"),
		CASE(no_root_format, -EINVAL, "lacks its format"),
		CASE(empty_format, -EINVAL, "\"\" is not a format"),
		CASE(long_format, -EINVAL, "\"ssssssssssssssssssss\""),
		CASE(text, -EOPNOTSUPP, "\"u\" (text)"),
		CASE(interval, -EOPNOTSUPP, "\"tiD\" (interval)"),
		CASE(view_list, -EOPNOTSUPP, "\"+vl\" (list view)"),
		CASE(signed_size, -EINVAL, "no number"),
		CASE(no_size, -EINVAL, "lacks a number"),
		CASE(large_size, -EINVAL, "a size above 2147483647"),
		CASE(huge_size, -EINVAL, "a size above 2147483647"),
		CASE(longer_lists, -EINVAL, "ends after 10 elements"),
		CASE(size_overflow, -EOVERFLOW, "exceed 63 bits"),
		CASE(a_dictionary, -EOPNOTSUPP, "dictionary"),
		CASE(dictionary_array, -EOPNOTSUPP, "dictionary"),
		CASE(negative_length, -EINVAL, "a length of -1"),
		CASE(negative_offset, -EINVAL, "an offset of -1"),
		CASE(fewest_nulls, -EINVAL, "-9223372036854775808 nulls"),
		CASE(more_nulls_than_elements, -EINVAL, "11 nulls"),
		CASE(nulls_without_bits, -EINVAL, "no bits"),
		CASE(list_nulls_without_bits, -EINVAL, "no bits"),
		CASE(row_nulls_without_bits, -EINVAL, "no bits"),
		CASE(offset_overflow, -EOVERFLOW, "63 bits"),
		CASE(bytes_overflow, -EOVERFLOW, "address space"),
		CASE(root_length_overflow, -EOVERFLOW, "63 bits"),
		CASE(short_child, -EINVAL, "ends after 3 elements"),
		CASE(short_grandchild, -EINVAL, "ends after 7 elements"),
		CASE(no_buffers, -EINVAL, "0 buffers, not 2"),
		CASE(one_buffer, -EINVAL, "1 buffers, not 2"),
		CASE(three_buffers, -EINVAL, "3 buffers, not 2"),
		CASE(many_buffers, -EINVAL, "9223372036854775807 buffers"),
		CASE(row_buffers, -EINVAL, "2 buffers, not 1"),
		CASE(list_buffers, -EINVAL, "2 buffers, not 1"),
		CASE(buffers_null, -EINVAL, "lacks its buffers"),
		CASE(data_null, -EINVAL, "lacks its buffer"),
		CASE(bits_null, -EINVAL, "lacks its buffer"),
		CASE(missing_children, -EINVAL, "1 children, not 2"),
		CASE(missing_types, -EINVAL, "2 children, not 1"),
		CASE(negative_children, -EINVAL, "-1 children"),
		CASE(many_children, -EINVAL, "at most 8192"),
		CASE(children_null, -EINVAL, "lacks its children"),
		CASE(types_null, -EINVAL, "lacks its children"),
		CASE(child_null, -EINVAL, "missing"),
		CASE(type_null, -EINVAL, "missing"),
		CASE(child_of_numbers, -EINVAL, "1 types of children"),
		CASE(two_lists, -EINVAL, "2 types of children, not 1"),
		CASE(same_names, -EINVAL, "'a' occurs more than once"),
		CASE(bad_name, -EINVAL, "UTF-8"),
		CASE(itself, -EINVAL, "its parent needs"),
	};
	struct dray_array *mask = NULL;
	struct tree tree;
	bool live;
	int ret;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plant(&tree);
		cases[i].change(&tree);
		live = tree.rows.release != NULL;
		ret = import(&tree, &none, &mask);
		if (ret != cases[i].error ||
		    !strstr(dray_last_error(), cases[i].part))
			fail_msg("%s: %d, %s", cases[i].name, ret,
				 dray_last_error());
		/* It is still the caller's, and nothing was made. */
		assert_int_equal(tree.rows.release != NULL, live);
		assert_int_equal(tree.released, 0);
		assert_null(none);
		assert_null(mask);
	}
}

FACT(nulls_are_refused_unless_a_mask_is_wanted)
{
	struct dray_array *mask = NULL;
	struct tree tree;

	plant(&tree);
	assert_fails(import(&tree, &none, NULL), -EINVAL,
		     "1 of 3 elements are null");
	/* A number of 0 is believed: Arrow lets the bits be anything then. */
	tree.flags.null_count = 0;
	assert_works(import(&tree, &none, &mask));
	assert_null(mask);
	dray_array_unref(none);
	none = NULL;
}

/*
 * Imports lists of one element in lists, or structures in structures, with a number
 * at their end.  Each level has its next one @width times, by the same pointer.
 */
static int import_deep(int levels, const char *format, int width)
{
	struct ArrowSchema types[200] = { 0 }, *type_children[200][2];
	struct ArrowArray arrays[200] = { 0 }, *children[200][2];
	const void *buffers[2] = { NULL, &levels };
	struct dray_array *out = NULL;
	int ret;

	for (int i = 0; i <= levels; i++) {
		bool last = i == levels;

		type_children[i][0] = type_children[i][1] = &types[i + 1];
		children[i][0] = children[i][1] = &arrays[i + 1];
		set_type(&types[i], last ? "i" : format, type_children[i],
			 last ? 0 : width);
		types[i].name = NULL; /* they get f0, f1, ... */
		set_array(&arrays[i], buffers, last ? 2 : 1, children[i], 1);
		arrays[i].offset = 0;
		arrays[i].n_children = last ? 0 : width;
	}
	ret = dray_arrow_import(&types[0], &arrays[0], DRAY_ARROW_COPY, -1,
				&out, NULL);
	dray_array_unref(out);
	return ret;
}

FACT(levels_have_a_limit)
{
	assert_works(import_deep(DRAY_MAX_NDIM - 1, "+w:1", 1));
	assert_fails(import_deep(DRAY_MAX_NDIM, "+w:1", 1), -EINVAL, "64 axes");
	assert_fails(import_deep(150, "+w:1", 1), -EINVAL, "64 levels");
	assert_works(import_deep(DRAY_DTYPE_MAX_DEPTH, "+s", 1));
	assert_fails(import_deep(DRAY_DTYPE_MAX_DEPTH + 1, "+s", 1), -EINVAL,
		     "33 deep");
	assert_fails(import_deep(150, "+s", 1), -EINVAL, "64 levels");
	assert_fails(import_deep(60, "+s", 2), -EINVAL, "65536 children");
}

FACT(numbers_at_odd_addresses_are_not_aligned)
{
	struct dray_array *out = NULL;
	struct tree tree;

	plant(&tree);
	tree.item_buffers[1] = (char *)tree.values + 1;
	assert_works(dray_arrow_import(&tree.numbers, &tree.items, 0, -1, &out,
				       NULL));
	assert_false(out->flags & DRAY_ALIGNED);
	assert_ptr_equal(out->data, (char *)tree.values + 3);
	dray_array_unref(out);
}

FACT(a_buffer_may_be_missing_if_there_are_no_elements)
{
	struct dray_array *out = NULL;
	struct tree tree;

	plant(&tree);
	tree.items.length = 0;
	tree.items.offset = 0;
	tree.item_buffers[1] = NULL;
	assert_works(dray_arrow_import(&tree.numbers, &tree.items, 0, -1, &out,
				       NULL));
	assert_int_equal(dray_array_axes(out)->size, 0);
	dray_array_unref(out);
}

FACT(fields_are_refused_as_a_whole)
{
	struct dray_array *out[2] = { NULL }, *masks[2] = { NULL };
	struct tree tree;

	plant(&tree);
	/* The second fails after the first was made. */
	assert_fails(dray_arrow_import_fields(&tree.root, &tree.rows, 0, -1, 2,
					      out, masks),
		     -EAGAIN, "\"b\" are of another size");
	assert_null(out[0]);
	assert_non_null(tree.rows.release);
	assert_fails(dray_arrow_import_fields(&tree.numbers, &tree.items, 0, -1,
					      0, out, masks),
		     -EINVAL, "not a structure");
	assert_works(dray_arrow_import_fields(
		&tree.root, &tree.rows, DRAY_ARROW_COPY, -1, 2, out, masks));
	assert_ptr_equal(out[0]->data, &tree.values[5]);
	assert_null(masks[0]);
	assert_memory_equal(masks[1]->data, "\0\1\0", 3);
	assert_int_equal(tree.released, 0);
	dray_array_unref(out[0]);
	assert_int_equal(tree.released, 1);
	dray_array_unref(out[1]);
	dray_array_unref(masks[1]);
}

FACT(nulls_of_rows_are_nulls_of_all_fields)
{
	struct dray_array *out[2] = { NULL }, *masks[2] = { NULL };
	struct tree tree;

	plant(&tree);
	tree.row_buffers[0] = tree.bits; /* 1, 0, 1, 0, ... from bit 0 */
	tree.rows.null_count = 2;
	assert_works(dray_arrow_import_fields(
		&tree.root, &tree.rows, DRAY_ARROW_COPY, -1, 2, out, masks));
	assert_memory_equal(masks[0]->data, "\1\1\0\0\1\1", 6);
	assert_memory_equal(masks[1]->data, "\1\1\1", 3);
	for (int i = 0; i < 2; i++) {
		dray_array_unref(out[i]);
		dray_array_unref(masks[i]);
	}
}

/* A stream of as many arrays as @left says; the last call fails with @error. */
struct pieces {
	int left, error;
	bool silent;
	int released;
};

static struct pieces *pieces_of(struct ArrowArrayStream *stream)
{
	return stream->private_data;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	set_type(out, "s", NULL, 0);
	return pieces_of(stream)->error < 0 ? -pieces_of(stream)->error : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct pieces *pieces = pieces_of(stream);

	if (!pieces->left)
		return pieces->error > 0 ? pieces->error : 0;
	pieces->left--;
	set_array(out, NULL, 2, NULL, 1);
	out->private_data = &pieces->released;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	return pieces_of(stream)->silent ? NULL : "out of paper";
}

static void release_stream(struct ArrowArrayStream *stream)
{
	stream->release = NULL;
}

FACT(a_stream_has_one_array)
{
	static const struct {
		struct pieces pieces;
		int result;
		const char *part;
		int released;
	} cases[] = {
		{ { 1, 0, false, 0 }, 0, "", 0 },
		{ { 0, 0, false, 0 }, -ENODATA, "no array", 0 },
		{ { 2, 0, false, 0 }, -E2BIG, "more than one", 2 },
		{ { 9, 0, false, 0 }, -E2BIG, "more than one", 2 },
		{ { 0, ENOSPC, false, 0 }, -ENOSPC, "says: out of paper", 0 },
		{ { 1, ENOSPC, false, 0 }, -ENOSPC, "says: out of paper", 1 },
		{ { 0, EPIPE, true, 0 }, -EPIPE, "says: Broken pipe", 0 },
		{ { 0, 5000, true, 0 }, -EIO, "Input/output error", 0 },
		{ { 1, -ENOMEM, false, 0 }, -ENOMEM, "out of paper", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pieces pieces = cases[i].pieces;
		struct ArrowArrayStream stream = {
			get_schema,	get_next, get_last_error,
			release_stream, &pieces,
		};
		struct ArrowSchema schema = { 0 };
		struct ArrowArray array = { 0 };

		if (cases[i].result)
			assert_fails(dray_arrow_read_stream(&stream, &schema,
							    &array),
				     cases[i].result, cases[i].part);
		else
			assert_works(dray_arrow_read_stream(&stream, &schema,
							    &array));
		assert_int_equal(pieces.released, cases[i].released);
		assert_int_equal(!!array.release, !cases[i].result);
		assert_int_equal(!!schema.release, !cases[i].result);
	}
}

FACT(a_stream_that_is_incomplete_is_refused)
{
	struct ArrowArrayStream stream = { get_schema, get_next, NULL,
					   release_stream, NULL };
	struct ArrowSchema schema;
	struct ArrowArray array;

	assert_fails(dray_arrow_read_stream(&stream, &schema, &array), -EINVAL,
		     "lacks a function");
	stream.release = NULL;
	assert_fails(dray_arrow_read_stream(&stream, &schema, &array), -EINVAL,
		     "was released");
}
