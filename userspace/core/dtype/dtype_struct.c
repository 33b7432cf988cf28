// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Structured types: fields with names, titles and offsets.  They are checked
 * and placed before the object is made, which has copies of their text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/dtype.h"
#include "base/error.h"
#include "base/number.h"

#define NUMBER_ROOM 8 /* "f8191" */

/* The measures of all fields. */
struct struct_plan {
	uint64_t end; /* of the last field */
	uint32_t alignment;
	uint32_t flags;
	uint32_t depth;
	size_t text; /* bytes of names and titles, with their zeros */
};

static bool is_named(const struct dray_dtype_field *field)
{
	return field->name && field->name[0];
}

/* Whether @text is UTF-8 without surrogates and overlong forms. */
static bool is_utf8(const char *text)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0x80;
		uint32_t code = *at & (more ? 0x3fu >> more : 0x7fu);
		int i;

		if ((*at >= 0x80 && *at < 0xc2) || *at > 0xf4)
			return false;
		for (at++, i = 0; i < more; i++, at++) {
			if ((*at & 0xc0) != 0x80)
				return false;
			code = code << 6 | (*at & 0x3f);
		}
		if (code < least[more] || code > 0x10ffff ||
		    (code >= 0xd800 && code < 0xe000))
			return false;
	}
	return true;
}

static int struct_check_text(const char *text, size_t number,
			     struct struct_plan *plan)
{
	if (!is_utf8(text))
		return dray_fail(-EINVAL,
				 "the name or title of field %zu is not UTF-8",
				 number);
	plan->text += strlen(text) + 1;
	return 0;
}

/* Adds the type and the names of field @number to the plan. */
static int measure_field(const struct dray_dtype_field *field, size_t number,
			 struct struct_plan *plan)
{
	dray_dtype normal;
	int ret = dray_dtype_normalize(field->dtype, &normal);

	if (ret)
		return dray_fail_adding(ret, ": the type of field %zu", number);
	if (dray_dtype_depth(normal) > plan->depth)
		plan->depth = dray_dtype_depth(normal);
	plan->flags |= dray_dtype_flags(normal) & DRAY_DTYPE_INHERITED;
	if (is_named(field))
		ret = struct_check_text(field->name, number, plan);
	else
		plan->text += NUMBER_ROOM;
	if (!ret && field->title)
		ret = struct_check_text(field->title, number, plan);
	return ret;
}

static int dtype_struct_measure(const struct dray_dtype_field *fields,
				size_t count, struct struct_plan *plan)
{
	size_t i;
	int ret = 0;

	if (count > DRAY_DTYPE_MAX_FIELDS)
		return dray_fail(
			-EINVAL,
			"a structure has %zu fields, at most %d are possible",
			count, DRAY_DTYPE_MAX_FIELDS);
	if (count && !fields)
		return dray_fail(-EINVAL, "%zu fields are NULL", count);
	for (i = 0; i < count && !ret; i++)
		ret = measure_field(&fields[i], i, plan);
	return ret ? ret : dray_dtype_check_depth(plan->depth);
}

/* Copies the texts behind the fields, and gives names to fields without. */
static void copy_fields(struct dray_dtype_structure *structure,
			const struct dray_dtype_field *fields)
{
	char *text = (char *)&structure->fields[structure->count];
	size_t i;

	for (i = 0; i < structure->count; i++) {
		struct dray_dtype_field *field = &structure->fields[i];

		*field = fields[i];
		dray_dtype_normalize(field->dtype, &field->dtype);
		field->name = text;
		if (is_named(&fields[i]))
			text = stpcpy(text, fields[i].name) + 1;
		else
			text += snprintf(text, NUMBER_ROOM, "f%u",
					 (unsigned int)i % 10000) +
				1;
		if (!fields[i].title)
			continue;
		field->title = text;
		text = stpcpy(text, fields[i].title) + 1;
	}
}

static bool struct_is_called(const struct dray_dtype_field *field,
			     const char *name)
{
	return !strcmp(field->name, name) ||
	       (field->title && !strcmp(field->title, name));
}

/* Checks that no name or title appears twice. */
static int struct_check_names(const struct dray_dtype_structure *structure)
{
	const struct dray_dtype_field *fields = structure->fields;
	size_t i, j;

	for (i = 0; i < structure->count; i++) {
		const char *title = fields[i].title;

		if (title && !strcmp(title, fields[i].name))
			return dray_fail(
				-EINVAL,
				"field '%.64s' has its name as its title",
				title);
		for (j = 0; j < i; j++) {
			if (struct_is_called(&fields[j], fields[i].name) ||
			    (title && struct_is_called(&fields[j], title)))
				return dray_fail(
					-EINVAL,
					"field '%.64s' occurs more than once: as fields %zu and %zu",
					fields[i].name, j, i);
		}
	}
	return 0;
}

