// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: leases of other users.  They have a share of the exporter's descriptors,
 * one user has a part of that, and one record a part of the part.
 */
#include "records_wire.h"

#define SIZE 20000
#define DESCRIPTORS 256
#define OF_ALL (DESCRIPTORS / 2)
#define OF_USER (DESCRIPTORS / 4)
#define OF_RECORD (DESCRIPTORS / 8)

/*
 * Takes a lease without the library, which takes one for a record: its
 * connection, or a negative errno.
 */
static int take_lease(const struct dray_ipc_record *record)
{
	int fd = connect_to(fields_of(record).broker);
	struct said said = { .error = 0 };

	if (fd < 0)
		return -errno;
	if (send(fd, record, sizeof(*record), MSG_NOSIGNAL) < 0 ||
	    recv(fd, &said, sizeof(said), 0) != (ssize_t)sizeof(said))
		said.error = -EPROTO;
	if (!said.error)
		return fd;
	close(fd);
	return said.error;
}

/*
 * u: becomes the user whose number is in the record; t: takes leases until it is
 * refused, how many; c: counts all that it has; d: drops them; o: opens; n: the
 * number in the last sentence
 */
static int user_step(char what, const struct dray_ipc_record *record)
{
	static int leases[DESCRIPTORS], n;
	struct dray_ipc_memory *memory;
	uint64_t user;
	int before = n, ret;
	const char *limit;

	switch (what) {
	case 'u':
		user = fields_of(record).size;
		return setgid((gid_t)user) || setuid((uid_t)user);
	case 't':
		while (n < DESCRIPTORS) {
			leases[n] = take_lease(record);
			if (leases[n] < 0)
				break;
			n++;
		}
		if (n < DESCRIPTORS && leases[n] != -EDQUOT)
			return leases[n];
		return n - before;
	case 'c':
		return n;
	case 'd':
		while (n)
			close(leases[--n]);
		return 0;
	case 'o':
		ret = dray_ipc_open(record, NULL, &memory);
		if (!ret)
			dray_ipc_close(memory);
		return ret;
	case 'n':
		limit = strstr(dray_last_error(), "at most ");
		return limit ? atoi(limit + strlen("at most ")) : -1;
	}
	return -1;
}

static struct importer start_user(uint64_t user)
{
	const struct fields fields = { .size = user };
	struct dray_ipc_record number = record_of(&fields);
	struct importer importer = start_importer(user_step);

	if (user != geteuid())
		assert_int_equal(tell(&importer, 'u', &number), 0);
	return importer;
}

/* Children that were started before keep theirs. */
static void limit_descriptors(rlim_t most)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = most;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

RECORDS_FACT(other_users_leave_the_exporter_half_of_its_descriptors)
{
	struct importer users[3], own;
	struct dray_ipc_record records[4];
	struct rlimit before;
	unsigned char *block;
	int fd;

	if (geteuid()) {
		print_message("skipped: only root can become another user\n");
		skip();
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	own = start_user(geteuid());
	for (unsigned int i = 0; i < 3; i++)
		users[i] = start_user(65534 - i);
	limit_descriptors(DESCRIPTORS);
	block = take(pool, SIZE, 0);
	for (size_t i = 0; i < 4; i++)
		records[i] = export_of(block + i, 1, DRAY_IPC_ANY_USER);

	/* One record, one user, and two of them. */
	assert_int_equal(tell(&users[0], 't', &records[0]), OF_RECORD);
	assert_int_equal(tell(&users[0], 't', &records[0]), 0);
	assert_int_equal(tell(&users[0], 'o', &records[0]), -EDQUOT);
	assert_int_equal(tell(&users[0], 'n', NULL), OF_RECORD);
	assert_int_equal(tell(&users[0], 't', &records[1]),
			 OF_USER - OF_RECORD);
	assert_int_equal(tell(&users[0], 'o', &records[2]), -EDQUOT);
	assert_int_equal(tell(&users[0], 'n', NULL), OF_USER);
	assert_int_equal(tell(&users[1], 't', &records[0]), OF_RECORD);
	assert_int_equal(tell(&users[1], 't', &records[2]),
			 OF_USER - OF_RECORD);
	assert_int_equal(tell(&users[2], 'o', &records[3]), -EDQUOT);
	assert_int_equal(tell(&users[2], 'n', NULL), OF_ALL);

	/* The exporter and its own user have the rest. */
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tell(&own, 'o', &records[0]), 0);

	/* What one gives back another one gets. */
	assert_int_equal(tell(&users[0], 'd', NULL), 0);
	becomes_true(tell(&users[2], 't', &records[3]) > 0);
	for (size_t i = 0; i < 3; i++)
		stop_importer(&users[i]);
	stop_importer(&own);
	limit_descriptors(before.rlim_cur);
	dray_pool_free(pool, block);
}

RECORDS_FACT(an_exporter_s_own_user_has_no_share)
{
	struct importer own = start_user(geteuid());
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, 1, DRAY_IPC_ANY_USER);
	struct rlimit before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit_descriptors(DESCRIPTORS);
	/* Until the exporter is at its limit, which it says or hangs up. */
	assert_true(tell(&own, 't', &record) < 0);
	assert_in_range(tell(&own, 'c', NULL), OF_ALL + 1, DESCRIPTORS);
	assert_int_equal(tell(&own, 'd', NULL), 0);
	becomes_true(!tell(&own, 'o', &record));
	stop_importer(&own);
	limit_descriptors(before.rlim_cur);
	dray_pool_free(pool, block);
}

FACTS_SHARE(set_up, tear_down)
