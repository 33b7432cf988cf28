/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the fuzzer does is a list of inputs, each a few calls one after the
 * other.  A call has one form for all kinds: which objects it uses, two
 * numbers that matter most, a seed from which everything else follows, and
 * perhaps a flaw, a word of what is passed that is overwritten.  So a call can
 * be made, changed, written down and done again without knowing what it does.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include "../selftests/system.h"

#define INPUT_CALLS 12

enum kind {
	/* calls of a node; run_node.c */
	KIND_OPEN,
	KIND_INFO,
	KIND_HEAP_INFO,
	KIND_CHANNEL_INFO,
	KIND_ALLOC,
	KIND_ADDRESS,
	KIND_SYNC,
	KIND_SUBMIT,
	KIND_LIST,
	KIND_BUFFER_INFO,
	KIND_EXPORT,
	KIND_ATTACH_USER,
	KIND_ATTACH_DMABUF,
	KIND_CANCEL,
	KIND_RECLAIM,
	KIND_HEAP_MAP,
	KIND_REGISTER_AREA,
	KIND_INTERRUPT_LINE,
	KIND_UNKNOWN,
	/* streams; run_stream.c */
	KIND_TIMELINE,
	KIND_PACKET,
	KIND_WAIT,
	KIND_FRAMES,
	KIND_RELEASE,
	KIND_POINTS,
	/* mappings; run_memory.c */
	KIND_MMAP,
	KIND_MUNMAP,
	KIND_MADVISE,
	KIND_MPROTECT,
	KIND_MREMAP,
	KIND_MLOCK,
	KIND_ANONYMOUS,
	KIND_TOUCH,
	KIND_COPY_IN,
	KIND_COPY_OUT,
	KIND_VMSPLICE,
	KIND_DIRECT,
	KIND_RING,
	/* descriptors; run_files.c */
	KIND_CLOSE,
	KIND_DUP,
	KIND_REOPEN,
	KIND_SEEK,
	KIND_POLL,
	KIND_SEND,
	KIND_RECEIVE,
	KIND_CPU_SYNC,
	KIND_SET_NAME,
	KIND_EXPORT_FENCE,
	KIND_IMPORT_FENCE,
	KIND_FENCE_WAIT,
	KIND_FENCE_MERGE,
	/* others; run_outside.c */
	KIND_IMPORT,
	KIND_DETACH,
	KIND_FOREIGN_MMAP,
	KIND_FOREIGN,
	KIND_FOREIGN_FENCE,
	KIND_FORK,
	KIND_REBIND,
	KINDS
};

struct call {
	uint32_t kind;
	uint32_t a, b, c; /* objects; see object.h */
	uint64_t size;
	uint64_t offset;
	uint64_t seed;
	uint32_t flaw; /* 0: none; else which word is overwritten */
	uint64_t value; /* with this */
};

struct input {
	bool fresh; /* starts with no object */
	uint32_t count;
	struct call calls[INPUT_CALLS];
};

extern const char *const kind_names[KINDS];

/* An input of its own, and one that is like another. */
void input_make(struct input *input, uint64_t *state);
void input_change(struct input *input, const struct input *other,
		  uint64_t *state);

/* As text: a line "input" or "fresh", and a line for each call. */
void call_print(const struct call *call, FILE *file);
void input_print(const struct input *input, FILE *file);

/* False at the end, or where the text is none. */
bool input_read(struct input *input, FILE *file);

/* A number at which things tend to break. */
uint64_t value_pick(uint64_t *state);

/* Below a bound. */
uint64_t pick(uint64_t *state, uint64_t below);

#endif