/* Places a field, or checks its place, and moves the end. */
static int place_field(struct dray_dtype_field *field, uint32_t flags,
		       struct struct_plan *plan)
{
	uint32_t alignment = flags & DRAY_DTYPE_ALIGNED
				     ? dray_dtype_alignment(field->dtype)
				     : 1;
	uint64_t offset = field->offset, end;

	if (!(flags & DRAY_DTYPE_PLACED))
		dray_round_up_overflow(plan->end, alignment, &offset);
	if (offset & (alignment - 1))
		return dray_fail(
			-EINVAL,
			"field '%.64s' lies at offset %u, which is not a multiple of its alignment of %u bytes",
			field->name, field->offset, alignment);
	end = offset + dray_dtype_itemsize(field->dtype);
	if (end > UINT32_MAX)
		return dray_fail(
			-EOVERFLOW,
			"field '%.64s' ends at byte %llu, above 32 bits",
			field->name, (unsigned long long)end);
	field->offset = (uint32_t)offset;
	if (end > plan->end)
		plan->end = end;
	if (alignment > plan->alignment)
		plan->alignment = alignment;
	return 0;
}

/* Chooses or checks the item size, and writes it to the plan's end. */
static int check_itemsize(uint32_t itemsize, struct struct_plan *plan)
{
	if (!itemsize) {
		dray_round_up_overflow(plan->end, plan->alignment, &plan->end);
		if (plan->end > UINT32_MAX)
			return dray_fail(
				-EOVERFLOW,
				"a structure of %llu bytes, above 32 bits",
				(unsigned long long)plan->end);
		return 0;
	}
	if (itemsize < plan->end)
		return dray_fail(
			-EINVAL,
			"the fields need %llu bytes, the item size is %u",
			(unsigned long long)plan->end, itemsize);
	if (itemsize & (plan->alignment - 1))
		return dray_fail(
			-EINVAL,
			"the item size of %u bytes is not a multiple of the alignment of %u bytes",
			itemsize, plan->alignment);
	plan->end = itemsize;
	return 0;
}

static int dtype_struct_place(struct dray_dtype_structure *structure,
			      uint32_t flags, uint32_t itemsize,
			      struct struct_plan *plan)
{
	int ret = struct_check_names(structure);
	size_t i;

	for (i = 0; i < structure->count && !ret; i++)
		ret = place_field(&structure->fields[i], flags, plan);
	return ret ? ret : check_itemsize(itemsize, plan);
}

int dray_dtype_create_struct(const struct dray_dtype_field *fields,
			     size_t count, uint32_t flags, uint32_t itemsize,
			     dray_dtype *out)
{
	struct struct_plan plan = { .alignment = 1 };
	struct dray_dtype_structure *structure;
	size_t i;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	if (flags & ~(DRAY_DTYPE_ALIGNED | DRAY_DTYPE_PLACED))
		return dray_fail(-EINVAL, "unknown flags 0x%x of a structure",
				 flags);
	ret = dtype_struct_measure(fields, count, &plan);
	if (ret)
		return ret;
	structure = malloc(sizeof(*structure) +
			   count * sizeof(structure->fields[0]) + plan.text);
	if (!structure)
		return dray_fail(-ENOMEM, "no memory for a type of %zu field%s",
				 count, dray_plural(count));
	structure->count = count;
	copy_fields(structure, fields);
	ret = dtype_struct_place(structure, flags, itemsize, &plan);
	if (ret) {
		free(structure);
		return ret;
	}
	for (i = 0; i < count; i++)
		dray_dtype_ref(structure->fields[i].dtype);
	structure->start.depth = plan.depth + 1;
	*out = dray_dtype_finish(
		&structure->start, (uint32_t)plan.end, plan.alignment,
		DRAY_DTYPE_STRUCT | plan.flags | (flags & DRAY_DTYPE_ALIGNED));
	return 0;
}

int dray_dtype_get_field(dray_dtype dtype, size_t index,
			 struct dray_dtype_field *out)
{
	if (!dray_given(out, __func__))
		return -EINVAL;
	if (index >= dray_dtype_field_count(dtype))
		return dray_fail(-ERANGE, "field %zu of a type with %zu", index,
				 dray_dtype_field_count(dtype));
	*out = dray_dtype_as_structure(dtype)->fields[index];
	return 0;
}

int dray_dtype_find_field(dray_dtype dtype, const char *name, size_t *index)
{
	size_t i, count = dray_dtype_field_count(dtype);

	if (!dray_given(name, __func__) || !dray_given(index, __func__))
		return -EINVAL;
	for (i = 0; i < count; i++) {
		if (struct_is_called(&dray_dtype_as_structure(dtype)->fields[i],
				     name)) {
			*index = i;
			return 0;
		}
	}
	return dray_fail(-ENOENT, "no field of name '%.64s'", name);
}
