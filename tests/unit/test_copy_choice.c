// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Who copies, with an engine that is simulated: which channel, or the CPU, and
 * how dray_explain() tells why.
 */
#include "memory/backend.h"
#include "simulated_queue.h"

QUEUE_FACT(a_node_that_does_not_answer_has_no_queue)
{
	struct dray_queue *other = NULL;

	engine.info_error = -ENODEV;
	assert_int_equal(dray_queue_create(node, NULL, &other), -ENODEV);
	engine.info_error = 0;
	engine.channel_error = -EIO;
	assert_int_equal(dray_queue_create(node, NULL, &other), -EIO);
	assert_null(other);
}

QUEUE_FACT(a_signal_on_the_second_channel_keeps_the_engine)
{
	struct dray_view dst = square(1), src = square(2);

	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	engine.errors[0] = -EIO;
	engine.errors[1] = -EINTR;
	engine.reason = DRAY_REASON_DEAD;
	memset(src.data, 3, 64 * 64);
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINTR,
		     "nothing was submitted");
	assert_int_equal(*(unsigned char *)dst.data, 2);
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(*(unsigned char *)dst.data, 3);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(what_the_engine_refuses_for_good_goes_to_the_cpu)
{
	static const uint32_t reasons[] = {
		DRAY_REASON_FOREIGN, DRAY_REASON_RUNS,	  DRAY_REASON_BYTES,
		DRAY_REASON_AXES,    DRAY_REASON_BOUNCE,  DRAY_REASON_ALIGNMENT,
		DRAY_REASON_MASK,    DRAY_REASON_CHANNEL,
	};
	struct dray_view dst = square(0), src = square(0);
	struct dray_fence *fence;

	for (int i = 0; i < 8; i++) {
		engine.reason = reasons[i];
		memset(src.data, i + 1, 64 * 64);
		engine.errors[0] = -ENOSPC;
		assert_int_equal(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE,
					   NULL),
				 i < 7 ? -EOPNOTSUPP : -ENOSPC);
		assert_int_equal(*(unsigned char *)dst.data, i);
		engine.errors[0] = -ENOSPC;
		assert_works(dray_copy(queue, &dst, &src, 0, &fence));
		assert_int_equal(dray_fence_fd(fence), -1);
		assert_int_equal(dray_fence_status(fence), 1);
		assert_works(dray_fence_wait(fence, 0));
		assert_ptr_equal(dray_fence_ref(fence), fence);
		dray_fence_unref(fence);
		dray_fence_unref(fence);
		assert_int_equal(*(unsigned char *)dst.data, i + 1);
	}
	/* other errors are errors */
	engine.reason = DRAY_REASON_NONE;
	engine.errors[0] = -EIO;
	assert_int_equal(dray_copy(queue, &dst, &src, 0, NULL), -EIO);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_dead_channel_is_not_asked_again)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_explanation explanation = { .size = sizeof(explanation) };

	engine.errors[0] = -ENODEV;
	engine.reason = DRAY_REASON_DEAD;
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(*(unsigned char *)dst.data, 2);
	assert_int_equal(engine.calls, 1);
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.calls, 1);
	assert_works(dray_explain(queue, &dst, &src, 0, &explanation));
	assert_int_equal(explanation.engine, 0);
	assert_true(explanation.reason[0]);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(another_channel_takes_over_from_a_dead_one)
{
	struct dray_queue_options options = { .channel = 2 };
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *bound;

	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	engine.errors[0] = -EIO;
	engine.reason = DRAY_REASON_DEAD;
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(engine.calls, 3);
	assert_int_equal(engine.last.channel, DRAY_CHANNEL_ANY);
	/* not for a queue that was made for one channel */
	assert_works(dray_queue_create(node, &options, &bound));
	engine.errors[0] = -EIO;
	assert_int_equal(dray_copy(bound, &dst, &src, DRAY_COPY_ENGINE, NULL),
			 -EIO);
	assert_int_equal(engine.calls, 4);
	dray_queue_destroy(bound);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_queue_stays_on_its_channel)
{
	struct dray_queue_options options = { .channel = 1 };
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *first;

	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.last.channel, DRAY_CHANNEL_ANY);
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.last.channel, 1);
	assert_works(dray_queue_create(node, &options, &first));
	assert_works(dray_copy(first, &dst, &src, 0, NULL));
	assert_int_equal(engine.last.channel, 0);
	dray_queue_destroy(first);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_copy_is_explained_in_numbers)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_view to = columns(&dst), from = columns(&src);
	struct {
		struct dray_explanation known;
		uint64_t later; /* of a newer header */
	} newer = { .known = { .size = sizeof(newer) }, .later = 7 };
	struct dray_explanation explanation = { .size = sizeof(explanation) };

	assert_works(dray_explain(queue, &to, &from, 0, &newer.known));
	assert_int_equal(newer.later, 0);
	assert_int_equal(newer.known.descriptors, 64);
	assert_works(dray_explain(queue, &to, &from, 0, &explanation));
	assert_int_equal(explanation.engine, 1);
	assert_int_equal(explanation.elements, 2048);
	assert_int_equal(explanation.bytes, 2048);
	assert_int_equal(explanation.run, 32);
	assert_int_equal(explanation.descriptors, 64);
	assert_int_equal(explanation.axes, 1);
	assert_int_equal(explanation.threshold, 8192);
	assert_non_null(strstr(explanation.reason, "64 descriptors"));
	assert_works(dray_explain(queue, &dst, &src, 0, &explanation));
	assert_string_equal(explanation.reason,
			    "1 descriptor is within the threshold of 8192");
	discard(&dst);
	discard(&src);
}

