/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The parts of an .xclbin file that lead to its banks, little endian.  Suite
 * `xrt` compares these structures with those of Debian's libxrt-dev.
 */
#ifndef DRAY_XRT_XCLBIN_H
#define DRAY_XRT_XCLBIN_H

#include <stdint.h>

#define DRAY_XCLBIN_MAGIC "xclbin2" /* with its zero */

/* Of section kinds: the table of banks. */
#define DRAY_XCLBIN_TOPOLOGY 6u

/* The most sections that XRT's own tools take. */
#define DRAY_XCLBIN_MOST_SECTIONS 0x10000u
/* A buffer's flags have 16 bits for the bank. */
#define DRAY_XCLBIN_MOST_BANKS 0x10000u

/* The file begins with this; @count sections follow. */
struct dray_xclbin_header {
	char magic[8];
	int32_t signature_length;
	uint8_t reserved[28];
	uint8_t key[256];
	uint64_t id;
	uint64_t length; /* bytes of the file, without a signature behind it */
	uint8_t about[136]; /* times, versions, identifiers */
	uint32_t count;
	uint32_t padding;
};

struct dray_xclbin_section {
	uint32_t kind;
	char name[16];
	uint32_t padding;
	uint64_t offset; /* bytes, from the start of the file */
	uint64_t size; /* bytes */
};

/* A section of banks begins with this; @count banks follow. */
struct dray_xclbin_topology {
	int32_t count;
	uint32_t padding;
};

struct dray_xclbin_bank {
	uint8_t type;
	uint8_t used;
	uint8_t padding[6];
	uint64_t kilobytes; /* of a stream: its route */
	uint64_t address; /* of a stream: its flow */
	char tag[16]; /* need not end with a zero */
};

_Static_assert(sizeof(struct dray_xclbin_header) == 456, "header");
_Static_assert(sizeof(struct dray_xclbin_section) == 40, "section");
_Static_assert(sizeof(struct dray_xclbin_topology) == 8, "topology");
_Static_assert(sizeof(struct dray_xclbin_bank) == 40, "bank");

#endif /* DRAY_XRT_XCLBIN_H */
