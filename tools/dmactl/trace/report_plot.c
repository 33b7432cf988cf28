// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The report as a picture: four panels over one axis of time.  A step of time
 * is as wide in each, so that one moment is one column.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/picture.h"
#include "base/quantity.h"
#include "report.h"

#define COLOURS 8 /* owners and heaps with a colour of their own */
#define MARGIN 80.0 /* pixels, left of the panels */
#define LEGEND 170.0 /* right of them */
#define GAP 44.0 /* between panels, for the title */
#define FONT 12.0
#define GREY 0x606060u
#define LIGHT 0xe0e0e0u

/* Distinct for people with colour blindness, too. */
static const uint32_t colours[COLOURS + 1] = {
	0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9,
	0xd55e00, 0xf0e442, 0x332288, 0x999999,
};

struct plot {
	struct picture *picture;
	const struct history *history;
	struct picture_size size;
	double height; /* of a panel */
	double left;
	double width; /* of the panels */
	size_t steps;
};

struct panel {
	struct plot *plot;
	double top;
	double most; /* the value at its top */
};

static double x_of(const struct plot *plot, size_t step)
{
	return plot->left + plot->width * (double)step / (double)plot->steps;
}

static double y_of(const struct panel *panel, double value)
{
	double part = panel->most > 0 ? value / panel->most : 0;

	return panel->top + panel->plot->height * (1 - part);
}

/* Returns a round number at or above @value. */
static double plot_round_up(double value)
{
	double most = 1;

	while (most < value)
		most *= 2;
	return most;
}

static struct panel panel_begin(struct plot *plot, unsigned int which,
				const char *title, double most, bool percent)
{
	struct panel panel = {
		.plot = plot,
		.top = GAP + which * (plot->height + GAP),
		.most = percent ? 100 : plot_round_up(most),
	};
	char word[QUANTITY_ROOM];
	int i;

	picture_text(plot->picture, plot->left, panel.top - 8, FONT + 2,
		     PICTURE_LEFT, 0, "%s", title);
	for (i = 0; i <= 4; i++) {
		double value = panel.most * i / 4;
		double y = y_of(&panel, value);

		picture_line(plot->picture, plot->left, y,
			     plot->left + plot->width, y, 1, LIGHT);
		if (percent)
			snprintf(word, sizeof(word), "%.0f%%", value);
		else if (value < 1e18)
			quantity_size(word, (uint64_t)value, false);
		else
			snprintf(word, sizeof(word), "%.0e", value);
		picture_text(plot->picture, plot->left - 6, y + 4, FONT,
			     PICTURE_RIGHT, GREY, "%s", word);
	}
	return panel;
}

static void report_plot_legend(const struct panel *panel, size_t row,
			       uint32_t colour, const char *text)
{
	const struct plot *plot = panel->plot;
	double x = plot->left + plot->width + 12;
	double y = panel->top + (double)row * (FONT + 5);

	if (y + FONT > panel->top + plot->height + GAP / 2)
		return;
	picture_rectangle(plot->picture, x, y, FONT - 2, FONT - 2, colour);
	picture_text(plot->picture, x + FONT + 2, y + FONT - 3, FONT,
		     PICTURE_LEFT, 0, "%.20s", text);
}

/* A filled area between two heights over the steps: equal ones are joined. */
static void report_plot_area(const struct panel *panel, const double *low,
			     const double *high, uint32_t colour)
{
	const struct plot *plot = panel->plot;
	size_t first = 0, i;

	for (i = 1; i <= plot->steps; i++) {
		double top, bottom;

		if (i < plot->steps && high[i] == high[first] &&
		    low[i] == low[first])
			continue;
		top = y_of(panel, high[first]);
		bottom = y_of(panel, low[first]);
		if (high[first] > low[first])
			picture_rectangle(plot->picture, x_of(plot, first), top,
					  x_of(plot, i) - x_of(plot, first),
					  bottom - top, colour);
		first = i;
	}
}

/* Draws the owners from @first to @end together, on top of others. */
static void report_plot_stack(const struct panel *panel,
			      const struct report_order *order, size_t first,
			      size_t end, double *low, double *high,
			      uint32_t colour)
{
	const struct plot *plot = panel->plot;
	size_t i, j;

	for (i = 0; i < plot->steps; i++) {
		high[i] = low[i];
		for (j = first; j < end; j++)
			high[i] += (double)plot->history->steps[i]
					   .owner[order->owner[j]];
	}
	report_plot_area(panel, low, high, colour);
	memcpy(low, high, plot->steps * sizeof(*low));
}

