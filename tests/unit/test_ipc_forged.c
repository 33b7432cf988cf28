// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: records that lie. */
#include <dray/array.h>

#include "random_view.h"
#include "record.h"

/* Sends a record and one descriptor; returns the receiver's answer. */
static int receive_forged(const struct record *record, int fd)
{
	struct dray_array *received = NULL;
	int ends[2], before = count_fds(), error;

	make_pair(SOCK_SEQPACKET, ends);
	send_raw(ends[0], record, sizeof(*record), fd, 1);
	error = dray_array_receive(ends[1], node, &received);
	if (!error)
		dray_array_unref(received);
	close_pair(ends);
	assert_int_equal(count_fds(), before);
	return error;
}

FACT(forged_fields_are_refused_by_name)
{
	struct dray_array *array = make_array(4, 4);
	struct record good, bad;
	int fd;

	record_of(whole_view(array), &good, &fd);
	assert_works(receive_forged(&good, fd));
#define FORGED(change, code, part)                                    \
	do {                                                          \
		bad = good;                                           \
		change;                                               \
		assert_fails(receive_forged(&bad, fd), (code), part); \
	} while (0)
	FORGED(bad.magic ^= 1, -EBADMSG, "not a record");
	FORGED(bad.version++, -EPROTO, "version 3");
	FORGED(bad.backend = 0, -EBADMSG, "back end is 0");
	FORGED(bad.backend = 3, -EBADMSG, "back end is 3");
	FORGED(bad.flags = 8, -EBADMSG, "flags are 0x8");
	FORGED(bad.flags = 6, -EBADMSG, "writable and immutable");
	FORGED(bad.kind = 'O', -EBADMSG, "0x4f");
	FORGED(bad.order = 0, -EBADMSG, "byte order");
	FORGED(bad.reserved = 1, -EBADMSG, "unit");
	FORGED(bad.kind = 'p', -EBADMSG, "not a builtin");
	FORGED(bad.itemsize = 3, -EBADMSG, "3 bytes");
	FORGED(bad.ndim = 65, -EBADMSG, "65 axes");
	FORGED(bad.ndim = UINT32_MAX, -EBADMSG, "4294967295 axes");
	FORGED(bad.reserved2 = 1, -EBADMSG, "reserved field is 1");
	FORGED((bad.backend = 2, memcpy(bad.node, "../mem", 7)), -EBADMSG,
	       "name a node");
	FORGED((bad.backend = 2, memset(bad.node, '1', 32),
		memcpy(bad.node, "dray", 4)),
	       -EBADMSG, "name a node");
	FORGED((bad.backend = 2, memset(bad.node, 0, 32)), -EBADMSG,
	       "name a node");
	FORGED(bad.shape[0] = -1, -EBADMSG, "-1 elements");
	close(fd);
	dray_array_unref(array);
}

FACT(forged_types_are_refused)
{
	static const char text[] = "[('x', '<u2')]";
	struct dray_array *array = make_array(4, 4);
	struct record good, bad;
	int fd;

	record_of(whole_view(array), &good, &fd);
	memset(&good.kind, 0, 8);
	strcpy(good.text, text);
	good.text_size = sizeof(text);
	assert_works(receive_forged(&good, fd));
	FORGED(bad.text_size = 0, -EBADMSG, "not a text of 0 bytes");
	FORGED(bad.text_size--, -EBADMSG, "not a text of 14 bytes");
	FORGED(bad.text_size++, -EBADMSG, "not a text of 16 bytes");
	FORGED(bad.text_size = UINT32_MAX, -EBADMSG, "4294967295 bytes");
	FORGED((bad.text_size = 4089, memset(bad.text, ' ', 4088)), -EBADMSG,
	       "not a text of 4089 bytes");
	FORGED(bad.text_reserved = 1, -EBADMSG, "not a text");
	FORGED(bad.text[9] = 'O', -EBADMSG, "objects");
	FORGED(bad.text[0] = '(', -EBADMSG, "no comma");
	/* An element of 4 GiB - 1, of which the array has one. */
	FORGED((bad.text_size = 12, strcpy(bad.text, "V4294967295"),
		bad.shape[0] = bad.shape[1] = 1),
	       -EBADMSG, "covers bytes 0 to 4294967295");
#undef FORGED
	close(fd);
	dray_array_unref(array);
}

FACT(records_that_reach_out_of_the_buffer_are_refused)
{
	struct dray_array *array = make_array(4, 4);
	struct record good, bad;
	uint64_t size;
	int fd;

	record_of(whole_view(array), &good, &fd);
	size = (uint64_t)lseek(fd, 0, SEEK_END);
	assert_int_equal(good.buffer_size, size);
#define REACHES(change)                                               \
	do {                                                          \
		bad = good;                                           \
		change;                                               \
		assert_int_equal(receive_forged(&bad, fd), -EBADMSG); \
	} while (0)
	REACHES(bad.offset = size);
	REACHES(bad.offset = size - 31);
	REACHES(bad.offset = size + 1);
	REACHES(bad.offset = UINT64_MAX);
	REACHES(bad.offset = UINT64_MAX - 31);
	REACHES(bad.offset = (uint64_t)INT64_MAX + 1);
	REACHES(bad.shape[0] = (int64_t)size);
	REACHES(bad.shape[0] = INT64_MAX);
	REACHES((bad.shape[0] = bad.shape[1] = INT64_C(1) << 32,
		 bad.strides[0] = bad.strides[1] = 0));
	REACHES(bad.strides[0] = (int64_t)size);
	REACHES(bad.strides[0] = INT64_MAX);
	REACHES(bad.strides[0] = INT64_MIN);
	REACHES((bad.strides[0] = -8, bad.offset = 23));
	REACHES((bad.itemsize = UINT32_MAX, bad.kind = 'V', bad.order = '|'));
#undef REACHES
	/* to the last byte is within, and so is a lie about the size */
	bad = good;
	bad.offset = size - 32;
	bad.buffer_size = UINT64_MAX;
	assert_works(receive_forged(&bad, fd));
	bad.offset = 24;
	bad.strides[0] = -8;
	assert_works(receive_forged(&bad, fd));
	close(fd);
	dray_array_unref(array);
}

