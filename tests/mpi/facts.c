// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Runs facts on all ranks, and prints TAP on the first. */
#include <stdio.h>

#include "facts.h"

int rank, ranks;

static int failures;

void note_failure(const char *file, int line, const char *what, long long is)
{
	if (failures++ < 8)
		fprintf(stderr, "# rank %d, %s:%d: %s: %lld (%s)\n", rank, file,
			line, what, is, dray_last_error());
}

int facts_run(const struct fact *facts, int count)
{
	int i, all, failed = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (i = 0; i < count; i++) {
		failures = 0;
		facts[i].run();
		MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM,
			      MPI_COMM_WORLD);
		failed += !!all;
		if (!rank) {
			printf("%sok %d - %s\n", all ? "not " : "", i + 1,
			       facts[i].name);
			fflush(stdout);
		}
	}
	if (!rank) {
		printf("1..%d\n", count);
		fflush(stdout);
	}
	MPI_Finalize();
	return !!failed;
}
