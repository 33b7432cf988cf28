// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl dt generate: writes an overlay that gives memory and engines to a node of
 * dray.  If the tree of the board is known, the overlay is merged and checked
 * before it is written.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "base/document.h"
#include "findings_print.h"
#include "merge.h"
#include "plan.h"
#include "base/quantity.h"

static const struct command_option board_option = {
	.name = "board",
	.value = "BOARD",
	.offers = "zynq|zynqmp|versal|rpi4|rpi5|generic|file",
	.text = "zynq, zynqmp, versal, rpi4, rpi5, generic, or the\n"
		"tree of the board, FILE.dtb",
};

static const struct command_option size_option = {
	.name = "size",
	.value = "SIZE",
	.text = "bytes of the region, as 256M",
};

static const struct command_option heap_option = {
	.name = "heap",
	.value = "KIND",
	.offers = "reserved|cma|carveout",
	.text = "reserved (default), cma or carveout",
};

static const struct command_option at_option = {
	.name = "at",
	.value = "ADDRESS",
	.text = "the region's address; otherwise free memory",
};

static const struct command_option dma_option = {
	.name = "dma",
	.value = "NAME=PROVIDER,CELL...",
	.text = "a channel, as mem0=zdma0,0; PROVIDER is a label or\n"
		"a path.  May be given several times",
};

static const struct command_option iommu_option = {
	.name = "iommu",
	.value = "PROVIDER,CELL...",
	.text = "an IOMMU in front of the node",
};

static const struct command_option coherent_option = {
	.name = "coherent",
	.text = "the node's engines snoop the caches",
};

static const struct command_option output_option = {
	.name = "output",
	.letter = 'o',
	.value = "FILE",
	.offers = "file",
	.text = "write a blob, or a source if FILE ends in .dts or\n"
		".dtso or is '-'",
};

static bool generate_ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

static bool parse_address(const char *text, uint64_t *address)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	const char *rest =
		parse_number(text + (hex ? 2 : 0), hex ? 16 : 10, address);

	if (!rest || *rest) {
		complain("--at: '%s' is not an address, as 0x60000000", text);
		return false;
	}
	if (*address % PAGE_4K) {
		complain("--at: %s is not a multiple of a page, 0x1000", text);
		return false;
	}
	return true;
}

static bool parse_providers(const struct request *request,
			    const struct command_option *option,
			    struct providers *providers, bool named)
{
	const char *text;
	size_t i;

	for (i = 0; (text = option_value_at(request, option, i)); i++)
		if (!provider_add(providers, text, named))
			return false;
	return true;
}

static bool parse_heap(const struct request *request, struct plan *plan)
{
	const char *heap = option_value(request, &heap_option);
	char size[QUANTITY_ROOM];
	uint64_t unit = PAGE_4K;

	plan->heap = heap ? heap : "reserved";
	if (strcmp(plan->heap, "reserved") != 0 &&
	    strcmp(plan->heap, "cma") != 0 &&
	    strcmp(plan->heap, "carveout") != 0) {
		complain("--heap: '%s' is not reserved, cma or carveout", heap);
		return false;
	}
	if (!plan->size) {
		complain("--size is 0: a page is the least");
		return false;
	}
	plan->alignment = plan->size < CMA_UNIT ? PAGE_64K : CMA_UNIT;
	if (!strcmp(plan->heap, "cma"))
		plan->alignment = unit = CMA_UNIT_OLD;
	if (plan->size % unit == 0 && plan->start % unit == 0)
		return true;
	complain("%s of a %s region is not a multiple of %s",
		 plan->size % unit == 0 ? "--at" : "--size", plan->heap,
		 quantity_size(size, unit, false));
	return false;
}

/* Reads the command line; complains and returns false if it is wrong. */
static bool generate_parse(const struct request *request, struct plan *plan)
{
	const char *size = option_value(request, &size_option);
	const char *at = option_value(request, &at_option);
	const char *output = option_value(request, &output_option);

	plan->board = option_value(request, &board_option);
	plan->coherent = option_value(request, &coherent_option);
	plan->placed = at;
	if (!plan->board || !size) {
		complain("dt generate: %s is missing",
			 plan->board ? "--size SIZE" : "--board BOARD");
		return false;
	}
	if (request->json && (!output || !strcmp(output, "-"))) {
		complain(
			"dt generate: --json needs -o FILE: the source goes to standard output");
		return false;
	}
	return parse_size(size, &plan->size) &&
	       (!at || parse_address(at, &plan->start)) &&
	       parse_heap(request, plan) &&
	       parse_providers(request, &dma_option, &plan->channels, true) &&
	       parse_providers(request, &iommu_option, &plan->iommus, false);
}

