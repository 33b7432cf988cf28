// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Streams, which data frames pass instead of arrays: a column may lie in pieces.  An
 * array here is one piece, so a stream has to have exactly one.
 */
#include <errno.h>
#include <string.h>

#include "interop/arrow.h"
#include "private.h"

#define MAX_ERRNO 4095

static int arrow_stream_check(const struct ArrowArrayStream *stream)
{
	if (!stream->release)
		return dray_fail(-EINVAL, "the stream of Arrow was released");
	if (!stream->get_schema || !stream->get_next || !stream->get_last_error)
		return dray_fail(-EINVAL,
				 "the stream of Arrow lacks a function");
	return 0;
}

/* Passes on the producer's error. */
static int arrow_stream_fail(struct ArrowArrayStream *stream, int error)
{
	const char *sentence = stream->get_last_error(stream);

	if (error < 1 || error > MAX_ERRNO)
		error = EIO;
	return dray_fail(-error, "the producer of the stream says: %.200s",
			 sentence && *sentence ? sentence : strerror(error));
}

/* Releases all that is there. */
static void arrow_stream_drop(struct ArrowSchema *type,
			      struct ArrowArray *array)
{
	if (type->release)
		type->release(type);
	if (array->release)
		array->release(array);
}

/*
 * Reads all arrays of the stream, of which there is to be one; without it, @type is
 * released.  Functions of the producer may call dray: they are called before the
 * sentence is made.
 */
static int read_arrays(struct ArrowArrayStream *stream,
		       struct ArrowSchema *type, struct ArrowArray *out)
{
	struct ArrowArray more = { 0 };
	bool found;
	int error;

	*out = (struct ArrowArray){ 0 };
	error = stream->get_next(stream, out);
	found = !error && out->release;
	if (found)
		error = stream->get_next(stream, &more);
	if (found && !error && !more.release)
		return 0;
	arrow_stream_drop(type, out);
	if (error)
		return arrow_stream_fail(stream, error);
	if (!found)
		return dray_fail(-ENODATA, "the stream has no array");
	more.release(&more);
	return dray_fail(
		-E2BIG,
		"the stream has more than one array: combine its pieces first");
}

int dray_arrow_read_stream(struct ArrowArrayStream *stream,
			   struct ArrowSchema *schema, struct ArrowArray *out)
{
	struct ArrowSchema type = { 0 };
	struct ArrowArray array;
	int ret, error;

	if (!dray_given(stream, __func__) || !dray_given(schema, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = arrow_stream_check(stream);
	if (ret)
		return ret;
	error = stream->get_schema(stream, &type);
	if (error)
		return arrow_stream_fail(stream, error);
	ret = read_arrays(stream, &type, &array);
	if (ret)
		return ret;
	*schema = type;
	*out = array;
	return 0;
}
