// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl alloc: takes a buffer, for bring-up.  A keeper holds it until 'dmactl
 * free', or this process does (--hold), or a command that replaces this process
 * and inherits the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/access.h"
#include "base/document.h"
#include "keeper.h"
#include "base/quantity.h"
#include "base/words.h"

static const struct command_option heap_option = {
	.name = "heap",
	.value = "HEAP",
	.offers = "heap",
	.text = "from this heap; default: the node's order",
};

static const struct command_option align_option = {
	.name = "align",
	.value = "SIZE",
	.text = "a multiple of a power of two, as 64K; default: a page",
};

static const struct command_option mask_option = {
	.name = "mask",
	.value = "MASK",
	.text = "the highest address, as 0xffffffff, or a number of\n"
		"bits, as 32; default: as the node reaches",
};

static const struct command_option mode_option = {
	.name = "mode",
	.value = "MODE",
	.offers = "cached|write-combined|coherent|device",
	.text = "cached, write-combined, coherent or device",
};

static const struct command_option name_option = {
	.name = "name",
	.value = "NAME",
	.text = "its name in 'dmactl list', at most 31 bytes",
};

static const struct command_option top_option = {
	.name = "top",
	.text = "from the upper end of a reserved heap",
};

static const struct command_option hold_option = {
	.name = "hold",
	.text = "stay and keep it until a signal; no keeper",
};

struct alloc_order {
	struct dray_buffer_options options;
	uint64_t size; /* bytes */
};

/* The report of a keeper. */
struct taken {
	struct dray_buffer_info info;
	char node[DRAY_NAME_LEN];
	int pid;
};

static bool read_align(const char *text, uint64_t *alignment)
{
	if (!parse_size(text, alignment))
		return false;
	if (*alignment && !(*alignment & (*alignment - 1)))
		return true;
	complain("--align %" PRIu64 " is not a power of two", *alignment);
	return false;
}

static bool alloc_check_name(const char *name)
{
	size_t length = name ? strlen(name) : 0;

	if (length < DRAY_NAME_LEN)
		return true;
	complain("--name '%s' has %zu bytes: %d are the most", name, length,
		 DRAY_NAME_LEN - 1);
	return false;
}

static bool read_order(const struct request *request, struct alloc_order *order)
{
	const char *mask = option_value(request, &mask_option);
	const char *mode = option_value(request, &mode_option);
	const char *align = option_value(request, &align_option);

	*order = (struct alloc_order){
		.options.heap = option_value(request, &heap_option),
		.options.name = option_value(request, &name_option),
		.options.flags =
			option_value(request, &top_option) ? DRAY_ALLOC_TOP : 0,
	};
	if (!parse_size(operand_at(request, 0), &order->size))
		return false;
	if (!order->size) {
		complain("the size is 0: 1 byte is the least");
		return false;
	}
	if (request->operand_count > 1 &&
	    (option_value(request, &hold_option) || request->json)) {
		complain("alloc: --hold and --json do not go with a COMMAND");
		return false;
	}
	return alloc_check_name(order->options.name) &&
	       (!mask || parse_mask(mask, &order->options.address_limit)) &&
	       (!mode || parse_mode(mode, &order->options.mode)) &&
	       (!align || read_align(align, &order->options.alignment));
}

/*
 * Allocates on the first node of the request.  Returns a descriptor and drops
 * everything else; -1 after a complaint.
 */
static int alloc_take(const struct request *request,
		      const struct alloc_order *order, struct taken *taken)
{
	struct dray_buffer *buffer;
	const struct open_node *node;
	struct open_nodes nodes;
	int fd = -1;
	int ret;

	if (!nodes_open_first(request, &nodes))
		return -1;
	node = &nodes.entries[0];
	ret = dray_buffer_alloc(node->node, order->size, &order->options,
				&buffer);
	if (ret) {
		node_complain(node, "allocate", ret);
		nodes_close(&nodes);
		return -1;
	}
	ret = dray_node_buffer_info(node->node, dray_buffer_id(buffer),
				    &taken->info, sizeof(taken->info));
	if (ret)
		node_complain(node, "describe the buffer", ret);
	else
		fd = fcntl(dray_buffer_fd(buffer), F_DUPFD_CLOEXEC,
			   STDERR_FILENO + 1);
	if (!ret && fd < 0)
		complain("cannot keep the buffer: %s", strerror(errno));
	memcpy(taken->node, node->name, sizeof(taken->node));
	taken->pid = (int)getpid();
	/* The descriptor alone keeps the memory, which is mapped no longer. */
	dray_buffer_unref(buffer);
	nodes_close(&nodes);
	return fd;
}

