// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times frames from the engine for tests, for the contender that is named, and
 * prints a line "ROW<tab>CONTENDER<tab>VALUE" for each measurement:
 *
 *	frames CONTENDER full	frames that wait in the engine, which has a FIFO for
 *				all of them
 *	frames CONTENDER lost	a source that does not wait, and a small FIFO
 *
 * The clock counts instructions, of all that runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contender.h"

#define KNOBS "/sys/module/dray_test_stream/parameters/"
#define RX1 "8" /* its bit in the knobs of channels */
#define WAITING 200 /* frames at one time; the FIFO holds 256 packets */
#define ROUNDS 20
#define AWAITED 500 /* frames */
#define SMALL 64u /* bytes: making a frame takes the engine little */
#define PACE 500 /* frames of a source */
#define LATE 50 /* frames after which a late reader is late */

uint64_t system_calls;

int __real_ioctl(int fd, unsigned long request, void *args);
int __wrap_ioctl(int fd, unsigned long request, void *args);
int __wrap_ioctl(int fd, unsigned long request, void *args)
{
	system_calls++;
	return __real_ioctl(fd, request, args);
}

/* Those of a futex have six arguments. */
long __real_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	system_calls++;
	return __real_syscall(number, a, b, c, d, e, f);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void print(const char *row, const char *contender, double value)
{
	printf("%s\t%s\t%.3f\n", row, contender, value);
}

static void die(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-error));
	exit(EXIT_FAILURE);
}

/* Returns 0 or a negative errno. */
static int knob(const char *name, const char *format, ...)
{
	char path[128], text[32];
	va_list args;
	ssize_t done;
	int fd, ret;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(path, sizeof(path), KNOBS "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die(path, -errno);
	done = write(fd, text, strlen(text));
	ret = done < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static unsigned long counter(const char *name)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), KNOBS "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 1)
		die(path, -errno);
	close(fd);
	return strtoul(text, NULL, 10);
}

/* Adds a frame for rx1, as soon as the engine has taken the one before. */
static void inject(size_t bytes)
{
	int ret;

	do {
		ret = knob("inject", "1 %zu", bytes);
		if (ret == -EBUSY)
			usleep(1);
	} while (ret == -EBUSY);
	if (ret)
		die("inject", ret);
}

static void next(const struct contender *contender, struct frame *frame,
		 size_t bytes)
{
	int ret = contender->next(frame);

	if (!ret && frame->bytes != bytes)
		ret = -EIO;
	if (ret)
		die(contender->name, ret);
}

/* Frames that are in the FIFO before any is received. */
static void time_waiting(const struct contender *contender, size_t bytes)
{
	struct frame frame;
	uint64_t begin, calls;
	char row[64];
	int i;

	knob("stall", RX1);
	for (i = 0; i < WAITING; i++)
		inject(bytes);
	calls = system_calls;
	begin = now_ns();
	knob("stall", "0");
	/* Wakes the engine. */
	inject(bytes);
	for (i = 0; i < WAITING; i++)
		next(contender, &frame, bytes);
	snprintf(row, sizeof(row), "frame that waits, %zu bytes", bytes);
	print(row, contender->name, (double)(now_ns() - begin) / WAITING);
	snprintf(row, sizeof(row), "calls for a frame that waits, %zu bytes",
		 bytes);
	print(row, contender->name, (double)(system_calls - calls) / WAITING);
	next(contender, &frame, bytes);
}

/* Frames that come while the reader sleeps. */
static void time_awaited(const struct contender *contender, size_t bytes)
{
	struct frame frame;
	uint64_t calls;
	int i;

	knob("frame_bytes", "%zu", bytes);
	knob("frame_us", "1000");
	next(contender, &frame, bytes);
	calls = system_calls;
	for (i = 0; i < AWAITED; i++) {
		next(contender, &frame, bytes);
		print("from the report to the reader", contender->name,
		      (double)(now_ns() - frame.time_ns));
	}
	print("calls for a frame that is awaited", contender->name,
	      (double)(system_calls - calls) / AWAITED);
	knob("frame_us", "0");
}

static void measure_full(const struct contender *contender)
{
	static const size_t sizes[] = { 64, 4096 };
	int ret, round;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ret = contender->open(sizes[i]);
		if (ret)
			die(contender->name, ret);
		for (round = 0; round < ROUNDS; round++)
			time_waiting(contender, sizes[i]);
		if (i)
			time_awaited(contender, sizes[i]);
		contender->close();
		knob("empty", "1");
	}
}

/* The frames that a source could not keep until the engine had room. */
static unsigned long lose(const struct contender *contender, unsigned int us,
			  bool late)
{
	unsigned long before = counter("held_back");
	struct frame frame;
	uint64_t until;
	int i;

	knob("frame_us", "%u", us);
	for (i = 0; i < PACE; i++) {
		next(contender, &frame, SMALL);
		if (!late || i % LATE != LATE - 1)
			continue;
		until = now_ns() + 5000ull * us;
		while (now_ns() < until)
			;
	}
	before = counter("held_back") - before;
	/* The source looks once more after that. */
	knob("frame_us", "0");
	usleep(10000);
	return before;
}

static void measure_lost(const struct contender *contender)
{
	static const unsigned int paces[] = { 1000, 500, 300, 200, 150,
					      120,  100, 80,  60,  50,
					      40,   30,	 25,  20 };
	char row[64];
	int ret, late;
	size_t i;

	knob("frame_bytes", "%u", SMALL);
	for (late = 0; late <= 1; late++) {
		for (i = 0; i < sizeof(paces) / sizeof(paces[0]); i++) {
			ret = contender->open(SMALL);
			if (ret)
				die(contender->name, ret);
			snprintf(row, sizeof(row), "lost%s, %u us",
				 late ? " by a late reader" : "", paces[i]);
			print(row, contender->name,
			      (double)lose(contender, paces[i], late));
			contender->close();
			knob("empty", "1");
		}
	}
}

int main(int argc, char **argv)
{
	const struct contender *contender = &contender_proxy;

	if (argc == 3 && !strcmp(argv[1], "dray"))
		contender = &contender_dray;
	if (argc == 3 && !strcmp(argv[2], "full"))
		measure_full(contender);
	else if (argc == 3)
		measure_lost(contender);
	return argc == 3 ? 0 : EXIT_FAILURE;
}
