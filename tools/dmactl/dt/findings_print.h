/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Findings for people, and as JSON. */
#ifndef DMACTL_DT_FINDINGS_PRINT_H
#define DMACTL_DT_FINDINGS_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "base/command.h"
#include "findings.h"

/* Prints the worst first, and a line with the totals. */
void findings_print(const struct findings *findings,
		    const struct request *request, FILE *file);

json_t *findings_document(const struct findings *findings, const char *source);

#endif /* DMACTL_DT_FINDINGS_PRINT_H */
