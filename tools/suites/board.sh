# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite board: everything on the emulated ZCU102, with a real engine behind
# dray.ko: the tests of the kernel interface, the library's own tests on the
# kernel back end, dmactl, the Python package, and a selection of NumPy's
# tests with every array in the board's memory.

# What fits in three minutes.
BOARD_QUICK=(info alloc mmap submit_copy submit_refuse leaks)

suite_board()
{
	local scratch=$1

	packages_need "${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}"
	tally_run "selftests build for the board" selftests_build arm64 ||
		return 0
	tally_run "user space builds for the board" build_board || return 0
	session_begin "$scratch/session"
	selftests_add arm64 ""
	board_add_unit
	[ "$QUICK" = yes ] || board_add_programs
	(
		GUEST_BOARD=zcu102 GUEST_PYTHON=yes GUEST_LIMIT=1500
		GUEST_ROOTS=("$(build_board_root)")
		session_boot "the board"
	)
	session_count "the board"
}

# The library's tests, in this build for the board, on the kernel's node.
board_add_unit()
{
	local name program sysroot

	sysroot=$(build_sysroot) || return 1
	mkdir -p "$SESSION/job/unit"
	cp -a "$sysroot"/usr/lib/aarch64-linux-gnu/libcmocka.so* \
		"$SESSION/job/unit"
	while read -r name program _; do
		cp "$program" "$SESSION/job/unit/$name"
		session_add tap "unit-$name" \
			"LD_LIBRARY_PATH=unit CMOCKA_MESSAGE_OUTPUT=TAP DRAY_TEST_NODE=kernel unit/$name"
	done < <(unit_tests arm64)
}
