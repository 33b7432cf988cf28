// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The time that a command follows events, and the memory that it lets them take. */
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "span.h"

const struct command_option for_option = {
	.name = "for",
	.value = "TIME",
	.text = "end after that time, as 500ms, 10s or 5m;\n"
		"otherwise at a signal such as Ctrl-C",
};

const struct command_option buffer_option = {
	.name = "buffer-size",
	.value = "SIZE",
	.text = "let the kernel keep that many bytes of events\n"
		"for each processor, as 8M",
};

bool span_begin(const struct request *request, struct span *span)
{
	const char *time = option_value(request, &for_option);
	const char *size = option_value(request, &buffer_option);

	*span = (struct span){ .begin_ns = clock_now(),
			       .length_ns = UINT64_MAX };
	return (!time || parse_time(time, &span->length_ns)) &&
	       (!size || parse_size(size, &span->buffer));
}

uint64_t span_passed(const struct span *span)
{
	return clock_now() - span->begin_ns;
}

int span_left(const struct span *span, int most)
{
	uint64_t passed = span_passed(span);
	uint64_t left;

	if (interrupt_signal() || passed >= span->length_ns)
		return 0;
	left = (span->length_ns - passed) / 1000000;
	return left < (uint64_t)most ? (int)left + 1 : most;
}
