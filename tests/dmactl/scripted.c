// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A stand-in for the library's nodes, for what the real module shows only by
 * chance: a buffer that goes away between two calls, a list that grows, a
 * device that is pulled out, names that attack the terminal.  dmactl's own
 * sources are linked with it into dmactl-scripted; the real library and the
 * real module are tested by with-module.sh.
 *
 * DRAY_SCENE	what there is: "plain", "empty", "hostile", "huge", "growing",
 *		"crowded", "single", "vanishing", "held", "attached", "others",
 *		"many", "swelling", "unloaded" or "busy", see scripted_machine.c
 * DRAY_FAIL	CALL:ERRNO[:NODE], a call that fails: "list:19:1" is ENODEV
 *		from LIST on dray1
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dray/memory.h>
#include <dray/registers.h>

#include "machine/identify.h"
#include "scripted.h"
#include "scripted_caches.h"
#include "scripted_many.h"
#include "scripted_machine.h"

#define NODE_COUNT 2

static struct dray_node nodes[NODE_COUNT] = { { 0 }, { 1 } };
static char sentence[128];

bool is_scene(const char *name)
{
	const char *scene = getenv("DRAY_SCENE");

	return !strcmp(scene ? scene : "plain", name);
}

int fail(const char *call, int error)
{
	snprintf(sentence, sizeof(sentence), "scripted %s: %s", call,
		 strerror(error));
	return -error;
}

int scripted_failure(const char *call, unsigned int node)
{
	const char *script = getenv("DRAY_FAIL");
	char name[32];
	unsigned int only;
	int error;
	int fields;

	if (!script)
		return 0;
	fields = sscanf(script, "%31[a-z]:%d:%u", name, &error, &only);
	if (fields < 2 || strcmp(name, call))
		return 0;
	return fields == 3 && only != node ? 0 : fail(call, error);
}

static uint64_t buffer_count(void)
{
	static uint64_t grown;

	if (is_scene("empty"))
		return 0;
	if (has_many())
		return MANY;
	if (is_scene("single"))
		return 1;
	if (is_scene("busy"))
		return busy_count();
	if (is_scene("crowded"))
		return UINT64_C(1) << 50;
	/* one more at each look, until there are 40 */
	if (is_scene("growing"))
		return grown < 40 ? ++grown : grown;
	return is_scene("attached") ? 6 : 3;
}

unsigned int scripted_index(const struct dray_node *node)
{
	return node->index;
}

const char *scripted_sentence(void)
{
	return sentence;
}

const char *dray_version(void)
{
	return "scripted";
}

static bool is_unloaded(void)
{
	if (!is_scene("unloaded") && !scripted_unloaded())
		return false;
	snprintf(sentence, sizeof(sentence), "the dray module is not loaded");
	return true;
}

int dray_node_names(char names[][DRAY_NAME_LEN], size_t room, size_t *count)
{
	int error = scripted_failure("names", 0);

	if (error)
		return error;
	if (is_unloaded())
		return -ENODEV;
	for (size_t i = 0; i < NODE_COUNT && i < room; i++)
		snprintf(names[i], DRAY_NAME_LEN, "dray%zu", i);
	*count = NODE_COUNT;
	return 0;
}

int dray_node_open(const char *spec, struct dray_node **out)
{
	unsigned int index;
	int error;

	if (is_unloaded())
		return -ENODEV;
	if (sscanf(spec, "kernel:dray%u", &index) != 1 || index >= NODE_COUNT)
		return fail("open", EINVAL);
	error = scripted_failure("open", index);
	if (!error)
		*out = &nodes[index];
	return error;
}

void dray_node_unref(struct dray_node *node)
{
	if (node != &nodes[node->index])
		abort();
}

int dray_node_info(struct dray_node *node, struct dray_info *info, size_t size)
{
	struct dray_info known = {
		.abi_version = DRAY_ABI_VERSION,
		.flags = (node->index ? DRAY_NODE_VIRTUAL
				      : DRAY_NODE_SUBMIT | 1u << 20) |
			 (caches_claimed() ? DRAY_NODE_COHERENT : 0),
		.dma_mask = node->index ? UINT64_MAX : 0xffffffff,
		.cache_line = 64,
		.dma_alignment = 128,
		.heap_count = node->index ? 1 : 4,
		.channel_count = node->index ? 0 : 2,
		.max_runs = 65536,
		.max_bytes = 1024 * MIB,
		.queue_depth = 64,
		.page_size = 4096,
		.register_count = is_scene("registers") && !node->index,
		.interrupt_count = is_scene("registers") && !node->index,
		.version = "0.1.0",
	};

	snprintf(known.name, sizeof(known.name), "dray%u", node->index);
	snprintf(known.device, sizeof(known.device), "%s",
		 is_scene("hostile") ? "dev\033]0;title\a" : "soc:dray");
	memcpy(info, &known, size < sizeof(known) ? size : sizeof(known));
	return scripted_failure("info", node->index);
}

