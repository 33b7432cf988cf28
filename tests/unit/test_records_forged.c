// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: records that lie, and strangers who ask. */
#include "child.h"
#include "records_wire.h"

#define SIZE 20000
#define NOBODY 65534

/* Opened in another process, for in this one nobody is asked. */
static int forged_step(char what, const struct dray_ipc_record *record)
{
	struct fields fields = fields_of(record);

	return open_by(&fields);
}

RECORDS_FACT(no_flipped_bit_opens_anything)
{
	struct importer importer = start_importer(forged_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0), forged;

	for (int bit = 0; bit < 512; bit++) {
		int there, here;

		forged = record;
		forged.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		there = tell(&importer, 'o', &forged);
		if (there >= 0)
			fail_msg("bit %d of byte %d: %d", bit % 8, bit / 8,
				 there);
		forged = record;
		forged.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		here = open_by(&(struct fields[1]){ fields_of(&forged) }[0]);
		if (here >= 0)
			fail_msg("bit %d of byte %d: %d here", bit % 8, bit / 8,
				 here);
	}
	assert_int_equal(tell(&importer, 'o', &record), 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

RECORDS_FACT(each_lie_has_its_error)
{
	struct importer importer = start_importer(forged_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0), forged;
	const struct fields fields = fields_of(&record);
	struct fields lie;

#define lies(field, value, error)                                       \
	do {                                                            \
		lie = fields;                                           \
		lie.field = value;                                      \
		forged = record_of(&lie);                               \
		assert_int_equal(tell(&importer, 'o', &forged), error); \
		assert_int_equal(open_by(&lie), error);                 \
	} while (0)

	lies(magic, 0, -EBADMSG);
	lies(version, 4, -EPROTO);
	lies(flags, 0x80, -EBADMSG);
	lies(flags, DRAY_IPC_READ_ONLY, -EBADMSG);
	lies(secret[0], fields.secret[0] + 1, -EACCES);
	lies(secret[1], 0, -EACCES);
	lies(broker, fields.broker + 1, -ECONNREFUSED);
	lies(slot, DRAY_IPC_MAX_EXPORTS, -EBADMSG);
	lies(slot, fields.slot + 1, -ESTALE);
	lies(generation, fields.generation + 1, -ESTALE);
	lies(buffer, fields.buffer + 1, -EBADMSG);
	lies(offset, fields.offset + 64, -EBADMSG);
	lies(offset, UINT64_MAX, -EBADMSG);
	lies(size, fields.size + 1, -EBADMSG);
	lies(size, UINT64_MAX, -EBADMSG);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

RECORDS_FACT(an_exporter_that_is_gone_is_told)
{
	struct importer importer = start_importer(import_step);
	struct dray_ipc_record record;
	int ends[2], status;
	pid_t exporter;
	char go;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	exporter = fork();
	if (!exporter) {
		unsigned char *block = dray_pool_alloc(pool, SIZE, 0);

		if (!block)
			_exit(1);
		memset(block, 0x11, SIZE);
		if (dray_ipc_export(block, SIZE, 0, &record) ||
		    send(ends[1], &record, sizeof(record), 0) < 0 ||
		    recv(ends[1], &go, 1, 0) != 1)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(recv(ends[0], &record, sizeof(record), 0),
			 sizeof(record));
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_int_equal(tell(&importer, 'k', NULL), 0);
	assert_int_equal(send(ends[0], "g", 1, 0), 1);
	assert_int_equal(waitpid(exporter, &status, 0), exporter);
	assert_int_equal(status, 0);
	/* What it has it keeps, and more it does not get. */
	becomes_true(tell(&importer, 'k', NULL) == -ECONNRESET);
	assert_int_equal(tell(&importer, 'r', NULL), 0x11);
	assert_int_equal(tell(&importer, 'o', &record), -ECONNREFUSED);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	assert_int_equal(tell(&importer, 'o', &record), -ECONNREFUSED);
	stop_importer(&importer);
	close(ends[0]);
	close(ends[1]);
}

static ssize_t ask(int fd, const void *bytes, size_t size, struct said *said,
		   size_t *control)
{
	char room[CMSG_SPACE(8 * sizeof(int))]
		__attribute__((aligned(_Alignof(struct cmsghdr))));
	struct iovec part = { said, sizeof(*said) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	ssize_t got;

	/* Who is refused at once may be hung up on before he asks. */
	if (size)
		send(fd, bytes, size, MSG_NOSIGNAL);
	got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	*control = message.msg_controllen;
	return got;
}

/* A child of another user; what it returns is its exit status. */
static int as_nobody(int (*what)(const struct dray_ipc_record *),
		     const struct dray_ipc_record *record)
{
	pid_t child = fork();

	if (!child)
		_exit(what(record));
	return status_of(child);
}

static int opens(const struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory;

	STEP_EQ(0, setgid(NOBODY));
	STEP_EQ(0, setuid(NOBODY));
	return -dray_ipc_open(record, NULL, &memory);
}

/* As one who does not ask whose it is. */
static int asks_all_the_same(const struct dray_ipc_record *record)
{
	struct said said = { .error = 1 };
	size_t control;
	int fd;

	STEP_EQ(0, setgid(NOBODY));
	STEP_EQ(0, setuid(NOBODY));
	fd = connect_to(fields_of(record).broker);
	STEP_LE(0, fd);
	STEP_EQ(sizeof(said),
		ask(fd, record, sizeof(*record), &said, &control));
	STEP_EQ(0, control);
	STEP_EQ(-EACCES, said.error);
	return 0;
}

RECORDS_FACT(another_user_gets_nothing)
{
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	struct dray_ipc_record all;

	if (geteuid()) {
		dray_pool_free(pool, block);
		print_message("skipped: only root can become another user\n");
		skip();
	}
	assert_int_equal(as_nobody(opens, &record), EACCES);
	assert_int_equal(as_nobody(asks_all_the_same, &record), 0);
	/* Nor by the record that is for all, of other memory. */
	all = export_of(block, 1, DRAY_IPC_ANY_USER);
	assert_int_equal(as_nobody(opens, &record), EACCES);
	assert_int_equal(as_nobody(asks_all_the_same, &record), 0);
	if (!on_kernel()) /* the node may not be his to open */
		assert_int_equal(as_nobody(opens, &all), 0);
	dray_pool_free(pool, block);
}

RECORDS_FACT(who_says_nonsense_is_hung_up_on)
{
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	unsigned char bytes[200] = { 0 };
	size_t control;

	memcpy(bytes, &record, sizeof(record));
	for (size_t size = 1; size < sizeof(bytes); size++) {
		int fd = connect_to(fields_of(&record).broker);
		struct said said = { 0 };

		assert_true(fd >= 0);
		if (size == sizeof(record)) {
			assert_int_equal(ask(fd, bytes, size, &said, &control),
					 sizeof(said));
			assert_int_equal(said.error, 0);
		} else {
			assert_int_equal(ask(fd, bytes, size, &said, &control),
					 0);
		}
		assert_int_equal(control > 0, size == sizeof(record));
		close(fd);
	}
	dray_pool_free(pool, block);
}

RECORDS_FACT(those_who_say_nothing_keep_nobody_out)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	int silent[100];

	for (int i = 0; i < 100; i++)
		silent[i] = connect_to(fields_of(&record).broker);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	for (int i = 0; i < 100; i++)
		close(silent[i]);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

FACTS_SHARE(set_up, tear_down)
