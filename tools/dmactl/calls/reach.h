/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reaches the memory of a buffer that another process holds. */
#ifndef DMACTL_REACH_H
#define DMACTL_REACH_H

#include "base/access.h"

/* A part of a buffer, as a command line names it. */
struct part {
	uint64_t offset; /* bytes */
	uint64_t length; /* bytes; 0: to the end */
};

/* Options of commands that work on a part of a buffer. */
extern const struct command_option offset_option;
extern const struct command_option length_option;

struct reached {
	struct dray_buffer *buffer; /* mapped here */
	struct dray_buffer_info info;
	const struct open_node *node; /* of its heap, borrowed */
};

/*
 * Reaches the buffer that @word names: an id, or "@N" for descriptor N, which
 * this process inherited.  Copies a holder's descriptor, for which the caller
 * needs the rights of a debugger.  Complains and returns EXIT_USAGE if @word is
 * neither, EXIT_FAILED if the buffer cannot be reached.
 */
enum exit_code reach(const struct open_nodes *nodes, const char *word,
		     struct reached *reached);
void reach_end(struct reached *reached);

/* Checks that @word is an id or "@N"; complains if not. */
bool reach_parse(const char *word);

/* Opens nodes and reaches operand 0; as reach().  reach_close() undoes it. */
enum exit_code reach_operand(const struct request *request,
			     struct open_nodes *nodes, struct reached *reached);
void reach_close(struct open_nodes *nodes, struct reached *reached);

/* Reads --offset and --length; complains about a value that is not a size. */
bool part_given(const struct request *request, struct part *part);

/*
 * Checks that @part lies in the buffer, and makes its length exact; complains
 * if it does not.
 */
bool part_fit(const struct reached *reached, struct part *part);

/* Complains if the CPU does not reach the buffer, or may not write it. */
bool reach_mapped(const struct reached *reached, bool write);

#endif /* DMACTL_REACH_H */
