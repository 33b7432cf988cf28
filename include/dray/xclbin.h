/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * xclbin: the memory banks of an accelerator, and the heaps that lie in them.
 *
 * A file for Xilinx's runtime (XRT) contains a table of banks, the pieces of
 * memory that its kernels reach.  XRT names a bank by its number, the group of
 * xrtBOAlloc().  A heap lies in a bank if the device tree places its memory
 * region there.  Any thread may call these functions.  (Source: the file's
 * layout, version 2, in Debian's libxrt-dev, xclbin.h.)
 *
 *	struct dray_bank banks[16];
 *	size_t count;
 *
 *	ret = dray_xclbin_banks("design.xclbin", banks, 16, &count);
 *	if (ret)
 *		return ret;
 *	for (size_t i = 0; i < count && i < 16; i++)
 *		printf("%s: %s\n", banks[i].name,
 *		       dray_bank_type_name(banks[i].type));
 */
#ifndef DRAY_XCLBIN_H
#define DRAY_XCLBIN_H

#include <dray/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Kinds of banks.  The values are the file's.  A caller treats an unknown value
 * as memory if the bank's size is not 0.
 */
enum dray_bank_type {
	DRAY_BANK_DDR3 = 0,
	DRAY_BANK_DDR4 = 1,
	DRAY_BANK_DRAM = 2,
	DRAY_BANK_STREAM = 3,		/* no memory: a stream of a kernel */
	DRAY_BANK_PREALLOCATED = 4,
	DRAY_BANK_AURORA = 5,
	DRAY_BANK_HBM = 6,
	DRAY_BANK_BRAM = 7,
	DRAY_BANK_URAM = 8,
	DRAY_BANK_STREAM_CONNECTION = 9, /* no memory */
	DRAY_BANK_HOST = 10,		/* memory of the host, behind PCIe */
	DRAY_BANK_PS_KERNEL = 11,
};

/** Flags of a bank.  A caller ignores an unknown value. */
enum dray_bank_flags {
	/* A kernel of the design uses it. */
	DRAY_BANK_USED = 1 << 0,
};

/** A bank, as dray_xclbin_banks() fills it.  ABI: 64 bytes on every machine. */
struct dray_bank {
	uint64_t address;	/* of the first byte; 0 for a stream */
	uint64_t size;		/* bytes; 0: no memory */
	uint32_t index;		/* the group for xrtBOAlloc() */
	uint32_t type;		/* enum dray_bank_type, or a newer type */
	uint32_t flags;		/* DRAY_BANK_* */
	uint32_t reserved;	/* 0 */
	/* as "DDR[0]" or "HP0"; ends with a zero; bytes that cannot be printed: '?' */
	char name[DRAY_NAME_LEN];
};

#ifdef __cplusplus
static_assert(sizeof(struct dray_bank) == 64, "a bank has 64 bytes");
#else
_Static_assert(sizeof(struct dray_bank) == 64, "a bank has 64 bytes");
#endif

/**
 * Reads the banks of an .xclbin file, in the order of their numbers.  The file
 * is not trusted: all sizes and offsets in it are checked against its real
 * size.  Reads some kilobytes and loads nothing into a device.
 *
 * @path: the file
 * @banks: at most @room of them are written; may be NULL if @room is 0
 * @count: how many there are
 *
 * Errors: -EBADMSG (not an xclbin of version 2, a truncated file, or a table
 * that does not fit its section), -ENODATA (a file without a table of banks),
 * -EISDIR and -EINVAL (not a file), and the errors of open() and pread().
 */
DRAY_API int dray_xclbin_banks(const char *path, struct dray_bank *banks,
			       size_t room, size_t *count);

/** Does as dray_xclbin_banks() for a file of @size bytes in memory. */
DRAY_API int dray_xclbin_banks_in(const void *file, size_t size,
				  struct dray_bank *banks, size_t room,
				  size_t *count);

/**
 * Returns the name of a kind, "DDR4", "HBM", ...; "unknown" for a newer type.
 * A constant.
 */
DRAY_API const char *dray_bank_type_name(uint32_t type);

/**
 * Finds the bank that holds all of @segments.
 *
 * Banks may overlap: several ports to the same memory are a bank each, at the
 * same addresses.  The result is the first bank in use; to test a certain bank,
 * pass it alone.  Banks that no kernel uses, and streams, are not looked at.
 *
 * @banks: @count of them
 * @segments: @segment_count, at least one, physical addresses
 * @out: a bank of @banks
 *
 * Errors: -ERANGE (no bank in use holds an address, or two banks hold parts;
 * the sentence names the addresses), -EINVAL (no segment, an empty segment, or
 * a segment that ends above 2^64).
 */
DRAY_API int dray_bank_find(const struct dray_bank *banks, size_t count,
			    const struct dray_segment *segments,
			    size_t segment_count,
			    const struct dray_bank **out);

/**
 * Finds the bank that holds @length bytes at @offset (0: to the end) of a
 * buffer, so that XRT can be asked for the same bank.  Needs the right to
 * addresses, because it asks for them.
 *
 * Errors: as dray_bank_find() and dray_buffer_addresses(); -EOPNOTSUPP also for a
 * node behind an IOMMU, whose addresses differ from the banks'.
 */
DRAY_API int dray_bank_of_buffer(const struct dray_bank *banks, size_t count,
				 struct dray_buffer *buffer, uint64_t offset,
				 uint64_t length, const struct dray_bank **out);

/**
 * Finds the bank that holds a heap of a node.  Allocates a page at either end
 * of the heap and asks for their addresses.  Of the system's memory (types
 * "cma" and "pages") other pages may lie elsewhere: use dray_bank_of_buffer().
 *
 * @heap: its name, NULL: the node's first heap for cached memory
 *
 * Errors: as dray_bank_of_buffer() and dray_buffer_alloc().
 */
DRAY_API int dray_bank_of_heap(const struct dray_bank *banks, size_t count,
			       struct dray_node *node, const char *heap,
			       const struct dray_bank **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_XCLBIN_H */