static const struct board *find_board(const char *name)
{
	/* Names that people have for boards, and their families */
	static const char *const other[][2] = {
		{ "zc702", "zynq" },	{ "zc706", "zynq" },
		{ "zed", "zynq" },	{ "zedboard", "zynq" },
		{ "pynq-z1", "zynq" },	{ "pynq-z2", "zynq" },
		{ "zcu102", "zynqmp" }, { "zcu104", "zynqmp" },
		{ "zcu106", "zynqmp" }, { "zcu111", "zynqmp" },
		{ "kv260", "zynqmp" },	{ "kr260", "zynqmp" },
		{ "kd240", "zynqmp" },	{ "ultra96", "zynqmp" },
		{ "vck190", "versal" }, { "vmk180", "versal" },
	};
	const struct board *board;
	size_t i;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (!strcasecmp(other[i][0], name))
			name = other[i][1];
	for (board = boards; board->name; board++)
		if (!strcasecmp(board->name, name))
			return board;
	return NULL;
}

/* Merges the overlay into a copy of the base, which must pass the check. */
static bool generate_prove(const struct request *request,
			   const struct plan *plan, struct blob *base)
{
	struct findings findings = { 0 };
	struct blob overlay = { .source = text_format("the overlay") };
	struct tree *tree;
	char *why;
	bool done;

	overlay.data = overlay_blob(plan, &overlay.size);
	why = merge(base, &overlay);
	blob_drop(&overlay);
	if (why) {
		complain("%s", why);
		free(why);
		return false;
	}
	tree = tree_read(base->data);
	check_tree(tree, 64, &findings);
	done = !findings.of[SEVERITY_ERROR];
	if (!done) {
		findings_print(&findings, request, stderr);
		complain("nothing is written: %s with this overlay has errors",
			 base->source);
	}
	findings_drop(&findings);
	tree_drop(tree);
	return done;
}

static bool plan_with(const struct request *request, struct plan *plan)
{
	const struct board *board = find_board(plan->board);
	struct blob base;
	struct tree *tree;
	bool done;

	if (board)
		return plan_for_board(plan, board);
	if (!blob_load(plan->board, &base)) {
		if (!strchr(plan->board, '/') && !strchr(plan->board, '.'))
			complain(
				"--board is zynq, zynqmp, versal, rpi4, rpi5, generic, the name of such a board as zcu102 or pynq-z2, or a FILE.dtb");
		return false;
	}
	tree = tree_read(base.data);
	done = tree && plan_for_tree(plan, &base, tree) &&
	       generate_prove(request, plan, &base);
	tree_drop(tree);
	blob_drop(&base);
	return done;
}

static bool generate_save(const struct plan *plan, const char *path)
{
	bool text = generate_ends_in(path, ".dts") ||
		    generate_ends_in(path, ".dtso");
	size_t size = 0;
	char *data = text ? overlay_text(plan) : overlay_blob(plan, &size);
	bool done = blob_save(path, data, text ? strlen(data) : size);

	free(data);
	return done;
}

static void generate_put_text(json_t *object, const char *key, const char *text)
{
	document_text(object, key, text, strlen(text));
}

static void generate_print_json(const struct plan *plan, const char *path)
{
	char *start = text_format("0x%" PRIx64, plan->start);
	json_t *root = json_object();

	generate_put_text(root, "written", path);
	generate_put_text(root, "board", plan->board);
	document_word(root, "heap", plan->heap);
	document_number(root, "size", plan->size);
	if (plan->placed)
		generate_put_text(root, "start", start);
	else
		document_set(root, "start", json_null());
	generate_put_text(root, "node", plan->node_name);
	generate_put_text(root, "region", plan->region_name);
	document_number(root, "channels", plan->channels.count);
	document_print(root);
	free(start);
}

static bool write_out(const struct request *request, const struct plan *plan)
{
	const char *path = option_value(request, &output_option);
	char *text;

	if (path && strcmp(path, "-") != 0) {
		if (!generate_save(plan, path))
			return false;
		if (request->json)
			generate_print_json(plan, path);
		return true;
	}
	text = overlay_text(plan);
	fputs(text, stdout);
	free(text);
	return true;
}

static enum exit_code generate_run(const struct request *request)
{
	enum exit_code status = EXIT_FAILED;
	struct plan plan = { 0 };

	if (!generate_parse(request, &plan))
		status = EXIT_USAGE;
	else if (plan_with(request, &plan) && write_out(request, &plan))
		status = EXIT_FINE;
	plan_drop(&plan);
	return status;
}

static const struct command_option *const options[] = {
	&board_option, &size_option,  &heap_option,	&at_option,
	&dma_option,   &iommu_option, &coherent_option, &output_option,
	&json_option,  NULL,
};

const struct command dt_generate_command = {
	.name = "dt generate",
	.options = options,
	.summary = "writes an overlay for a board",
	.description =
		"Writes an overlay with a region of memory and a node of dray.  With the\n"
		"tree of the board, it finds free memory for the region, and checks the\n"
		"tree with the overlay before it writes it.  With the name of a board,\n"
		"Linux finds the place at boot, unless --at gives it.\n",
	.run = generate_run,
};
