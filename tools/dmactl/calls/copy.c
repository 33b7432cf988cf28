// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl copy: copies a part of a buffer to another one. */
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "work.h"

/* An operand: ID, ID:OFFSET or, for the source, ID:OFFSET:LENGTH. */
struct copy_place {
	char *word; /* the ID */
	struct part part;
};

static bool read_place(const char *text, size_t most, struct copy_place *place)
{
	uint64_t *const fields[] = { &place->part.offset, &place->part.length };
	char *rest;
	size_t i;

	*place = (struct copy_place){ .word = text_format("%s", text) };
	rest = strchr(place->word, ':');
	for (i = 0; rest && i < most; i++) {
		char *field = rest + 1;

		*rest = '\0';
		rest = strchr(field, ':');
		if (rest)
			*rest = '\0';
		if (!parse_size(field, fields[i]))
			return false;
		if (i == 1 && !place->part.length) {
			complain("'%s' copies 0 bytes: 1 byte is the least",
				 text);
			return false;
		}
	}
	if (!rest)
		return reach_parse(place->word);
	complain("'%s' has too many parts: %s", text,
		 most > 1 ? "ID:OFFSET:LENGTH" : "ID:OFFSET");
	return false;
}

static enum exit_code calls_copy(const struct request *request,
				 const struct reached *src, struct part *from,
				 const struct reached *dst, struct part *to,
				 unsigned int flags)
{
	struct work work = {
		.dst = dst,
		.src = src,
		.element_size = 1,
		.flags = flags,
	};

	if (!part_fit(src, from))
		return EXIT_FAILED;
	to->length = from->length;
	if (!part_fit(dst, to))
		return EXIT_FAILED;
	work.src_offset = from->offset;
	work.dst_offset = to->offset;
	work.length = from->length;
	return work_run(request, &work, "copied");
}

static enum exit_code copy_between(const struct request *request,
				   const struct open_nodes *nodes,
				   struct copy_place places[2],
				   unsigned int flags)
{
	struct reached src, dst;
	enum exit_code status = reach(nodes, places[0].word, &src);

	if (status != EXIT_FINE)
		return status;
	status = reach(nodes, places[1].word, &dst);
	if (status == EXIT_FINE) {
		status = calls_copy(request, &src, &places[0].part, &dst,
				    &places[1].part, flags);
		reach_end(&dst);
	}
	reach_end(&src);
	return status;
}

static enum exit_code copy_run(const struct request *request)
{
	struct copy_place places[2] = { 0 };
	enum exit_code status = EXIT_USAGE;
	struct open_nodes nodes;
	unsigned int flags;

	if (work_flags(request, &flags) &&
	    read_place(operand_at(request, 0), 2, &places[0]) &&
	    read_place(operand_at(request, 1), 1, &places[1])) {
		status = EXIT_FAILED;
		if (nodes_open(request, &nodes)) {
			status = copy_between(request, &nodes, places, flags);
			nodes_close(&nodes);
		}
	}
	free(places[0].word);
	free(places[1].word);
	return status;
}

static const char description[] =
	"Prints the bytes, the time and the rate.  Without --engine and --cpu an\n"
	"engine copies if there is one that can.\n"
	"\n"
	"  SRC  ID, ID:OFFSET or ID:OFFSET:LENGTH, as 3:4096:64K; without a\n"
	"       length up to the end\n"
	"  DST  ID or ID:OFFSET\n"
	"\n"
	"ID is the number in the first column of 'dmactl list', or @N for the\n"
	"descriptor N that dmactl inherits.\n";

static const struct command_option *const options[] = {
	&home_node_option, &engine_option, &cpu_option,
	&json_option,	   &bytes_option,  NULL,
};

const struct command copy_command = {
	.name = "copy",
	.operands = "SRC DST",
	.operands_least = 2,
	.operands_most = 2,
	.offers = "id",
	.options = options,
	.summary = "copies between buffers",
	.description = description,
	.run = copy_run,
};
