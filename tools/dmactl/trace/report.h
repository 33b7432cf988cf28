/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* dmactl report: a recording summed up as text, as JSON and as a picture. */
#ifndef DMACTL_REPORT_H
#define DMACTL_REPORT_H

#include "base/command.h"
#include "base/picture.h"
#include "history.h"

/* Owners by the most memory they had; all others, if there are any, last. */
struct report_order {
	size_t owner[HISTORY_OWNERS + 1]; /* numbers of the history's entries */
	size_t count;
};

struct report_order report_order(const struct history *history);

/* Returns an owner's name and pid, not escaped; for free(). */
char *report_owner(const struct history *history, size_t owner);

void report_print(const struct history *history, const struct request *request);
void report_document(const struct history *history, bool complete);

/* Reads the size of the picture; false after a complaint. */
bool report_size_given(const struct request *request,
		       struct picture_size *size);

/* Draws it into a file as picture.h says. */
enum exit_code report_plot(const struct history *history,
			   const struct picture_size *size, const char *file);

#endif /* DMACTL_REPORT_H */
