// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads and draws the kernel's histograms.  A line of theirs is
 *
 *	{ channel: mem0    , latency: ~ 2^14 } hitcount:          3
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "escape.h"
#include "histogram.h"
#include "base/quantity.h"
#include "base/table.h"

#define BAR 40 /* columns of the longest bar */

static struct histogram *histogram_find(struct histograms *all,
					const char *kind, const char *channel)
{
	struct histogram *histogram;
	size_t i;

	for (i = 0; i < all->count; i++) {
		histogram = &all->entries[i];
		if (!strcmp(histogram->kind, kind) &&
		    !strcmp(histogram->channel, channel))
			return histogram;
	}
	all->entries = memory_resize(all->entries, all->count + 1,
				     sizeof(*all->entries));
	histogram = &all->entries[all->count++];
	*histogram = (struct histogram){ .kind = kind };
	snprintf(histogram->channel, sizeof(histogram->channel), "%s", channel);
	return histogram;
}

static void histogram_read_line(struct histograms *all, const char *kind,
				const char *line)
{
	struct histogram *histogram;
	char channel[128];
	unsigned int step;
	uint64_t hits;
	char *end;

	if (sscanf(line,
		   "{ channel: %127[^,], latency: ~ 2^%u } hitcount: %" SCNu64,
		   channel, &step, &hits) != 3 ||
	    step >= HISTOGRAM_STEPS)
		return;
	/* the kernel pads the key, to 50 bytes in Linux 6.1 */
	end = channel + strlen(channel);
	while (end > channel && end[-1] == ' ')
		*--end = '\0';
	histogram = histogram_find(all, kind, channel);
	histogram->step[step] += hits;
	histogram->count += hits;
}

void histograms_read_lost(struct histograms *all, const char *text)
{
	static const char title[] = "Dropped: ";
	uint64_t lost;

	while ((text = strstr(text, title))) {
		text += sizeof(title) - 1;
		if (sscanf(text, "%" SCNu64, &lost) == 1)
			all->lost += lost;
	}
}

void histograms_read(struct histograms *all, const char *kind, const char *text)
{
	const char *line = text;

	while (line) {
		histogram_read_line(all, kind, line);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	histograms_read_lost(all, text);
}

void histograms_free(struct histograms *all)
{
	free(all->entries);
}

/* Returns the upper end of a step in ns, or of the largest number. */
static uint64_t end_of(unsigned int step)
{
	return step < 64 ? UINT64_C(1) << step : UINT64_MAX;
}

/* Below a microsecond, quantity_time() would print zero. */
static const char *time_word(char out[QUANTITY_ROOM], uint64_t ns)
{
	if (ns >= 1000)
		return quantity_time(out, ns);
	snprintf(out, QUANTITY_ROOM, "%" PRIu64 "ns", ns);
	return out;
}

/* Returns the step up to which so many percent of the entries lie. */
static unsigned int step_of(const struct histogram *histogram,
			    unsigned int percent)
{
	uint64_t wanted = histogram->count / 100 * percent +
			  (histogram->count % 100 * percent + 99) / 100;
	uint64_t seen = 0;
	unsigned int step = 0;

	while (step < HISTOGRAM_STEPS - 1 &&
	       (seen += histogram->step[step]) < wanted)
		step++;
	return step;
}

static void histogram_draw(const struct histogram *histogram)
{
	char *channel = escape(histogram->channel, strlen(histogram->channel),
			       ESCAPE_NAME);
	uint64_t most = 0;
	char half[QUANTITY_ROOM], nearly[QUANTITY_ROOM];
	unsigned int first = HISTOGRAM_STEPS, last = 0, step;

	for (step = 0; step < HISTOGRAM_STEPS; step++) {
		if (!histogram->step[step])
			continue;
		if (first == HISTOGRAM_STEPS)
			first = step;
		last = step;
		if (histogram->step[step] > most)
			most = histogram->step[step];
	}
	printf("%s: %" PRIu64 " %s%s, half of them within %s, 99%% within %s\n",
	       channel, histogram->count, histogram->kind,
	       histogram->count == 1 ? "" : "s",
	       time_word(half, end_of(step_of(histogram, 50))),
	       time_word(nearly, end_of(step_of(histogram, 99))));
	for (step = first; step <= last; step++) {
		uint64_t hits = histogram->step[step];
		int width = (int)((double)hits / (double)most * BAR + 0.5);

		/* one is seen beside millions */
		if (hits && !width)
			width = 1;
		printf("%8s  %10" PRIu64 "%s%.*s\n",
		       time_word(half, end_of(step)), hits, width ? "  " : "",
		       width, "########################################");
	}
	free(channel);
}

static json_t *document_of(const struct histogram *histogram)
{
	json_t *object = json_object();
	json_t *steps = json_array();
	unsigned int step;

	document_word(object, "kind", histogram->kind);
	document_text(object, "channel", histogram->channel,
		      sizeof(histogram->channel));
	document_number(object, "count", histogram->count);
	for (step = 0; step < HISTOGRAM_STEPS; step++) {
		json_t *entry;

		if (!histogram->step[step])
			continue;
		entry = json_object();
		document_number(entry, "up_to_ns", end_of(step));
		document_number(entry, "count", histogram->step[step]);
		document_set(steps, NULL, entry);
	}
	document_set(object, "steps", steps);
	return object;
}

static void histogram_print_json(const struct histograms *all)
{
	json_t *root = json_object();
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < all->count; i++)
		document_set(array, NULL, document_of(&all->entries[i]));
	document_set(root, "histograms", array);
	document_number(root, "lost", all->lost);
	document_print(root);
}

enum exit_code histograms_print(const struct histograms *all,
				const struct request *request)
{
	size_t i;

	if (request->json)
		histogram_print_json(all);
	for (i = 0; i < all->count && !request->json; i++) {
		if (i)
			putchar('\n');
		histogram_draw(&all->entries[i]);
	}
	if (!all->count && !request->json)
		puts("no transfer began and ended meanwhile");
	if (!all->lost)
		return EXIT_FINE;
	complain("%" PRIu64
		 " transfers or more are missing: the kernel's table "
		 "is full, since too many programs opened a node",
		 all->lost);
	return EXIT_FAILED;
}
