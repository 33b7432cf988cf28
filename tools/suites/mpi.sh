# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 20 MB from PyPI: MPICH and Open MPI with their compilers and launchers, and
# mpi4py.  Ranks are processes of this machine; TCP is on 127.0.0.1.

ABOUT_MPI="dray/mpi.h and dray.mpi with PyPI's MPICH and Open MPI, on shared memory and \
TCP: views of any layout, windows, shared arrays, dead ranks; with --full also three ranks \
everywhere, and messages of 2 GiB"
PACKAGES_MPI=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" g++ python3-pytest)

suite_mpi()
{
	local mpi folder

	tally_run "builds as a release" build_native || return 0
	for mpi in mpich openmpi; do
		tally_wants "$mpi" || continue
		tally_fetch "fetches $mpi" folder mpi_set "$mpi" || continue
		mpi_tests "$mpi" "$folder" "$1"
	done
}

# mpi_tests MPI PREFIX SCRATCH
mpi_tests()
{
	local mpi=$1 prefix=$2 scratch=$3 transport ranks program

	for program in messages large dead_rank; do
		tally_run "tests/mpi/$program.c builds with $mpi" mpi_compile \
			"$mpi" "$prefix" mpicc -std=gnu11 -o "$scratch/$program-$mpi" \
			"$TREE/tests/mpi/$program.c" "$TREE/tests/mpi/facts.c" || return 0
	done
	tally_run "C++ compiles dray/mpi.h with $mpi" mpi_compile "$mpi" "$prefix" \
		mpicxx -std=c++11 -x c++ -fsyntax-only "$TREE/include/dray/mpi.h"
	DRAY_BUILD=$(build_folder native) tally_run "the header's example runs with $mpi" \
		mpi_in "$mpi" "$prefix" shm /usr/bin/python3 -m pytest -q \
		-p no:cacheprovider -k mpi.h \
		"$TREE/tests/manuals/test_header_examples.py"
	for transport in shm tcp; do
		for ranks in 2 3; do
			# Three ranks add little to TCP.
			[ "$FULL" = yes ] || [ $ranks$transport != 3tcp ] || continue
			mpi_count "$mpi" "$prefix" "$scratch" $transport $ranks \
				"messages" "$scratch/messages-$mpi"
			[ "$FULL" = yes ] || [ $ranks = 2 ] || continue
			mpi_count "$mpi" "$prefix" "$scratch" $transport $ranks \
				"arrays" /usr/bin/python3 "$TREE/tests/mpi/arrays.py"
		done
		tally_run "a dead rank ends the job of $mpi ($transport)" mpi_ends \
			"$mpi" "$prefix" $transport "$scratch/dead_rank-$mpi"
		[ "$mpi" = openmpi ] || continue
		MPI_EXTRA='--with-ft ulfm' mpi_count "$mpi" "$prefix" "$scratch" \
			$transport 2 "dead rank" "$scratch/dead_rank-$mpi"
		MPI_EXTRA='--with-ft ulfm' mpi_count "$mpi" "$prefix" "$scratch" \
			$transport 2 "dead rank of Python" /usr/bin/python3 \
			"$TREE/tests/mpi/dead_rank.py"
	done
	[ "$FULL" = yes ] || return 0
	mpi_count "$mpi" "$prefix" "$scratch" shm 2 "messages of 2 GiB" \
		"$scratch/large-$mpi"
	mpi_count "$mpi" "$prefix" "$scratch" shm 2 "arrays of 2 GiB" \
		/usr/bin/python3 "$TREE/tests/mpi/large.py"
}

# mpi_count MPI PREFIX SCRATCH TRANSPORT RANKS TITLE PROGRAM...: counts TAP
mpi_count()
{
	local status=0 log=$3/log

	mpi_launch "$1" "$2" "$4" "$5" "${@:7}" >"$log" 2>&1 </dev/null || status=$?
	tally_tap "$6: $1, $4, $5 ranks" "$status" "$log"
}

# mpi_ends MPI PREFIX TRANSPORT PROGRAM: succeeds if the launcher fails in time, and no
# rank got as far as a result
mpi_ends()
{
	local said status=0

	said=$(MPI_SECONDS=60 mpi_launch "$1" "$2" "$3" 2 "$4" 2>&1 </dev/null) || status=$?
	echo "$said"
	[ $status -ne 0 ] && [ $status -ne 124 ] && ! grep -q '^ok' <<<"$said"
}
