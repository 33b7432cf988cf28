/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Histograms of latencies as the kernel prints them: one for each channel, with
 * steps that are powers of two.
 */
#ifndef DMACTL_HISTOGRAM_H
#define DMACTL_HISTOGRAM_H

#include "base/command.h"

#define HISTOGRAM_STEPS 65

struct histogram {
	const char *kind; /* "transfer" or "frame", borrowed */
	char channel[40];
	uint64_t count;
	/* Step @i: more than half of 2^i ns, and at most 2^i ns. */
	uint64_t step[HISTOGRAM_STEPS];
};

struct histograms {
	struct histogram *entries;
	size_t count;
	uint64_t lost; /* entries that the kernel had no room for */
};

/* Adds all that the text of an event's file "hist" says. */
void histograms_read(struct histograms *all, const char *kind,
		     const char *text);

/* Adds the entries that were dropped, of such a text. */
void histograms_read_lost(struct histograms *all, const char *text);

/* Prints them, and complains of lost entries: EXIT_FAILED then. */
enum exit_code histograms_print(const struct histograms *all,
				const struct request *request);
void histograms_free(struct histograms *all);

#endif /* DMACTL_HISTOGRAM_H */
