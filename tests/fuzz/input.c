// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Inputs: made, changed, written and read; see input.h.
 */
#include "../selftests/node.h"
#include "input.h"

const char *const kind_names[KINDS] = {
	[KIND_OPEN] = "open",
	[KIND_INFO] = "info",
	[KIND_HEAP_INFO] = "heap-info",
	[KIND_CHANNEL_INFO] = "channel-info",
	[KIND_ALLOC] = "alloc",
	[KIND_ADDRESS] = "address",
	[KIND_SYNC] = "sync",
	[KIND_SUBMIT] = "submit",
	[KIND_LIST] = "list",
	[KIND_BUFFER_INFO] = "buffer-info",
	[KIND_EXPORT] = "export",
	[KIND_ATTACH_USER] = "attach-user",
	[KIND_ATTACH_DMABUF] = "attach-dmabuf",
	[KIND_CANCEL] = "cancel",
	[KIND_RECLAIM] = "reclaim",
	[KIND_HEAP_MAP] = "heap-map",
	[KIND_REGISTER_AREA] = "register-area",
	[KIND_INTERRUPT_LINE] = "interrupt-line",
	[KIND_UNKNOWN] = "unknown",
	[KIND_TIMELINE] = "timeline",
	[KIND_PACKET] = "packet",
	[KIND_WAIT] = "wait",
	[KIND_FRAMES] = "frames",
	[KIND_RELEASE] = "release",
	[KIND_POINTS] = "points",
	[KIND_MMAP] = "mmap",
	[KIND_MUNMAP] = "munmap",
	[KIND_MADVISE] = "madvise",
	[KIND_MPROTECT] = "mprotect",
	[KIND_MREMAP] = "mremap",
	[KIND_MLOCK] = "mlock",
	[KIND_ANONYMOUS] = "anonymous",
	[KIND_TOUCH] = "touch",
	[KIND_COPY_IN] = "copy-in",
	[KIND_COPY_OUT] = "copy-out",
	[KIND_VMSPLICE] = "vmsplice",
	[KIND_DIRECT] = "direct",
	[KIND_RING] = "ring",
	[KIND_CLOSE] = "close",
	[KIND_DUP] = "dup",
	[KIND_REOPEN] = "reopen",
	[KIND_SEEK] = "seek",
	[KIND_POLL] = "poll",
	[KIND_SEND] = "send",
	[KIND_RECEIVE] = "receive",
	[KIND_CPU_SYNC] = "cpu-sync",
	[KIND_SET_NAME] = "set-name",
	[KIND_EXPORT_FENCE] = "export-fence",
	[KIND_IMPORT_FENCE] = "import-fence",
	[KIND_FENCE_WAIT] = "fence-wait",
	[KIND_FENCE_MERGE] = "fence-merge",
	[KIND_IMPORT] = "import",
	[KIND_DETACH] = "detach",
	[KIND_FOREIGN_MMAP] = "foreign-mmap",
	[KIND_FOREIGN] = "foreign",
	[KIND_FOREIGN_FENCE] = "foreign-fence",
	[KIND_FORK] = "fork",
	[KIND_REBIND] = "rebind",
};

/* How often, of all; what is not named: 8. */
static const unsigned char weights[KINDS] = {
	[KIND_OPEN] = 10,	  [KIND_ALLOC] = 40,	[KIND_SYNC] = 24,
	[KIND_SUBMIT] = 60,	  [KIND_EXPORT] = 12,	[KIND_ATTACH_USER] = 24,
	[KIND_MMAP] = 24,	  [KIND_TOUCH] = 16,	[KIND_RING] = 2,
	[KIND_UNKNOWN] = 2,	  [KIND_CLOSE] = 12,	[KIND_FORK] = 2,
	[KIND_REBIND] = 1,	  [KIND_INFO] = 3,	[KIND_MLOCK] = 4,
	[KIND_SET_NAME] = 3,	  [KIND_HEAP_INFO] = 4, [KIND_CHANNEL_INFO] = 4,
	[KIND_RECEIVE] = 12,	  [KIND_FOREIGN] = 6,	[KIND_FENCE_WAIT] = 6,
	[KIND_FOREIGN_FENCE] = 2, [KIND_SEEK] = 3,	[KIND_TIMELINE] = 20,
	[KIND_PACKET] = 40,	  [KIND_FRAMES] = 12,	[KIND_RELEASE] = 12,
};

