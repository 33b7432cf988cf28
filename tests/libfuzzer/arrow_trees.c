// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Makes trees of Arrow's structures; see arrow_trees.h. */
#include <malloc.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include "arrow_trees.h"

/* The most elements that a sound number leads to. */
#define MAX_ELEMENTS 512

int arrays_released;

/* Formats of elements, and the bytes of one; 0 for bits, and for none. */
static const struct {
	const char *format;
	unsigned int size;
} formats[] = {
	{ "b", 0 },	  { "c", 1 },	{ "S", 2 },   { "i", 4 },
	{ "l", 8 },	  { "e", 2 },	{ "f", 4 },   { "g", 8 },
	{ "w:3", 3 },	  { "w:0", 0 }, { "tdD", 4 }, { "tsn:", 8 },
	{ "tss:UTC", 8 }, { "tts", 4 }, { "tDu", 8 }, { "w:16", 16 },
	{ "C", 1 },	  { "s", 2 },	{ "I", 4 },   { "L", 8 },
	{ "ttm", 4 },
};

#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

/* All memory of a tree's schemas, and of its arrays. */
static struct pieces {
	void *at[1024];
	int count;
} of_schemas, of_arrays;

static void *allocate(struct pieces *pieces, int64_t size)
{
	void *piece = calloc(1, size > 0 ? (size_t)size : 1);

	holds(piece && pieces->count < 1024);
	pieces->at[pieces->count++] = piece;
	return piece;
}

static void free_pieces(struct pieces *pieces)
{
	while (pieces->count)
		free(pieces->at[--pieces->count]);
}

/* A producer would free its memory: a read of it is a fault from here on. */
static void release_array(struct ArrowArray *array)
{
	int i;

	for (i = 0; i < of_arrays.count; i++)
		__asan_poison_memory_region(
			of_arrays.at[i], malloc_usable_size(of_arrays.at[i]));
	arrays_released++;
	array->release = NULL;
}

void tree_show(void)
{
	int i;

	for (i = 0; i < of_arrays.count; i++)
		__asan_unpoison_memory_region(
			of_arrays.at[i], malloc_usable_size(of_arrays.at[i]));
}

void tree_end(void)
{
	tree_show();
	free_pieces(&of_arrays);
	free_pieces(&of_schemas);
}

/* Only the root is moved, and a schema is borrowed. */
static void release_child(struct ArrowArray *array)
{
	holds(!array);
}

static void release_schema(struct ArrowSchema *schema)
{
	holds(!schema);
}

static bool lies(struct input *input)
{
	return input_below(input, 48) == 47;
}

/* Reads a number, or leaves @sound. */
static int64_t read_number(struct input *input, const struct tree *tree,
			   int64_t sound)
{
	if (tree->boundless)
		return input_below(input, 8) ? sound : stranger_odd(input);
	return lies(input) ? sound + input_around(input, 4) : sound;
}

/* Makes the text of a format; any bytes, if it is a lie. */
static char *make_format(struct input *input, const char *sound)
{
	size_t size = strlen(sound), i;
	char *text = allocate(&of_schemas, (int64_t)size + 4);

	memcpy(text, sound, size);
	if (lies(input)) {
		for (i = size ? size - 1 : 0; i < size + 3; i++)
			text[i] = (char)input_number(input, 1);
		text[i] = 0;
	}
	return text;
}

unsigned int format_size(const char *format)
{
	unsigned int size;
	int i;

	if (sscanf(format, "w:%u", &size) == 1)
		return size;
	for (i = 0; i < FORMATS; i++)
		if (!strncmp(format, formats[i].format,
			     formats[i].format[0] == 't' ? 3 : 2))
			return formats[i].size;
	return 8;
}

/* Memory that nothing may touch. */
static void *nowhere(void)
{
	static void *bytes;

	if (!bytes)
		bytes = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	holds(bytes != MAP_FAILED);
	return bytes;
}

static uint8_t *make_bytes(struct input *input, int64_t size)
{
	uint8_t *bytes = allocate(&of_arrays, size),
		mixed = (uint8_t)input_number(input, 1);
	int64_t i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(mixed + i * 37 + (i >> 3) * mixed);
	return bytes;
}

/* Makes the buffers of a node, as many as it tells, with the sizes it tells. */
static void make_buffers(struct input *input, const struct tree *tree,
			 const char *format, bool leaf,
			 struct ArrowArray *array)
{
	int64_t sound = leaf ? 2 : 1, elements = 0, count;
	const void **buffers;

	array->n_buffers = read_number(input, tree, sound);
	count = array->n_buffers < sound ? array->n_buffers : sound;
	count = count < 0 ? 0 : count;
	buffers = allocate(&of_arrays, count * (int64_t)sizeof(*buffers));
	array->buffers = lies(input) ? NULL : buffers;
	if (!tree->boundless && array->offset + array->length > 0)
		elements = array->offset + array->length;
	if (count > 0 && !tree->boundless && input_below(input, 2))
		buffers[0] = make_bytes(input, (elements + 7) / 8);
	if (count < 2 || lies(input))
		return;
	if (tree->boundless)
		buffers[1] = nowhere();
	else if (*format == 'b')
		buffers[1] = make_bytes(input, (elements + 7) / 8);
	else
		buffers[1] = make_bytes(input, elements * format_size(format));
}