FACT(random_damage_never_reaches_out_of_the_buffer)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct dice dice = { 2026 };
	struct record good, bad;
	int fd, ends[2], accepted = 0;
	uint64_t size;

	record_of(whole_view(array), &good, &fd);
	size = (uint64_t)lseek(fd, 0, SEEK_END);
	make_pair(SOCK_SEQPACKET, ends);
	for (int round = 0; round < rounds(3000); round++) {
		int changes = 1 + (int)roll(&dice, 3);

		bad = good;
		while (changes--) /* mostly where it matters */
			((unsigned char *)&bad)[roll(&dice, 4)
							? roll(&dice, 100)
							: roll(&dice, 5216)] =
				(unsigned char)roll(&dice, 256);
		send_raw(ends[0], &bad, sizeof(bad), fd, 1);
		if (!dray_array_receive(ends[1], node, &received)) {
			const struct dray_view *view = whole_view(received);
			struct dray_location location;
			int64_t low, high;

			dray_view_span(view, &low, &high);
			assert_works(dray_locate((char *)view->data + low,
						 &location));
			assert_true(location.offset + (uint64_t)(high - low) <=
				    size);
			dray_array_unref(received);
			accepted++;
		}
	}
	assert_true(accepted > rounds(100) && accepted < rounds(2900));
	close_pair(ends);
	close(fd);
	dray_array_unref(array);
}

FACT(descriptors_are_one_and_a_buffer)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct record record;
	int fd, ends[2], before;

	record_of(whole_view(array), &record, &fd);
	before = count_fds();
	make_pair(SOCK_SEQPACKET, ends);
	send_raw(ends[0], &record, sizeof(record), fd, 0);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "0 file descriptors");
	send_raw(ends[0], &record, sizeof(record), fd, 2);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "2 file descriptors");
	send_raw(ends[0], &record, sizeof(record), fd, 100);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "100 file descriptors");
	send_raw(ends[0], &record, sizeof(record), fd, 200);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "descriptors were lost");
	close_pair(ends);
	assert_int_equal(count_fds(), before);
	assert_int_equal(receive_forged(&record, STDERR_FILENO), -EINVAL);
	close(fd);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(receive_forged(&record, fd), -EINVAL);
	close(fd);
	dray_array_unref(array);
}

FACT(without_room_for_a_descriptor_nothing_is_received)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct rlimit limit, tight;
	int ends[2], before, error;

	make_pair(SOCK_STREAM, ends);
	assert_works(dray_view_send(ends[0], whole_view(array)));
	before = count_fds();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	tight = limit;
	tight.rlim_cur = (rlim_t)dup(0); /* the first that is free */
	close((int)tight.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	error = dray_array_receive(ends[1], node, &received);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(error, -EBADMSG);
	assert_non_null(strstr(dray_last_error(), "can open no more"));
	assert_int_equal(count_fds(), before);
	close_pair(ends);
	dray_array_unref(array);
}

FACT(a_memfd_that_may_shrink_is_refused)
{
	struct dray_array *array = make_array(4, 4);
	struct record record;
	int fd, own;

	record_of(whole_view(array), &record, &fd);
	close(fd);
	own = memfd_create("mine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(own, 1 << 20), 0);
	/* and for the kernel's node it is no dma-buf */
	assert_int_equal(receive_forged(&record, own),
			 on_kernel() ? -EINVAL : -EPERM);
	close(own);
	dray_array_unref(array);
}

FACT(messages_that_are_too_short_or_long_are_refused)
{
	struct dray_array *array = make_array(4, 4), *received;
	char longer[sizeof(struct record) + 1] = { 0 };
	struct record record;
	int fd, ends[2], before;

	record_of(whole_view(array), &record, &fd);
	before = count_fds();
	make_pair(SOCK_SEQPACKET, ends);
	memcpy(longer, &record, sizeof(record));
	send_raw(ends[0], longer, sizeof(longer), fd, 1);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "more than the 5216 bytes");
	close_pair(ends);
	make_pair(SOCK_STREAM, ends);
	send_raw(ends[0], &record, 100, fd, 1);
	close(ends[0]);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "after 100 of 5216 bytes");
	close(ends[1]);
	assert_int_equal(count_fds(), before);
	close(fd);
	dray_array_unref(array);
}

FACTS_SHARE(set_up, tear_down)
