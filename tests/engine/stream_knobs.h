/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The knobs and counters of dray_test_stream.ko.
 */
#ifndef ENGINE_STREAM_KNOBS_H
#define ENGINE_STREAM_KNOBS_H

#include "../selftests/binding.h"

#define STREAM_KNOBS "/sys/module/dray_test_stream/parameters/"
#define STREAM_DRIVER "/sys/bus/platform/drivers/dray-test-stream/"
#define STREAM_ENGINE "dray-test-stream"
#define STREAM_ASLEEP "/sys/devices/platform/dray-test-stream-node/asleep"

/* A source's stream, and a frame of it. */
#define SOURCE RX1
#define SOURCE_BYTES 64

static inline bool stream_has(const char *knob)
{
	(void)knob;
	return true;
}

static inline int stream_text(const char *knob, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), STREAM_KNOBS "%s", knob);
	return write_text(path, text);
}

static inline int stream_knob(const char *knob, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return stream_text(knob, text);
}

/* The counter of a channel, a knob without channels at 0; Y is 1.  -1: none. */
static inline long stream_read(const char *knob, unsigned int channel)
{
	char path[128], text[128] = "", *at = text;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), STREAM_KNOBS "%s", knob);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (length < 1)
		return -1;
	if (*text == 'Y' || *text == 'N')
		return *text == 'Y';
	while (channel-- && at)
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	return at ? atol(at) : -1;
}

static inline int stream_knobs_reset(void)
{
	static const struct {
		const char *name;
		unsigned int value;
	} knobs[] = {
		{ "stall", 0 },	   { "fail", 0 },     { "lose", 0 },
		{ "stubborn", 0 }, { "late_ms", 0 },  { "split", 0 },
		{ "join", 0 },	   { "unfinished", 0 }, { "frame_us", 0 },
		{ "restless", 0 }, { "empty", 1 },    { "refuse_config", 0 },
		{ "slots", 65536 }, { "hold", 0 },	{ "ask", 0 },
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
		ret = ret ? ret : stream_knob(knobs[i].name, knobs[i].value);
	return ret;
}

#endif
