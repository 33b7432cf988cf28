// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The library's own descriptions of XRT's file format and constants are those of
 * XRT's headers.  Compiling it is the test.
 */
#include <stddef.h>

#include <xclbin.h>
#include <xrt_mem.h>

#include <dray/xclbin.h>
#include <dray/xrt.h>

#include "xrt/xclbin.h"

#define SAME(fact) _Static_assert(fact, #fact)
#define SAME_FIELD(ours, our_field, theirs, their_field)     \
	SAME(offsetof(struct ours, our_field) ==             \
		     offsetof(struct theirs, their_field) && \
	     sizeof(((struct ours *)NULL)->our_field) ==     \
		     sizeof(((struct theirs *)NULL)->their_field))

#define HEADER(ours, theirs) SAME_FIELD(dray_xclbin_header, ours, axlf, theirs)
HEADER(magic, m_magic);
HEADER(signature_length, m_signature_length);
HEADER(key, m_keyBlock);
HEADER(id, m_uniqueId);
HEADER(length, m_header.m_length);
HEADER(count, m_header.m_numSections);
SAME(sizeof(struct dray_xclbin_header) == offsetof(struct axlf, m_sections));

#define SECTION(ours, theirs) \
	SAME_FIELD(dray_xclbin_section, ours, axlf_section_header, theirs)
SECTION(kind, m_sectionKind);
SECTION(name, m_sectionName);
SECTION(offset, m_sectionOffset);
SECTION(size, m_sectionSize);
SAME(sizeof(struct dray_xclbin_section) == sizeof(struct axlf_section_header));
SAME(DRAY_XCLBIN_TOPOLOGY == MEM_TOPOLOGY);
SAME(DRAY_XCLBIN_MOST_SECTIONS == XCLBIN_MAX_NUM_SECTION);

SAME_FIELD(dray_xclbin_topology, count, mem_topology, m_count);
SAME(sizeof(struct dray_xclbin_topology) ==
     offsetof(struct mem_topology, m_mem_data));

#define BANK(ours, theirs) SAME_FIELD(dray_xclbin_bank, ours, mem_data, theirs)
BANK(type, m_type);
BANK(used, m_used);
BANK(kilobytes, m_size);
BANK(address, m_base_address);
BANK(tag, m_tag);
SAME(sizeof(struct dray_xclbin_bank) == sizeof(struct mem_data));

SAME((int)DRAY_BANK_DDR3 == (int)MEM_DDR3);
SAME((int)DRAY_BANK_DDR4 == (int)MEM_DDR4);
SAME((int)DRAY_BANK_DRAM == (int)MEM_DRAM);
SAME((int)DRAY_BANK_STREAM == (int)MEM_STREAMING);
SAME((int)DRAY_BANK_PREALLOCATED == (int)MEM_PREALLOCATED_GLOB);
SAME((int)DRAY_BANK_AURORA == (int)MEM_ARE);
SAME((int)DRAY_BANK_HBM == (int)MEM_HBM);
SAME((int)DRAY_BANK_BRAM == (int)MEM_BRAM);
SAME((int)DRAY_BANK_URAM == (int)MEM_URAM);
SAME((int)DRAY_BANK_STREAM_CONNECTION == (int)MEM_STREAMING_CONNECTION);
SAME((int)DRAY_BANK_HOST == (int)MEM_HOST);
SAME((int)DRAY_BANK_PS_KERNEL == (int)MEM_PS_KERNEL);

SAME(DRAY_XRT_NORMAL == XRT_BO_FLAGS_NONE);
SAME(DRAY_XRT_CACHEABLE == XRT_BO_FLAGS_CACHEABLE);
SAME(DRAY_XRT_SVM == XRT_BO_FLAGS_SVM);
SAME(DRAY_XRT_DEVICE_ONLY == XRT_BO_FLAGS_DEV_ONLY);
SAME(DRAY_XRT_HOST_ONLY == XRT_BO_FLAGS_HOST_ONLY);
SAME(DRAY_XRT_P2P == XRT_BO_FLAGS_P2P);
