/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records of memory: what goes to a broker and comes back, written out here. */
#ifndef DRAY_TESTS_RECORDS_WIRE_H
#define DRAY_TESTS_RECORDS_WIRE_H

#include "records.h"

/* What an exporter says to bytes: its error, and how many descriptors. */
struct said {
	uint32_t magic;
	int32_t error;
	uint32_t backend, share, limit, reserved;
	char node[32];
};

static inline int open_by(const struct fields *fields)
{
	struct dray_ipc_record record = record_of(fields);
	struct dray_ipc_memory *memory;
	int ret = dray_ipc_open(&record, NULL, &memory);

	if (!ret)
		dray_ipc_close(memory);
	return ret;
}

static inline int connect_to(uint64_t broker)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int length =
		snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			 "dray-ipc-%016llx", (unsigned long long)broker);

	if (fd < 0 ||
	    connect(fd, (struct sockaddr *)&address,
		    (socklen_t)(sizeof(address.sun_family) + 1 + length))) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif /* DRAY_TESTS_RECORDS_WIRE_H */
