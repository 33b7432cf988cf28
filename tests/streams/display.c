// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray on the display port of the emulated ZCU102, with the kernel's own driver: its
 * pictures are those of the host's screen, and its sound is a file there.  Saves
 * its pictures and sound to /results, for screen_check.py.
 */
#include "../../tools/lib/screen.h"
#include "../selftests/attach.h"
#include "../selftests/binding.h"
#include "../selftests/ledger.h"
#include "../selftests/setup.h"
#include "../selftests/timeline.h"

#define ENGINE "/sys/bus/platform/drivers/xilinx-zynqmp-dpdma"
#define ENGINE_DEVICE "fd4c0000.dma-controller"
#define PORT 0xfd4a0000 /* registers of the display port */
#define WIDTH 96 /* pixels of 4 bytes */
#define ROWS 64
#define ROW (WIDTH * 4ull)
#define STRIDE 1024ull
#define SPAN (STRIDE * ROWS)
#define SIZE (1024 * 1024)
#define PERIOD 4096ull /* 23 ms of sound */
#define PERIODS 60

#define SHOW_OF(from, at, bytes, ...)                               \
	{                                                           \
		.op = DRAY_OP_SHOW, .dst_fd = -1, .src_fd = (from), \
		.src_offset = (at), .run = (bytes), __VA_ARGS__     \
	}

FIXTURE(display)
{
	int node;
	uint32_t display, sound; /* channels */
	struct ledger before;
	struct buffer picture; /* random bytes */
	struct line line;
	volatile struct screen *screen;
	volatile uint32_t *port;
};

static void *map_physical(uint64_t address, size_t size)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *map = MAP_FAILED;

	if (fd >= 0) {
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   (off_t)address);
		close(fd);
	}
	return map == MAP_FAILED ? NULL : map;
}

/* The index of a channel, or -1. */
static int channel_named(int node, const char *name)
{
	struct dray_channel_info channel;

	for (uint32_t i = 0; !node_channel(node, i, &channel); i++)
		if (!strcmp(channel.name, name))
			return (int)i;
	return -1;
}

/* Switches the display port on: 32-bit pixels, and sound at full volume. */
static void port_start(volatile uint32_t *port)
{
	port[0xb000 / 4] = 0;
	port[0x194 / 4] = WIDTH;
	port[0x198 / 4] = ROWS;
	port[0xc000 / 4] = 0x20002000;
	port[0x080 / 4] = 1;
	port[0x300 / 4] = 1;
}

FIXTURE_SETUP(display)
{
	int display, sound;

	self->node = node_open();
	ASSERT_LE(0, self->node);
	self->screen = map_physical(SCREEN_ADDRESS, 4096);
	self->port = map_physical(PORT, 0x10000);
	ASSERT_NE(NULL, self->screen);
	ASSERT_NE(NULL, self->port);
	port_start(self->port);
	display = channel_named(self->node, "display0");
	sound = channel_named(self->node, "tx-sound");
	ASSERT_LE(0, display);
	ASSERT_LE(0, sound);
	self->display = (uint32_t)display;
	self->sound = (uint32_t)sound;
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, SIZE, &self->picture));
	fill_random(self->picture.bytes, SIZE, 5);
	ASSERT_EQ(0, line_open(self->node, self->display, 1, &self->line));
}

FIXTURE_TEARDOWN(display)
{
	line_close(&self->line);
	buffer_close(&self->picture);
	EXPECT_EQ(0, ledger_differences(&self->before));
	close(self->node);
}

/* The point's number, or a negative errno. */
static int64_t submit(int node, uint32_t channel,
		      const struct dray_transfer *transfer, uint64_t deadline)
{
	struct dray_submit args =
		SUBMIT_OF(channel, transfer, 1, .deadline_ns = deadline,
			  .flags = DRAY_SUBMIT_NO_FENCE, .fence_fd = -1);
	int ret = node_call(node, DRAY_IOC_SUBMIT, &args);

	return ret ? ret : (int64_t)args.point;
}

/* Shows ROWS rows of the picture's buffer from @at on. */
static int64_t show(FIXTURE_DATA(display) * self, uint64_t at, uint64_t stride)
{
	const struct dray_axis axis = { .count = ROWS,
					.src_stride = (int64_t)stride };
	struct dray_transfer transfer =
		SHOW_OF(self->picture.fd, at, ROW, .axes = (uintptr_t)&axis,
			.axes_count = 1);

	return submit(self->node, self->display, &transfer, 0);
}