int dray_node_heap(struct dray_node *node, uint32_t index,
		   struct dray_heap_info *info, size_t size)
{
	static const char *const names[] = { "reserved", "other", "pages",
					     "new" };
	static const uint32_t types[] = { DRAY_HEAP_RESERVED, DRAY_HEAP_CMA,
					  DRAY_HEAP_PAGES, 77 };
	struct dray_heap_info known = {
		.index = index,
		.type = types[index],
		.flags = index ? DRAY_HEAP_SHARED
			       : DRAY_HEAP_PINNABLE | DRAY_HEAP_DEFAULT,
		.buffers = 3,
		.total = 64 * MIB,
		.free = index == 1 ? 0 : 16 * MIB,
		.used = 32 * MIB,
		.quarantined = index ? 8 * MIB : 16 * MIB,
		.held = index == 1 ? MIB : 0,
		.user_limit = 48 * MIB,
		.user_used = 4096,
		.largest_free = index == 1 ? 0 : 4 * MIB,
		/* the page allocator has a largest piece */
		.largest_request = index == 2 ? 5 * MIB : 64 * MIB,
		.modes = 1u << DRAY_MODE_CACHED | 1u << DRAY_MODE_DEVICE,
		.charged = 40 * MIB,
	};

	if (has_many() && !index)
		known.buffers = MANY;
	/* more is free by the time that the longest run is looked for */
	if (index == 3)
		known.largest_free = 17 * MIB;
	snprintf(known.name, sizeof(known.name), "%s", names[index]);
	memcpy(info, &known, size < sizeof(known) ? size : sizeof(known));
	return scripted_failure("heap", node->index);
}

/* tx0 without a ring; rx0, whose ring is full */
static void make_stream(struct dray_channel_info *info)
{
	snprintf(info->name, sizeof(info->name), "%s",
		 info->index ? "rx0" : "tx0");
	info->flags = DRAY_CHANNEL_OPEN |
		      (info->index ? DRAY_CHANNEL_RECV : DRAY_CHANNEL_SEND);
	info->packets = 1000 + info->index;
	if (!info->index)
		return;
	info->lost = 12;
	info->held_back = 3;
	info->ring_frames = 8;
	info->ring_ready = 8;
}

int dray_node_channel(struct dray_node *node, uint32_t index,
		      struct dray_channel_info *info, size_t size)
{
	struct dray_channel_info known = {
		.index = index,
		.flags = DRAY_CHANNEL_COPY |
			 (index ? DRAY_CHANNEL_DEAD | DRAY_CHANNEL_OPEN : 0),
		.alignment = 1,
		.max_segment = index ? 1024 * MIB : 0,
		.submitted = 7,
		.bytes = 8 * MIB,
		.failed = index,
	};

	snprintf(known.name, sizeof(known.name), "channel%u", index);
	if (index)
		snprintf(known.device, sizeof(known.device), "dma0chan1");
	if (is_scene("busy"))
		busy_channel(&known);
	if (is_scene("streams"))
		make_stream(&known);
	memcpy(info, &known, size < sizeof(known) ? size : sizeof(known));
	return scripted_failure("channel", node->index);
}

int dray_node_register_area(struct dray_node *node, uint32_t index,
			    struct dray_register_area *area, size_t size)
{
	struct dray_register_area known = {
		.index = index,
		.size = 8192,
		.mappable = 4096,
		.name = "control",
		.fd = -1,
	};

	memcpy(area, &known, size < sizeof(known) ? size : sizeof(known));
	return scripted_failure("area", node->index);
}

int dray_node_interrupt_line(struct dray_node *node, uint32_t index,
			     struct dray_interrupt_line *line, size_t size)
{
	struct dray_interrupt_line known = {
		.index = index,
		.count = 7,
		.name = "done",
		.fd = -1,
	};

	memcpy(line, &known, size < sizeof(known) ? size : sizeof(known));
	return scripted_failure("line", node->index);
}

/* A register of node 0 reads as 0xabc00000 and its offset; a write is printed. */
int dray_registers_map(struct dray_node *node, const char *name,
		       struct dray_registers **out)
{
	*out = NULL;
	return strcmp(name, "control") ? -EINVAL
				       : scripted_failure("map", node->index);
}

int dray_registers_read(const struct dray_registers *registers, uint64_t offset,
			uint32_t *value)
{
	(void)registers;
	*value = 0xabc00000 | (uint32_t)offset;
	return offset < 4096 ? 0 : -EINVAL;
}

int dray_registers_write(struct dray_registers *registers, uint64_t offset,
			 uint32_t value)
{
	(void)registers;
	fprintf(stderr, "written: %x at %x\n", value, (unsigned int)offset);
	return 0;
}

void dray_registers_unref(struct dray_registers *registers)
{
	(void)registers;
}

int dray_node_list(struct dray_node *node, uint64_t *ids, size_t room,
		   size_t *count)
{
	uint64_t there = buffer_count();

	for (uint64_t i = 0; i < there && i < room; i++)
		ids[i] = there - i;
	*count = there;
	return scripted_failure("list", node->index);
}

