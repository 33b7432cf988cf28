# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The tests of the kernel interface: built statically against the harness of
# the kernel's own tests, for either architecture, and added to a batch.

# A disk for direct I/O, and an importer of dma-bufs outside dray.
SELFTESTS_MODULES=(loop vgem)

# What all programs get, to leave out what a machine cannot have.
SELFTESTS_OPTIONS=''

# selftests_build ARCHITECTURE
selftests_build()
{
	local prefix='' folder source

	folder=$(build_folder "selftests-$1")
	mkdir -p "$folder"
	source=$(kernel_source 6.12) || return 1
	[ "$1" != arm64 ] || prefix=aarch64-linux-gnu-
	make -s -C "$TREE/tests/selftests" \
		"KSELFTEST=$source/tools/testing/selftests" \
		"CROSS_COMPILE=$prefix" "O=$folder"
}

# selftests_add ARCHITECTURE PREFIX [PROGRAM...]: adds them, or those named, to
# the batch, in their order
selftests_add()
{
	local folder name prefix=$2 chosen

	folder=$(build_folder "selftests-$1")
	shift 2
	chosen=" $* "
	mkdir -p "$BATCH/job/selftests"
	while read -r name; do
		[ "$chosen" = "  " ] || [[ $chosen = *" $name "* ]] || continue
		cp "$folder/$name" "$BATCH/job/selftests"
		batch_add tap "$prefix$name" "./selftests/$name${SELFTESTS_OPTIONS:+ $SELFTESTS_OPTIONS}"
	done <"$folder/run-order"
}

# selftests_engine_build: the programs that use the test engine, for the PC
selftests_engine_build()
{
	local folder source

	folder=$(build_folder selftests-engine)
	mkdir -p "$folder"
	source=$(kernel_source 6.12) || return 1
	make -s -C "$TREE/tests/engine" \
		"KSELFTEST=$source/tools/testing/selftests" "O=$folder"
}