/* Interrupts of the display's DMA: each vertical sync is one. */
static uint64_t syncs(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	unsigned long first, second, count = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "fd4c0000") &&
		    sscanf(line, "%*[^:]: %lu %lu", &first, &second) == 2)
			count = first + second;
	if (file)
		fclose(file);
	return count;
}

/* Has the engine as many views?  For wait_for(). */
static bool engine_has(void *count)
{
	FILE *file = fopen("/sys/kernel/debug/dray/dray0/channels", "re");
	char line[256];
	int out = -1;

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, " display0,"))
			sscanf(strstr(line, "out"), "out %d", &out);
	if (file)
		fclose(file);
	return out == *(int *)count;
}

static bool has_synced(void *before)
{
	return syncs() != *(uint64_t *)before;
}

/*
 * Asks the host for a picture, which is one vertical sync, when the engine has @count
 * views; its number, or -1.
 */
static int picture(FIXTURE_DATA(display) * self, int count)
{
	uint32_t number = self->screen->pictures;
	uint64_t before;

	if (!wait_for(engine_has, &count))
		return -1;
	before = syncs();
	self->screen->pictures = number + 1;
	return wait_for(has_synced, &before) ? (int)number : -1;
}

static int save(const char *name, const void *bytes, size_t size)
{
	FILE *file = fopen(name, "we");
	bool whole = file && fwrite(bytes, 1, size, file) == size;

	return file && !fclose(file) && whole ? 0 : -EIO;
}

/* Saves the buffer with the view that picture @number must be of. */
static int save_view(FIXTURE_DATA(display) * self, int number, uint64_t at,
		     uint64_t stride)
{
	char name[64], text[128];
	int length;

	snprintf(name, sizeof(name), "/results/%d.view", number);
	length = snprintf(text, sizeof(text), "%d %d %llu %llu\n", WIDTH, ROWS,
			  (unsigned long long)at, (unsigned long long)stride);
	if (save(name, text, (size_t)length))
		return -EIO;
	snprintf(name, sizeof(name), "/results/%d.bytes", number);
	return save(name, self->picture.bytes, SIZE);
}

static uint32_t in_flight(FIXTURE_DATA(display) * self)
{
	struct dray_buffer_info info;

	if (node_buffer_info(self->node, self->picture.id, &info))
		return UINT32_MAX;
	return info.transfers;
}

static bool is_idle(void *data)
{
	return !in_flight(data);
}

TEST_F(display, its_kind_and_limits_are_told)
{
	READ_CHANNEL(channel, self->display);
	EXPECT_EQ(DRAY_CHANNEL_SHOW | DRAY_CHANNEL_OPEN | DRAY_CHANNEL_REPEAT,
		  channel.flags);
	EXPECT_EQ(16, channel.alignment);
	EXPECT_EQ(256, channel.first_alignment);
	EXPECT_EQ(0x3fff0, channel.max_segment);
}

TEST_F(display, a_view_stays_until_another_replaces_it_within_one_sync)
{
	struct dray_point point;
	uint64_t before, at, stride;
	int number;

	srand(3);
	for (uint64_t i = 0; i < 24; i++) {
		at = 256 * ((uint64_t)rand() % 1024);
		stride = ROW + 16 * ((uint64_t)rand() % 200);
		ASSERT_EQ((int64_t)i + 1, show(self, at, stride));
		/* Between two pictures there is no sync. */
		if (i > 0)
			EXPECT_EQ(-EAGAIN, line_read(&self->line, i, &point));
		before = syncs();
		number = picture(self, i > 0 ? 2 : 1);
		ASSERT_LE(0, number);
		ASSERT_EQ(0, save_view(self, number, at, stride));
		if (i > 0) {
			ASSERT_EQ(0, line_wait(&self->line, i, &point));
			EXPECT_EQ(0, point.status);
			EXPECT_EQ(ROW * ROWS, point.bytes);
		}
		EXPECT_EQ(before + 1, syncs());
		EXPECT_EQ(1, in_flight(self));
	}
	/* It stays, and the engine reads it again. */
	memset(self->picture.bytes + at, 0x5a, 2 * ROW);
	ASSERT_EQ(0, cpu_end(self->picture.fd, DMA_BUF_SYNC_WRITE));
	for (int i = 0; i < 3; i++)
		number = picture(self, 1);
	ASSERT_LE(0, number);
	ASSERT_EQ(0, save_view(self, number, at, stride));
	EXPECT_EQ(23, line_completed(&self->line));
}

