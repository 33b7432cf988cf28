// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Device trees of dmactl dt: the input is a blob and an overlay, with the length of
 * the first in front; or bytes that two trees are made of.  With any content, the checks and the map end, each
 * free part lies in a bank, and merging gives a blob that can be read or leaves the
 * base as it was.
 */
#include "fuzzer.h"

#include "blob.h"
#include "check.h"
#include "cli.h"
#include "dt/map.h"
#include "merge.h"
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

static void check_merge(struct blob *base, const struct blob *overlay)
{
	struct blob before = { .data = copy(base->data, base->size),
			       .size = base->size };
	char *why = merge(base, overlay);

	if (why) {
		holds(base->size == before.size &&
		      !memcmp(base->data, before.data, before.size));
	} else {
		holds(!blob_refuse(base->data, base->size));
		check_blob(base);
	}
	free(why);
	blob_drop(&before);
}

static void check_raw(struct input *input)
{
	struct blob base = { 0 }, overlay = { 0 };
	size_t first = (size_t)input_number(input, 2);

	if (first > input->left)
		first = input->left;
	if (!load(input->at, first, &base))
		return;
	check_blob(&base);
	if (load(input->at + first, input->left - first, &overlay))
		check_merge(&base, &overlay);
	blob_drop(&overlay);
	blob_drop(&base);
}

static void check_model(struct input *input)
{
	struct blob blobs[2] = { 0 };
	size_t i;

	for (i = 0; i < 2; i++) {
		size_t size;
		void *made = model_tree(input, &size);

		holds(load(made, size, &blobs[i]));
		free(made);
	}
	check_blob(&blobs[0]);
	check_merge(&blobs[0], &blobs[1]);
	blob_drop(&blobs[0]);
	blob_drop(&blobs[1]);
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
