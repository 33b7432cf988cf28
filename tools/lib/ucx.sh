# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# UCX of Debian and of PyPI, for programs over the build of build_native: two processes on
# this machine.

# ucx_set UCX: prints the folder of debian or pypi, with include and lib
ucx_set()
{
	local libraries

	[ "$1" = pypi ] || {
		echo /usr
		return
	}
	libraries=$(pypi_prefix ucx "$TREE/tests/rdma/requirements.txt") &&
		echo "$libraries"/python3*/dist-packages/libucx
}

# ucx_in FOLDER TRANSPORT COMMAND...: runs a command; TRANSPORT is shm or tcp, on 127.0.0.1
ucx_in()
{
	local environment=(UCX_NET_DEVICES=lo UCX_TLS="tcp,self"
		UCX_WARN_UNUSED_ENV_VARS=n DRAY_BACKEND=host)

	[ "$2" = tcp ] || environment+=(UCX_TLS="shm,self")
	[ "$1" = /usr ] || environment+=(LD_LIBRARY_PATH="$1/lib")
	env "${environment[@]}" timeout --foreground "${UCX_SECONDS:-120}" "${@:3}"
}

# ucx_compile FOLDER COMPILER ARGUMENT...: for programs with libdray of the build
ucx_compile()
{
	local library folder=()

	library=$(build_folder native)/userspace/core
	[ "$1" = /usr ] || folder=(-isystem "$1/include" "-L$1/lib" "-Wl,-rpath-link,$1/lib")
	"$2" -O2 -g -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror \
		"-I$TREE/include" "-I$TREE/include/uapi" "${@:3}" "${folder[@]}" \
		"-L$library" -ldray -lucp -lucs "-Wl,-rpath,$library"
}
