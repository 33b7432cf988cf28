// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Findings in their order. */
#include <stdlib.h>

#include "cli.h"
#include "findings.h"

void report(struct findings *findings, enum severity severity, const char *rule,
	    const struct tree_node *node, const char *format, ...)
{
	struct dt_finding *finding;
	va_list args;

	findings->list = memory_resize(findings->list, findings->count + 1,
				       sizeof(*findings->list));
	finding = &findings->list[findings->count++];
	findings->of[severity]++;
	va_start(args, format);
	*finding = (struct dt_finding){
		.severity = severity,
		.rule = rule,
		.path = tree_path(node),
		.sentence = text_format_list(format, args),
	};
	va_end(args);
}

void mend(struct findings *findings, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	findings->list[findings->count - 1].mend =
		text_format_list(format, args);
	va_end(args);
}

void findings_drop(struct findings *findings)
{
	size_t i;

	for (i = 0; i < findings->count; i++) {
		free(findings->list[i].path);
		free(findings->list[i].sentence);
		free(findings->list[i].mend);
	}
	free(findings->list);
	*findings = (struct findings){ 0 };
}

const char *severity_word(enum severity severity)
{
	static const char *const words[SEVERITY_COUNT] = { "error", "warning",
							   "note" };

	return words[severity];
}
