// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Adds 40 to each byte, at most up to 255.  A packet keeps its length. */
#include "../ip.h"

#define GAIN 40

void ip_receive(uint8_t *bytes, size_t length, bool last)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(bytes[i] < 255 - GAIN ? bytes[i] + GAIN
							   : 255);
	ip_send(bytes, length, last);
}