static void print_taken(const struct request *request,
			const struct taken *taken)
{
	const struct dray_buffer_info *info = &taken->info;
	char word[WORD_ROOM];
	json_t *root;

	if (!request->json) {
		printf("%" PRIu64 "\n", (uint64_t)info->id);
		return;
	}
	root = json_object();
	document_number(root, "id", info->id);
	document_number(root, "size", info->size);
	document_word(root, "node", taken->node);
	document_text(root, "heap", info->heap_name, sizeof(info->heap_name));
	document_word(root, "mode", mode_word(info->mode, word));
	document_text(root, "name", info->name, sizeof(info->name));
	document_number(root, "pid", (uint64_t)taken->pid);
	document_print(root);
}

/* Leaves a keeper behind, which owns the buffer. */
static enum exit_code alloc_keep(const struct request *request,
				 const struct alloc_order *order)
{
	struct keeper keeper;
	struct taken taken;

	if (!keeper_start(&keeper, -1))
		return EXIT_FAILED;
	if (!keeper.pid) {
		if (alloc_take(request, order, &taken) < 0)
			_exit(EXIT_FAILED);
		if (keeper_report(&keeper, &taken, sizeof(taken)))
			keeper_wait();
		_exit(EXIT_FINE);
	}
	if (!keeper_read(&keeper, &taken, sizeof(taken)))
		return EXIT_FAILED;
	print_taken(request, &taken);
	return keeper_settle(&keeper) ? EXIT_FINE : EXIT_FAILED;
}

static enum exit_code alloc_hold(const struct request *request,
				 const struct alloc_order *order)
{
	struct taken taken;

	if (alloc_take(request, order, &taken) < 0)
		return EXIT_FAILED;
	print_taken(request, &taken);
	if (!cli_flush())
		return EXIT_FAILED;
	for (;;)
		pause();
}

static void set_variable(const char *name, uint64_t value)
{
	char *text = text_format("%" PRIu64, value);

	if (setenv(name, text, 1))
		complain("cannot set %s: %s", name, strerror(errno));
	free(text);
}

/* Becomes the command, which inherits the descriptor: its end frees the buffer. */
static enum exit_code alloc_become(const struct request *request,
				   const struct alloc_order *order)
{
	char **command = request->operands + 1;
	struct taken taken;
	int fd = alloc_take(request, order, &taken);

	if (fd < 0)
		return EXIT_FAILED;
	if (fcntl(fd, F_SETFD, 0)) {
		complain("cannot pass the buffer on: %s", strerror(errno));
		return EXIT_FAILED;
	}
	set_variable("DRAY_BUFFER_FD", (uint64_t)fd);
	set_variable("DRAY_BUFFER_ID", taken.info.id);
	set_variable("DRAY_BUFFER_SIZE", taken.info.size);
	execvp(command[0], command);
	complain("cannot run '%s': %s", command[0], strerror(errno));
	return EXIT_FAILED;
}

static enum exit_code alloc_run(const struct request *request)
{
	struct alloc_order order;

	if (!read_order(request, &order))
		return EXIT_USAGE;
	if (request->operand_count > 1)
		return alloc_become(request, &order);
	if (option_value(request, &hold_option))
		return alloc_hold(request, &order);
	return alloc_keep(request, &order);
}

static const char description[] =
	"Prints the id of the new buffer.  A process in the background, named\n"
	"dmactl-keep, holds it until 'dmactl free ID' ends that.\n"
	"\n"
	"  SIZE     bytes, rounded up to pages; or with a unit, as 8M\n"
	"  COMMAND  after '--': is run and inherits the buffer, which is freed\n"
	"           when it ends; DRAY_BUFFER_FD, DRAY_BUFFER_ID and\n"
	"           DRAY_BUFFER_SIZE of its environment say which it is.\n"
	"           Operand @N of other commands is such a descriptor\n"
	"\n"
	"The buffer is on the first node, or on that of -n.\n";

static const struct command_option *const options[] = {
	&first_node_option, &heap_option, &align_option, &mask_option,
	&mode_option,	    &name_option, &top_option,	 &hold_option,
	&json_option,	    NULL,
};

const struct command alloc_command = {
	.name = "alloc",
	.operands = "SIZE [-- COMMAND...]",
	.operands_least = 1,
	.operands_most = 4096,
	.options = options,
	.summary = "allocates a buffer",
	.description = description,
	.run = alloc_run,
};
