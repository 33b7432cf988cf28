/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Registers and descriptors of the AXI DMA in scatter-gather mode, as its product
 * guide PG021 defines them.
 */
#ifndef DRAY_FPGA_REGISTERS_H
#define DRAY_FPGA_REGISTERS_H

/* Bytes from the start of the window to the registers of a direction. */
#define AXIDMA_MM2S 0x00
#define AXIDMA_S2MM 0x30

/* Words of a direction. */
enum {
	AXIDMA_CR = 0x00 / 4,
	AXIDMA_SR = 0x04 / 4,
	AXIDMA_CURDESC = 0x08 / 4,
	AXIDMA_TAILDESC = 0x10 / 4,
};

#define CR_RUN (1u << 0)
#define CR_RESET (1u << 2)
#define CR_CYCLIC (1u << 4)
#define CR_DEFAULT 0x00010002u
#define CR_THRESHOLD(cr) ((cr) >> 16 & 0xff)
#define CR_DELAY(cr) ((cr) >> 24)

#define SR_HALTED (1u << 0)
#define SR_IDLE (1u << 1)
#define SR_SG (1u << 3)
#define SR_INTERNAL_ERROR (1u << 4)
#define SR_SLAVE_ERROR (1u << 5)
#define SR_DECODE_ERROR (1u << 6)
#define SR_SG_INTERNAL_ERROR (1u << 8)
#define SR_SG_DECODE_ERROR (1u << 10)
#define SR_ERRORS 0x770u
#define SR_COMPLETE_IRQ (1u << 12)
#define SR_DELAY_IRQ (1u << 13)
#define SR_ERROR_IRQ (1u << 14)
#define SR_IRQS 0x7000u /* the same bits enable them in CR */

/*
 * The guide reserves the low six bits of TAILDESC.  The model sets this one when
 * it has seen a write: a ring may be given the same tail twice.
 */
#define TAIL_SEEN 1u

/* Words of a descriptor, which is aligned to 64 bytes. */
enum {
	BD_NEXT = 0x00 / 4,
	BD_NEXT_HIGH = 0x04 / 4,
	BD_BUFFER = 0x08 / 4,
	BD_BUFFER_HIGH = 0x0c / 4,
	BD_CONTROL = 0x18 / 4,
	BD_STATUS = 0x1c / 4,
};

#define BD_ALIGN 64u
#define BD_LENGTH 0x3ffffffu /* in control and status */
#define BD_EOF (1u << 26)
#define BD_SOF (1u << 27)
#define BD_ERROR_SHIFT 24 /* from an error bit of SR to that of the status */
#define BD_COMPLETED (1u << 31)

#endif /* DRAY_FPGA_REGISTERS_H */
