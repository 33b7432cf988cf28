// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl registers: reads and writes a register of a node's device. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <dray/registers.h>

#include "base/access.h"
#include "base/document.h"

/* Operands of both commands. */
struct register_wish {
	const char *area;
	uint64_t offset;
	uint64_t value; /* to write, 32 bits */
	bool writes;
};

/* Reads a number, such as 16 or 0x10, up to @most; complains if it is none. */
static bool register_number(const char *text, const char *name, uint64_t most,
			    uint64_t *out)
{
	bool hexadecimal = !strncmp(text, "0x", 2);
	const char *end = parse_number(hexadecimal ? text + 2 : text,
				       hexadecimal ? 16 : 10, out);

	if (end && !*end && *out <= most)
		return true;
	complain("the %s '%s' is not a number up to 0x%" PRIx64
		 ", as 16 or 0x10",
		 name, text, most);
	return false;
}

static bool read_wish(const struct request *request, struct register_wish *wish)
{
	wish->area = operand_at(request, 0);
	return register_number(operand_at(request, 1), "offset", UINT64_MAX,
			       &wish->offset) &&
	       (!wish->writes ||
		register_number(operand_at(request, 2), "value", UINT32_MAX,
				&wish->value));
}

static void print_register(const struct request *request,
			   const struct open_node *node,
			   const struct register_wish *wish)
{
	json_t *root;

	if (request->json) {
		root = json_object();
		document_text(root, "node", node->name, sizeof(node->name));
		document_word(root, "area", wish->area);
		document_number(root, "offset", wish->offset);
		document_number(root, "value", wish->value);
		document_print(root);
	} else if (!wish->writes) {
		printf("0x%08" PRIx64 "\n", wish->value);
	}
}

static enum exit_code access_register(const struct request *request,
				      const struct open_node *node,
				      struct register_wish *wish)
{
	struct dray_registers *registers;
	uint32_t value = 0;
	int ret;

	ret = dray_registers_map(node->node, wish->area, &registers);
	if (ret) {
		node_complain(node, "map its registers", ret);
		return EXIT_FAILED;
	}
	if (wish->writes)
		ret = dray_registers_write(registers, wish->offset,
					   (uint32_t)wish->value);
	else
		ret = dray_registers_read(registers, wish->offset, &value);
	if (ret)
		node_complain(node, "access a register", ret);
	else if (!wish->writes)
		wish->value = value;
	dray_registers_unref(registers);
	if (ret)
		return EXIT_FAILED;
	print_register(request, node, wish);
	return EXIT_FINE;
}

static enum exit_code registers_run(const struct request *request, bool writes)
{
	struct register_wish wish = { .writes = writes };
	struct open_nodes nodes;
	enum exit_code status;

	if (!read_wish(request, &wish))
		return EXIT_USAGE;
	if (!nodes_open_first(request, &nodes))
		return EXIT_FAILED;
	status = access_register(request, &nodes.entries[0], &wish);
	nodes_close(&nodes);
	return status;
}

static enum exit_code registers_read_run(const struct request *request)
{
	return registers_run(request, false);
}

static enum exit_code registers_write_run(const struct request *request)
{
	return registers_run(request, true);
}

#define OPERANDS                                                           \
	"\n"                                                               \
	"  AREA    the name of the registers: 'dmactl nodes' lists them\n" \
	"  OFFSET  bytes from the first register, a multiple of 4, as 0x10\n"

static const char read_description[] =
	"Prints a register of 32 bits.  Some devices act on a read.\n" OPERANDS;

static const char write_description[] =
	"Writes a register of 32 bits.  A wrong value may stop the machine.\n" OPERANDS
	"  VALUE   32 bits, as 7 or 0x7\n";

static const struct command_option *const options[] = {
	&first_node_option,
	&json_option,
	NULL,
};

const struct command registers_read_command = {
	.name = "registers read",
	.operands = "AREA OFFSET",
	.operands_least = 2,
	.operands_most = 2,
	.options = options,
	.summary = "prints a register of a device",
	.description = read_description,
	.run = registers_read_run,
};

const struct command registers_write_command = {
	.name = "registers write",
	.operands = "AREA OFFSET VALUE",
	.operands_least = 3,
	.operands_most = 3,
	.options = options,
	.summary = "writes a register of a device",
	.description = write_description,
	.run = registers_write_run,
};
