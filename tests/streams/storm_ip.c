// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An IP that raises as many interrupts as the board writes to its first register, as
 * fast as it can.
 */
#include "ip.h"

void ip_receive(uint8_t *bytes, size_t length, bool last)
{
	ip_send(bytes, length, last);
}

int main(void)
{
	volatile uint32_t *registers;
	uint32_t wanted;

	ip_open();
	registers = ip_registers();
	registers[0] = 0;
	for (;;) {
		ip_serve(1);
		wanted =
			__atomic_exchange_n(&registers[0], 0, __ATOMIC_ACQ_REL);
		while (wanted--)
			ip_interrupt();
	}
}
