// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Bytes as an array.  The library reads types as NumPy does. */
#include <inttypes.h>
#include <string.h>

#include "elements.h"

const struct command_option dtype_option = {
	.name = "dtype",
	.value = "TYPE",
	.text = "the elements, as NumPy writes them: u1, <f4; default: u1",
};

const struct command_option shape_option = {
	.name = "shape",
	.value = "N,N...",
	.text = "the extents, as 480,640,3; default: one axis",
};

static bool read_extents(const char *text, struct elements *elements)
{
	const char *word = text;
	uint64_t extent;

	while (word && elements->ndim < DRAY_MAX_NDIM) {
		word = parse_number(word, 10, &extent);
		if (!word || !extent || extent > INT64_MAX)
			break;
		elements->extents[elements->ndim++] = (int64_t)extent;
		if (!*word)
			return true;
		word = *word == ',' ? word + 1 : NULL;
	}
	complain("--shape '%s' is not a list of 1 to %d extents from 1 on, as "
		 "480,640,3",
		 text, DRAY_MAX_NDIM);
	return false;
}

bool elements_given(const struct request *request, struct elements *elements)
{
	const char *dtype = option_value(request, &dtype_option);
	const char *extents = option_value(request, &shape_option);

	*elements = (struct elements){ 0 };
	if (extents && !read_extents(extents, elements))
		return false;
	if (dray_dtype_parse(dtype ? dtype : "u1", &elements->dtype)) {
		complain("--dtype '%s' is not a type: %s", dtype,
			 dray_last_error());
		return false;
	}
	if (dray_dtype_itemsize(elements->dtype))
		return true;
	complain("--dtype '%s' has no bytes", dtype);
	elements_drop(elements);
	return false;
}

void elements_drop(struct elements *elements)
{
	dray_dtype_unref(elements->dtype);
	elements->dtype = 0;
}

bool elements_view(const struct elements *elements,
		   const struct reached *reached, const struct part *part,
		   struct dray_view *view)
{
	char *data = dray_buffer_data(reached->buffer);
	uint64_t item = dray_dtype_itemsize(elements->dtype);
	int64_t all = (int64_t)(part->length / item);
	size_t bytes;

	if (!elements->ndim && (part->length % item || !all)) {
		complain("%" PRIu64
			 " bytes are not a multiple of the type's %" PRIu64,
			 part->length, item);
		return false;
	}
	if (dray_view_bytes(
		    elements->dtype, elements->ndim ? elements->ndim : 1,
		    elements->ndim ? elements->extents : &all, &bytes) ||
	    dray_view_init(view, data + part->offset, elements->dtype,
			   elements->ndim ? elements->ndim : 1,
			   elements->ndim ? elements->extents : &all, NULL)) {
		complain("no such array: %s", dray_last_error());
		return false;
	}
	if (bytes > part->length) {
		complain(
			"the array has %zu bytes, and the part of buffer %" PRIu64
			" only %" PRIu64,
			bytes, (uint64_t)reached->info.id, part->length);
		return false;
	}
	if (!dray_buffer_writable(reached->buffer))
		view->flags &= ~(uint32_t)DRAY_WRITE;
	return true;
}
