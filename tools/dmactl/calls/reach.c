// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A buffer lives in the descriptors of processes.  A shell has none, so each
 * command copies the descriptor of a process that has one (pidfd_getfd), and
 * drops it at its end.  dma-bufs cannot be opened again by /proc/PID/fd.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/gather.h"
#include "machine/holders.h"
#include "machine/identify.h"
#include "base/quantity.h"
#include "reach.h"
#include "base/words.h"

const struct command_option offset_option = {
	.name = "offset",
	.value = "SIZE",
	.text = "start there, as 4096 or 64K; default 0",
};

const struct command_option length_option = {
	.name = "length",
	.value = "SIZE",
	.text = "only so many bytes; default: to the end",
};

/* Reads "@N"; complains if it is not a number. */
static bool parse_inherited(const char *word, int *fd)
{
	uint64_t number;
	const char *end = parse_number(word + 1, 10, &number);

	if (end && !*end && number <= INT32_MAX) {
		*fd = (int)number;
		return true;
	}
	complain("'%s' is not a descriptor: @ and a number, as @3", word);
	return false;
}

bool reach_parse(const char *word)
{
	uint64_t id;
	int fd;

	return *word == '@' ? parse_inherited(word, &fd) : parse_id(word, &id);
}

/* Finds the node that has the buffer's heap, or any that knows the buffer. */
static bool find_home(const struct open_nodes *nodes, uint64_t id,
		      struct reached *reached)
{
	size_t i;

	for (i = 0; i < nodes->count; i++) {
		const struct open_node *node = &nodes->entries[i];
		struct dray_buffer_info info;

		if (dray_node_buffer_info(node->node, id, &info, sizeof(info)))
			continue;
		if (!reached->node || info.heap != DRAY_HEAP_ANY) {
			reached->node = node;
			reached->info = info;
		}
		if (info.heap != DRAY_HEAP_ANY)
			return true;
	}
	return reached->node;
}

/* Copies descriptor @number of a process; returns -1 if that fails. */
static int reach_copy_descriptor(int pid, int number)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int copy = -1;

	if (process < 0)
		return -1;
	copy = (int)syscall(SYS_pidfd_getfd, process, number, 0);
	close(process);
	return copy;
}

/* Copies a holder's descriptor, if possible one that may write. */
static int reach_copy_any(const struct holder_list *holders, bool read_only)
{
	size_t i, k;

	for (i = 0; i < holders->count; i++) {
		const struct holder *holder = &holders->entries[i];

		for (k = 0; k < holder->count; k++) {
			int fd = -1;

			if (holder->descriptors[k].read_only == read_only)
				fd = reach_copy_descriptor(
					holder->pid,
					holder->descriptors[k].number);
			if (fd >= 0)
				return fd;
		}
	}
	return -1;
}

/* Complains that no process lets the caller have a descriptor. */
static void complain_unreached(const struct reached *reached, size_t hidden)
{
	const struct dray_buffer_info *info = &reached->info;
	char *user = user_word(info->uid);

	complain("cannot reach buffer %" PRIu64 " of %.*s, pid %" PRId32
		 ", user %s: no descriptor of it can be copied, which needs "
		 "the rights of a debugger%s",
		 (uint64_t)info->id, (int)sizeof(info->comm), info->comm,
		 info->pid, user,
		 hidden ? " (some processes may not be inspected)" : "");
	free(user);
}

static int copy_of_holder(const struct reached *reached)
{
	struct holder_list holders;
	int fd;

	holders_find(reached->node->name, reached->info.id, &holders);
	fd = reach_copy_any(&holders, false);
	if (fd < 0)
		fd = reach_copy_any(&holders, true);
	/* its holder may have used the number anew */
	if (fd >= 0 &&
	    identify_own(reached->node->name, fd) != reached->info.id) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		complain_unreached(reached, holders.hidden);
	holders_free(&holders);
	return fd;
}