/* The end of each row touches the start of the next one on both sides. */
QUEUE_FACT(a_descriptor_crosses_a_seam)
{
	struct dray_view dst = square(1), src = square(2), to, from;
	dray_dtype u4_ = DRAY_DTYPE('u', '<', 4);
	struct dray_explanation explanation = { .size = sizeof(explanation) };

	assert_works(
		dray_view_init(&to, dst.data, u4_, 2, DIMS(4, 2), DIMS(8, 4)));
	assert_works(dray_view_init(&from, src.data, u4_, 2, DIMS(4, 2),
				    DIMS(16, 12)));
	assert_works(dray_explain(queue, &to, &from, 0, &explanation));
	assert_int_equal(explanation.descriptors, 5);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(limits_are_explained)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_view to = columns(&dst), from = columns(&src);
	struct dray_explanation explanation = { .size = sizeof(explanation) };
	struct dray_queue *other;

	assert_works(dray_queue_create(
		node, &(struct dray_queue_options){ .max_descriptors = 63 },
		&other));
	explain_cpu(other, &to, &from,
		    "64 descriptors exceed the threshold of 63");
	assert_works(dray_copy(other, &to, &from, 0, NULL));
	assert_int_equal(engine.calls, 0);
	assert_works(dray_copy(other, &to, &from, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(engine.calls, 1);
	dray_queue_destroy(other);

	engine.max_runs = 63;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "64 descriptors, one call takes 63");
	assert_fails(dray_copy(other, &to, &from, DRAY_COPY_ENGINE, NULL),
		     -EOPNOTSUPP, "one call takes 63");
	dray_queue_destroy(other);

	engine.max_runs = 64;
	engine.max_bytes = 2047;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "2048 bytes, one call moves 2047");
	dray_queue_destroy(other);

	engine.max_bytes = 2048;
	engine.channel.max_segment = 31;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "128 descriptors, one call takes 64");
	dray_queue_destroy(other);

	engine.max_bytes = 1 << 20;
	engine.channel.max_segment = 0;
	engine.channel.alignment = 64;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &to, &from, "multiples of 64 bytes");
	assert_works(dray_explain(other, &dst, &src, 0, &explanation));
	assert_int_equal(explanation.engine, 1);
	dray_queue_destroy(other);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(what_a_channel_can_is_known_when_it_is_open)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_view to = columns(&dst), from = columns(&src);

	engine.channel.alignment = 64;
	engine.channel.flags |= DRAY_CHANNEL_OPEN;
	assert_works(dray_copy(queue, &to, &from, 0, NULL));
	assert_int_equal(engine.calls, 1);
	assert_works(dray_copy(queue, &to, &from, 0, NULL));
	assert_int_equal(engine.calls, 1);
	explain_cpu(queue, &to, &from, "multiples of 64 bytes");
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(channels_that_do_not_copy_are_no_engine)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *other;

	engine.channel.flags = DRAY_CHANNEL_COPY | DRAY_CHANNEL_DEAD;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &dst, &src, "none of the 2 channels");
	dray_queue_destroy(other);
	engine.channel.flags = DRAY_CHANNEL_OPEN | DRAY_CHANNEL_FILL;
	assert_works(dray_queue_create(node, NULL, &other));
	explain_cpu(other, &dst, &src, "none of the 2 channels");
	dray_queue_destroy(other);
	/* not open yet: not known, so it is tried */
	engine.channel.flags = 0;
	assert_works(dray_queue_create(node, NULL, &other));
	assert_works(dray_copy(other, &dst, &src, DRAY_COPY_ENGINE, NULL));
	dray_queue_destroy(other);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(memory_that_the_engine_cannot_have_is_explained)
{
	static unsigned char ordinary[64 * 64];
	struct dray_view dst = square(1), src = square(2), outside, over;
	struct dray_node *private_node;
	struct dray_pool *private_pool;

	dray_view_copy(&outside, &src);
	outside.data = ordinary;
	explain_cpu(queue, &dst, &outside, "source lies outside");
	explain_cpu(queue, &outside, &src, "destination lies outside");
	assert_fails(dray_copy(queue, &dst, &outside, DRAY_COPY_ENGINE, NULL),
		     -EOPNOTSUPP, "source lies outside");
	ordinary[5] = 55;
	assert_works(dray_copy(queue, &dst, &outside, 0, NULL));
	assert_int_equal(((unsigned char *)dst.data)[5], 55);

	dray_view_copy(&over, &src);
	over.shape[0] = 60;
	over.data = (char *)over.data + 64 * 8;
	outside.shape[0] = 60;
	explain_cpu(queue, &outside, &over, "destination lies outside");
	dray_view_copy(&outside, &dst);
	outside.shape[0] = 60;
	explain_cpu(queue, &outside, &over, "source leaves its block");

	assert_works(dray_node_open("host", &private_node));
	assert_works(dray_pool_create(private_node, NULL, &private_pool));
	dray_view_copy(&outside, &src);
	outside.data = dray_pool_alloc(private_pool, 64 * 64, 0);
	explain_cpu(queue, &dst, &outside, "source is private memory");
	dray_pool_free(private_pool, outside.data);
	dray_pool_close(private_pool);
	dray_node_unref(private_node);
	assert_int_equal(engine.calls, 0);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(memory_of_another_node_is_not_the_engines)
{
	struct dray_node *other = open_node("host:shareable");
	struct dray_view dst = square(1), src = square(2), there;
	struct dray_pool *its;

	assert_works(dray_pool_create(other, NULL, &its));
	dray_view_copy(&there, &src);
	there.data = dray_pool_alloc(its, 64 * 64, 0);
	memset(there.data, 3, 64 * 64);
	/* another handle of the same node */
	assert_works(dray_copy(queue, &dst, &there, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(*(unsigned char *)dst.data, 3);
	strcpy(other->info.name, "dray9");
	explain_cpu(queue, &dst, &there, "source is of another node");
	assert_works(dray_copy(queue, &there, &src, 0, NULL));
	assert_int_equal(engine.calls, 1);
	assert_int_equal(*(unsigned char *)there.data, 2);
	dray_pool_free(its, there.data);
	dray_pool_close(its);
	dray_node_unref(other);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(the_environment_sets_the_threshold)
{
	static const char *const wrong[] = {
		"x", "-1", "0", "1x", " 1", "99999999999999999999"
	};
	struct dray_view dst = square(1), src = square(2);
	struct dray_explanation explanation = { .size = sizeof(explanation) };
	struct dray_queue *other = NULL;

	assert_int_equal(setenv("DRAY_MAX_DESCRIPTORS", "17", 1), 0);
	assert_works(dray_queue_create(node, NULL, &other));
	assert_works(dray_explain(other, &dst, &src, 0, &explanation));
	assert_int_equal(explanation.threshold, 17);
	dray_queue_destroy(other);
	assert_works(dray_queue_create(
		node, &(struct dray_queue_options){ .max_descriptors = 5 },
		&other));
	assert_works(dray_explain(other, &dst, &src, 0, &explanation));
	assert_int_equal(explanation.threshold, 5);
	dray_queue_destroy(other);
	other = NULL;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(setenv("DRAY_MAX_DESCRIPTORS", wrong[i], 1),
				 0);
		assert_fails(dray_queue_create(node, NULL, &other), -EINVAL,
			     wrong[i]);
	}
	assert_null(other);
	unsetenv("DRAY_MAX_DESCRIPTORS");
	discard(&dst);
	discard(&src);
}
