// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Files of a dump: raw, NumPy's .npy, and pictures as .png. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DMACTL_HAS_PNG
#include <png.h>
#endif

#include "base/output.h"
#include "dump_file.h"

const char *dump_format(const char *file)
{
	static const char *const formats[] = { "npy", "png" };
	const char *dot = strrchr(file, '.');
	size_t i;

	for (i = 0; dot && i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(dot + 1, formats[i]))
			return formats[i];
	return "raw";
}

bool dump_is_array(const char *file)
{
	return strcmp(dump_format(file), "raw") != 0;
}

static bool write_raw(const char *file, const struct reached *reached,
		      const struct part *part)
{
	const char *data = dray_buffer_data(reached->buffer);
	struct output output;

	if (!output_open(&output, file))
		return false;
	fwrite(data + part->offset, 1, (size_t)part->length, output.stream);
	return output_end(&output, true);
}

/*
 * Returns the header of a .npy file in C order, padded to lines of 64 bytes, and NULL
 * without memory or for a type that a list of fields does not describe.
 */
static char *npy_header(const struct dray_view *view, size_t *size)
{
	char type[2048] = "", *header = NULL;
	int length = dray_dtype_format(view->dtype, type, sizeof(type));
	FILE *stream = open_memstream(&header, size);
	const char *quote = strchr("[(", *type) ? "" : "'";
	int i;

	if (!stream)
		return NULL;
	/* The magic word, version 1.0, and room for the length of the rest. */
	fwrite("\x93NUMPY\1\0\0", 1, 10, stream);
	fprintf(stream, "{'descr': %s%s%s, 'fortran_order': False, 'shape': (",
		quote, type, quote);
	for (i = 0; i < view->ndim; i++)
		fprintf(stream, "%" PRId64 ",", view->shape[i]);
	fputs("), }", stream);
	fprintf(stream, "%*s", (int)(64 - ftell(stream) % 64), "\n");
	if (fclose(stream) || length < 0 || length >= (int)sizeof(type) ||
	    *type == '{') {
		free(header);
		return NULL;
	}
	header[8] = (char)((*size - 10) & 0xff);
	header[9] = (char)((*size - 10) >> 8);
	return header;
}

static bool write_npy(const char *file, const struct dray_view *view,
		      size_t bytes)
{
	struct output output;
	size_t size;
	char *header = npy_header(view, &size);

	if (!header) {
		complain("cannot write '%s': no memory, or no .npy header "
			 "describes this --dtype",
			 file);
		return false;
	}
	if (!output_open(&output, file)) {
		free(header);
		return false;
	}
	fwrite(header, 1, size, output.stream);
	fwrite(view->data, 1, bytes, output.stream);
	free(header);
	return output_end(&output, true);
}

#ifdef DMACTL_HAS_PNG
/* Returns libpng's format of a view, or -1 if it is not a picture. */
static int picture_format(const struct dray_view *view)
{
	static const int formats[] = { PNG_FORMAT_GRAY, PNG_FORMAT_GA,
				       PNG_FORMAT_RGB, PNG_FORMAT_RGBA };
	int64_t channels = view->ndim == 3 ? view->shape[2] : 1;

	if (view->ndim != 2 && view->ndim != 3)
		return -1;
	if (view->shape[0] > INT32_MAX || view->shape[1] > INT32_MAX / 8)
		return -1;
	if (dray_dtype_equal(view->dtype, DRAY_UINT16) && channels == 1)
		return PNG_FORMAT_LINEAR_Y;
	if (!dray_dtype_equal(view->dtype, DRAY_UINT8) || channels > 4)
		return -1;
	return formats[channels - 1];
}

static bool write_png(const char *file, const struct dray_view *view)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	int format = picture_format(view);

	if (format < 0) {
		complain("a .png file needs --shape H,W or H,W,C with 1 to 4 "
			 "channels of u1, or H,W of u2");
		return false;
	}
	image.height = (png_uint_32)view->shape[0];
	image.width = (png_uint_32)view->shape[1];
	image.format = (png_uint_32)format;
	if (png_image_write_to_file(&image, file, 0, view->data, 0, NULL))
		return true;
	complain("cannot write '%s': %s", file, image.message);
	return false;
}
#else
static bool write_png(const char *file, const struct dray_view *view)
{
	(void)view;
	complain("cannot write '%s': this dmactl was built without libpng",
		 file);
	return false;
}
#endif

bool dump_file(const char *file, const struct reached *reached,
	       struct part *part, const struct elements *elements)
{
	const char *format = dump_format(file);
	struct dray_view view;

	if (!dump_is_array(file))
		return write_raw(file, reached, part);
	if (!elements_view(elements, reached, part, &view))
		return false;
	part->length = (uint64_t)dray_view_size(&view) *
		       dray_dtype_itemsize(view.dtype);
	return !strcmp(format, "npy")
		       ? write_npy(file, &view, (size_t)part->length)
		       : write_png(file, &view);
}
