# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 43 MB from PyPI: UCX with its headers.  Both sides are processes of this
# machine; TCP is on 127.0.0.1.  With --full they are two PCs with a cable between, and
# two processes of the board; the kernel's rxe is their network card.

ABOUT_RDMA="dray/ucx.h with Debian's UCX 1.13 and PyPI's 1.22, on shared memory and TCP: \
messages of views of any layout, puts and gets, tickets, deadlines, dead and stopped peers; \
with --full on soft RoCE: between two guests, one of which is then switched off, and on the board"
PACKAGES_RDMA=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}"
	g++ ibverbs-providers iproute2 libucx-dev python3-pytest qemu-system-x86
)

# The kernel's parts of RDMA; Debian's kernel of the PCs: UCX 1.13 aborts at the second end
# of a queue pair that rxe of Linux 6.12 reports.
RDMA_MODULES=(crc32_generic rdma_rxe rdma_ucm ib_uverbs)
RDMA_KERNEL=6.1
# UCX connects by address, as its other way over rxe, datagrams of UD, gets nowhere; so do
# its signs of life.
RDMA_UCX="UCX_TLS=rc_verbs,self UCX_NET_DEVICES=rxe0:1 UCX_IB_GID_INDEX=1 \
UCX_SOCKADDR_TLS_PRIORITY=rdmacm UCX_KEEPALIVE_INTERVAL=inf UCX_WARN_UNUSED_ENV_VARS=n \
DRAY_TEST_NODE=kernel"

suite_rdma()
{
	local ucx folder

	tally_run "builds as a release" build_native || return 0
	for ucx in debian pypi; do
		tally_wants "$ucx" || continue
		tally_fetch "finds the UCX of $ucx" folder ucx_set "$ucx" || continue
		rdma_tests "$ucx" "$folder" "$1"
	done
	[ "$FULL" = yes ] || return 0
	! tally_wants machines || rdma_machines "$1"
	! tally_wants board || rdma_board "$1/board"
}

