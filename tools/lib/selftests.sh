# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The tests of the kernel interface: built statically against the harness of
# the kernel's own tests, for either architecture, and added to a session.

# selftests_build ARCHITECTURE
selftests_build()
{
	local prefix='' source

	source=$(kernel_source 6.12) || return 1
	[ "$1" != arm64 ] || prefix=aarch64-linux-gnu-
	make -s -C "$TREE/tests/selftests" \
		"KSELFTEST=$source/tools/testing/selftests" \
		"CROSS_COMPILE=$prefix" "O=$(build_folder "selftests-$1")"
}

# selftests_add ARCHITECTURE PREFIX: adds them to the session, in their order
selftests_add()
{
	local folder name

	folder=$(build_folder "selftests-$1")
	mkdir -p "$SESSION/job/selftests"
	while read -r name; do
		cp "$folder/$name" "$SESSION/job/selftests"
		session_add tap "$2$name" "./selftests/$name"
	done <"$folder/run-order"
}
