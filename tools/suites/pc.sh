# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite pc: the module as a virtual node on an emulated PC, with the kernels
# that Debian 12 has for it, and the tests of the kernel interface there.

# A virtual node on this machine has no engine, and of the heaps only "pages":
# Debian's kernels for it have neither CMA nor a device tree.  What is about the
# others is left out here and runs on the board.
PC_SELFTESTS=(
	info heap_info channel_info alloc mmap address sync structs list
	buffer_info submit_refuse lifetime heap_full consumers io_uring import
	unbind leaks
)
PC_OPTIONS='-F engine -F reserved -V reserved -V cma -V submit -V channel_info'

suite_pc()
{
	local scratch=$1 series all=(6.1 6.12)

	packages_need "${PACKAGES_GUEST[@]}" qemu-system-x86
	[ "$QUICK" = no ] || all=(6.12)
	for series in "${all[@]}"; do
		tally_run "selftests build for the PC" selftests_build amd64 ||
			return 0
		session_begin "$scratch/$series"
		session_add status "$series-the-module-makes-a-node" \
			'test -c /dev/dray0 && cat /sys/module/dray/parameters/nodes'
		SELFTESTS_OPTIONS=$PC_OPTIONS
		selftests_add amd64 "$series-" "${PC_SELFTESTS[@]}"
		SELFTESTS_OPTIONS=''
		session_add status "$series-the-module-unloads" \
			'rmmod dray && ! test -e /dev/dray0'
		(
			GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
			GUEST_BOARD=pc GUEST_SERIES=$series GUEST_LIMIT=600
			GUEST_PARAMETERS=nodes=1
			session_boot "Linux $series on the PC"
		)
		session_count "Linux $series on the PC"
	done
}
