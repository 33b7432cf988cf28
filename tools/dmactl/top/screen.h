/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The terminal by ncurses: lines of text, keys, and signals.  Its state is restored
 * however the program ends.
 */
#ifndef DMACTL_SCREEN_H
#define DMACTL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum screen_key {
	SCREEN_NOTHING, /* the time is over, or the size is new */
	SCREEN_END, /* a signal, or the terminal is gone */
	SCREEN_UP = 256,
	SCREEN_DOWN,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_LAST,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_BACKSPACE,
	/* other keys are their bytes */
};

enum screen_look {
	SCREEN_PLAIN,
	SCREEN_TITLE,
	SCREEN_CHOSEN,
};

/* Opens the terminal; returns false after a complaint. */
bool screen_begin(bool colour);

/* Restores it; then ends the program if a signal asked for that. */
void screen_end(void);

size_t screen_width(void);
size_t screen_height(void);

/* Whether the terminal shows the block characters of Unicode. */
bool screen_has_blocks(void);

/* Empties the picture; screen_show() brings it to the terminal. */
void screen_clear(void);
void screen_show(void);

/*
 * Writes a line, as escape() or table_write() made it, with their colours, and cuts
 * it at the right edge.
 */
void screen_line(size_t row, const char *text, size_t length,
		 enum screen_look look);

/* Waits for a key for up to @milliseconds; a byte, or enum screen_key. */
int screen_key(int milliseconds);

#endif /* DMACTL_SCREEN_H */
