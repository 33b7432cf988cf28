// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What it costs to have memory for a device: a piece is allocated, mapped,
 * written once in every page, synced, unmapped and freed, and each step is
 * timed by itself.  All contenders take turns in one run.  A line for each
 * time: step, size, contender, microseconds; lines with # are remarks.
 */
#include "../../selftests/importer.h"
#include "contender.h"

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

#define PAGE (4 * KIB)
#define ROW KIB

struct size {
	const char *name;
	size_t bytes;
	int rounds;
};

/* Rounds come in sixes; there is one more before, which is not counted. */
static const struct size sizes[] = {
	{ "4 KiB", 4 * KIB, 102 },  { "64 KiB", 64 * KIB, 102 },
	{ "1 MiB", MIB, 54 },	    { "16 MiB", 16 * MIB, 24 },
	{ "64 MiB", 64 * MIB, 12 },
};

/* In microseconds. */
struct times {
	double allocate, attach, map, touch, whole, page, row, unmap;
	double free; /* of what no device had */
	double detach, close; /* of what one had */
};

static int importer;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Sets *@at to now, and gives the time since what it was. */
static double lap(double *at)
{
	double before = *at;

	*at = now();
	return *at - before;
}

static int sync_range(const struct contender *contender,
		      const struct piece *piece, size_t width)
{
	size_t offset = (piece->size - width) / 2 / PAGE * PAGE;

	if (!contender->ops->sync)
		return piece_sync(piece);
	return contender->ops->sync(contender, piece, offset, width);
}

/* A mapped piece, in reach of one device. */
static int measure_sync(const struct contender *contender,
			const struct piece *piece, struct times *times)
{
	double at = now();
	int ret = sync_range(contender, piece, piece->size);

	times->whole = lap(&at);
	if (!ret)
		ret = sync_range(contender, piece, PAGE);
	times->page = lap(&at);
	if (!ret)
		ret = sync_range(contender, piece, ROW);
	times->row = lap(&at);
	return ret;
}

static int attach(const struct contender *contender, struct piece *piece)
{
	if (contender->ops->attach)
		return contender->ops->attach(contender, piece);
	return importer_attach(importer, piece->fd, &piece->handle);
}

/* A mapped piece. */
static int measure_attached(const struct contender *contender,
			    struct piece *piece, struct times *times)
{
	double at = now();
	int ret = attach(contender, piece);

	times->attach = lap(&at);
	if (!ret)
		ret = measure_sync(contender, piece, times);
	at = now();
	if (piece->handle)
		importer_detach(importer, piece->handle);
	times->detach = lap(&at);
	return ret;
}

/* One more, which nobody looks at. */
static int measure_free(const struct contender *contender, size_t size,
			struct times *times)
{
	struct piece piece = { .fd = -1, .backing = -1, .size = size };
	int ret = contender->ops->allocate(contender, size, &piece);
	double at = now();

	if (ret)
		return ret;
	contender->ops->free(&piece);
	times->free = lap(&at);
	return 0;
}

static int measure(const struct contender *contender, size_t size,
		   struct times *times)
{
	struct piece piece = { .fd = -1, .backing = -1, .size = size };
	double at;
	int ret;

	*times = (struct times){ 0 };
	at = now();
	ret = contender->ops->allocate(contender, size, &piece);
	times->allocate = lap(&at);
	if (ret)
		return ret;
	ret = piece_map(&piece);
	times->map = lap(&at);
	if (!ret) {
		piece_touch(&piece);
		times->touch = lap(&at);
		ret = measure_attached(contender, &piece, times);
		at = now();
		piece_unmap(&piece);
		times->unmap = lap(&at);
	}
	contender->ops->free(&piece);
	times->close = lap(&at);
	return ret ? ret : measure_free(contender, size, times);
}

static void print(const char *row, const struct size *size,
		  const struct contender *contender, double value)
{
	printf("%s\t%s\t%s\t%.3f\n", row, size->name, contender->name, value);
}

static void print_times(const struct size *size,
			const struct contender *contender,
			const struct times *times)
{
	print("allocate", size, contender, times->allocate);
	print("allocate and attach", size, contender,
	      times->allocate + times->attach);
	print("map", size, contender, times->map);
	print("first write", size, contender, times->touch);
	print("map and first write", size, contender,
	      times->map + times->touch);
	print("sync of all", size, contender, times->whole);
	print("sync of 4 KiB", size, contender, times->page);
	print("sync of 1 KiB", size, contender, times->row);
	print("unmap", size, contender, times->unmap);
	print("map to unmap", size, contender,
	      times->map + times->touch + times->unmap);
	print("free", size, contender, times->free);
	print("detach and free", size, contender, times->detach + times->close);
}

/*
 * What one frees is what the next one finds, so in six rounds each comes once
 * directly after each other: a Latin square that is balanced for neighbours
 * (Williams), which there is for an even number.
 */
static struct contender *turn(int round, size_t i)
{
	size_t place = i % 2 ? (i + 1) / 2 : contender_count - i / 2;

	return &contenders[(place + (size_t)round) % contender_count];
}

static void run_round(const struct size *size, int round)
{
	struct contender *contender;
	struct times times;
	int ret;

	for (size_t i = 0; i < contender_count; i++) {
		contender = turn(round, i);
		if (contender->file < 0)
			continue;
		ret = measure(contender, size->bytes, &times);
		if (!ret && round)
			print_times(size, contender, &times);
		/* The first one also finds out who can serve this size. */
		if (ret && !round)
			printf("# %s: %s: %s\n", contender->name, size->name,
			       strerror(-ret));
	}
}

/* How many are not there: their lines will be missing. */
static int open_contenders(void)
{
	int ret, missing = 0;

	for (size_t i = 0; i < contender_count; i++) {
		contenders[i].file = -1;
		ret = contenders[i].open(&contenders[i]);
		if (!ret)
			continue;
		printf("# %s: %s\n", contenders[i].name, strerror(-ret));
		missing++;
	}
	return missing;
}

int main(void)
{
	int round, missing;

	if (sysconf(_SC_PAGESIZE) != (long)PAGE) {
		printf("# pages are not of 4 KiB\n");
		return 1;
	}
	importer = importer_open();
	if (importer < 0) {
		printf("# no importer: %s\n", strerror(-importer));
		return 1;
	}
	missing = open_contenders();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (round = 0; round <= sizes[i].rounds; round++)
			run_round(&sizes[i], round);
	return missing > 0;
}
