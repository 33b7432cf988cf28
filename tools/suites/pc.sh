# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite pc: the module as a virtual node on an emulated PC, with the kernels
# that Debian 12 has for it, and the tests of the kernel interface there.

# A virtual node on this machine has no engine, and of the heaps only "pages":
# Debian's kernels for it have neither CMA nor a device tree.  What is about the
# others is left out here and runs on the board, transfers below too.
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
		pc_engine "$scratch" "$series"
	done
}

# The same with an engine that does as it is told, or fails to: transfers on a
# PC, and what no engine of an emulated machine does when asked.
pc_engine()
{
	local scratch=$1 series=$2 engine change

	change='rmmod dray && rmmod dray_test_engine && cd /guest/modules'
	change+=' && insmod dray_test_engine.ko mask_bits=24 align_shift=3 fill=1'
	change+=' && insmod dray.ko nodes=1 channels=2'
	tally_run "programs for the test engine build" selftests_engine_build ||
		return 0
	engine=$(module_test_engine \
		"$(kernel_make amd64 "$series")")/dray_test_engine.ko || return
	session_begin "$scratch/$series-engine"
	mkdir -p "$SESSION/job/engine"
	cp "$(build_folder selftests-engine)"/{faults,limits} \
		"$SESSION/job/engine"
	SELFTESTS_OPTIONS='-F reserved -V reserved -V cma'
	selftests_add amd64 "$series-engine-" submit_copy submit_fill \
		submit_queue lifetime unbind
	SELFTESTS_OPTIONS=''
	session_add tap "$series-engine-faults" ./engine/faults
	session_add status "$series-engine-changes" "$change"
	session_add tap "$series-engine-limits" ./engine/limits
	(
		GUEST_BOARD=pc GUEST_SERIES=$series GUEST_LIMIT=600
		GUEST_EXTRA=("$engine")
		GUEST_PARAMETERS='nodes=1 channels=2 watchdog_ms=500'
		session_boot "Linux $series on the PC with an engine"
	)
	session_count "Linux $series on the PC with an engine"
}
