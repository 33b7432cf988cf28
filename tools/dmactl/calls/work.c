// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Long work goes in steps, so that its progress can be shown, and so that one
 * call never exceeds the bytes that the module allows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/document.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "work.h"

#define STEP (8u << 20) /* bytes; a multiple of each element's size */

const struct command_option engine_option = {
	.name = "engine",
	.text = "by a DMA engine, or fail",
};

const struct command_option cpu_option = {
	.name = "cpu",
	.text = "by the CPU; caches are not synced",
};

bool work_flags(const struct request *request, unsigned int *flags)
{
	bool engine = option_value(request, &engine_option);
	bool cpu = option_value(request, &cpu_option);

	*flags = engine ? DRAY_COPY_ENGINE : cpu ? DRAY_COPY_CPU : 0;
	if (engine && cpu)
		complain("%s: give --engine or --cpu, not both",
			 request->command->name);
	return !(engine && cpu);
}

static int step_view(const struct work *work, const struct reached *reached,
		     uint64_t offset, uint64_t length, struct dray_view *view)
{
	int64_t count = (int64_t)(length / work->element_size);
	char *data = dray_buffer_data(reached->buffer);

	return dray_view_init(view, data + offset,
			      DRAY_DTYPE('V', '|', work->element_size), 1,
			      &count, NULL);
}

static int work_step(const struct work *work, struct dray_queue *queue,
		     uint64_t done, uint64_t length)
{
	struct dray_view dst, src;
	int ret = step_view(work, work->dst, work->dst_offset + done, length,
			    &dst);

	if (!ret && !work->src)
		return dray_fill(queue, &dst, work->element, work->flags, NULL);
	if (!ret)
		ret = step_view(work, work->src, work->src_offset + done,
				length, &src);
	return ret ? ret : dray_copy(queue, &dst, &src, work->flags, NULL);
}

/* Does the first step by the engine, and if none can, lets the CPU work. */
static int first_step(struct work *work, struct dray_queue *queue,
		      uint64_t length)
{
	int ret;

	if (work->flags)
		return work_step(work, queue, 0, length);
	work->flags = DRAY_COPY_ENGINE;
	ret = work_step(work, queue, 0, length);
	if (ret != -EOPNOTSUPP)
		return ret;
	work->flags = DRAY_COPY_CPU;
	return work_step(work, queue, 0, length);
}

static int all_steps(struct work *work, struct dray_queue *queue)
{
	uint64_t done = 0;
	int ret = 0;

	progress_begin(work->src ? "copy" : "fill", work->length);
	while (!ret && done < work->length) {
		uint64_t length = work->length - done;

		if (length > STEP)
			length = STEP;
		ret = done ? work_step(work, queue, done, length)
			   : first_step(work, queue, length);
		done += length;
		progress_step(done);
	}
	progress_end();
	return ret;
}

static void print_done(const struct request *request, const struct work *work,
		       const char *done, uint64_t time_ns)
{
	uint64_t rate = rate_of(work->length, time_ns);
	bool engine = work->flags & DRAY_COPY_ENGINE;
	char size[QUANTITY_ROOM], time[QUANTITY_ROOM], speed[QUANTITY_ROOM];
	json_t *root;

	if (!request->json) {
		printf("%s: %s%s in %s, %s/s, by the %s\n", done,
		       quantity_size(size, work->length, request->bytes),
		       request->bytes ? " bytes" : "",
		       quantity_time(time, time_ns),
		       quantity_size(speed, rate, request->bytes),
		       engine ? "engine" : "CPU");
		return;
	}
	root = json_object();
	document_number(root, "bytes", work->length);
	document_number(root, "time_ns", time_ns);
	document_number(root, "bytes_per_second", rate);
	document_word(root, "by", engine ? "engine" : "cpu");
	document_print(root);
}

/* Whether the CPU can do the work. */
static bool cpu_can(const struct work *work)
{
	return !(work->flags & DRAY_COPY_CPU) ||
	       (reach_mapped(work->dst, true) &&
		(!work->src || reach_mapped(work->src, false)));
}

enum exit_code work_run(const struct request *request, struct work *work,
			const char *done)
{
	const struct open_node *node = work->dst->node;
	struct dray_queue *queue;
	uint64_t start;
	int ret;

	if (!cpu_can(work))
		return EXIT_FAILED;
	ret = dray_queue_create(node->node, NULL, &queue);
	if (ret) {
		node_complain(node, "make a queue", ret);
		return EXIT_FAILED;
	}
	start = clock_now();
	ret = all_steps(work, queue);
	if (ret)
		node_complain(node, request->command->name, ret);
	else
		print_done(request, work, done, clock_now() - start);
	dray_queue_destroy(queue);
	return ret ? EXIT_FAILED : EXIT_FINE;
}
