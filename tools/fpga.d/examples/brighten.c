// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Adds its gain to each byte, at most up to 255.  A packet keeps its length; its end
 * raises the interrupt.
 */
#include "../ip.h"

#define GAIN 40

/* Its registers; brighten.v has the same. */
enum {
	BRIGHTEN_GAIN, /* 0 to 255 */
	BRIGHTEN_FRAMES, /* packets that passed; read only */
};

void ip_begin(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	ip_registers()[BRIGHTEN_GAIN] = GAIN;
	ip_registers()[BRIGHTEN_FRAMES] = 0;
}

void ip_receive(uint8_t *bytes, size_t length, bool last)
{
	volatile uint32_t *registers = ip_registers();
	unsigned int gain = registers[BRIGHTEN_GAIN] & 255;
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(bytes[i] < 255 - gain ? bytes[i] + gain
							   : 255);
	ip_send(bytes, length, last);
	if (!last)
		return;
	registers[BRIGHTEN_FRAMES]++;
	ip_interrupt();
}