TEST_F(display, views_that_wait_are_shown_in_turn)
{
	int number;

	for (uint64_t i = 0; i < 4; i++)
		ASSERT_EQ((int64_t)i + 1, show(self, i * 2048, STRIDE));
	EXPECT_EQ(4, in_flight(self));
	for (uint64_t i = 0; i < 4; i++) {
		number = picture(self, 2);
		ASSERT_LE(0, number);
		ASSERT_EQ(0, save_view(self, number, i * 2048, STRIDE));
		if (i > 0)
			EXPECT_EQ(0, line_status(&self->line, i));
	}
	EXPECT_EQ(1, in_flight(self));
}

TEST_F(display, cancelling_stops_the_engine)
{
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = self->display };
	int number;

	ASSERT_EQ(1, show(self, 0, STRIDE));
	ASSERT_LE(0, picture(self, 1));
	ASSERT_EQ(2, show(self, 1024, STRIDE));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(2, cancel.count);
	EXPECT_EQ(-ECANCELED, line_status(&self->line, 1));
	EXPECT_EQ(-ECANCELED, line_status(&self->line, 2));
	EXPECT_TRUE(wait_for(is_idle, self));
	ASSERT_EQ(3, show(self, 2048, STRIDE));
	number = picture(self, 1);
	ASSERT_LE(0, number);
	ASSERT_EQ(0, save_view(self, number, 2048, STRIDE));
}

/* Those behind it go on. */
TEST_F(display, a_deadline_ends_what_is_shown)
{
	const struct dray_axis axis = { .count = ROWS, .src_stride = STRIDE };
	const struct dray_transfer transfer =
		SHOW_OF(self->picture.fd, 0, ROW, .axes = (uintptr_t)&axis,
			.axes_count = 1);
	int number;

	ASSERT_EQ(1, submit(self->node, self->display, &transfer,
			    100 * MILLISECOND));
	ASSERT_LE(0, picture(self, 1));
	ASSERT_EQ(2, show(self, 4096, STRIDE));
	EXPECT_EQ(-ETIMEDOUT, line_status(&self->line, 1));
	number = picture(self, 1);
	ASSERT_LE(0, number);
	ASSERT_EQ(0, save_view(self, number, 4096, STRIDE));
	EXPECT_EQ(1, line_completed(&self->line));
}

/* In a process of its own: a picture is on the display when it is killed. */
static int show_and_hang(void *data)
{
	FIXTURE_DATA(display) *self = data;
	const struct dray_axis axis = { .count = ROWS, .src_stride = STRIDE };
	struct dray_transfer transfer =
		SHOW_OF(-1, 0, ROW, .axes = (uintptr_t)&axis, .axes_count = 1);
	struct buffer own;
	struct line line;
	int node = node_open();

	if (node < 0 || buffer_open(node, DRAY_HEAP_ANY, SIZE, &own) ||
	    line_open(node, self->display, 1, &line))
		return 1;
	transfer.src_fd = own.fd;
	if (submit(node, self->display, &transfer, 0) != 1 ||
	    picture(self, 1) < 0)
		return 1;
	raise(SIGKILL);
	return 1;
}

TEST_F(display, a_killed_program_loses_its_display_and_nothing_else)
{
	struct ledger before;

	line_close(&self->line);
	ASSERT_EQ(0, ledger_take(self->node, &before));
	EXPECT_EQ(-SIGKILL, process_run(show_and_hang, self));
	EXPECT_EQ(0, ledger_differences(&before));
	ASSERT_EQ(0, line_open(self->node, self->display, 1, &self->line));
	ASSERT_EQ(1, show(self, 0, STRIDE));
	ASSERT_LE(0, picture(self, 1));
}

TEST_F(display, the_end_of_its_driver_ends_what_is_shown)
{
	struct binding binding;

	ASSERT_EQ(0, binding_find(self->node, &binding));
	ASSERT_EQ(1, show(self, 0, STRIDE));
	ASSERT_LE(0, picture(self, 1));
	ASSERT_EQ(2, show(self, 1024, STRIDE));
	ASSERT_EQ(0, write_name(ENGINE, "unbind", ENGINE_DEVICE));
	EXPECT_TRUE(node_is_gone(NULL));
	EXPECT_EQ(-ENODEV, line_status(&self->line, 1));
	EXPECT_EQ(-ENODEV, line_status(&self->line, 2));
	line_close(&self->line);
	buffer_close(&self->picture);
	close(self->node);
	ASSERT_EQ(0, write_name(ENGINE, "bind", ENGINE_DEVICE));
	if (!node_answers(NULL))
		ASSERT_EQ(0, binding_bind(&binding));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, SIZE, &self->picture));
	ASSERT_EQ(0, line_open(self->node, self->display, 1, &self->line));
	ASSERT_EQ(1, show(self, 0, STRIDE));
	EXPECT_LE(0, picture(self, 1));
}

