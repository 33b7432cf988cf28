// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: exporters who cheat, and whom nobody believes. */
#include <poll.h>

#include "child.h"
#include "records_wire.h"

#define SIZE 20000
#define NOBODY 65534

/* An exporter that is none: what it answers, and with which descriptors. */
struct cheat {
	struct said said;
	size_t size;
	int fds[4], count;
	bool hangs_up; /* without an answer */
};

static uint64_t fake_name = 0x123456789abcdefull;

/* The socket of such a one; -1 where there is none, for children too. */
static int listen_as(uint64_t name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int length =
		snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			 "dray-ipc-%016llx", (unsigned long long)name);

	if (bind(listener, (struct sockaddr *)&address,
		 (socklen_t)(sizeof(address.sun_family) + 1 + length)) ||
	    listen(listener, 1)) {
		close(listener);
		return -1;
	}
	return listener;
}

/* In a child: answers one who asks. */
static int answer(const struct cheat *cheat, int listener)
{
	char control[CMSG_SPACE(4 * sizeof(int))]
		__attribute__((aligned(_Alignof(struct cmsghdr)))) = { 0 };
	struct iovec part = { (void *)&cheat->said, cheat->size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	size_t bytes = (size_t)cheat->count * sizeof(int);
	struct cmsghdr *header;
	char asked[64];
	int fd = accept(listener, NULL, NULL);

	STEP_EQ(sizeof(asked), recv(fd, asked, sizeof(asked), 0));
	if (cheat->hangs_up)
		return 0;
	if (cheat->count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(header), cheat->fds, bytes);
	}
	STEP_EQ(cheat->size, sendmsg(fd, &message, 0));
	return 0;
}

/* What dray_ipc_open() says to it. */
static int open_from(const struct cheat *cheat, uint16_t flags, uint64_t offset,
		     uint64_t size)
{
	struct fields fields = { .magic = 0x69797264,
				 .version = 3,
				 .flags = flags,
				 .broker = ++fake_name,
				 .offset = offset,
				 .size = size };
	int listener, ret;
	pid_t child;

	listener = listen_as(fields.broker);
	assert_true(listener >= 0);
	child = fork();
	if (!child)
		_exit(answer(cheat, listener));
	close(listener);
	ret = open_by(&fields);
	assert_int_equal(status_of(child), 0);
	return ret;
}

static int make_memfd(off_t size, int seals)
{
	int fd = memfd_create("cheat", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

RECORDS_FACT(nothing_that_an_exporter_says_is_believed)
{
	int good = make_memfd(65536, F_SEAL_SHRINK);
	int unsealed = make_memfd(65536, F_SEAL_GROW);
	int small = make_memfd(4096, F_SEAL_SHRINK);
	int sealed = make_memfd(65536, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE);
	const struct cheat honest = {
		.said = { .magic = 0x69797264, .backend = 1 },
		.size = sizeof(struct said),
		.fds = { good },
		.count = 1,
	};
	struct cheat cheat = honest;
	size_t before = entries("/proc/self/fd");
	size_t buffers;

	becomes_true(threads() == 1);
	before = entries("/proc/self/fd");
	buffers = buffers_of(node);
	assert_int_equal(open_from(&cheat, 0, 0, 65536), 0);
	assert_int_equal(open_from(&cheat, 0, 1, 65536), -EBADMSG);
	assert_string_equal(dray_last_error(),
			    "65536 bytes at 1, the buffer has 65536");
	assert_int_equal(open_from(&cheat, 0, UINT64_MAX, 1), -EBADMSG);
	assert_int_equal(open_from(&cheat, 0, 1, UINT64_MAX), -EBADMSG);
	cheat.fds[0] = small;
	assert_int_equal(open_from(&cheat, 0, 0, 4097), -EBADMSG);
	cheat.fds[0] = unsealed;
	assert_int_equal(open_from(&cheat, 0, 0, 4096), -EPERM);
	cheat.fds[0] = good;
	assert_int_equal(open_from(&cheat, DRAY_IPC_READ_ONLY, 0, 1), -EPERM);
	assert_non_null(
		strstr(dray_last_error(), "not sealed against writers"));
	cheat.fds[0] = sealed;
	assert_int_equal(open_from(&cheat, DRAY_IPC_READ_ONLY, 0, 1), 0);
	cheat = honest;
	cheat.count = 2;
	cheat.fds[1] = small;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat.count = 0;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat.count = 4;
	cheat.fds[1] = small;
	cheat.fds[2] = small;
	cheat.fds[3] = small;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EMFILE);
	cheat = honest;
	cheat.size--;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat.size = 0;
	assert_fails(open_from(&cheat, 0, 0, 1), -EBADMSG,
		     "answers 0 bytes and 1 file descriptors");
	assert_int_equal(entries("/proc/self/fd"), before);
	cheat.count = 4;
	cheat.fds[1] = small;
	cheat.fds[2] = small;
	cheat.fds[3] = small;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EMFILE);
	assert_int_equal(entries("/proc/self/fd"), before);
	cheat.count = 0;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -ECONNREFUSED);
	cheat.hangs_up = true;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -ECONNREFUSED);
	cheat = honest;
	cheat.said.magic++;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat = honest;
	cheat.said.reserved = 1;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat = honest;
	cheat.said.backend = 3;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat.said.backend = 2;
	strcpy(cheat.said.node, "../mem");
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	memset(cheat.said.node, 'd', sizeof(cheat.said.node));
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat = honest;
	cheat.said.error = -EIO;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	cheat.said.error = -EDQUOT;
	cheat.said.share = 3;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EBADMSG);
	assert_int_equal(entries("/proc/self/fd"), before);
	assert_int_equal(buffers_of(node), buffers);
	close(good);
	close(unsealed);
	close(small);
	close(sealed);
}

