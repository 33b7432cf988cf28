// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sends frames for ever, as a camera does: word i of frame n is n + i.  If the stream
 * stands still when a frame is due, the frame is held back and counted, and the next
 * one is due a period later.
 *
 *	source [--size BYTES] [--rate HZ]	(4096, 100; 0: at once)
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../ip.h"

static const struct option options[] = {
	{ "size", required_argument, NULL, 's' },
	{ "rate", required_argument, NULL, 'r' },
	{ NULL, 0, NULL, 0 },
};

/* Nothing goes into a source. */
void ip_receive(uint8_t *bytes, size_t length, bool last)
{
	(void)bytes;
	(void)length;
	(void)last;
}

static int64_t source_microseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000ll + time.tv_nsec / 1000;
}

/* Answers resets until the frame is due. */
static void wait_until(int64_t due)
{
	int64_t left;

	while ((left = due - source_microseconds()) > 0)
		ip_serve((int)(left / 1000 + 1));
	ip_serve(0);
}

static void send_frame(uint32_t number, uint32_t *words, size_t count)
{
	bool held = false;
	size_t i;

	for (i = 0; i < count; i++)
		words[i] = number + (uint32_t)i;
	for (; !ip_ready(); ip_serve(1))
		held = true;
	ip_send((const uint8_t *)words, count * sizeof(*words), true);
	if (held)
		ip_held();
}

int main(int argc, char **argv)
{
	unsigned long size = 4096, rate = 100;
	int64_t due;
	uint32_t *words = NULL;
	uint32_t number;
	int option;

	while ((option = getopt_long(argc, argv, "s:r:", options, NULL)) !=
	       -1) {
		if (option == 's')
			size = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			rate = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (size >= sizeof(*words))
		words = calloc(size / sizeof(*words), sizeof(*words));
	if (!words) {
		fprintf(stderr, "source: no frames of %lu bytes\n", size);
		return 2;
	}
	ip_open();
	ip_keep_short(size);
	for (number = 0, due = source_microseconds();; number++) {
		wait_until(due);
		send_frame(number, words, size / sizeof(*words));
		due = source_microseconds();
		if (rate)
			due += 1000000 / (int64_t)rate;
	}
}