uint64_t pick(uint64_t *state, uint64_t below)
{
	return next_random(state) % below;
}

uint64_t value_pick(uint64_t *state)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		3,
		7,
		8,
		15,
		16,
		63,
		64,
		65,
		127,
		128,
		4095,
		4096,
		4097,
		8192,
		65535,
		65536,
		1 << 20,
		4 << 20,
		64 << 20,
		INT32_MAX,
		1ull << 31,
		UINT32_MAX,
		1ull << 32,
		1ull << 47,
		INT64_MAX,
		1ull << 63,
		UINT64_MAX,
		UINT64_MAX - 4095,
		0xffff800000000000ull,
	};
	uint64_t value = values[pick(state, sizeof(values) / 8)];

	switch (pick(state, 6)) {
	case 0:
		return value + pick(state, 5) - 2;
	case 1:
		return next_random(state) >> pick(state, 64);
	case 2:
		return 1ull << pick(state, 64);
	}
	return value;
}

/* Pages, a few, or something else; much memory takes long, and is rare. */
static uint64_t size_pick(uint64_t *state)
{
	if (!pick(state, 40))
		return pick(state, 2) ? 1 + pick(state, 1 << 20) : 2 << 20;
	switch (pick(state, 10)) {
	case 0:
		return value_pick(state);
	case 1:
		return 1 + pick(state, 65536);
	case 2:
		return 1 + pick(state, 4096);
	}
	return 4096 << pick(state, 5);
}

static uint64_t offset_pick(uint64_t *state)
{
	switch (pick(state, 8)) {
	case 0:
		return value_pick(state);
	case 1:
		return pick(state, 65536);
	case 2:
	case 3:
		return 64 * pick(state, 256);
	case 4:
		return 4096 * pick(state, 16);
	}
	return 0;
}

static uint32_t kind_pick(uint64_t *state)
{
	uint32_t total = 0, kind;
	uint64_t at;

	for (kind = 0; kind < KINDS; kind++)
		total += weights[kind] ? weights[kind] : 8;
	at = pick(state, total);
	for (kind = 0; kind < KINDS - 1; kind++) {
		total = weights[kind] ? weights[kind] : 8;
		if (at < total)
			break;
		at -= total;
	}
	return kind;
}

/* A flaw is rare, or nothing would get beyond the first check. */
static void flaw_pick(struct call *call, uint64_t *state)
{
	call->flaw = pick(state, 8) ? 0 : (uint32_t)next_random(state) | 1;
	call->value = call->flaw ? value_pick(state) : 0;
}

static uint32_t object_pick(uint64_t *state)
{
	uint32_t object = (uint32_t)pick(state, 8);

	/* few, so that calls meet each other; see object.h for the bits */
	if (!pick(state, 4))
		object = (uint32_t)pick(state, 32);
	if (!pick(state, 40))
		object |= (uint32_t)pick(state, 4) << 8;
	return object;
}

static void call_make(struct call *call, uint32_t kind, uint64_t *state)
{
	call->kind = kind;
	call->a = object_pick(state);
	call->b = object_pick(state);
	call->c = object_pick(state);
	call->size = size_pick(state);
	call->offset = offset_pick(state);
	call->seed = next_random(state);
	flaw_pick(call, state);
}

void input_make(struct input *input, uint64_t *state)
{
	static const uint32_t start[] = { KIND_OPEN, KIND_ALLOC, KIND_ALLOC,
					  KIND_MMAP };
	uint32_t i = 0;

	input->fresh = !pick(state, 16);
	input->count = 6 + (uint32_t)pick(state, INPUT_CALLS - 5);
	if (input->fresh)
		for (; i < sizeof(start) / sizeof(start[0]); i++) {
			call_make(&input->calls[i], start[i], state);
			input->calls[i].flaw = 0;
			input->calls[i].a = input->calls[i].c = 0;
		}
	for (; i < input->count; i++)
		call_make(&input->calls[i], kind_pick(state), state);
}

