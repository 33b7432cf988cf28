// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl reclaim: frees memory that is held because a process that had its
 * address ended, or an engine did not answer.  The only command that changes
 * something, so that it wants to be told what: one buffer or attachment, or
 * all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "access.h"
#include "document.h"
#include "message.h"
#include "quantity.h"

static bool parse_wish(const struct request *request, uint64_t *id)
{
	char *end;

	*id = 0;
	if (request->all && request->operand) {
		complain("reclaim: an ID, or --all, not both");
		return false;
	}
	if (request->all)
		return true;
	if (!request->operand) {
		complain("reclaim: ID or --all is missing: 'dmactl list' shows "
			 "what is held");
		return false;
	}
	errno = 0;
	if (*request->operand >= '0' && *request->operand <= '9')
		*id = strtoull(request->operand, &end, 10);
	if (!*id || errno || *end) {
		complain("'%s' is no id: 'dmactl list' shows them, numbers "
			 "from 1 on",
			 request->operand);
		return false;
	}
	return true;
}

static void print_json(uint32_t buffers, const struct dray_reclaim *freed)
{
	json_t *root = json_object();

	document_set(root, "buffers", document_number(buffers));
	document_set(root, "attachments", document_number(freed->attachments));
	document_set(root, "size", document_number(freed->bytes));
	document_print(root);
}

static void print_freed(const struct request *request,
			const struct dray_reclaim *freed)
{
	uint32_t attachments = freed->attachments;
	uint32_t buffers = freed->count - attachments;
	char size[QUANTITY_ROOM];

	if (request->json) {
		print_json(buffers, freed);
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

/* What is held is the whole module's: any node will do. */
static enum exit_code reclaim_run(const struct request *request)
{
	struct dray_reclaim freed;
	struct open_nodes nodes;
	uint64_t id;
	int error;

	if (!parse_wish(request, &id))
		return EXIT_USAGE;
	if (!nodes_open(request, &nodes))
		return EXIT_FAILED;
	error = dray_node_reclaim(nodes.entries[0].node, id, &freed,
				  sizeof(freed));
	if (error)
		node_complain(&nodes.entries[0], "reclaim memory", error);
	else
		print_freed(request, &freed);
	nodes_close(&nodes);
	return error ? EXIT_FAILED : EXIT_FINE;
}

static const char description[] =
	"Frees buffers and attachments that are held: 'held' in the column\n"
	"PID of 'dmactl list'.  A process that had their address ended, or an\n"
	"engine that had them did not answer, and a device may still write\n"
	"them.  Make sure first that it does not.\n"
	"\n"
	"  ID     the number in the first column of 'dmactl list'\n"
	"  --all  all that are held\n"
	"\n"
	"Needs CAP_SYS_RAWIO.\n";

const struct command reclaim_command = {
	.name = "reclaim",
	.operand = "ID|--all",
	.operand_optional = true,
	.summary = "the memory that was held, and frees it",
	.description = description,
	.run = reclaim_run,
};