static void make_node(struct input *input, struct tree *tree, int64_t needed,
		      const char *name, struct ArrowSchema *schema,
		      struct ArrowArray *array);

/* Makes pointers to @count nodes of @size bytes, as many as are told. */
static void *make_pointers(struct input *input, struct pieces *pieces,
			   char *nodes, int count, size_t size, int64_t told)
{
	int64_t room = told < 0 ? 0 : told > count + 4 ? count + 4 : told;
	void **pointers = allocate(pieces, room * (int64_t)sizeof(*pointers));
	int i;

	for (i = 0; i < count && i < room; i++)
		pointers[i] = lies(input) ? NULL : nodes + (size_t)i * size;
	return lies(input) ? NULL : pointers;
}

static void make_children(struct input *input, struct tree *tree, int count,
			  int64_t needed, struct ArrowSchema *schema,
			  struct ArrowArray *array)
{
	static const char *const names[] = { "f0", "f1", "f2" };
	struct ArrowSchema *schemas =
		allocate(&of_schemas, count * (int64_t)sizeof(*schemas));
	struct ArrowArray *arrays =
		allocate(&of_arrays, count * (int64_t)sizeof(*arrays));
	const char *name;
	int i;

	for (i = 0; i < count; i++) {
		name = lies(input) ? NULL : names[lies(input) ? 0 : i];
		make_node(input, tree, needed, name, &schemas[i], &arrays[i]);
	}
	schema->n_children = read_number(input, tree, count);
	array->n_children = read_number(input, tree, count);
	schema->children =
		make_pointers(input, &of_schemas, (char *)schemas, count,
			      sizeof(*schemas), schema->n_children);
	array->children =
		make_pointers(input, &of_arrays, (char *)arrays, count,
			      sizeof(*arrays), array->n_children);
}

/* Makes a node of which the parent needs @needed elements. */
static void make_node(struct input *input, struct tree *tree, int64_t needed,
		      const char *name, struct ArrowSchema *schema,
		      struct ArrowArray *array)
{
	int kind = tree->deep ? 1 : input_below(input, 4), children = 0;
	int64_t factor = 1, below = 0;
	char list[8], *format;

	schema->name = name;
	schema->release = lies(input) ? NULL : release_schema;
	array->release = lies(input) ? NULL : release_child;
	array->length = read_number(input, tree, needed);
	array->offset = input_below(input, 3);
	if (tree->boundless)
		array->offset = read_number(input, tree, array->offset);
	array->null_count = read_number(input, tree, input_around(input, 1));
	if (kind < 2 && tree->nodes-- > 0)
		children = kind ? 1 : 1 + input_below(input, 3);
	if (children && kind) {
		factor = tree->deep ? 1 : input_below(input, 4);
		snprintf(list, sizeof(list), "+w:%d", (int)factor);
		format = make_format(input, list);
	} else if (children) {
		format = make_format(input, "+s");
	} else {
		format = make_format(
			input, formats[input_below(input, FORMATS)].format);
	}
	schema->format = lies(input) ? NULL : format;
	make_buffers(input, tree, format, !children, array);
	if (__builtin_add_overflow(array->offset, array->length, &below) ||
	    __builtin_mul_overflow(below, factor, &below) ||
	    (!tree->boundless && (below < 0 || below > MAX_ELEMENTS)))
		below = 0;
	make_children(input, tree, children, below, schema, array);
	if (lies(input))
		array->dictionary = array;
}

void tree_make(struct input *input, bool boundless, struct tree *tree)
{
	int64_t length =
		boundless ? stranger_number(input, 64) : input_below(input, 24);

	memset(tree, 0, sizeof(*tree));
	tree->boundless = boundless;
	tree->deep = !input_below(input, 24);
	tree->nodes = tree->deep ? 60 + input_below(input, 10) : 12;
	make_node(input, tree, length, "", &tree->schema, &tree->array);
	if (tree->array.release)
		tree->array.release = release_array;
}

void lists_follow(const struct ArrowSchema *schema,
		  const struct ArrowArray *array, wide first, int64_t count,
		  struct lists *lists)
{
	int64_t size;

	holds(!schema->dictionary && !array->dictionary);
	lists->ndim = 1;
	lists->shape[0] = count;
	first += array->offset;
	while (!strncmp(schema->format, "+w:", 3)) {
		size = strtoll(schema->format + 3, NULL, 10);
		holds(lists->ndim < DRAY_MAX_NDIM);
		lists->shape[lists->ndim++] = size;
		schema = schema->children[0];
		array = array->children[0];
		holds(!schema->dictionary && !array->dictionary);
		first = first * size + array->offset;
	}
	lists->schema = schema;
	lists->array = array;
	lists->first = first;
}