TEST_F(display, frames_of_a_ring_are_shown_in_the_order_of_their_release)
{
	const struct dray_axis axis = { .count = ROWS, .src_stride = STRIDE };
	const struct dray_transfer frames[] = {
		SHOW_OF(self->picture.fd, 0, ROW, .axes = (uintptr_t)&axis,
			.axes_count = 1),
		SHOW_OF(self->picture.fd, SPAN, ROW, .axes = (uintptr_t)&axis,
			.axes_count = 1),
	};
	struct dray_ring ring = { .frames = (uintptr_t)frames, .count = 2 };
	struct dray_point point;
	int number;

	ASSERT_EQ(0, ioctl(self->line.fd, DRAY_IOC_RING, &ring));
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t frame = i % 2;
		struct dray_release release = { .frames = (uintptr_t)&frame,
						.count = 1 };

		ASSERT_EQ(0, ioctl(self->line.fd, DRAY_IOC_RELEASE, &release));
		number = picture(self, i > 0 ? 2 : 1);
		ASSERT_LE(0, number);
		ASSERT_EQ(0, save_view(self, number, frame * SPAN, STRIDE));
		if (i == 0)
			continue;
		ASSERT_EQ(0, line_wait(&self->line, i, &point));
		EXPECT_EQ(!frame, point.frame);
	}
	EXPECT_EQ(0, self->line.head->held_back);
}

/* A transfer of @rank axes that does not fit, and the module's reason. */
struct misfit {
	const char *name;
	struct dray_axis axes[2];
	uint32_t rank;
	uint64_t at, run;
	uint32_t reason;
	uint64_t limit;
};

static const struct misfit misfits[] = {
	{ "a first byte",
	  { { ROWS, 0, 1024 } },
	  1,
	  16,
	  ROW,
	  DRAY_REASON_ALIGNMENT,
	  256 },
	{ "a row",
	  { { ROWS, 0, 1024 } },
	  1,
	  0,
	  ROW + 8,
	  DRAY_REASON_ALIGNMENT,
	  16 },
	{ "a stride",
	  { { ROWS, 0, 1032 } },
	  1,
	  0,
	  ROW,
	  DRAY_REASON_ALIGNMENT,
	  16 },
	{ "rows upwards",
	  { { ROWS, 0, -1024 } },
	  1,
	  SPAN,
	  ROW,
	  DRAY_REASON_ROWS,
	  0x3fff0 },
	{ "the same row",
	  { { ROWS, 0, 0 } },
	  1,
	  0,
	  ROW,
	  DRAY_REASON_ROWS,
	  0x3fff0 },
	{ "rows that overlap",
	  { { ROWS, 0, 256 } },
	  1,
	  0,
	  ROW,
	  DRAY_REASON_ROWS,
	  0x3fff0 },
	{ "a long row",
	  { { 2, 0, 0x40000 } },
	  1,
	  0,
	  0x40000,
	  DRAY_REASON_ROWS,
	  0x3fff0 },
	{ "a long stride",
	  { { 2, 0, 0x40000 } },
	  1,
	  0,
	  ROW,
	  DRAY_REASON_ROWS,
	  0x3fff0 },
	{ "three axes",
	  { { 4, 0, 65536 }, { 4, 0, 1024 } },
	  2,
	  0,
	  ROW,
	  DRAY_REASON_ROWS,
	  0x3fff0 },
	{ "rows beyond the end",
	  { { ROWS, 0, 1024 } },
	  1,
	  SIZE - 1024,
	  ROW,
	  DRAY_REASON_RANGE,
	  SIZE },
};

TEST_F(display, other_views_are_refused_with_the_limit)
{
	for (size_t i = 0; i < ARRAY_SIZE(misfits); i++) {
		const struct misfit *misfit = &misfits[i];
		const struct dray_transfer transfer =
			SHOW_OF(self->picture.fd, misfit->at, misfit->run,
				.axes = (uintptr_t)misfit->axes,
				.axes_count = misfit->rank);
		struct dray_submit args =
			SUBMIT_OF(self->display, &transfer, 1,
				  .flags = DRAY_SUBMIT_NO_FENCE,
				  .fence_fd = -1);

		EXPECT_EQ(-EINVAL,
			  node_call(self->node, DRAY_IOC_SUBMIT, &args))
		{
			TH_LOG("%s", misfit->name);
		}
		EXPECT_EQ(misfit->reason, args.reason)
		{
			TH_LOG("%s", misfit->name);
		}
		EXPECT_EQ(misfit->limit, args.limit)
		{
			TH_LOG("%s", misfit->name);
		}
	}
	EXPECT_EQ(0, in_flight(self));
}

