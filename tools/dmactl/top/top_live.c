// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The live screen: keys change the state, and each picture is drawn from it and
 * from the last sample.  All positions stay at rows that exist, also if some
 * appeared or vanished since.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "list/list.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "screen.h"
#include "top.h"
#include "top_live.h"

#define FILTER_ROOM 64
#define INTERVAL_LEAST 100000000ull
#define INTERVAL_MOST 60000000000ull

enum page {
	PAGE_PROCESSES,
	PAGE_BUFFERS, /* of the chosen process */
	PAGE_HELP,
};

struct live {
	const struct request *request;
	struct request shown; /* with the size of the screen */
	struct row_view view;
	struct top_sample sample;
	uint64_t interval_ns;
	bool paused;
	bool blocks;
	bool editing; /* the filter */
	enum page page;
	char filter[FILTER_ROOM];
	struct top_process chosen;
	bool has_chosen;
	size_t place; /* of the chosen row */
	size_t top; /* first row shown */
	size_t rows; /* of the page */
	size_t room; /* rows that the page shows */
};

/* Lines of a table. */
struct live_lines {
	char *text;
	size_t bytes;
	const char **starts; /* lines + 1 */
	size_t count;
};

/* Returns the lines of @table, which it destroys. */
static struct live_lines lines_of(const struct live *live, struct table *table)
{
	struct live_lines lines = { 0 };
	FILE *file = open_memstream(&lines.text, &lines.bytes);
	const char *at;

	if (!file) {
		complain("out of memory");
		exit(EXIT_FAILED);
	}
	table_write(table, &live->shown, file);
	fclose(file);
	table_destroy(table);
	at = lines.text;
	while (*at) {
		lines.starts = memory_resize(lines.starts, lines.count + 2,
					     sizeof(*lines.starts));
		lines.starts[lines.count++] = at;
		at = strchr(at, '\n') + 1;
		lines.starts[lines.count] = at;
	}
	return lines;
}

static void lines_drop(struct live_lines *lines)
{
	free(lines->text);
	free(lines->starts);
}

static void draw_line(const struct live_lines *lines, size_t line, size_t row,
		      enum screen_look look)
{
	screen_line(row, lines->starts[line],
		    (size_t)(lines->starts[line + 1] - lines->starts[line] - 1),
		    look);
}

static void live_draw_text(size_t row, enum screen_look look, const char *text)
{
	char *safe = escape(text, strlen(text), ESCAPE_CONTROL);

	screen_line(row, safe, strlen(safe), look);
	free(safe);
}

/* Draws a header and up to @room - 1 lines; returns the rows used. */
static size_t draw_table(const struct live *live, struct table *table,
			 size_t row, size_t room)
{
	struct live_lines lines = lines_of(live, table);
	size_t i;

	for (i = 0; i < lines.count && i < room; i++)
		draw_line(&lines, i, row + i, i ? SCREEN_PLAIN : SCREEN_TITLE);
	lines_drop(&lines);
	return i;
}

/* Keeps the chosen row in sight. */
static void scroll_to(struct live *live, size_t count, size_t room)
{
	live->rows = count;
	live->room = room;
	if (live->place >= count)
		live->place = count ? count - 1 : 0;
	if (live->place < live->top)
		live->top = live->place;
	if (live->place >= live->top + room)
		live->top = live->place - room + 1;
	if (live->top + room > count)
		live->top = count > room ? count - room : 0;
}

/* Draws a header and the rows around the chosen row. */
static void live_draw_rows(struct live *live, struct table *table, size_t row,
			   size_t room)
{
	struct live_lines lines = lines_of(live, table);
	size_t i;

	if (!room) {
		lines_drop(&lines);
		return;
	}
	draw_line(&lines, 0, row, SCREEN_TITLE);
	scroll_to(live, lines.count - 1, room - 1);
	for (i = 0; i + 1 < room && live->top + i < live->rows; i++)
		draw_line(&lines, live->top + i + 1, row + i + 1,
			  live->top + i == live->place ? SCREEN_CHOSEN
						       : SCREEN_PLAIN);
	lines_drop(&lines);
}

static bool is_chosen(const struct live *live, const struct top_process *other)
{
	return live->has_chosen && live->chosen.state == other->state &&
	       live->chosen.process.pid == other->process.pid &&
	       live->chosen.process.uid == other->process.uid;
}

/* Finds the chosen process again; chooses the row at its place if it is gone. */
static void follow_chosen(struct live *live, const void *const *rows,
			  size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (is_chosen(live, rows[i]))
			live->place = i;
	if (live->place >= count)
		live->place = count ? count - 1 : 0;
	live->has_chosen = count;
	if (count)
		live->chosen = *(const struct top_process *)rows[live->place];
}