/* The second buffer is held, and one that this process may not see. */
int dray_node_reclaim(struct dray_node *node, uint64_t id,
		      struct dray_reclaim *freed, size_t size)
{
	int error = scripted_failure("reclaim", node->index);
	bool attached = is_scene("attached");
	struct dray_reclaim known = {
		.count = id ? 1 : 2,
		.attachments = attached,
		.bytes = (id ? 2 : 5) * MIB,
	};

	memcpy(freed, &known, size < sizeof(known) ? size : sizeof(known));
	if (!error && id && id != (attached ? 4 : 2))
		error = fail("reclaim", ENOENT);
	return error;
}

/* As the kernel's fields: zero after the text, and full without an end. */
static void set_field(char *field, size_t room, const char *text)
{
	size_t length = strlen(text);

	memset(field, 0, room);
	memcpy(field, text, length < room ? length : room);
}

static void set_names(struct dray_buffer_info *info, const char *comm,
		      const char *name)
{
	set_field(info->comm, sizeof(info->comm), comm);
	set_field(info->name, sizeof(info->name), name);
}

static void make_hostile(struct dray_buffer_info *info)
{
	if (info->id == 1)
		set_names(info, "a b\n9 9 root", "\033[2Jgone\\\b\177\r\n");
	else if (info->id == 2)
		set_names(info, "0123456789abcdef", "caf\xc3\xa9 \xff\xc3");
	else
		set_names(info,
			  "\xc2\x9b"
			  "31m",
			  "rtl \xe2\x80\xae \xe5\xae\xbd");
}

/* No process has a descriptor of what is not there. */
int identify_open(const char *node)
{
	(void)node;
	return -1;
}

uint64_t identify(int node, int fd, bool *read_only)
{
	(void)node;
	(void)fd;
	(void)read_only;
	return 0;
}

int identify_segments(int node, int fd, struct dray_segment **segments,
		      uint32_t *count)
{
	(void)node;
	(void)fd;
	(void)segments;
	(void)count;
	return -ENODEV;
}

/* 4: pinned memory, and held; 5: another driver's dma-buf; 6: who knows */
static void make_attached(struct dray_buffer_info *info)
{
	*info = (struct dray_buffer_info){
		.id = info->id,
		.size = info->size,
		.age_ns = info->age_ns,
		.heap = DRAY_HEAP_ANY,
		.pid = info->pid,
		.transfers = info->id == 5,
		.kind = info->id == 6 ? 77 : (uint32_t)info->id - 3,
		.flags = info->id == 4
				 ? DRAY_BUFFER_ORPHAN | DRAY_BUFFER_DISCLOSED |
					   DRAY_BUFFER_HELD
				 : DRAY_BUFFER_READ_ONLY,
	};
	set_names(info, "python3", info->id == 5 ? "video" : "");
	if (info->id == 5)
		set_field(info->heap_name, sizeof(info->heap_name), "vivid");
	set_field(info->node_name, sizeof(info->node_name), "dray1");
}

int dray_node_buffer_info(struct dray_node *node, uint64_t id,
			  struct dray_buffer_info *info, size_t size)
{
	/* microseconds: 5 s, 3 min 12 s, 2 h 5 min, 40 days */
	static const uint64_t ages[] = { 5000000, 192000000, 7500000000,
					 3456000000000 };
	struct dray_buffer_info known = {
		.id = id,
		.size = id * MIB,
		.age_ns = ages[id & 3 ? (id & 3) - 1 : 3] * 1000,
		.sync_bytes = id == 1 ? 512 : 3 * MIB / 2,
		.sync_ns = id == 1 ? 7000 : 2500000,
		/* the third is in a heap of dray0 alone */
		.heap = id < 3	      ? 0
			: node->index ? DRAY_HEAP_ANY
				      : 1,
		.mode = id < 4 ? (uint32_t)id - 1 : 9,
		.mapped = 1,
		.attachments = 2,
		.transfers = id == 2,
		.pid = id == 3 ? 0 : 100 + (int32_t)id,
		.flags = id == 2 ? DRAY_BUFFER_ORPHAN | DRAY_BUFFER_DISCLOSED
				 : 0,
	};

	if (is_scene("vanishing") && id == 2)
		return fail("buffer", ENOENT);
	if (is_scene("held") && id == 2)
		known.flags |= DRAY_BUFFER_HELD;
	if (is_scene("huge")) {
		known.size = (UINT64_C(1) << 62) + 1;
		known.heap = DRAY_HEAP_ANY;
		known.age_ns = UINT64_MAX;
		known.sync_bytes = UINT64_MAX;
		known.uid = UINT32_MAX - 1;
	}
	snprintf(known.heap_name, sizeof(known.heap_name), "%s",
		 id < 3 ? "reserved" : "other");
	set_names(&known, "python3", id == 3 ? "" : "frame");
	if (is_scene("hostile"))
		make_hostile(&known);
	if (has_many())
		make_one_of_many(&known);
	if (is_scene("attached") && id > 3)
		make_attached(&known);
	if (is_scene("busy"))
		busy_buffer(&known);
	memcpy(info, &known, size < sizeof(known) ? size : sizeof(known));
	return scripted_failure("buffer", node->index);
}
