// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl dump: the bytes of a buffer as the CPU sees them, in hexadecimal or in
 * a file.  It syncs nothing: before and after a sync may be the question.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "dump_file.h"
#include "base/quantity.h"

#define LINE 16 /* bytes */
#define USUAL_LENGTH 4096 /* bytes in hexadecimal, if not told otherwise */

static const struct command_option output_option = {
	.name = "output",
	.letter = 'o',
	.value = "FILE",
	.offers = "file",
	.text = "to FILE: .npy, .png, any other name raw; '-' is\n"
		"standard output",
};

static void dump_print_line(uint64_t offset, const unsigned char *bytes,
			    size_t count)
{
	size_t i;

	printf("%08" PRIx64, offset);
	for (i = 0; i < LINE; i++) {
		if (i % (LINE / 2) == 0)
			putchar(' ');
		if (i < count)
			printf(" %02x", bytes[i]);
		else
			fputs("   ", stdout);
	}
	fputs("  |", stdout);
	for (i = 0; i < count; i++)
		putchar(bytes[i] >= ' ' && bytes[i] < 127 ? bytes[i] : '.');
	puts("|");
}

/* Prints as hexdump -C: a line '*' stands for lines that repeat the one before. */
static void print_hex(const unsigned char *data, const struct part *part)
{
	unsigned char last[LINE] = { 0 }, line[LINE] = { 0 };
	uint64_t done;
	bool folded = false;

	for (done = 0; done < part->length; done += LINE) {
		size_t count = part->length - done < LINE
				       ? (size_t)(part->length - done)
				       : LINE;

		/* read once: a device may write at the same time */
		memcpy(line, data + part->offset + done, count);
		if (done && count == LINE && !memcmp(line, last, LINE)) {
			if (!folded)
				puts("*");
			folded = true;
			continue;
		}
		folded = false;
		dump_print_line(part->offset + done, line, count);
		memcpy(last, line, LINE);
	}
	printf("%08" PRIx64 "\n", part->offset + part->length);
}

static json_t *hex_document(const unsigned char *bytes, uint64_t length)
{
	char *text = memory_new((size_t)length * 2 + 1, 1);
	json_t *value;
	uint64_t i;

	for (i = 0; i < length; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	value = json_string(text);
	free(text);
	return value;
}

static void dump_print_json(const struct reached *reached,
			    const struct part *part,
			    const struct elements *elements, const char *file)
{
	const unsigned char *data = dray_buffer_data(reached->buffer);
	json_t *root = json_object();
	char type[DRAY_DTYPE_TYPESTR_SIZE] = "";

	dray_dtype_format(elements->dtype, type, sizeof(type));
	document_number(root, "id", reached->info.id);
	document_number(root, "offset", part->offset);
	document_number(root, "length", part->length);
	if (file) {
		document_text(root, "file", file, strlen(file));
		document_word(root, "format", dump_format(file));
	} else {
		document_word(root, "format", "hex");
		document_set(root, "hex",
			     hex_document(data + part->offset, part->length));
	}
	document_print(root);
}

/* Shortens long output for people, and says so. */
static void dump_shorten(const struct request *request, struct part *part)
{
	char shown[QUANTITY_ROOM], all[QUANTITY_ROOM];

	if (option_value(request, &length_option) ||
	    part->length <= USUAL_LENGTH)
		return;
	fprintf(stderr, "dmactl: the first %s of %s; --length shows more\n",
		quantity_size(shown, USUAL_LENGTH, request->bytes),
		quantity_size(all, part->length, request->bytes));
	part->length = USUAL_LENGTH;
}

static enum exit_code dump_reached(const struct request *request,
				   const struct reached *reached,
				   struct part *part,
				   const struct elements *elements)
{
	const char *file = option_value(request, &output_option);

	if (!reach_mapped(reached, false) || !part_fit(reached, part))
		return EXIT_FAILED;
	if (file && !dump_file(file, reached, part, elements))
		return EXIT_FAILED;
	if (!file)
		dump_shorten(request, part);
	if (request->json)
		dump_print_json(reached, part, elements, file);
	else if (!file)
		print_hex(dray_buffer_data(reached->buffer), part);
	return EXIT_FINE;
}

/* Checks that the options go with each other. */
static bool is_sensible(const struct request *request)
{
	const char *file = option_value(request, &output_option);
	bool array = option_value(request, &dtype_option) ||
		     option_value(request, &shape_option);

	if (array && (!file || !dump_is_array(file))) {
		complain("dump: --dtype and --shape need -o FILE.npy or -o "
			 "FILE.png");
		return false;
	}
	if (file && !strcmp(file, "-") && request->json) {
		complain(
			"dump: raw bytes and --json cannot both go to standard "
			"output");
		return false;
	}
	return true;
}

static enum exit_code dump_run(const struct request *request)
{
	struct open_nodes nodes;
	struct reached reached;
	enum exit_code status;
	struct elements elements;
	struct part part;

	if (!is_sensible(request) || !part_given(request, &part) ||
	    !elements_given(request, &elements))
		return EXIT_USAGE;
	status = reach_operand(request, &nodes, &reached);
	if (status == EXIT_FINE) {
		status = dump_reached(request, &reached, &part, &elements);
		reach_close(&nodes, &reached);
	}
	elements_drop(&elements);
	return status;
}

static const char description[] =
	"Shows the bytes as the CPU sees them, in the format of hexdump -C; the\n"
	"first 4096, or as many as --length says.  With -o, writes all of them.\n"
	"\n"
	"  ID  the number in the first column of 'dmactl list', or @N for the\n"
	"      descriptor N that dmactl inherits\n"
	"\n"
	"A .npy file is of the type and shape of --dtype and --shape.  A .png\n"
	"file needs --shape H,W or H,W,C with 1 to 4 channels of u1: grey, grey\n"
	"and alpha, RGB, RGBA; or with H,W of u2.\n"
	"\n"
	"If a device has written the buffer, use 'dmactl sync' before.\n";

static const struct command_option *const options[] = {
	&home_node_option, &offset_option, &length_option,
	&output_option,	   &dtype_option,  &shape_option,
	&json_option,	   &bytes_option,  NULL,
};

const struct command dump_command = {
	.name = "dump",
	.operands = "ID",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "id",
	.options = options,
	.summary = "shows or saves the bytes of a buffer",
	.description = description,
	.run = dump_run,
};
