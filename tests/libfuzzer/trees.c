// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Device trees of dmactl dt: the input is a blob, or bytes that a tree is made of.
 * With any content, the checks and the map end, and each free part lies in a bank.
 */
#include "fuzzer.h"

#include "blob.h"
#include "check.h"
#include "cli.h"
#include "dt/map.h"
#include "trees_model.h"

const char cli_program[] = "fuzz_trees";

/* Copies to aligned memory of its own size, so that a read behind it is seen. */
static void *copy(const uint8_t *data, size_t size)
{
	void *blob = malloc(size ? size : 1);

	holds(blob);
	if (size)
		memcpy(blob, data, size);
	return blob;
}

static void check_map(const struct tree *tree)
{
	char bar[MAP_BAR_WIDTH + 1];
	struct node_map map;
	size_t i;

	memory_map_read(tree, &map);
	for (i = 0; i < map.count; i++) {
		const struct map_row *row = &map.rows[i];

		holds(!row->placed || row->extent.start <= row->extent.last);
		if (row->kind == MAP_FREE)
			holds(memory_holds(&map.memory, &row->extent));
		if (row->kind == MAP_BANK)
			map_bar(&map, row, bar);
	}
	map_drop(&map);
}

static void check_blob(const struct blob *blob)
{
	static const unsigned int bits[] = { 64, 30 };
	struct findings findings = { 0 };
	struct tree *tree = tree_read(blob->data);
	size_t i;

	if (!tree)
		return;
	for (i = 0; i < tree->count; i++) {
		char *path = tree_path(&tree->nodes[i]);

		/* Names need not be unique: the first one is found. */
		tree_at(tree, path);
		free(path);
	}
	for (i = 0; i < 2; i++) {
		check_tree(tree, bits[i], &findings);
		findings_drop(&findings);
	}
	check_map(tree);
	tree_drop(tree);
}

/* Sets @blob if the bytes are one. */
static bool load(const uint8_t *data, size_t size, struct blob *blob)
{
	char *why;

	blob->data = copy(data, size);
	blob->size = size;
	blob->source = text_format("input");
	why = blob_refuse(blob->data, blob->size);
	if (!why)
		return true;
	free(why);
	blob_drop(blob);
	return false;
}

static void check_raw(struct input *input)
{
	struct blob blob;

	if (!load(input->at, input->left, &blob))
		return;
	check_blob(&blob);
	blob_drop(&blob);
}

static void check_model(struct input *input)
{
	struct blob blob;
	size_t size;
	void *made = model_tree(input, &size);

	holds(load(made, size, &blob));
	free(made);
	check_blob(&blob);
	blob_drop(&blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .at = data, .left = size };

	if (input_below(&input, 4))
		check_model(&input);
	else
		check_raw(&input);
	return 0;
}
