// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl dt check: what would keep dray from working with a device tree, with the
 * place and the mend, before the board is booted with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob.h"
#include "check.h"
#include "base/document.h"
#include "base/quantity.h"
#include "escape.h"
#include "findings_print.h"
#include "base/table.h"

static const struct command_option mask_option = {
	.name = "mask",
	.value = "MASK",
	.text = "the highest address of the device behind the node, as\n"
		"0xffffffff, or a number of bits, as 32: regions above\n"
		"are errors",
};

/* Sets @bits to those of which every address fits below the mask. */
static bool parse_bits(const char *text, unsigned int *bits)
{
	uint64_t mask = UINT64_MAX;

	if (text && !parse_mask(text, &mask))
		return false;
	for (*bits = 64; mask < UINT64_MAX >> (64 - *bits); --*bits)
		;
	return true;
}

static enum exit_code check_run(const struct request *request)
{
	struct findings findings = { 0 };
	struct blob blob;
	struct tree *tree;
	unsigned int bits;
	enum exit_code status = EXIT_FAILED;

	if (!parse_bits(option_value(request, &mask_option), &bits))
		return EXIT_USAGE;
	if (!blob_load(operand_at(request, 0), &blob))
		return EXIT_FAILED;
	tree = tree_read(blob.data);
	if (tree) {
		check_tree(tree, bits, &findings);
		status = findings.of[SEVERITY_ERROR] ? EXIT_NO : EXIT_FINE;
	} else {
		complain("%s has no root node", blob.source);
	}
	if (tree && request->json)
		document_print(findings_document(&findings, blob.source));
	else if (tree)
		findings_print(&findings, request, stdout);
	findings_drop(&findings);
	tree_drop(tree);
	blob_drop(&blob);
	return status;
}

static const struct command_option *const options[] = {
	&mask_option,
	&json_option,
	NULL,
};

const struct command dt_check_command = {
	.name = "dt check",
	.operands = "FILE|live",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "live|file",
	.options = options,
	.summary = "finds mistakes in a device tree",
	.description =
		"Checks the nodes of dray in a blob (.dtb), their memory, engines and\n"
		"IOMMUs; 'live' is the tree of this system.  Each finding has the path\n"
		"of the node, the fact, and how to mend it.  Exit status 1 if there is an\n"
		"error; warnings and notes leave it 0.\n",
	.run = check_run,
};
