// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl reclaim: frees memory that is held because a process that knew its
 * address ended, or because an engine hung.  Only this command changes
 * anything, so it has no default: it takes one id or --all.
 */
#include <stdio.h>

#include "base/document.h"
#include "base/gather.h"
#include "base/quantity.h"

static const struct command_option all_option = {
	.name = "all",
	.text = "everything that is held",
};

/* Reads the id to reclaim, 0 for --all. */
static bool parse_target(const struct request *request, uint64_t *id)
{
	const char *word = operand_at(request, 0);
	bool all = option_value(request, &all_option);

	*id = 0;
	if (all && word) {
		complain("reclaim: give an ID or --all, not both");
		return false;
	}
	if (all)
		return true;
	if (!word) {
		complain("reclaim: ID or --all is missing; 'dmactl list' shows "
			 "held memory");
		return false;
	}
	return parse_id(word, id);
}

static void reclaim_print_json(uint32_t buffers,
			       const struct dray_reclaim *freed)
{
	json_t *root = json_object();

	document_number(root, "buffers", buffers);
	document_number(root, "attachments", freed->attachments);
	document_number(root, "size", freed->bytes);
	document_print(root);
}

static void reclaim_print_freed(const struct request *request,
				const struct dray_reclaim *freed)
{
	uint32_t attachments = freed->attachments;
	uint32_t buffers = freed->count - attachments;
	char size[QUANTITY_ROOM];

	if (request->json) {
		reclaim_print_json(buffers, freed);
		return;
	}
	printf("reclaimed: ");
	if (buffers || !attachments)
		printf("%u %s", buffers, buffers == 1 ? "buffer" : "buffers");
	if (attachments)
		printf("%s%u %s", buffers ? " and " : "", attachments,
		       attachments == 1 ? "attachment" : "attachments");
	printf(", %s%s\n", quantity_size(size, freed->bytes, request->bytes),
	       request->bytes ? " bytes" : "");
}

/* Held memory belongs to the whole module: any node can reclaim it. */
static enum exit_code reclaim_run(const struct request *request)
{
	struct dray_reclaim freed;
	struct open_nodes nodes;
	uint64_t id;
	int ret;

	if (!parse_target(request, &id))
		return EXIT_USAGE;
	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	ret = dray_node_reclaim(nodes.entries[0].node, id, &freed,
				sizeof(freed));
	if (ret)
		node_complain(&nodes.entries[0], "reclaim memory", ret);
	else
		reclaim_print_freed(request, &freed);
	nodes_close(&nodes);
	return ret ? EXIT_FAILED : EXIT_FINE;
}

static const char description[] =
	"Held memory shows 'held' in the column PID of 'dmactl list': a device\n"
	"may still write it, because a process that knew its address ended or\n"
	"an engine hung.  Make sure first that no device does.\n"
	"\n"
	"  ID  the number in the first column of 'dmactl list'\n"
	"\n"
	"Needs CAP_SYS_RAWIO.\n";

static const struct command_option *const options[] = {
	&first_node_option, &all_option, &json_option, &bytes_option, NULL,
};

const struct command reclaim_command = {
	.name = "reclaim",
	.operands = "ID|--all",
	.operands_most = 1,
	.offers = "id",
	.options = options,
	.summary = "frees memory that is held",
	.description = description,
	.run = reclaim_run,
};
