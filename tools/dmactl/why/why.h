/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The findings of dmactl why: the answer, the owners of the memory, and ways out. */
#ifndef DMACTL_WHY_H
#define DMACTL_WHY_H

#include "base/gather.h"
#include "machine/holders.h"
#include "why_help.h"

/* A buffer that is in the way. */
struct why_holder {
	struct buffer_entry entry;
	uint64_t bytes; /* of it that are needed */
	struct holder_list keepers; /* processes, if its owner is gone */
	char lent_to[32]; /* the engine of a loan, no zero if full; empty: none */
};

enum why_kind {
	WHY_NOTHING, /* no freed memory would help */
	WHY_RANGE, /* a range of the heap */
	WHY_LIMIT, /* bytes below the heap's limit, or below the user's */
	WHY_LOCKED, /* bytes below the limit of locked memory */
};

/* The memory of a heap that must be freed. */
struct why_need {
	enum why_kind kind;
	uint32_t heap;
	uint64_t bytes;
	struct plan_window window; /* of a range */
	struct why_holder *holders;
	size_t count;
	/* Bytes of a range that are not the visible buffers'. */
	uint64_t others; /* buffers that the caller may not see */
	uint64_t quarantined;
	uint64_t system;
};

struct why_advice {
	const char *kind; /* for programs */
	char *text; /* safe for a terminal */
	char *command; /* to type, or NULL */
};

struct why_finding {
	const struct open_node *node;
	struct plan_request request;
	struct plan_node plan;
	struct plan_answer answer;
	uint32_t heap; /* as of plan_decide() */
	struct why_need need;
	struct why_advice *advice;
	size_t advice_count;
};

/* Decides, and looks for the memory that is needed; false after a complaint. */
bool why_find(struct why_finding *finding);
void why_free(struct why_finding *finding);

/* Whether the owner of a holder lives, and has none before it. */
bool why_is_first_of_process(const struct why_finding *finding, size_t at);

/* Asks the owners of the needed memory for its loans. */
void why_find_loans(struct why_finding *finding);

/* Fills the advice. */
void why_advise(struct why_finding *finding);

/* "yes", "likely", "likely not" or "no". */
const char *why_word(const struct plan_answer *answer);

/* Returns libdray's sentence for the reason, for free(). */
char *why_sentence(const struct plan_answer *answer);

/* The escaped name of a heap of the node; for free(). */
char *why_heap_name(const struct why_finding *finding, uint32_t heap);

/* Whether ALLOC would ask this heap. */
bool why_asks(const struct why_finding *finding, uint32_t heap);

void why_print(const struct request *request,
	       const struct why_finding *finding);
void why_print_json(const struct why_finding *finding);

#endif /* DMACTL_WHY_H */
