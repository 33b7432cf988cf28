// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl fill: sets a part of a buffer to a value or a pattern. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "work.h"

static const struct command_option value_option = {
	.name = "value",
	.value = "BYTE",
	.text = "each byte, 0 to 255 or 0x00 to 0xff",
};

static const struct command_option pattern_option = {
	.name = "pattern",
	.value = "HEX",
	.text = "1, 2, 4, 8 or 16 bytes in their order, as deadbeef",
};

struct fill_element {
	unsigned char bytes[DRAY_MAX_PATTERN];
	uint32_t size;
};

static bool read_value(const char *text, struct fill_element *element)
{
	bool hex = text[0] == '0' && (text[1] | 32) == 'x';
	uint64_t value;
	const char *end =
		parse_number(hex ? text + 2 : text, hex ? 16 : 10, &value);

	if (!end || *end || value > 255) {
		complain(
			"--value '%s' is not a byte: 0 to 255, or 0x00 to 0xff",
			text);
		return false;
	}
	element->bytes[0] = (unsigned char)value;
	element->size = 1;
	return true;
}

static unsigned int fill_digit(char letter)
{
	return isdigit((unsigned char)letter)
		       ? (unsigned int)(letter - '0')
		       : (unsigned int)((letter | 32) - 'a' + 10);
}

static bool read_pattern(const char *text, struct fill_element *element)
{
	size_t length = strlen(text);
	size_t i;

	element->size = (uint32_t)(length / 2);
	if (length % 2 || !length || length / 2 > DRAY_MAX_PATTERN ||
	    element->size & (element->size - 1) ||
	    strspn(text, "0123456789abcdefABCDEF") != length) {
		complain(
			"--pattern '%s' is not 1, 2, 4, 8 or 16 bytes, each of "
			"two hexadecimal digits",
			text);
		return false;
	}
	for (i = 0; i < element->size; i++)
		element->bytes[i] =
			(unsigned char)(fill_digit(text[2 * i]) << 4 |
					fill_digit(text[2 * i + 1]));
	return true;
}

static bool read_element(const struct request *request,
			 struct fill_element *element)
{
	const char *value = option_value(request, &value_option);
	const char *pattern = option_value(request, &pattern_option);

	if (!value == !pattern) {
		complain("fill: give --value or --pattern");
		return false;
	}
	return value ? read_value(value, element)
		     : read_pattern(pattern, element);
}

static enum exit_code calls_fill(const struct request *request,
				 const struct reached *reached,
				 struct part *part,
				 const struct fill_element *element,
				 unsigned int flags)
{
	struct work work = {
		.dst = reached,
		.element = element->bytes,
		.element_size = element->size,
		.flags = flags,
	};

	if (!part_fit(reached, part))
		return EXIT_FAILED;
	if (part->length % element->size) {
		complain("%" PRIu64
			 " bytes are not a multiple of the pattern's %u",
			 part->length, element->size);
		return EXIT_FAILED;
	}
	work.dst_offset = part->offset;
	work.length = part->length;
	return work_run(request, &work, "filled");
}

static enum exit_code fill_run(const struct request *request)
{
	struct fill_element element;
	struct open_nodes nodes;
	struct reached reached;
	enum exit_code status;
	unsigned int flags;
	struct part part;

	if (!read_element(request, &element) || !part_given(request, &part) ||
	    !work_flags(request, &flags))
		return EXIT_USAGE;
	status = reach_operand(request, &nodes, &reached);
	if (status != EXIT_FINE)
		return status;
	status = calls_fill(request, &reached, &part, &element, flags);
	reach_close(&nodes, &reached);
	return status;
}

static const char description[] =
	"Prints the bytes, the time and the rate.  Without --engine and --cpu an\n"
	"engine fills if there is one that can.\n"
	"\n"
	"  ID  the number in the first column of 'dmactl list', or @N for the\n"
	"      descriptor N that dmactl inherits\n"
	"\n"
	"Before a device reads bytes that the CPU wrote, use 'dmactl sync'.\n";

static const struct command_option *const options[] = {
	&home_node_option, &value_option,  &pattern_option, &offset_option,
	&length_option,	   &engine_option, &cpu_option,	    &json_option,
	&bytes_option,	   NULL,
};

const struct command fill_command = {
	.name = "fill",
	.operands = "ID",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "id",
	.options = options,
	.summary = "fills a buffer",
	.description = description,
	.run = fill_run,
};
