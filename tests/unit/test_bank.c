// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * bank: the bank of some addresses, of a buffer and of a heap.  The addresses are
 * given here, in place of the module's: memory of the host has none.
 */
#include "node.h"

#define MIB ((uint64_t)1 << 20)

static const struct dray_bank banks[] = {
	{ .size = 1024 * MIB, .index = 0, .name = "unused" },
	{ .size = 1024 * MIB,
	  .index = 1,
	  .flags = DRAY_BANK_USED,
	  .name = "HP0" },
	{ .size = 1024 * MIB,
	  .index = 2,
	  .flags = DRAY_BANK_USED,
	  .name = "HP1" },
	{ .address = 1024 * MIB,
	  .size = 512 * MIB,
	  .index = 3,
	  .flags = DRAY_BANK_USED,
	  .name = "DDR1" },
	{ .index = 4,
	  .flags = DRAY_BANK_USED,
	  .type = DRAY_BANK_STREAM,
	  .name = "stream" },
	{ .address = UINT64_MAX - MIB,
	  .size = MIB,
	  .index = 5,
	  .flags = DRAY_BANK_USED,
	  .name = "last" },
};

#define COUNT (sizeof(banks) / sizeof(banks[0]))

/* Answers of the functions below. */
static struct {
	struct dray_segment segments[8];
	size_t count;
	size_t asked;
	int error;
	uint32_t flags; /* of the node */
	uint32_t modes; /* of its heaps */
	uint32_t mode; /* asked for */
	uint32_t alloc_flags[4];
	int allocs;
	int allocs_work; /* then they fail; 0: all work */
	bool realloc_fails;
} answer;

static int forget(void **state)
{
	memset(&answer, 0, sizeof(answer));
	answer.count = 1;
	return 0;
}

WRAPPED(int, dray_buffer_addresses,
	(struct dray_buffer * buffer, uint64_t offset, uint64_t length,
	 struct dray_segment *segments, size_t room, size_t *count))
{
	if (answer.error)
		return __real_dray_buffer_addresses(buffer, offset, length,
						    segments, room, count);
	for (size_t i = 0; i < room && i < answer.count; i++)
		segments[i] = answer.segments[answer.asked + i];
	*count = answer.count;
	/* Each page of a heap has an address of its own. */
	answer.asked += answer.allocs ? 1 : 0;
	return 0;
}

WRAPPED(int, dray_node_info,
	(struct dray_node * node, struct dray_info *info, size_t size))
{
	int ret = __real_dray_node_info(node, info, size);

	info->flags |= answer.flags;
	return ret;
}

WRAPPED(int, dray_node_heap,
	(struct dray_node * node, uint32_t index, struct dray_heap_info *info,
	 size_t size))
{
	int ret = __real_dray_node_heap(node, index, info, size);

	if (answer.modes)
		info->modes = answer.modes;
	return ret;
}

WRAPPED(int, dray_buffer_alloc,
	(struct dray_node * node, uint64_t size,
	 const struct dray_buffer_options *options, struct dray_buffer **out))
{
	struct dray_buffer_options changed = *options;

	if (answer.allocs_work && answer.allocs == answer.allocs_work)
		return -ENOMEM;
	if (options->name) {
		answer.mode = options->mode;
		answer.alloc_flags[answer.allocs++ % 4] = options->flags;
		changed.flags = 0;
	}
	return __real_dray_buffer_alloc(node, size, &changed, out);
}

/* A compiler makes this of realloc(NULL, size). */
WRAPPED(void *, malloc, (size_t size))
{
	return answer.realloc_fails ? NULL : __real_malloc(size);
}

WRAPPED(void *, realloc, (void *memory, size_t size))
{
	return answer.realloc_fails ? NULL : __real_realloc(memory, size);
}

#define BANK_FACT(name) FACT_WITH(name, forget, NULL)