static void call_change(struct call *call, uint64_t *state)
{
	switch (pick(state, 9)) {
	case 0:
		call->a = object_pick(state);
		break;
	case 1:
		call->b = object_pick(state);
		break;
	case 2:
		call->c = object_pick(state);
		break;
	case 3:
		call->size = size_pick(state);
		break;
	case 4:
		call->offset = offset_pick(state);
		break;
	case 5:
		call->seed = next_random(state);
		break;
	case 6:
		call->size += pick(state, 3) - 1;
		break;
	default:
		flaw_pick(call, state);
	}
}

/* Takes a call in at some place, for the last where there is no room. */
static void input_insert(struct input *input, const struct call *call,
			 uint64_t *state)
{
	uint32_t at = (uint32_t)pick(state, input->count + 1);

	if (input->count == INPUT_CALLS)
		input->count--;
	if (at > input->count)
		at = input->count;
	memmove(&input->calls[at + 1], &input->calls[at],
		(input->count - at) * sizeof(*call));
	input->calls[at] = *call;
	input->count++;
}

void input_change(struct input *input, const struct input *other,
		  uint64_t *state)
{
	uint64_t changes = 1 + pick(state, 4);
	struct call call;
	uint32_t at;

	while (changes--) {
		at = (uint32_t)pick(state, input->count);
		switch (pick(state, 6)) {
		case 0:
			call_make(&call, kind_pick(state), state);
			input_insert(input, &call, state);
			break;
		case 1:
			call = other->calls[pick(state, other->count)];
			input_insert(input, &call, state);
			break;
		case 2:
			if (input->count < 2)
				break;
			input->count--;
			memmove(&input->calls[at], &input->calls[at + 1],
				(input->count - at) * sizeof(call));
			break;
		default:
			call_change(&input->calls[at], state);
		}
	}
}

void call_print(const struct call *call, FILE *file)
{
	fprintf(file,
		"%s %x %x %x %" PRIx64 " %" PRIx64 " %" PRIx64 " %x %" PRIx64
		"\n",
		kind_names[call->kind], call->a, call->b, call->c, call->size,
		call->offset, call->seed, call->flaw, call->value);
}

void input_print(const struct input *input, FILE *file)
{
	fputs(input->fresh ? "fresh\n" : "input\n", file);
	for (uint32_t i = 0; i < input->count; i++)
		call_print(&input->calls[i], file);
}

static bool call_read(struct call *call, const char *line)
{
	char name[32];

	memset(call, 0, sizeof(*call));
	if (sscanf(line,
		   "%31s %x %x %x %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %x %" SCNx64,
		   name, &call->a, &call->b, &call->c, &call->size,
		   &call->offset, &call->seed, &call->flaw, &call->value) != 9)
		return false;
	for (call->kind = 0; call->kind < KINDS; call->kind++)
		if (!strcmp(name, kind_names[call->kind]))
			return true;
	return false;
}

/* Stops before the line that begins the next. */
bool input_read(struct input *input, FILE *file)
{
	char line[256];
	bool begun = false;
	long at = ftell(file);

	memset(input, 0, sizeof(*input));
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "fresh", 5) || !strncmp(line, "input", 5)) {
			if (begun) {
				fseek(file, at, SEEK_SET);
				break;
			}
			begun = true;
			input->fresh = line[0] == 'f';
		} else if (line[0] != '#' && line[0] != '\n') {
			if (!begun || input->count == INPUT_CALLS ||
			    !call_read(&input->calls[input->count], line)) {
				fprintf(stderr, "no input: %s", line);
				return false;
			}
			input->count++;
		}
		at = ftell(file);
	}
	return input->count;
}
