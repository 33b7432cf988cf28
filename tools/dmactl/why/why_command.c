// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl why: would this allocation succeed now?  It reads the state of the heaps
 * and decides as the module does; it allocates nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "base/quantity.h"
#include "why.h"
#include "base/words.h"

static const struct command_option align_option = {
	.name = "align",
	.value = "SIZE",
	.text = "the alignment, a power of two; otherwise a page",
};

static const struct command_option mask_option = {
	.name = "mask",
	.value = "MASK",
	.text = "the highest address, as 0xffffffff, or a number of\n"
		"bits, as 32; otherwise the device's",
};

static const struct command_option heap_option = {
	.name = "heap",
	.value = "HEAP",
	.offers = "heap",
	.text = "only this heap; otherwise each that ALLOC would try",
};

static const struct command_option mode_option = {
	.name = "mode",
	.value = "MODE",
	.offers = "cached|write-combined|coherent|device",
	.text = "how the CPU maps it; otherwise cached",
};

static bool why_command_parse(const struct request *request,
			      struct plan_request *plan)
{
	const char *alignment = option_value(request, &align_option);
	const char *mask = option_value(request, &mask_option);
	const char *mode = option_value(request, &mode_option);

	*plan = (struct plan_request){ .heap = DRAY_HEAP_ANY };
	return parse_size(operand_at(request, 0), &plan->size) &&
	       (!alignment || parse_size(alignment, &plan->alignment)) &&
	       (!mask || parse_mask(mask, &plan->mask)) &&
	       (!mode || parse_mode(mode, &plan->mode));
}

/* Finds the heap's index; complains, with the names that there are. */
static bool command_find_heap(const struct open_node *node, const char *name,
			      uint32_t *index)
{
	char *names = NULL;

	if (!name)
		return true;
	for (*index = 0; *index < node->info.heap_count; ++*index) {
		struct dray_heap_info heap;

		if (!node_heap(node, *index, &heap)) {
			free(names);
			return false;
		}
		if (!strncmp(heap.name, name, DRAY_NAME_LEN)) {
			free(names);
			return true;
		}
		text_append(&names, "%s%.*s", *index ? ", " : "", DRAY_NAME_LEN,
			    heap.name);
	}
	complain("no heap '%s' on %s; its heaps: %s", name, node->name,
		 names ? names : "none");
	free(names);
	return false;
}

static enum exit_code why_run(const struct request *request)
{
	struct why_finding finding = { 0 };
	enum exit_code status = EXIT_FAILED;
	struct open_nodes nodes;

	if (!why_command_parse(request, &finding.request))
		return EXIT_USAGE;
	if (!nodes_open_first(request, &nodes))
		return EXIT_FAILED;
	finding.node = &nodes.entries[0];
	if (command_find_heap(finding.node, option_value(request, &heap_option),
			      &finding.request.heap) &&
	    why_find(&finding)) {
		if (request->json)
			why_print_json(&finding);
		else
			why_print(request, &finding);
		status = finding.answer.error ? EXIT_NO : EXIT_FINE;
	}
	why_free(&finding);
	nodes_close(&nodes);
	return status;
}

static const char description[] =
	"Decides as the module would, and allocates nothing.  Without -n, asks\n"
	"the first node.\n"
	"\n"
	"  SIZE  bytes, or with K, M, G or T, as 8M\n"
	"\n"
	"If it would not succeed: the reason for each heap; the range for which\n"
	"the fewest bytes must be freed, and their owners; and actions that\n"
	"would help.  For heaps that the system uses too the answer is 'likely'\n"
	"or 'likely not'.\n"
	"\n"
	"Exit status: 0 if it would succeed, or likely would; 3 if not; 1 if that\n"
	"cannot be decided, as without the module.\n";

static const struct command_option *const options[] = {
	&align_option,	    &mask_option, &heap_option,	 &mode_option,
	&first_node_option, &json_option, &bytes_option, NULL,
};

const struct command why_command = {
	.name = "why",
	.operands = "SIZE",
	.operands_least = 1,
	.operands_most = 1,
	.options = options,
	.summary = "says whether an allocation would succeed, and if not, why",
	.description = description,
	.run = why_run,
};
