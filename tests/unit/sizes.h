/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls a function with a structure of each size: 0, of its first version, of this
 * version, of a later version, and wrong ones.  docs/stability.md has the rule.
 */
#ifndef DRAY_TESTS_SIZES_H
#define DRAY_TESTS_SIZES_H

#include "unit.h"
#include "base/options.h"

#define SIZES_MOST 4096

struct sizes_row {
	const char *name;
	size_t known; /* bytes of this version */
	size_t first; /* of the first version */
	size_t recorded; /* the same on machines of 64 bits: never changes */
	bool result; /* the function fills the structure */
	bool refuses; /* it refuses this row's structure for other reasons */
	const void *fields; /* @known bytes, NULL: zeros */
	int (*call)(void *structure);
};

#define SIZES_FIRST(name, constant, number, ...)                          \
	{                                                                 \
#name, sizeof(struct name), constant, number, __VA_ARGS__ \
	}
#define OPTIONS(name, constant, number, ...) \
	SIZES_FIRST(name, constant##_SIZE_FIRST, number, false, __VA_ARGS__)
#define RESULT(name, constant, number, function)                            \
	SIZES_FIRST(name, constant##_SIZE_FIRST, number, true, false, NULL, \
		    function)

/* Returns the structure with @size and @later at its byte @at. */
static inline void *sizes_make(const struct sizes_row *row, size_t size,
			       size_t at, char later)
{
	static union {
		max_align_t aligned;
		char bytes[SIZES_MOST + 64];
	} room;

	memset(&room, row->result ? 0x55 : 0, sizeof(room));
	if (row->fields)
		memcpy(&room, row->fields, row->known);
	memcpy(&room, &size, sizeof(size));
	room.bytes[at] = at ? later : room.bytes[0];
	return &room;
}

static inline void sizes_accepts(const struct sizes_row *row, size_t size)
{
	char *structure = sizes_make(row, size, 0, 0);
	const size_t has = size ? size : row->first;
	const size_t both = has < row->known ? has : row->known;
	const int ret = row->call(structure);
	size_t filled, i;

	if (row->refuses ? strstr(dray_last_error(), "a structure of") != NULL
			 : ret != 0)
		fail_msg("%s of %zu bytes: %d, %s", row->name, size, ret,
			 dray_last_error());
	if (!row->result)
		return;
	memcpy(&filled, structure, sizeof(filled));
	assert_int_equal(filled, both);
	for (i = both; i < has; i++)
		assert_int_equal(structure[i], 0);
	for (i = has; i < has + 16; i++)
		assert_int_equal(structure[i], 0x55);
}

static inline void sizes_refuses(const struct sizes_row *row, void *structure,
				 int error, const char *sentence)
{
	const int ret = row->call(structure);

	if (ret != error || !strstr(dray_last_error(), sentence))
		fail_msg("%s: %d, '%s' does not say '%s'", row->name, ret,
			 dray_last_error(), sentence);
}

static inline void sizes_check(const struct sizes_row *row)
{
	const size_t later = row->known + 16;
	char known[96];

	if (sizeof(void *) == 8)
		assert_int_equal(row->first, row->recorded);
	sizes_accepts(row, 0);
	sizes_accepts(row, row->first);
	sizes_accepts(row, row->known);
	sizes_accepts(row, later);
	snprintf(known, sizeof(known),
		 "a field at byte %zu is not 0, this library knows %zu",
		 row->known + 3, row->known);
	if (!row->result)
		sizes_refuses(row, sizes_make(row, later, row->known + 3, 1),
			      -E2BIG, known);
	snprintf(known, sizeof(known), "a structure of %zu bytes, at least %zu",
		 row->first - 1, row->first);
	sizes_refuses(row, sizes_make(row, row->first - 1, 0, 0), -EINVAL,
		      known);
	sizes_refuses(row, sizes_make(row, 1, 0, 0), -EINVAL, "of 1 bytes");
	sizes_refuses(row, sizes_make(row, SIZE_MAX, 0, 0), -E2BIG,
		      "at most 4096");
}

#define SIZES_CHECK(rows)                                                     \
	do {                                                                  \
		for (size_t r = 0; r < sizeof(rows) / sizeof((rows)[0]); r++) \
			sizes_check(&(rows)[r]);                              \
	} while (0)

#endif /* DRAY_TESTS_SIZES_H */