/* The index of the bank of one segment, or an error. */
static int find(uint64_t address, uint64_t length)
{
	struct dray_segment segment = { address, length };
	const struct dray_bank *bank = NULL;
	int ret = dray_bank_find(banks, COUNT, &segment, 1, &bank);

	return ret ? ret : (int)bank->index;
}

BANK_FACT(the_first_bank_in_use_that_holds_it_is_found)
{
	assert_int_equal(find(0, 1), 1);
	assert_int_equal(find(0, 1024 * MIB), 1);
	assert_int_equal(find(1024 * MIB - 1, 1), 1);
	assert_int_equal(find(1024 * MIB, 512 * MIB), 3);
	assert_int_equal(find(UINT64_MAX - 1, 1), 5);
}

BANK_FACT(a_bank_alone_can_be_tested)
{
	struct dray_segment segment = { 4096, 4096 };
	const struct dray_bank *bank = NULL;

	assert_works(dray_bank_find(&banks[2], 1, &segment, 1, &bank));
	assert_ptr_equal(bank, &banks[2]);
	assert_fails(dray_bank_find(&banks[3], 1, &segment, 1, &bank), -ERANGE,
		     "none of the 1 bank in use holds address 0x1000");
	assert_fails(dray_bank_find(&banks[0], 1, &segment, 1, &bank), -ERANGE,
		     "none of the 0 banks in use");
	assert_fails(dray_bank_find(NULL, 0, &segment, 1, &bank), -ERANGE,
		     "none of the 0 banks in use");
}

BANK_FACT(memory_in_no_bank_is_refused)
{
	assert_fails(find(1536 * MIB, 1), -ERANGE,
		     "none of the 4 banks in use holds address 0x60000000");
	/* Its begin is in one. */
	assert_fails(find(1536 * MIB - 1, 2), -ERANGE, "address 0x60000000");
	assert_fails(find(UINT64_MAX, 1), -ERANGE, "0xffffffffffffffff");
}

BANK_FACT(memory_in_two_banks_is_refused)
{
	assert_fails(find(1024 * MIB - 1, 2), -ERANGE,
		     "two banks: 0x3fffffff in bank 1 (HP0), 0x40000000 in "
		     "bank 3 (DDR1)");
	assert_fails(find(0, 1536 * MIB), -ERANGE,
		     "0x0 in bank 1 (HP0), 0x5fffffff in bank 3 (DDR1)");
}

BANK_FACT(every_segment_counts)
{
	struct dray_segment segments[] = { { 0, 4096 },
					   { 8192, 4096 },
					   { 1024 * MIB, 4096 } };
	const struct dray_bank *bank = NULL;

	assert_works(dray_bank_find(banks, COUNT, segments, 2, &bank));
	assert_int_equal(bank->index, 1);
	assert_fails(dray_bank_find(banks, COUNT, segments, 3, &bank), -ERANGE,
		     "0x40000000 in bank 3");
	segments[1].address = 1600 * MIB;
	assert_fails(dray_bank_find(banks, COUNT, segments, 3, &bank), -ERANGE,
		     "address 0x64000000");
}

BANK_FACT(segments_that_are_none_are_refused)
{
	struct dray_segment segment = { 0, 0 };
	const struct dray_bank *bank;

	assert_fails(find(4096, 0), -EINVAL, "0 bytes at address 0x1000");
	assert_fails(find(UINT64_MAX, 2), -EINVAL, "not a segment");
	assert_fails(dray_bank_find(banks, COUNT, &segment, 0, &bank), -EINVAL,
		     "0 segments");
}

/* The bank of a whole buffer of the host, at the answer's addresses. */
static int find_buffer(void)
{
	struct dray_node *node = open_node("host");
	struct dray_buffer_options none = { 0 };
	const struct dray_bank *bank = NULL;
	struct dray_buffer *buffer;
	int ret;

	assert_works(dray_buffer_alloc(node, 8 * 4096, &none, &buffer));
	ret = dray_bank_of_buffer(banks, COUNT, buffer, 0, 0, &bank);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
	return ret ? ret : (int)bank->index;
}

