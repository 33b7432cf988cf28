// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rank 1 is killed while rank 0 receives from it: with ULFM that is -ECONNRESET, and
 * the memory is lent no longer.  Without, MPI ends rank 0 too.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <dray/mpi.h>

int main(void)
{
	static int32_t numbers[2][512];
	const int64_t shape[] = { 256, 2 }, strides[] = { 8, 2048 };
	const unsigned int flags[] = { DRAY_MPI_GATHER, DRAY_MPI_TYPE };
	struct dray_loan *loan = NULL;
	struct dray_view view;
	int rank, i, ret;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank) {
		usleep(300000);
		kill(getpid(), SIGKILL);
	}
	dray_view_init(&view, numbers, DRAY_INT32, 2, shape, strides);
	for (i = 0; i < 2; i++) {
		ret = dray_mpi_recv(&view, 1, 0, MPI_COMM_WORLD, i ? 20000 : -1,
				    flags[i], NULL);
		printf("%sok %d - a_receive_from_a_dead_rank_is_reset_%d # %s\n",
		       ret == -ECONNRESET ? "" : "not ", i + 1, i,
		       dray_last_error());
	}
	ret = dray_view_lend(&view, DRAY_ACCESS_WRITE, 0, NULL, &loan);
	printf("%sok 3 - its_memory_is_lent_no_longer\n1..3\n",
	       ret ? "not " : "");
	fflush(stdout);
	dray_loan_end(loan);
	_exit(0); /* MPI_Finalize() would wait for the dead */
}
