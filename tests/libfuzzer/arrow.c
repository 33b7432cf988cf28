// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrow's structures, made by a stranger: an import fails and leaves all as it was,
 * or its arrays have the elements and nulls that the structures tell, and release
 * them once.  If numbers are boundless, arrays lie where arithmetic of 128 bits
 * says, and nothing is read.  A stream gives one array or an error, and keeps none.
 */
#include "arrow_model.h"

/* The most fields that are asked for. */
#define FIELDS 4

/* Checks where the elements of an array are that is no copy. */
static void check_boundless(const struct ArrowSchema *schema,
			    const struct ArrowArray *array, wide first,
			    int64_t count, const struct dray_view *view)
{
	struct layout layout = { .unit = 1 };
	struct lists lists;
	wide size;

	lists_follow(schema, array, first, count, &lists);
	size = format_size(lists.schema->format);
	layout = (struct layout){ lists.ndim, lists.shape, NULL, size, size };
	layout_check(&layout,
		     (wide)(uintptr_t)lists.array->buffers[1] +
			     lists.first * size,
		     view);
}

static void check_flags(const struct dray_array *array, uint32_t flags)
{
	holds(array->flags & DRAY_READ);
	holds(flags & DRAY_ARROW_COPY || !(array->flags & DRAY_WRITE));
}

/* If all arrays are copies, reads them before the tree is shown again. */
static void show_released(const struct tree *tree,
			  struct dray_array *const *arrays, int count)
{
	struct dray_view view;
	int i;

	for (i = 0; arrays_released && !tree->boundless && i < count; i++)
		dray_array_unref(packed(dray_array_view(arrays[i], &view)));
	tree_show();
}

/* Imports a whole tree as one array; says whether it was moved. */
static bool import_whole(struct input *input, struct tree *tree, uint32_t flags)
{
	struct ArrowArray before = tree->array;
	struct dray_array *array = NULL, *mask = NULL;
	struct place place = { &tree->schema, &before, 0, before.length };
	bool masks = !tree->boundless && input_below(input, 4);
	struct dray_view view, marks;
	int ret = dray_arrow_import(&tree->schema, &tree->array, flags, -1,
				    &array, masks ? &mask : NULL);

	holds(ret <= 0);
	holds(!!ret == !array);
	holds(!ret || !memcmp(&before, &tree->array, sizeof(before)));
	if (ret)
		return false;
	holds(!tree->array.release);
	check_flags(array, flags);
	dray_array_view(array, &view);
	show_released(tree, &array, 1);
	if (tree->boundless)
		check_boundless(&tree->schema, &before, 0, before.length,
				&view);
	else
		check_place(&place, NULL, &view, dray_array_view(mask, &marks));
	dray_array_unref(mask);
	dray_array_unref(array);
	return true;
}

/* Imports the children of a tree. */
static bool import_fields(struct input *input, struct tree *tree,
			  uint32_t flags)
{
	struct ArrowArray before = tree->array;
	struct dray_array *arrays[FIELDS] = { 0 }, *masks[FIELDS] = { 0 };
	struct place place = { &tree->schema, &before, 0, before.length };
	bool asks = !tree->boundless && input_below(input, 4);
	size_t count = input_below(input, 8) && tree->schema.n_children >= 0
			       ? (size_t)tree->schema.n_children
			       : (size_t)input_below(input, FIELDS);
	struct dray_view view, marks;
	int ret, i;

	if (count > FIELDS)
		return false;
	ret = dray_arrow_import_fields(&tree->schema, &tree->array, flags, -1,
				       count, arrays, asks ? masks : NULL);
	holds(ret <= 0);
	holds(!ret || !memcmp(&before, &tree->array, sizeof(before)));
	if (!ret)
		show_released(tree, arrays, (int)count);
	for (i = 0; i < (int)count; i++) {
		holds(!ret == !!arrays[i]);
		if (ret)
			continue;
		check_flags(arrays[i], flags);
		dray_array_view(arrays[i], &view);
		if (tree->boundless)
			check_boundless(tree->schema.children[i],
					before.children[i], before.offset,
					before.length, &view);
		else
			check_child(&place, i, &view,
				    dray_array_view(masks[i], &marks));
	}
	/* The array of the last is looked at after the others are gone. */
	for (i = 0; i < (int)count; i++) {
		dray_array_unref(masks[i]);
		dray_array_unref(arrays[i]);
	}
	return !ret;
}

static void import(struct input *input)
{
	bool boundless = !input_below(input, 3), moved;
	uint32_t flags = boundless ? 0 : (uint32_t)input_below(input, 4) / 2;
	struct tree tree;

	if (input_below(input, 64) == 63)
		flags |= (uint32_t)input_number(input, 4) & ~DRAY_ARROW_COPY;
	arrays_released = 0;
	tree_make(input, boundless, &tree);
	moved = input_below(input, 2) ? import_whole(input, &tree, flags)
				      : import_fields(input, &tree, flags);
	holds(arrays_released == moved);
	tree_end();
}

/* Arrays and schemas of a stream that are not released yet. */
static int stream_holds;

/* The bytes of a stream's answers. */
static struct input *answers;

static void drop_array(struct ArrowArray *array)
{
	stream_holds--;
	array->release = NULL;
}

static void drop_schema(struct ArrowSchema *schema)
{
	stream_holds--;
	schema->release = NULL;
}

/* Reads an error, if any: errnos, and numbers that are none. */
static int stream_error(void)
{
	return input_below(answers, 4) ? 0 : (int)input_number(answers, 4);
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	int error = stream_error();

	holds(stream->release);
	if (error || !input_below(answers, 8))
		return error;
	*out = (struct ArrowSchema){ .format = "c", .release = drop_schema };
	stream_holds++;
	return 0;
}

static int give_array(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	int error = stream_error();

	holds(stream->release);
	if (error || input_below(answers, 2))
		return error;
	*out = (struct ArrowArray){ .release = drop_array };
	stream_holds++;
	return 0;
}

static const char *give_sentence(struct ArrowArrayStream *stream)
{
	static const char *const sentences[] = { NULL, "", "%s%n", "\xff\xfe" };

	holds(stream->release);
	return sentences[input_below(answers, 4)];
}

static void end_stream(struct ArrowArrayStream *stream)
{
	holds(!stream); /* It is borrowed. */
}

/* Reads a stream: one array and its schema, or an error and neither. */
static void read_stream(struct input *input)
{
	struct ArrowArrayStream stream = {
		input_below(input, 16) ? give_schema : NULL,
		input_below(input, 16) ? give_array : NULL,
		input_below(input, 16) ? give_sentence : NULL,
		input_below(input, 16) ? end_stream : NULL,
		NULL,
	};
	struct ArrowSchema schema = { 0 };
	struct ArrowArray array = { 0 };
	int ret;

	answers = input;
	stream_holds = 0;
	ret = dray_arrow_read_stream(&stream, &schema, &array);
	holds(ret <= 0);
	if (!ret) {
		holds(array.release);
		array.release(&array);
		if (schema.release)
			schema.release(&schema);
	}
	holds(!stream_holds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (!memory)
		views_start();
	switch (input_below(&input, 16)) {
	case 0:
		read_stream(&input);
		break;
	case 1:
	case 2:
	case 3:
		arrow_round_trip(&input);
		break;
	default:
		import(&input);
	}
	return 0;
}