BANK_FACT(a_buffer_lies_in_the_bank_of_its_addresses)
{
	answer.segments[0] = (struct dray_segment){ 1100 * MIB, 8 * 4096 };
	assert_int_equal(find_buffer(), 3);
}

BANK_FACT(all_segments_of_a_buffer_are_asked_for)
{
	answer.count = 8;
	for (size_t i = 0; i < 8; i++)
		answer.segments[i] = (struct dray_segment){ i * MIB, 4096 };
	assert_int_equal(find_buffer(), 1);
	answer.segments[7].address = 1100 * MIB;
	assert_fails(find_buffer(), -ERANGE, "0x44c00000 in bank 3 (DDR1)");
}

BANK_FACT(no_memory_for_the_segments_is_an_error)
{
	answer.count = 8;
	answer.realloc_fails = true;
	assert_fails(find_buffer(), -ENOMEM, "no memory for 8 segments");
}

BANK_FACT(addresses_behind_an_iommu_are_refused)
{
	answer.flags = DRAY_NODE_IOMMU;
	assert_fails(find_buffer(), -EOPNOTSUPP, "are an IOMMU's");
}

BANK_FACT(the_host_has_no_addresses)
{
	answer.error = 1;
	assert_fails(find_buffer(), -EOPNOTSUPP, "");
}

/* Leaves no buffer behind, with any result. */
static int find_heap(const char *heap)
{
	struct dray_node *node = open_node("host");
	const struct dray_bank *bank = NULL;
	int ret = dray_bank_of_heap(banks, COUNT, node, heap, &bank);
	size_t left;

	assert_works(dray_node_list(node, NULL, 0, &left));
	assert_int_equal(left, 0);
	dray_node_unref(node);
	return ret ? ret : (int)bank->index;
}

BANK_FACT(a_heap_lies_in_the_bank_of_both_its_ends)
{
	answer.segments[0] = (struct dray_segment){ 1024 * MIB, 4096 };
	answer.segments[1] = (struct dray_segment){ 1535 * MIB, 4096 };
	assert_int_equal(find_heap(NULL), 3);
	assert_int_equal(answer.allocs, 2);
	assert_int_equal(answer.alloc_flags[0], 0);
	assert_int_equal(answer.alloc_flags[1], DRAY_ALLOC_TOP);
}

BANK_FACT(a_heap_across_two_banks_is_refused)
{
	answer.segments[0] = (struct dray_segment){ 1000 * MIB, 4096 };
	answer.segments[1] = (struct dray_segment){ 1100 * MIB, 4096 };
	assert_fails(find_heap("private"), -ERANGE, "lies in two banks");
}

BANK_FACT(a_heap_without_a_free_page_is_an_error)
{
	answer.allocs_work = 1;
	assert_int_equal(find_heap(NULL), -ENOMEM);
}

BANK_FACT(a_heap_is_asked_for_a_mode_that_it_has)
{
	answer.segments[0] = answer.segments[1] =
		(struct dray_segment){ 4096, 4096 };
	answer.modes = 1u << DRAY_MODE_DEVICE | 1u << DRAY_MODE_COHERENT;
	assert_int_equal(find_heap("private"), 1);
	assert_int_equal(answer.mode, DRAY_MODE_COHERENT);
	answer.allocs = 0;
	answer.asked = 0;
	answer.modes = 1u << DRAY_MODE_CACHED | 1u << DRAY_MODE_COHERENT;
	assert_int_equal(find_heap("private"), 1);
	assert_int_equal(answer.mode, DRAY_MODE_CACHED);
}

BANK_FACT(an_unknown_heap_is_refused)
{
	assert_fails(find_heap("nowhere"), -EINVAL, "no heap \"nowhere\"");
	answer.flags = DRAY_NODE_IOMMU;
	assert_fails(find_heap("private"), -EOPNOTSUPP, "IOMMU");
}