/* As another user, who has the name: hears nothing. */
static int listen_as_nobody(uint64_t name, int ready)
{
	char asked[64];
	int listener, fd;

	STEP_EQ(0, setgid(NOBODY));
	STEP_EQ(0, setuid(NOBODY));
	listener = listen_as(name);
	STEP_LE(0, listener);
	STEP_EQ(1, send(ready, "", 1, MSG_NOSIGNAL));
	fd = accept(listener, NULL, NULL);
	STEP_LE(0, fd);
	STEP_EQ(0, recv(fd, asked, sizeof(asked), 0));
	return 0;
}

/* With the secret he could open the memory itself. */
RECORDS_FACT(another_user_is_not_told_the_secret)
{
	struct fields fields = { .magic = 0x69797264,
				 .version = 3,
				 .secret = { 1, 2 },
				 .broker = ++fake_name,
				 .size = 1 };
	struct dray_ipc_record record = record_of(&fields);
	struct dray_ipc_memory *memory = NULL;
	int ready[2];
	pid_t child;
	char said;

	if (geteuid()) {
		print_message("skipped: only root can become another user\n");
		skip();
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ready), 0);
	child = fork();
	if (!child) {
		close(ready[0]);
		_exit(listen_as_nobody(fields.broker, ready[1]));
	}
	close(ready[1]);
	assert_int_equal(recv(ready[0], &said, 1, 0), 1);
	assert_fails(dray_ipc_open(&record, NULL, &memory), -EACCES,
		     "exported by user 65534");
	assert_null(memory);
	assert_int_equal(status_of(child), 0);
	close(ready[0]);
}

/* What a dma-buf is, and what is said of it. */
RECORDS_FACT(what_is_said_of_a_dma_buf_is_not_believed)
{
	struct dray_buffer *buffer = NULL;
	struct dray_info info;
	struct cheat cheat = {
		.said = { .magic = 0x69797264, .backend = 2 },
		.size = sizeof(struct said),
		.count = 1,
	};
	int memfd;
	size_t before, buffers;
	uint64_t size;

	if (!on_kernel()) /* there are none elsewhere */
		skip();
	assert_works(dray_node_info(node, &info, sizeof(info)));
	assert_works(dray_buffer_alloc(node, 65536, NULL, &buffer));
	size = dray_buffer_size(buffer);
	snprintf(cheat.said.node, sizeof(cheat.said.node), "%s", info.name);
	cheat.fds[0] = dray_buffer_fd(buffer);
	memfd = make_memfd(65536, F_SEAL_SHRINK);
	before = entries("/proc/self/fd");
	buffers = buffers_of(node);
	assert_int_equal(open_from(&cheat, 0, size - 1, 1), 0);
	assert_int_equal(open_from(&cheat, 0, 0, size), 0);
	assert_fails(open_from(&cheat, DRAY_IPC_READ_ONLY, 0, size), -EPERM,
		     "is read-only, but its memory can be written");
	assert_fails(open_from(&cheat, 0, 0, size + 1), -EBADMSG,
		     "the buffer has 65536");
	assert_fails(open_from(&cheat, 0, size, 1), -EBADMSG,
		     "1 byte at 65536");
	assert_fails(open_from(&cheat, 0, UINT64_MAX, 2), -EBADMSG,
		     "the buffer has");
	assert_fails(open_from(&cheat, 0, 1, UINT64_MAX), -EBADMSG,
		     "the buffer has");
	/* Neither is a memfd one, nor the other way round. */
	cheat.fds[0] = memfd;
	assert_fails(open_from(&cheat, 0, 0, 1), -EINVAL, "not a dma-buf");
	cheat.fds[0] = dray_buffer_fd(buffer);
	cheat.said.backend = 1;
	assert_int_equal(open_from(&cheat, 0, 0, 1), -EINVAL);
	assert_int_equal(entries("/proc/self/fd"), before);
	assert_int_equal(buffers_of(node), buffers);
	close(memfd);
	dray_buffer_unref(buffer);
}

RECORDS_FACT(nobody_is_waited_for_without_an_end)
{
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	struct pollfd silent = { .fd = connect_to(fields_of(&record).broker),
				 .events = POLLIN };
	int listener = listen_as(++fake_name);
	struct fields fields = fields_of(&record);

	assert_true(listener >= 0);
	/* No exporter who does not answer, no importer who does not ask. */
	fields.broker = fake_name;
	assert_int_equal(open_by(&fields), -ETIMEDOUT);
	assert_int_equal(poll(&silent, 1, DEADLINE * 1000), 1);
	assert_true(silent.revents & POLLHUP);
	close(silent.fd);
	close(listener);
	dray_pool_free(pool, block);
}

RECORDS_FACT(what_an_importer_has_cannot_be_truncated)
{
	struct importer importer = start_importer(import_step);
	struct dray_ipc_record record;
	struct dray_location where;
	unsigned char *block;

	if (on_kernel()) /* a dma-buf has one size for ever */
		skip();
	block = take(pool, SIZE, 0);
	block[SIZE - 1] = 0x21;
	record = export_of(block + SIZE - 1, 1, 0);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_works(dray_locate(block, &where));
	assert_int_equal(ftruncate(dray_buffer_fd(where.buffer), 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(tell(&importer, 'r', NULL), 0x21);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

/* Two runs at once have names of their own. */
static int cheats_set_up(void **state)
{
	fake_name += (uint64_t)getpid() << 32;
	return set_up(state);
}

FACTS_SHARE(cheats_set_up, tear_down)
