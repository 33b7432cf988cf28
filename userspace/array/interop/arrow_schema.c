// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Schemas: the type of an array in Arrow's words.  Each branch has one piece of
 * memory, with its children's branches, its texts and nothing of the array's; a child
 * that a consumer moves takes its own along.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/arrow.h"
#include "interop/arrow_text.h"
#include "private.h"

/* The memory of a branch: children's branches, pointers to them and the name follow. */
struct texts {
	char format[DRAY_ARROW_FORMAT_SIZE];
	struct ArrowSchema children[];
};

static void arrow_schema_release(struct ArrowSchema *schema)
{
	int64_t i;

	for (i = 0; i < schema->n_children; i++) {
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	}
	free(schema->private_data);
	schema->release = NULL;
}

/* Starts a branch without a format, its children released ones.  -ENOMEM. */
static int arrow_schema_start(struct ArrowSchema *out, const char *name,
			      size_t children)
{
	size_t branches = children * sizeof(struct ArrowSchema);
	size_t pointers = children * sizeof(struct ArrowSchema *);
	size_t length = strlen(name) + 1;
	struct texts *texts =
		calloc(1, sizeof(*texts) + branches + pointers + length);
	char *end;
	size_t i;

	if (!texts)
		return dray_fail(-ENOMEM, "no memory for a schema of Arrow");
	end = (char *)texts->children + branches;
	*out = (struct ArrowSchema){
		.format = texts->format,
		.name = memcpy(end + pointers, name, length),
		.flags = ARROW_FLAG_NULLABLE,
		.n_children = (int64_t)children,
		.children =
			children ? (struct ArrowSchema **)(void *)end : NULL,
		.release = arrow_schema_release,
		.private_data = texts,
	};
	for (i = 0; i < children; i++)
		out->children[i] = &texts->children[i];
	return 0;
}

static int arrow_schema_describe(const struct dray_view *view, int level,
				 const char *name, struct ArrowSchema *out);

/* Describes a list of the next axis. */
static int describe_list(const struct dray_view *view, int level,
			 const char *name, struct ArrowSchema *out)
{
	struct texts *texts;
	int ret = dray_arrow_check_size(view->shape[level + 1]);

	if (!ret)
		ret = arrow_schema_start(out, name, 1);
	if (ret)
		return ret;
	texts = out->private_data;
	snprintf(texts->format, sizeof(texts->format), "+w:%" PRId64,
		 view->shape[level + 1]);
	return arrow_schema_describe(view, level + 1, "item", out->children[0]);
}

static int describe_fields(const struct dray_view *view, const char *name,
			   struct ArrowSchema *out)
{
	size_t count = dray_dtype_field_count(view->dtype), i;
	struct dray_dtype_field field = { 0 };
	struct dray_view child;
	int ret = arrow_schema_start(out, name, count);

	if (ret)
		return ret;
	memcpy(((struct texts *)out->private_data)->format, "+s", 3);
	for (i = 0; !ret && i < count; i++) {
		ret = dray_arrow_field(view, i, &field, &child);
		if (!ret)
			ret = arrow_schema_describe(&child, view->ndim - 1,
						    field.name,
						    out->children[i]);
	}
	return ret;
}

static int arrow_schema_describe(const struct dray_view *view, int level,
				 const char *name, struct ArrowSchema *out)
{
	char format[DRAY_ARROW_FORMAT_SIZE];
	struct dray_arrow_type type;
	int ret;

	if (level < view->ndim - 1)
		return describe_list(view, level, name, out);
	if (dray_dtype_flags(view->dtype) & DRAY_DTYPE_STRUCT)
		return describe_fields(view, name, out);
	ret = dray_arrow_format(view->dtype, format, &type);
	if (!ret)
		ret = arrow_schema_start(out, name, 0);
	if (!ret)
		memcpy(((struct texts *)out->private_data)->format, format,
		       sizeof(format));
	return ret;
}

int dray_arrow_schema(dray_dtype dtype, int ndim, const int64_t *shape,
		      struct ArrowSchema *out)
{
	struct ArrowSchema schema = { 0 };
	int64_t extents[DRAY_MAX_NDIM] = { 0 };
	struct dray_view view;
	int ret;

	if (!dray_given(out, __func__) || !dray_given(shape, __func__))
		return -EINVAL;
	ret = dray_arrow_check_axes(ndim);
	if (ret)
		return ret;
	/* Without elements it needs no memory. */
	memcpy(extents + 1, shape + 1, (size_t)(ndim - 1) * sizeof(*shape));
	ret = dray_view_init(&view, NULL, dtype, ndim, extents, NULL);
	if (!ret)
		ret = dray_arrow_open_complex(&view);
	if (!ret)
		ret = arrow_schema_describe(&view, 0, "", &schema);
	if (!ret)
		*out = schema;
	else if (schema.release)
		schema.release(&schema);
	return ret;
}

int dray_arrow_schema_strings(const char *format, struct ArrowSchema *out)
{
	struct dray_arrow_text text;
	struct texts *texts;
	int ret;

	if (!dray_given(format, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_arrow_find_text(format, &text);
	if (!ret)
		ret = arrow_schema_start(out, "", 0);
	if (ret)
		return ret;
	texts = out->private_data;
	memcpy(texts->format, text.format, sizeof(text.format));
	return 0;
}