# rdma_tests UCX FOLDER SCRATCH
rdma_tests()
{
	local ucx=$1 folder=$2 program=$3/rdma-$1 log=$3/log transport status

	tally_run "C++ compiles dray/ucx.h with the UCX of $ucx" ucx_compile "$folder" \
		g++ -std=c++11 -x c++ -fsyntax-only "$TREE/include/dray/ucx.h"
	tally_run "tests/rdma builds with the UCX of $ucx" ucx_compile "$folder" gcc \
		-std=gnu11 -o "$program" "$TREE"/tests/rdma/*.c || return 0
	for transport in shm tcp; do
		status=0
		ucx_in "$folder" $transport "$program" $transport messages tickets \
			deaths >"$log" 2>&1 </dev/null || status=$?
		tally_tap "UCX of $ucx, $transport" "$status" "$log"
	done
	[ "$ucx" = debian ] || return 0
	status=0
	PAIR_ADDRESS=127.0.0.1 ucx_in "$folder" tcp "$program" tcp messages deaths \
		>"$log" 2>&1 </dev/null || status=$?
	tally_tap "UCX of $ucx, tcp, connected by a port" "$status" "$log"
	DRAY_BUILD=$(build_folder native) tally_run "the header's example runs" \
		ucx_in "$folder" tcp /usr/bin/python3 -m pytest -q -p no:cacheprovider \
		-k ucx.h "$TREE/tests/manuals/test_header_examples.py"
}

# rdma_machines SCRATCH: two PCs, of which the second is switched off at the end
rdma_machines()
{
	local scratch=$1 off
	# Both sides run the same.
	local PATTERN='' SELFTESTS_MODULES=() GUEST_EXTRA=() GUEST_PARAMETERS=''

	tally_run "tests/rdma builds for the PC" ucx_compile /usr gcc -std=gnu11 \
		-o "$scratch/pair" "$TREE"/tests/rdma/*.c || return 0
	pc_take_engine $RDMA_KERNEL
	rdma_boot "$scratch" 0 messages tickets deaths module
	rdma_boot "$scratch" 1 messages tickets deaths module
	batch_count_aside
	rdma_boot "$scratch" 1 machine
	off=$BATCH BATCH_ASIDE=()
	rdma_boot "$scratch" 0 machine
	batch_count_aside
	tally_run "the other machine was switched off" rdma_was_off "$off"
}

# rdma_boot SCRATCH SIDE GROUP...: starts the guest of a side, for groups of facts
rdma_boot()
{
	local scratch=$1 side=$2 other=$((1 - $2)) groups="${*:3}" name=machines-$2

	batch_begin "$scratch/$name-${groups// /-}"
	tally_run "the files of machine $side" rdma_pc_files "$scratch/pair" || return 0
	batch_add step "$name-card" \
		"ip addr add 192.0.2.$((side + 1))/24 dev eth0 && ip link set eth0 up && rdma link add rxe0 type rxe netdev eth0 && rdma link"
	batch_add tap "$name-${groups// /-}" \
		"$RDMA_UCX PAIR_SIDE=$side PAIR_ADDRESS=192.0.2.1 ./pair rxe $groups"
	rdma_ends "$name" dray_test_engine
	batch_together "machine $side: $groups" pc $RDMA_KERNEL "GUEST_ROOTS=$BATCH/lib" \
		"GUEST_LINK=$scratch/$side:$scratch/$other" GUEST_LIMIT=1200 \
		virtio_net "${RDMA_MODULES[@]}"
}

# rdma_ends NAME [MODULE]: nothing is left, and dray.ko unloads
rdma_ends()
{
	batch_add status "$1-heaps-are-empty" \
		'ls /sys/class/dray-heap/*/used && ! grep -vxH 0 /sys/class/dray-heap/*/used'
	cp "$TREE/tools/lib/guest-unload" "$BATCH/job"
	batch_add status "$1-unload" "guest-unload dray ${2:-}"
}

# rdma_pc_files PROGRAM: copies the program, the rdma of iproute2, plug-ins and libraries
# of this machine
rdma_pc_files()
{
	local libraries plugin

	libraries=/usr/lib/$(gcc -print-multiarch)
	mkdir -p "$BATCH/lib$libraries"/{libibverbs,ucx} "$BATCH/lib/etc/libibverbs.d"
	cp "$1" "$BATCH/job/pair" && cp "$(command -v rdma)" "$BATCH/job" &&
		cp /etc/libibverbs.d/rxe.driver "$BATCH/lib/etc/libibverbs.d" || return 1
	for plugin in "$libraries"/libibverbs/librxe-*.so "$libraries"/ucx/*.so.0; do
		cp -L "$plugin" "$BATCH/lib$plugin" || return 1
	done
	batch_libraries "$BATCH"/job/{pair,rdma} "$BATCH/lib$libraries"/{libibverbs,ucx}/*
}

# rdma_was_off BATCH: the guest ended within its program, without a result
rdma_was_off()
{
	cat "$1/output" "$1/guest"
	[ "$(cat "$1/status")" -eq "$GUEST_DIED" ] &&
		[ "$(grep -ac '^@begin' "$1/output")" -eq 2 ] &&
		[ "$(grep -ac '^@end' "$1/output")" -eq 1 ]
}

# rdma_board FOLDER: both sides on the ZCU102; UCX connects by an address of dummy0, and
# not of the loopback device
rdma_board()
{
	local PATTERN='' GUEST_ROOTS SELFTESTS_MODULES=()

	tally_run "user space builds for the board" build_board || return 0
	batch_begin "$1"
	GUEST_ROOTS=("$(build_board_root)")
	tally_run "tests/rdma builds for the board" rdma_board_program "$BATCH/job/pair" ||
		return 0
	batch_add step board-card \
		'ip addr add 192.0.2.1/24 dev dummy0 && ip link set dummy0 up && rdma link add rxe0 type rxe netdev dummy0 && rdma link'
	batch_add tap board-facts \
		"$RDMA_UCX PAIR_ADDRESS=192.0.2.1 ./pair rxe tickets module"
	rdma_ends board
	batch_aside "RDMA on the board" zcu102 6.1 GUEST_UCX=yes dummy "${RDMA_MODULES[@]}"
	batch_count_aside
}

# rdma_board_program OUTPUT
rdma_board_program()
{
	local ucx sysroot triplet=aarch64-linux-gnu library

	ucx=$(rootfs_ucx_set arm64) && sysroot=$(build_sysroot) || return 1
	library=$(build_board_root)/usr/lib/$triplet
	$triplet-gcc "--sysroot=$sysroot" "-B$sysroot/usr/lib/$triplet" \
		-isystem "$sysroot/usr/include/$triplet" -isystem "$sysroot/usr/include" \
		-std=gnu11 -O2 -g -Wall -Wextra -Werror "-I$TREE/include" \
		"-I$TREE/include/uapi" -isystem "$ucx/usr/include" -o "$1" \
		"$TREE"/tests/rdma/*.c "-L$library" -ldray "-L$ucx/usr/lib/$triplet" \
		-lucp -lucs "-Wl,-rpath-link,$ucx/usr/lib/$triplet:$ucx/lib/$triplet:$sysroot/usr/lib/$triplet:$sysroot/lib/$triplet"
}
