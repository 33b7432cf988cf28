// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Signals that end the program are blocked but while it waits for a key, so the
 * terminal is never left half-way.  ncurses itself handles a stop from the
 * terminal.
 */
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <curses.h>

#include "cli.h"
#include "escape.h"
#include "screen.h"

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define END_COUNT (sizeof(ends) / sizeof(*ends))

static volatile sig_atomic_t ended_by;
static sigset_t outside; /* signals that were blocked before */
static SCREEN *screen;

static void take_signal(int number)
{
	ended_by = number;
}

static void screen_give_back(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

static void screen_take_signals(void)
{
	struct sigaction action = { .sa_handler = take_signal };
	sigset_t blocked;
	size_t i;

	sigemptyset(&action.sa_mask);
	sigemptyset(&blocked);
	for (i = 0; i < END_COUNT; i++) {
		sigaddset(&blocked, ends[i]);
		sigaction(ends[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, &outside);
}

static void give_signals_back(void)
{
	size_t i;

	for (i = 0; i < END_COUNT; i++)
		signal(ends[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &outside, NULL);
}

static void start_colours(void)
{
	static const short colours[] = { COLOR_GREEN, COLOR_YELLOW, COLOR_RED };
	short i;

	start_color();
	use_default_colors();
	for (i = 0; i < 3; i++)
		init_pair((short)(i + 1), colours[i], -1);
}

bool screen_begin(bool colour)
{
	const char *kind = getenv("TERM");

	screen_take_signals();
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		give_signals_back();
		complain("cannot draw on a terminal of type '%s'; use --once",
			 kind ? kind : "");
		return false;
	}
	/* memory may run out at any place */
	atexit(screen_give_back);
	set_term(screen);
	set_escdelay(25);
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	if (colour && has_colors())
		start_colours();
	return true;
}

void screen_end(void)
{
	screen_give_back();
	give_signals_back();
	if (ended_by)
		raise(ended_by);
}

size_t screen_width(void)
{
	return COLS > 0 ? (size_t)COLS : 1;
}

size_t screen_height(void)
{
	return LINES > 0 ? (size_t)LINES : 1;
}

bool screen_has_blocks(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void screen_clear(void)
{
	erase();
}

void screen_show(void)
{
	refresh();
}

/* Reads a colour, "\033[31m" or "\033[0m"; returns its bytes, or 0. */
static size_t read_colour(const char *text, size_t length, attr_t *colour)
{
	static const char colours[] = "231"; /* green, yellow, red */
	const char *end = memchr(text, 'm', length);
	const char *found;

	if (*text != '\033' || !end)
		return 0;
	found = end - text == 4 ? strchr(colours, text[3]) : NULL;
	*colour = found ? (attr_t)COLOR_PAIR((found - colours) + 1) : 0;
	return (size_t)(end - text) + 1;
}

void screen_line(size_t row, const char *text, size_t length,
		 enum screen_look look)
{
	static const attr_t looks[] = {
		[SCREEN_PLAIN] = A_NORMAL,
		[SCREEN_TITLE] = A_BOLD,
		[SCREEN_CHOSEN] = A_REVERSE,
	};
	size_t left = screen_width();
	attr_t colour = 0;

	if (row >= screen_height())
		return;
	move((int)row, 0);
	while (length) {
		size_t bytes = read_colour(text, length, &colour);

		if (!bytes) {
			char *part;

			bytes = 1;
			while (bytes < length && text[bytes] != '\033')
				bytes++;
			part = text_format("%.*s", (int)bytes, text);
			part[escape_cut(part, left)] = '\0';
			left -= escape_width(part, strlen(part));
			attrset(looks[look] | colour);
			addstr(part);
			free(part);
		}
		text += bytes;
		length -= bytes;
	}
	attrset(looks[look]);
	while (look == SCREEN_CHOSEN && left--)
		addch(' ');
	attrset(A_NORMAL);
}

static int screen_translate(int key)
{
	static const struct {
		int curses;
		int ours;
	} keys[] = {
		{ KEY_UP, SCREEN_UP },
		{ KEY_DOWN, SCREEN_DOWN },
		{ KEY_PPAGE, SCREEN_PAGE_UP },
		{ KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_HOME },
		{ KEY_END, SCREEN_LAST },
		{ KEY_ENTER, SCREEN_ENTER },
		{ '\n', SCREEN_ENTER },
		{ '\r', SCREEN_ENTER },
		{ '\033', SCREEN_ESCAPE },
		{ KEY_BACKSPACE, SCREEN_BACKSPACE },
		{ '\b', SCREEN_BACKSPACE },
		{ 127, SCREEN_BACKSPACE },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].curses == key)
			return keys[i].ours;
	return key > 0 && key < 256 ? key : SCREEN_NOTHING;
}

/* Asks for the size itself: on a slow board ncurses has missed a new one. */
static void follow_size(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col && is_term_resized(size.ws_row, size.ws_col))
		resizeterm(size.ws_row, size.ws_col);
}

int screen_key(int milliseconds)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	int ready;
	int key;

	follow_size();
	/* bytes that ncurses has already read come first */
	key = getch();
	if (key != ERR)
		return screen_translate(key);
	ready = ppoll(&input, 1, &time, &outside);
	if (ended_by)
		return SCREEN_END;
	key = getch();
	if (key != ERR)
		return screen_translate(key);
	if (ready > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return SCREEN_END;
	return SCREEN_NOTHING;
}