static void draw_processes(struct live *live, size_t row, size_t end)
{
	const struct top_sample *sample = &live->sample;
	size_t height = end - row;
	size_t count;
	const void **rows = top_rows(&live->view, sample, live->filter, &count);
	struct table *table =
		row_view_table(&live->view, &live->shown, rows, count);

	follow_chosen(live, rows, count);
	/* a low screen is for the processes */
	if (height >= 9) {
		row += draw_table(live,
				  top_heaps(&live->shown, sample, live->blocks),
				  row, height / 3);
		row++;
	}
	if (height >= 12 && sample->stream_count) {
		row += draw_table(live, top_streams(&live->shown, sample), row,
				  height / 4);
		row++;
	}
	live_draw_rows(live, table, row, end - row);
	free(rows);
}

static bool process_owns_buffer(const struct top_process *process,
				const struct dray_buffer_info *info)
{
	return process->process.pid == info->pid &&
	       process->state == top_state_of(info) &&
	       (info->pid || process->process.uid == info->uid);
}

static void draw_buffers(struct live *live, size_t row, size_t end)
{
	const struct buffer_list *list = &live->sample.buffers;
	const void **rows = memory_resize(NULL, list->count, sizeof(*rows));
	struct row_view view = { 0 };
	const struct row_column *column;
	size_t count = 0;
	size_t i;

	for (column = list_columns; column->name; column++)
		if (!column->extra)
			view.columns[view.count++] = column;
	for (i = 0; i < list->count; i++)
		if (process_owns_buffer(&live->chosen, &list->entries[i].info))
			rows[count++] = &list->entries[i];
	live_draw_rows(live, row_view_table(&view, &live->shown, rows, count),
		       row, end - row);
	free(rows);
}

static void draw_help(size_t row, size_t end)
{
	static const char *const lines[] = {
		"up, down     choose a process; also page up and down, home, end",
		"enter        its buffers and attachments; escape: back",
		"< >          sort by the column to the left or right",
		"r            reverse the order",
		"/            filter by text; enter ends, escape clears it",
		"space        pause and go on",
		"+ -          a longer or shorter interval",
		"h ?          this help",
		"q            quit",
		"",
		"FILL: # buffers, h held ones, ! quarantine, o others, . free",
		"dmactl-top(1) explains the columns.",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines) && row < end; i++)
		live_draw_text(row++, SCREEN_PLAIN, lines[i]);
}

static void draw_title(const struct live *live)
{
	const struct process *process = &live->chosen.process;
	char interval[QUANTITY_ROOM];
	char *text = text_format("dmactl top  every %s  sort %s%s",
				 quantity_time(interval, live->interval_ns),
				 live->view.descending ? "-" : "",
				 live->view.sort->name);

	if (*live->filter)
		text_append(&text, "  filter '%s'", live->filter);
	if (live->paused)
		text_append(&text, "  PAUSED");
	if (live->page == PAGE_BUFFERS)
		text_append(&text, "  buffers of %s (%d)", process->comm,
			    process->pid);
	live_draw_text(0, SCREEN_TITLE, text);
	free(text);
}

static void draw_foot(const struct live *live, size_t row)
{
	const struct top_sample *sample = &live->sample;
	char *text = NULL;

	if (live->editing)
		text_append(&text, "filter: %s_", live->filter);
	else if (sample->trouble)
		text_append(&text, "%s", sample->trouble);
	else if (sample->clients.hidden)
		text_append(
			&text, "h help  q quit  %zu %s may not be inspected",
			sample->clients.hidden,
			sample->clients.hidden == 1 ? "process" : "processes");
	else
		text_append(&text, "h help  q quit");
	live_draw_text(row, SCREEN_TITLE, text);
	free(text);
}

static void top_live_draw(struct live *live)
{
	size_t height = screen_height();
	size_t row = height > 3 ? 1 : 0;
	size_t end = height > 1 ? height - 1 : height;

	live->shown.width = screen_width();
	screen_clear();
	if (row)
		draw_title(live);
	if (live->page == PAGE_HELP)
		draw_help(row, end);
	else if (live->page == PAGE_BUFFERS)
		draw_buffers(live, row, end);
	else
		draw_processes(live, row, end);
	if (end < height)
		draw_foot(live, end);
	screen_show();
}

static void live_take_sample(struct live *live)
{
	struct top_sample sample;

	top_take(live->request, live->sample.time_ns ? &live->sample : NULL,
		 &sample);
	top_drop(&live->sample);
	live->sample = sample;
}

