// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds the bank of an xclbin that holds memory of dray.  Banks are ranges of
 * physical addresses; a node without an IOMMU has the same addresses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dray/xclbin.h>

#include "base/error.h"
#include "base/number.h"

/* Whether a kernel uses the bank, and it is memory. */
static bool bank_is_usable(const struct dray_bank *bank)
{
	return bank->flags & DRAY_BANK_USED && bank->size;
}

static bool bank_holds(const struct dray_bank *bank, uint64_t address,
		       uint64_t length)
{
	return bank_is_usable(bank) && address >= bank->address &&
	       length <= bank->size &&
	       address - bank->address <= bank->size - length;
}

static bool bank_holds_all(const struct dray_bank *bank,
			   const struct dray_segment *segments, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!bank_holds(bank, segments[i].address, segments[i].length))
			return false;
	}
	return true;
}

static const struct dray_bank *bank_at(const struct dray_bank *banks,
				       size_t count, uint64_t address)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (bank_holds(&banks[i], address, 1))
			return &banks[i];
	}
	return NULL;
}

static int no_bank(size_t count, uint64_t address)
{
	return dray_fail(
		-ERANGE,
		"none of the %zu bank%s in use holds address 0x%" PRIx64, count,
		dray_plural(count), address);
}

/* Explains why no bank holds all of the segments. */
static int fail_apart(const struct dray_bank *banks, size_t count,
		      const struct dray_segment *segments, size_t segment_count)
{
	const struct dray_bank *first, *other;
	size_t usable = 0, i;
	uint64_t last;

	for (i = 0; i < count; i++)
		usable += bank_is_usable(&banks[i]);
	first = bank_at(banks, count, segments[0].address);
	if (!first)
		return no_bank(usable, segments[0].address);
	i = 0;
	while (i + 1 < segment_count &&
	       bank_holds(first, segments[i].address, segments[i].length))
		i++;
	last = segments[i].address;
	if (bank_holds(first, last, 1))
		last += segments[i].length - 1;
	other = bank_at(banks, count, last);
	if (!other)
		return no_bank(usable, last);
	return dray_fail(-ERANGE,
			 "the memory lies in two banks: 0x%" PRIx64
			 " in bank %u (%s), 0x%" PRIx64 " in bank %u (%s)",
			 (uint64_t)segments[0].address, first->index,
			 first->name, last, other->index, other->name);
}

int dray_bank_find(const struct dray_bank *banks, size_t count,
		   const struct dray_segment *segments, size_t segment_count,
		   const struct dray_bank **out)
{
	uint64_t end;
	size_t i;

	if ((count && !dray_given(banks, __func__)) ||
	    !dray_given(segments, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!segment_count)
		return dray_fail(-EINVAL, "memory of 0 segments");
	for (i = 0; i < segment_count; i++) {
		if (!segments[i].length ||
		    dray_add_overflow(segments[i].address,
				      segments[i].length - 1, &end))
			return dray_fail(-EINVAL,
					 "%" PRIu64
					 " bytes at address 0x%" PRIx64
					 " are not a segment",
					 (uint64_t)segments[i].length,
					 (uint64_t)segments[i].address);
	}
	for (i = 0; i < count; i++) {
		if (bank_holds_all(&banks[i], segments, segment_count)) {
			*out = &banks[i];
			return 0;
		}
	}
	return fail_apart(banks, count, segments, segment_count);
}

static int check_addresses(struct dray_node *node)
{
	struct dray_info info = { 0 };
	int ret = dray_node_info(node, &info, sizeof(info));

	if (ret)
		return ret;
	if (info.flags & DRAY_NODE_IOMMU)
		return dray_fail(
			-EOPNOTSUPP,
			"addresses of %.*s are an IOMMU's, those of banks are physical",
			DRAY_NAME_LEN, info.name);
	return 0;
}

int dray_bank_of_buffer(const struct dray_bank *banks, size_t count,
			struct dray_buffer *buffer, uint64_t offset,
			uint64_t length, const struct dray_bank **out)
{
	struct dray_segment few[4], *segments = few, *more;
	size_t room = 4, there = 0;
	int ret;

	if ((count && !dray_given(banks, __func__)) ||
	    !dray_given(buffer, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = check_addresses(dray_buffer_node(buffer));
	if (ret)
		return ret;
	for (;;) {
		ret = dray_buffer_addresses(buffer, offset, length, segments,
					    room, &there);
		if (ret || there <= room)
			break;
		room = there;
		more = realloc(segments == few ? NULL : segments,
			       room * sizeof(*segments));
		if (!more) {
			ret = dray_fail(-ENOMEM, "no memory for %zu segments",
					room);
			break;
		}
		segments = more;
	}
	if (!ret)
		ret = dray_bank_find(banks, count, segments, there, out);
	if (segments != few)
		free(segments);
	return ret;
}

/* Finds a mode that memory of the heap can have. */
static int find_mode(struct dray_node *node, const char *heap, uint32_t *mode)
{
	struct dray_heap_info info = { 0 };
	struct dray_info about = { 0 };
	uint32_t i;
	int ret;

	*mode = DRAY_MODE_CACHED;
	ret = dray_node_info(node, &about, sizeof(about));
	for (i = 0; heap && !ret && i < about.heap_count; i++) {
		ret = dray_node_heap(node, i, &info, sizeof(info));
		if (ret || strncmp(info.name, heap, DRAY_NAME_LEN) != 0)
			continue;
		if (info.modes && !(info.modes & 1u << DRAY_MODE_CACHED))
			*mode = (uint32_t)__builtin_ctz(info.modes);
		break;
	}
	return ret;
}

/* Returns the address of the first byte of a new page, which it frees again. */
static int heap_address(struct dray_node *node, const char *heap, uint32_t mode,
			uint32_t flags, struct dray_segment *segment)
{
	struct dray_buffer_options options = {
		.heap = heap, .name = "bank", .mode = mode, .flags = flags
	};
	struct dray_buffer *buffer;
	size_t count;
	int ret;

	ret = dray_buffer_alloc(node, 1, &options, &buffer);
	if (ret)
		return ret;
	ret = dray_buffer_addresses(buffer, 0, 0, segment, 1, &count);
	dray_buffer_unref(buffer);
	return ret;
}

int dray_bank_of_heap(const struct dray_bank *banks, size_t count,
		      struct dray_node *node, const char *heap,
		      const struct dray_bank **out)
{
	struct dray_segment ends[2];
	uint32_t mode;
	int ret;

	if ((count && !dray_given(banks, __func__)) ||
	    !dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = check_addresses(node);
	if (!ret)
		ret = find_mode(node, heap, &mode);
	if (!ret)
		ret = heap_address(node, heap, mode, 0, &ends[0]);
	if (!ret)
		ret = heap_address(node, heap, mode, DRAY_ALLOC_TOP, &ends[1]);
	return ret ? ret : dray_bank_find(banks, count, ends, 2, out);
}
