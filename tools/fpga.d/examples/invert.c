// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Inverts each byte.  A packet keeps its length. */
#include "../ip.h"

void ip_receive(uint8_t *bytes, size_t length, bool last)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)~bytes[i];
	ip_send(bytes, length, last);
}
