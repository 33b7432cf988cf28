// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Streams and events.  All work is done when the call for it returns: there is
 * nothing to wait for, and a callback comes before its call returns.
 */
#include <stdlib.h>
#include <time.h>

#include "driver.h"

#define CU_EVENT_DISABLE_TIMING 0x2u

struct stream {
	unsigned int flags;
};

struct event {
	struct timespec when; /* of the last record */
	bool recorded;
	bool timing;
};

int cuStreamCreate(struct stream **out, unsigned int flags)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->flags = flags;
	*out = stream;
	return CUDA_SUCCESS;
}

int cuStreamDestroy(struct stream *stream)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	free(stream);
	return CUDA_SUCCESS;
}

int cuStreamSynchronize(struct stream *stream)
{
	return CUDA_SUCCESS;
}

int cuStreamWaitEvent(struct stream *stream, struct event *event,
		      unsigned int flags)
{
	return event && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

int cuStreamAddCallback(struct stream *stream,
			void (*callback)(struct stream *stream, int status,
					 void *data),
			void *data, unsigned int flags)
{
	if (!callback || flags)
		return CUDA_ERROR_INVALID_VALUE;
	callback(stream, CUDA_SUCCESS, data);
	return CUDA_SUCCESS;
}

int cuEventCreate(struct event **out, unsigned int flags)
{
	struct event *event = calloc(1, sizeof(*event));

	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->timing = !(flags & CU_EVENT_DISABLE_TIMING);
	*out = event;
	return CUDA_SUCCESS;
}

int cuEventDestroy(struct event *event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	free(event);
	return CUDA_SUCCESS;
}

int cuEventRecord(struct event *event, struct stream *stream)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	clock_gettime(CLOCK_MONOTONIC, &event->when);
	event->recorded = true;
	return CUDA_SUCCESS;
}

int cuEventQuery(struct event *event)
{
	return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

int cuEventSynchronize(struct event *event)
{
	return cuEventQuery(event);
}

int cuEventElapsedTime(float *milliseconds, struct event *start,
		       struct event *end)
{
	double seconds, nanoseconds;

	if (!start || !end || !start->recorded || !end->recorded ||
	    !start->timing || !end->timing)
		return CUDA_ERROR_INVALID_HANDLE;
	seconds = (double)(end->when.tv_sec - start->when.tv_sec);
	nanoseconds = (double)(end->when.tv_nsec - start->when.tv_nsec);
	*milliseconds = (float)(seconds * 1e3 + nanoseconds / 1e6);
	return CUDA_SUCCESS;
}

int cuProfilerStart(void)
{
	return CUDA_SUCCESS;
}

int cuProfilerStop(void)
{
	return CUDA_SUCCESS;
}
