// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Programs that hold memory for a test end with their standard input. */
#include <err.h>
#include <poll.h>
#include <unistd.h>

#include "input.h"

bool input_ended(int timeout)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (poll(&input, 1, timeout) < 0)
		err(1, "poll");
	return input.revents && read(STDIN_FILENO, &byte, 1) <= 0;
}
