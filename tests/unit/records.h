/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Records of memory: a node and a pool for the whole program, importers in
 * processes of their own, and the record as it lies in memory, written out a
 * second time, because it is what two builds of the library have to agree on.
 */
#ifndef DRAY_TESTS_RECORDS_H
#define DRAY_TESTS_RECORDS_H

#include <dirent.h>
#include <sys/un.h>

#include "pool.h"
#include "shareable.h"

struct fields {
	uint32_t magic;
	uint16_t version, flags;
	uint64_t secret[2], broker;
	uint32_t slot, generation;
	uint64_t buffer, offset, size;
};

_Static_assert(sizeof(struct fields) == sizeof(struct dray_ipc_record),
	       "a record has 64 bytes");

/* A block of the pool, with that value in each byte. */
static inline unsigned char *take_filled(size_t size, int value)
{
	unsigned char *block = take(pool, size, 0);

	memset(block, value, size);
	return block;
}

static inline struct fields fields_of(const struct dray_ipc_record *record)
{
	struct fields fields;

	memcpy(&fields, record, sizeof(fields));
	return fields;
}

static inline struct dray_ipc_record record_of(const struct fields *fields)
{
	struct dray_ipc_record record;

	memcpy(&record, fields, sizeof(record));
	return record;
}

static inline size_t entries(const char *path)
{
	DIR *folder = opendir(path);
	size_t n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static inline size_t threads(void)
{
	return entries("/proc/self/task") - 2;
}

/* What the importers of other facts had has come back. */
static inline int records_setup(void **state)
{
	becomes_true(stats_of(pool).parked == 0);
	return 0;
}

#define RECORDS_FACT(name) FACT_WITH(name, records_setup, NULL)

/* A process that does what it is told, a byte at a time, and says how. */
struct importer {
	pid_t pid;
	int socket;
};

/* What a child does with each byte; below 0 or 0 to 127 goes back. */
typedef int importer_step(char what, const struct dray_ipc_record *record);

static inline struct importer start_importer(importer_step *step)
{
	struct importer importer;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    ends),
			 0);
	importer.pid = fork();
	assert_true(importer.pid >= 0);
	if (!importer.pid) {
		struct {
			char what;
			struct dray_ipc_record record;
		} message;

		close(ends[0]);
		while (recv(ends[1], &message, sizeof(message), 0) > 0) {
			int said = step(message.what, &message.record);

			if (send(ends[1], &said, sizeof(said), MSG_NOSIGNAL) <
			    0)
				break;
		}
		_exit(0);
	}
	close(ends[1]);
	importer.socket = ends[0];
	return importer;
}

static inline int tell(const struct importer *importer, char what,
		       const struct dray_ipc_record *record)
{
	struct {
		char what;
		struct dray_ipc_record record;
	} message = { .what = what };
	int said = INT32_MIN;

	if (record)
		message.record = *record;
	assert_int_equal(send(importer->socket, &message, sizeof(message), 0),
			 sizeof(message));
	assert_int_equal(recv(importer->socket, &said, sizeof(said), 0),
			 sizeof(said));
	return said;
}

static inline void stop_importer(const struct importer *importer)
{
	int status;

	/* Importers that began later have it too. */
	shutdown(importer->socket, SHUT_RDWR);
	close(importer->socket);
	assert_int_equal(waitpid(importer->pid, &status, 0), importer->pid);
	assert_int_equal(status, 0);
}

/*
 * o(pen), c(lose), r(ead the first byte), w(rite it), k: is it still there,
 * s: is it the s(ame) that was opened before it
 */
static inline int import_step(char what, const struct dray_ipc_record *record)
{
	static struct dray_ipc_memory *open[8];
	static int n;

	switch (what) {
	case 'o': {
		int ret = dray_ipc_open(record, NULL, &open[n]);

		n += !ret;
		return ret;
	}
	case 'c':
		dray_ipc_close(open[--n]);
		return 0;
	case 'r':
		return *(volatile unsigned char *)dray_ipc_data(open[n - 1]);
	case 'w':
		*(volatile unsigned char *)dray_ipc_data(open[n - 1]) = 0x5a;
		return 0;
	case 'k':
		return dray_ipc_check(open[n - 1]);
	case 's':
		return open[n - 1] == open[n - 2];
	}
	return INT32_MIN + 1;
}

static inline struct dray_ipc_record export_of(const void *address,
					       uint64_t size, uint32_t flags)
{
	struct dray_ipc_record record;

	memset(&record, 0xee, sizeof(record));
	assert_works(dray_ipc_export(address, size, flags, &record));
	return record;
}

#endif /* DRAY_TESTS_RECORDS_H */
