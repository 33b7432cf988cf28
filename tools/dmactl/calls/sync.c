// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl sync: hands a part of a buffer over between the CPU and the device. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "reach.h"

static const struct command_option for_option = {
	.name = "for",
	.value = "OWNER",
	.offers = "cpu|device",
	.text = "the side that reads or writes next: cpu or device",
};

static const struct command_option direction_option = {
	.name = "direction",
	.value = "WAY",
	.offers = "to-device|from-device|both",
	.text = "the device's transfer: to-device, from-device or\n"
		"both; default: to-device for the device, from-device\n"
		"for the CPU",
};

/* The word of each value, up to NULL. */
struct sync_choice {
	const char *word;
	uint32_t value;
};

static const struct sync_choice owners[] = {
	{ "cpu", DRAY_SYNC_FOR_CPU },
	{ "device", DRAY_SYNC_FOR_DEVICE },
	{ NULL, 0 },
};

static const struct sync_choice directions[] = {
	{ "to-device", DRAY_TO_DEVICE },
	{ "from-device", DRAY_FROM_DEVICE },
	{ "both", DRAY_BIDIRECTIONAL },
	{ NULL, 0 },
};

/* Finds @word, or if it is NULL the word of @value; NULL if there is none. */
static const struct sync_choice *sync_choose(const struct sync_choice *choices,
					     const char *word, uint32_t value)
{
	for (; choices->word; choices++)
		if (word ? !strcmp(choices->word, word)
			 : choices->value == value)
			return choices;
	return NULL;
}

struct handover {
	const struct sync_choice *owner;
	const struct sync_choice *direction;
	struct part part;
};

static bool read_handover(const struct request *request,
			  struct handover *handover)
{
	const char *owner = option_value(request, &for_option);
	const char *direction = option_value(request, &direction_option);
	uint32_t usual = DRAY_TO_DEVICE;

	handover->owner = owner ? sync_choose(owners, owner, 0) : NULL;
	if (!handover->owner) {
		complain("sync: give --for cpu or --for device");
		return false;
	}
	if (handover->owner->value == DRAY_SYNC_FOR_CPU)
		usual = DRAY_FROM_DEVICE;
	handover->direction = sync_choose(directions, direction, usual);
	if (!handover->direction) {
		complain("sync: no direction '%s': there are to-device, "
			 "from-device and both",
			 direction);
		return false;
	}
	return part_given(request, &handover->part);
}

static void print_synced(const struct request *request, uint64_t id,
			 const struct handover *handover, bool needed,
			 uint64_t time_ns)
{
	char size[QUANTITY_ROOM], time[QUANTITY_ROOM];
	json_t *root;

	if (request->json) {
		root = json_object();
		document_number(root, "id", id);
		document_number(root, "offset", handover->part.offset);
		document_number(root, "length", handover->part.length);
		document_word(root, "for", handover->owner->word);
		document_word(root, "direction", handover->direction->word);
		document_set(root, "needed", json_boolean(needed));
		document_number(root, "time_ns", time_ns);
		document_print(root);
	} else if (needed) {
		printf("synced: %s%s for the %s in %s\n",
		       quantity_size(size, handover->part.length,
				     request->bytes),
		       request->bytes ? " bytes" : "",
		       handover->owner->value == DRAY_SYNC_FOR_CPU ? "CPU"
								   : "device",
		       quantity_time(time, time_ns));
	} else {
		printf("not needed: the device and the CPU always see the same "
		       "bytes of this buffer\n");
	}
}

static enum exit_code sync_reached(const struct request *request,
				   const struct reached *reached,
				   struct handover *handover)
{
	const struct open_node *node = reached->node;
	bool needed = dray_node_needs_sync(node->node) &&
		      reached->info.mode == DRAY_MODE_CACHED;
	struct dray_region region = { .buffer = reached->buffer, .rows = 1 };
	uint64_t start;
	int ret;

	if (!part_fit(reached, &handover->part))
		return EXIT_FAILED;
	region.offset = handover->part.offset;
	region.width = handover->part.length;
	start = clock_now();
	ret = dray_node_sync(node->node, handover->owner->value,
			     handover->direction->value, &region, 1);
	if (ret) {
		node_complain(node, "sync", ret);
		return EXIT_FAILED;
	}
	print_synced(request, reached->info.id, handover, needed,
		     clock_now() - start);
	return EXIT_FINE;
}

static enum exit_code sync_run(const struct request *request)
{
	struct handover handover;
	struct open_nodes nodes;
	struct reached reached;
	enum exit_code status;

	if (!read_handover(request, &handover))
		return EXIT_USAGE;
	status = reach_operand(request, &nodes, &reached);
	if (status != EXIT_FINE)
		return status;
	status = sync_reached(request, &reached, &handover);
	reach_close(&nodes, &reached);
	return status;
}

static const char description[] =
	"Cleans or invalidates the CPU's cache lines of a buffer, or of a part of\n"
	"it: for the device before that accesses the memory, for the CPU after\n"
	"the device has written it.\n"
	"\n"
	"  ID  the number in the first column of 'dmactl list', or @N for the\n"
	"      descriptor N that dmactl inherits\n";

static const struct command_option *const options[] = {
	&home_node_option, &for_option,	 &direction_option, &offset_option,
	&length_option,	   &json_option, &bytes_option,	    NULL,
};

const struct command sync_command = {
	.name = "sync",
	.operands = "ID",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "id",
	.options = options,
	.summary = "hands a buffer to the CPU or the device",
	.description = description,
	.run = sync_run,
};