TEST_F(display, other_submissions_are_refused_too)
{
	struct dray_transfer both[] = {
		SHOW_OF(self->picture.fd, 0, ROW),
		SHOW_OF(self->picture.fd, 4096, ROW),
	};
	const struct dray_transfer send = SEND_OF(self->picture.fd, 0, ROW);
	struct dray_submit args =
		SUBMIT_OF(self->display, both, 2, .flags = DRAY_SUBMIT_NO_FENCE,
			  .fence_fd = -1);

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SUBMIT, &args));
	EXPECT_EQ(DRAY_REASON_PIECES, args.reason);
	EXPECT_EQ(1, args.limit);
	/* A picture may stay for ever. */
	args = (struct dray_submit)SUBMIT_OF(self->display, both, 1);
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SUBMIT, &args));
	EXPECT_EQ(DRAY_REASON_DEADLINE, args.reason);
	EXPECT_EQ(-EINVAL, submit(self->node, self->display, &send, 0));
	EXPECT_EQ(-EINVAL, submit(self->node, 0, both, 0));
	both[0].dst_fd = self->picture.fd;
	EXPECT_EQ(-EINVAL, submit(self->node, self->display, both, 0));
}

/* Scattered pages of a process are no view of one piece. */
TEST_F(display, scattered_memory_is_refused)
{
	const size_t size = 64 * 4096;
	const struct dray_axis axis = { .count = 64, .src_stride = 4096 };
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_submit args;

	ASSERT_NE(MAP_FAILED, (void *)bytes);
	memset(bytes, 1, size);
	ATTACH_MEMORY(memory, bytes, size, DRAY_ATTACH_READ_ONLY);
	SKIP_IF(memory.segments == 1, "the kernel gave contiguous pages");
	const struct dray_transfer transfer = SHOW_OF(
		memory.fd, 0, ROW, .axes = (uintptr_t)&axis, .axes_count = 1);

	args = (struct dray_submit)SUBMIT_OF(self->display, &transfer, 1,
					     .flags = DRAY_SUBMIT_NO_FENCE,
					     .fence_fd = -1);
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SUBMIT, &args));
	EXPECT_EQ(DRAY_REASON_PIECES, args.reason);
	close(memory.fd);
	munmap(bytes, size);
}

struct late {
	const struct line *line;
	uint64_t repeated;
};

static bool has_repeated(void *data)
{
	struct late *late = data;

	return __atomic_load_n(&late->line->head->held_back,
			       __ATOMIC_RELAXED) >= late->repeated;
}

TEST_F(display, periods_of_sound_follow_each_other_and_the_last_one_repeats)
{
	struct late late = { .repeated = 3 };
	struct buffer samples;
	struct line line;
	char text[64];
	int length;

	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, PERIODS * PERIOD,
				 &samples));
	fill_random(samples.bytes, PERIODS * PERIOD, 7);
	ASSERT_EQ(0, line_open(self->node, self->sound, 1, &line));
	late.line = &line;
	/* The driver takes up a period at a vertical sync. */
	self->screen->refreshes = 1;
	for (uint64_t i = 0; i < PERIODS; i++) {
		const struct dray_transfer period =
			SEND_OF(samples.fd, i * PERIOD, PERIOD);

		/* The writer is late once. */
		if (i == PERIODS / 2)
			ASSERT_TRUE(wait_for(has_repeated, &late));
		ASSERT_EQ((int64_t)i + 1,
			  submit(self->node, self->sound, &period, 0));
	}
	for (uint64_t i = 1; i < PERIODS; i++)
		EXPECT_EQ((int64_t)PERIOD, line_bytes(&line, i));
	length = snprintf(text, sizeof(text), "%llu %llu\n",
			  (unsigned long long)PERIOD,
			  (unsigned long long)line.head->held_back);
	ASSERT_EQ(0, save("/results/sound.periods", text, (size_t)length));
	ASSERT_EQ(0, save("/results/sound.bytes", samples.bytes,
			  PERIODS * PERIOD));
	self->screen->refreshes = 0;
	line_close(&line);
	buffer_close(&samples);
}
