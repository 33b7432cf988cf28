// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl dt apply: merges overlays into a blob before the board is booted with it,
 * and checks the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob.h"
#include "check.h"
#include "base/document.h"
#include "findings_print.h"
#include "merge.h"

static const struct command_option output_option = {
	.name = "output",
	.letter = 'o',
	.value = "FILE",
	.offers = "file",
	.text = "write the merged blob to FILE",
};

/* Merges one overlay; complains if that fails. */
static bool add_overlay(struct blob *base, const char *name)
{
	struct blob overlay;
	char *why;

	if (!blob_load(name, &overlay))
		return false;
	why = merge(base, &overlay);
	if (why)
		complain("%s", why);
	free(why);
	blob_drop(&overlay);
	return !why;
}

static bool add_overlays(const struct request *request, struct blob *base)
{
	size_t i;

	for (i = 1; i < request->operand_count; i++)
		if (!add_overlay(base, operand_at(request, i)))
			return false;
	return true;
}

/* Writes the blob unless the check finds an error. */
static bool save_checked(const struct request *request, const struct blob *blob,
			 const char *path)
{
	struct findings findings = { 0 };
	struct tree *tree = tree_read(blob->data);
	bool is_standard = !strcmp(path, "-");
	bool done;

	check_tree(tree, 64, &findings);
	done = !findings.of[SEVERITY_ERROR];
	if (request->json)
		document_print(findings_document(&findings, blob->source));
	else
		findings_print(&findings, request,
			       is_standard ? stderr : stdout);
	cli_flush();
	if (!done)
		complain("%s is not written: the merged tree has errors", path);
	else
		done = blob_save(path, blob->data, blob->size);
	findings_drop(&findings);
	tree_drop(tree);
	return done;
}

static enum exit_code apply_run(const struct request *request)
{
	const char *path = option_value(request, &output_option);
	struct blob base;
	bool done;

	if (!path) {
		complain("dt apply: -o FILE is missing");
		return EXIT_USAGE;
	}
	if (!strcmp(path, "-") && request->json) {
		complain("dt apply: the tree and --json cannot both go to "
			 "standard output");
		return EXIT_USAGE;
	}
	if (!blob_load(operand_at(request, 0), &base))
		return EXIT_FAILED;
	done = add_overlays(request, &base) &&
	       save_checked(request, &base, path);
	blob_drop(&base);
	return done ? EXIT_FINE : EXIT_FAILED;
}

static const struct command_option *const options[] = {
	&output_option,
	&json_option,
	NULL,
};

const struct command dt_apply_command = {
	.name = "dt apply",
	.operands = "BASE OVERLAY...",
	.operands_least = 2,
	.operands_most = 64,
	.offers = "file",
	.options = options,
	.summary = "merges overlays into a device tree",
	.description =
		"Merges each OVERLAY (.dtbo) into the blob BASE (.dtb), in their order,\n"
		"checks the result as 'dmactl dt check' does, and writes it to the FILE of\n"
		"-o.  If anything fails, or the check finds an error, no file is written.\n",
	.run = apply_run,
};