static void edit_filter(struct live *live, int key)
{
	size_t length = strlen(live->filter);

	if (key == SCREEN_ENTER) {
		live->editing = false;
	} else if (key == SCREEN_ESCAPE) {
		live->editing = false;
		*live->filter = '\0';
	} else if (key == SCREEN_BACKSPACE && length) {
		/* a character of UTF-8 may consist of several bytes */
		while (--length && (live->filter[length] & 0xc0) == 0x80)
			continue;
		live->filter[length] = '\0';
	} else if (key >= ' ' && key < 256 && length < FILTER_ROOM - 1) {
		live->filter[length] = (char)key;
		live->filter[length + 1] = '\0';
	}
}

static void sort_by_next(struct live *live, bool left)
{
	struct row_view *view = &live->view;
	size_t i = 0;

	while (i < view->count && view->columns[i] != view->sort)
		i++;
	if (i == view->count) /* sorted by a column that is not shown */
		i = 0;
	else
		i = (i + (left ? view->count - 1 : 1)) % view->count;
	view->sort = view->columns[i];
}

static void move_place(struct live *live, int key)
{
	size_t step = live->room ? live->room : 1;

	if (key == SCREEN_HOME || key == SCREEN_LAST)
		live->place = key == SCREEN_HOME ? 0 : live->rows;
	else if (key == SCREEN_UP || key == SCREEN_DOWN)
		step = 1;
	if (key == SCREEN_UP || key == SCREEN_PAGE_UP)
		live->place -= live->place > step ? step : live->place;
	if (key == SCREEN_DOWN || key == SCREEN_PAGE_DOWN)
		live->place += step;
	if (live->place >= live->rows)
		live->place = live->rows ? live->rows - 1 : 0;
	/* the next picture chooses the process there */
	if (live->page == PAGE_PROCESSES)
		live->has_chosen = false;
}

static void turn_page(struct live *live, enum page page)
{
	live->page = page;
	live->place = 0;
	live->top = 0;
}

static void change_interval(struct live *live, bool longer)
{
	live->interval_ns =
		longer ? live->interval_ns * 2 : live->interval_ns / 2;
	if (live->interval_ns < INTERVAL_LEAST)
		live->interval_ns = INTERVAL_LEAST;
	if (live->interval_ns > INTERVAL_MOST)
		live->interval_ns = INTERVAL_MOST;
}

/* Returns false if the key ends the program. */
static bool top_live_obey(struct live *live, int key)
{
	if (key == SCREEN_END)
		return false;
	if (live->editing) {
		edit_filter(live, key);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case 'h':
	case '?':
		turn_page(live,
			  live->page == PAGE_HELP ? PAGE_PROCESSES : PAGE_HELP);
		break;
	case SCREEN_ENTER:
		if (live->page == PAGE_PROCESSES && live->has_chosen)
			turn_page(live, PAGE_BUFFERS);
		break;
	case SCREEN_ESCAPE:
		if (live->page == PAGE_PROCESSES)
			*live->filter = '\0';
		turn_page(live, PAGE_PROCESSES);
		break;
	case '<':
	case '>':
		sort_by_next(live, key == '<');
		break;
	case 'r':
		live->view.descending = !live->view.descending;
		break;
	case '/':
		live->editing = true;
		break;
	case ' ':
	case 'p':
		live->paused = !live->paused;
		break;
	case '+':
	case '-':
		change_interval(live, key == '+');
		break;
	default:
		move_place(live, key);
	}
	return true;
}

static int milliseconds_until(uint64_t time)
{
	uint64_t now = clock_now();

	return time > now ? (int)((time - now) / 1000000 + 1) : 0;
}

/* Shows samples until a key ends it, or @count of them were shown. */
static void top_live_watch(struct live *live, uint64_t count)
{
	uint64_t taken = 0;
	uint64_t last = 0;
	int key = SCREEN_NOTHING;

	do {
		/* the first at once: a machine may be up for less than an interval */
		if (!taken || (!live->paused &&
			       clock_now() >= last + live->interval_ns)) {
			if (count && taken == count)
				return;
			live_take_sample(live);
			last = clock_now();
			taken++;
		}
		top_live_draw(live);
		/* while it is paused, only a key changes the picture */
		key = screen_key(
			live->paused
				? (int)(INTERVAL_MOST / 1000000)
				: milliseconds_until(last + live->interval_ns));
	} while (top_live_obey(live, key));
}

enum exit_code top_live(const struct request *request,
			const struct row_view *view, uint64_t interval_ns,
			uint64_t count)
{
	struct live live = {
		.request = request,
		.shown = *request,
		.view = *view,
		.interval_ns = interval_ns,
	};

	if (!screen_begin(request->colour))
		return EXIT_FAILED;
	live.shown.header = true;
	live.blocks = screen_has_blocks();
	top_live_watch(&live, count);
	top_drop(&live.sample);
	screen_end();
	return EXIT_FINE;
}
