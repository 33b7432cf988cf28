/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Results of a check: each with its severity, the rule that was broken, the node,
 * a sentence, and how to mend it.
 */
#ifndef DMACTL_DT_FINDINGS_H
#define DMACTL_DT_FINDINGS_H

#include "tree.h"

enum severity {
	SEVERITY_ERROR, /* the tree promises it, and dray lacks it */
	SEVERITY_WARNING, /* it works in part, or not on every kernel */
	SEVERITY_NOTE,
	SEVERITY_COUNT,
};

struct dt_finding {
	enum severity severity;
	const char *rule; /* a word for programs, as "region-overlap" */
	char *path;
	char *sentence;
	char *mend; /* an instruction, or NULL */
};

struct findings {
	struct dt_finding *list;
	size_t count;
	size_t of[SEVERITY_COUNT];
};

/* Adds a finding about @node. */
void report(struct findings *findings, enum severity severity, const char *rule,
	    const struct tree_node *node, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Adds the remedy of the last finding. */
void mend(struct findings *findings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void findings_drop(struct findings *findings);

/* "error", "warning" or "note". */
const char *severity_word(enum severity severity);

#endif /* DMACTL_DT_FINDINGS_H */