/* Finds which buffer a descriptor of the command line is. */
static bool identify_inherited(const struct open_nodes *nodes, int fd,
			       uint64_t *id)
{
	*id = identify_own(nodes->entries[0].name, fd);
	if (!*id)
		complain("descriptor %d is not a buffer of dray%s", fd,
			 fcntl(fd, F_GETFD) < 0 ? ": it is not open" : "");
	return *id;
}

static enum exit_code reach_map(struct reached *reached, int fd)
{
	int ret = dray_buffer_import(reached->node->node, fd, &reached->buffer);

	if (!ret)
		return EXIT_FINE;
	node_complain(reached->node, "map the buffer", ret);
	return EXIT_FAILED;
}

enum exit_code reach(const struct open_nodes *nodes, const char *word,
		     struct reached *reached)
{
	bool inherited = *word == '@';
	enum exit_code status;
	uint64_t id;
	int fd = -1;

	*reached = (struct reached){ 0 };
	if (!(inherited ? parse_inherited(word, &fd) : parse_id(word, &id)))
		return EXIT_USAGE;
	if (inherited && !identify_inherited(nodes, fd, &id))
		return EXIT_FAILED;
	if (!find_home(nodes, id, reached)) {
		complain("no buffer %" PRIu64
			 "; 'dmactl list' shows those that "
			 "you may see",
			 id);
		return EXIT_FAILED;
	}
	if (!is_buffer(&reached->info)) {
		complain("%" PRIu64 " is an attachment: only buffers can be "
			 "reached",
			 id);
		return EXIT_FAILED;
	}
	if (!inherited)
		fd = copy_of_holder(reached);
	if (fd < 0)
		return EXIT_FAILED;
	status = reach_map(reached, fd);
	if (!inherited)
		close(fd);
	return status;
}

void reach_end(struct reached *reached)
{
	dray_buffer_unref(reached->buffer);
	reached->buffer = NULL;
}

enum exit_code reach_operand(const struct request *request,
			     struct open_nodes *nodes, struct reached *reached)
{
	const char *word = operand_at(request, 0);
	enum exit_code status;

	if (!reach_parse(word))
		return EXIT_USAGE;
	if (!nodes_open(request, nodes))
		return EXIT_FAILED;
	status = reach(nodes, word, reached);
	if (status != EXIT_FINE)
		nodes_close(nodes);
	return status;
}

void reach_close(struct open_nodes *nodes, struct reached *reached)
{
	reach_end(reached);
	nodes_close(nodes);
}

bool part_given(const struct request *request, struct part *part)
{
	const char *offset = option_value(request, &offset_option);
	const char *length = option_value(request, &length_option);

	*part = (struct part){ 0 };
	if (offset && !parse_size(offset, &part->offset))
		return false;
	if (!length)
		return true;
	if (!parse_size(length, &part->length))
		return false;
	if (!part->length)
		complain("--length is 0: 1 byte is the least");
	return part->length;
}

bool part_fit(const struct reached *reached, struct part *part)
{
	uint64_t size = dray_buffer_size(reached->buffer);

	if (part->offset < size && part->length <= size - part->offset) {
		if (!part->length)
			part->length = size - part->offset;
		return true;
	}
	if (part->length)
		complain("%" PRIu64 " bytes at offset %" PRIu64
			 " leave buffer %" PRIu64 " of %" PRIu64 " bytes",
			 part->length, part->offset, (uint64_t)reached->info.id,
			 size);
	else
		complain("offset %" PRIu64 " lies outside buffer %" PRIu64 " "
			 "of %" PRIu64 " bytes",
			 part->offset, (uint64_t)reached->info.id, size);
	return false;
}

bool reach_mapped(const struct reached *reached, bool write)
{
	if (reached->info.mode == DRAY_MODE_DEVICE) {
		complain("the CPU does not reach buffer %" PRIu64
			 ", of mode 'device'",
			 (uint64_t)reached->info.id);
		return false;
	}
	if (write && !dray_buffer_writable(reached->buffer)) {
		complain("buffer %" PRIu64
			 " cannot be written: only read-only descriptors of it "
			 "can be reached",
			 (uint64_t)reached->info.id);
		return false;
	}
	return true;
}
