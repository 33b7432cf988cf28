// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Messages of more than 2^31 bytes, as they are and as a datatype; each rank needs
 * 2 GiB and a bit, the staging of a rank as much.
 */
#include <stdio.h>

#include "facts.h"

static const int64_t most = (1ll << 31) + 5;

static unsigned char *room_of(void)
{
	unsigned char *data = malloc((size_t)most);

	EXPECT(data);
	return data;
}

static unsigned char value_at(int64_t i)
{
	return (unsigned char)(i ^ i >> 8 ^ i >> 24);
}

/* Sends @step (1 or -1) by @step bytes, and receives in order. */
static void bytes_pass(int64_t step, unsigned int flags)
{
	unsigned char *data = room_of();
	struct dray_view view;
	int64_t i, wrong = 0;

	EXPECT_OK(dray_view_init(&view,
				 data + (step < 0 && !rank ? most - 1 : 0),
				 DRAY_UINT8, 1, &most, NULL));
	if (!rank) {
		view.strides[0] = step;
		for (i = 0; i < most; i++)
			((unsigned char *)view.data)[step * i] = value_at(i);
		EXPECT_OK(dray_mpi_send(&view, 1, 0, MPI_COMM_WORLD, flags));
	} else if (rank == 1) {
		memset(data, 0, (size_t)most);
		EXPECT_OK(dray_mpi_recv(&view, 0, 0, MPI_COMM_WORLD, -1, 0,
					MPI_STATUS_IGNORE));
		for (i = 0; i < most; i++)
			wrong += data[i] != value_at(i);
		EXPECT_IS(wrong, 0);
	}
	free(data);
}

static void more_bytes_than_an_int_counts_pass_as_they_are(void)
{
	bytes_pass(1, 0);
}

static void more_bytes_than_an_int_counts_pass_by_staging(void)
{
	bytes_pass(-1, DRAY_MPI_GATHER);
}

static void more_runs_than_an_int_counts_pass_as_a_datatype(void)
{
	bytes_pass(-1, DRAY_MPI_TYPE);
}

int main(void)
{
	static const struct fact facts[] = {
		FACT(more_bytes_than_an_int_counts_pass_as_they_are),
		FACT(more_bytes_than_an_int_counts_pass_by_staging),
		FACT(more_runs_than_an_int_counts_pass_as_a_datatype),
	};

	return facts_run(facts, sizeof(facts) / sizeof(facts[0]));
}