static void plot_memory(struct plot *plot)
{
	const struct history *history = plot->history;
	struct report_order order = report_order(history);
	struct panel panel = panel_begin(plot, 0, "memory by owner",
					 (double)history->peak, false);
	double *low = memory_new(2 * plot->steps, sizeof(*low));
	size_t shown = order.count, i;

	if (shown > COLOURS)
		shown = COLOURS;
	for (i = 0; i < shown; i++) {
		char *owner = report_owner(history, order.owner[i]);

		picture_group(plot->picture, owner);
		report_plot_stack(&panel, &order, i, i + 1, low,
				  low + plot->steps, colours[i]);
		picture_group_end(plot->picture);
		report_plot_legend(&panel, i, colours[i], owner);
		free(owner);
	}
	if (shown < order.count) {
		report_plot_stack(&panel, &order, shown, order.count, low,
				  low + plot->steps, colours[COLOURS]);
		report_plot_legend(&panel, shown, colours[COLOURS], "others");
	}
	free(low);
}

/* Draws one heap's longest free run as a part of its free bytes. */
static void plot_heap(const struct panel *panel, size_t heap, uint32_t colour)
{
	const struct plot *plot = panel->plot;
	struct picture_point *points =
		memory_new(plot->steps + 1, sizeof(*points));
	size_t count = 0, i;

	for (i = 0; i < plot->steps; i++) {
		const struct history_step *step = &plot->history->steps[i];
		double part;

		if (!step->free[heap])
			continue;
		part = 100 * (double)step->largest[heap] /
		       (double)step->free[heap];
		points[count++] = (struct picture_point){
			x_of(plot, i),
			y_of(panel, part < 100 ? part : 100),
		};
	}
	if (count) {
		points[count] = points[count - 1];
		points[count++].x = plot->left + plot->width;
		picture_lines(plot->picture, points, count, 2, colour);
	}
	free(points);
}

static void plot_heaps(struct plot *plot)
{
	const struct history *history = plot->history;
	struct panel panel = panel_begin(
		plot, 1, "longest free run, of all free bytes", 100, true);
	size_t i;

	for (i = 0; i < history->heap_count; i++) {
		uint32_t colour = colours[i < COLOURS ? i : COLOURS];

		plot_heap(&panel, i, colour);
		report_plot_legend(&panel, i, colour, history->heaps[i]);
	}
}

static void plot_rate(struct plot *plot, unsigned int which, const char *title,
		      uint64_t (*value)(const struct history_step *step))
{
	double *rates = memory_new(2 * plot->steps, sizeof(*rates));
	double seconds = (double)plot->history->width_ns / 1e9;
	struct panel panel;
	double most = 0;
	size_t i;

	for (i = 0; i < plot->steps; i++) {
		rates[i] = (double)value(&plot->history->steps[i]) / seconds;
		if (rates[i] > most)
			most = rates[i];
	}
	panel = panel_begin(plot, which, title, most, false);
	report_plot_area(&panel, rates + plot->steps, rates,
			 colours[which - 2]);
	free(rates);
}

static uint64_t synced_of(const struct history_step *step)
{
	return step->synced;
}

static uint64_t moved_of(const struct history_step *step)
{
	return step->moved;
}

static void plot_time(const struct plot *plot)
{
	const struct history *history = plot->history;
	double y = plot->size.height - 12;
	uint64_t length = plot->steps * history->width_ns;
	char word[QUANTITY_ROOM];
	unsigned int i;

	for (i = 0; i <= 4; i++)
		picture_text(plot->picture, plot->left + plot->width * i / 4, y,
			     FONT, PICTURE_MIDDLE, GREY, "%s",
			     quantity_time(word, length / 4 * i));
}

bool report_size_given(const struct request *request, struct picture_size *size)
{
	const unsigned int width = (unsigned int)(MARGIN + LEGEND) + 40;
	const unsigned int height = (unsigned int)(5 * GAP) + 80;

	*size = (struct picture_size){ 1000, 900 };
	if (!picture_size_given(request, size))
		return false;
	if (size->width >= width && size->height >= height)
		return true;
	complain("a report needs %u by %u pixels or more", width, height);
	return false;
}

enum exit_code report_plot(const struct history *history,
			   const struct picture_size *size, const char *file)
{
	struct plot plot = {
		.history = history,
		.size = *size,
		.left = MARGIN,
		.steps = history->step + 1,
	};
	enum exit_code status;

	plot.width = plot.size.width - MARGIN - LEGEND;
	plot.height = (plot.size.height - 5 * GAP) / 4;
	plot.picture = picture_create(plot.size);
	plot_memory(&plot);
	plot_heaps(&plot);
	plot_rate(&plot, 2, "synced, bytes a second", synced_of);
	plot_rate(&plot, 3, "moved by transfers, bytes a second", moved_of);
	plot_time(&plot);
	status = picture_write(plot.picture, file);
	picture_destroy(plot.picture);
	return status;
}
