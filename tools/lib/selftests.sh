# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The tests of the kernel interface: built statically against the harness of
# the kernel's own tests, for any architecture, and added to a batch.

# A disk for direct I/O, and an importer of dma-bufs outside dray.
SELFTESTS_MODULES=(loop vgem)

# What all programs get, to leave out what a machine cannot have.
SELFTESTS_OPTIONS=''

# The node that they are about, where it is not the first.
SELFTESTS_NODE=''

# Programs in which nothing is for such a machine.
SELFTESTS_WITHOUT=''

# selftests_compiler ARCHITECTURE: what make is told
selftests_compiler()
{
	case $1 in
	arm64) echo CROSS_COMPILE=aarch64-linux-gnu- ;;
	armhf) echo CROSS_COMPILE=arm-linux-gnueabihf- ;;
	i386) echo CROSS_COMPILE=i686-linux-gnu- ;;
	*) echo CROSS_COMPILE= ;;
	esac
}

# selftests_build ARCHITECTURE
selftests_build()
{
	local folder source

	folder=$(build_folder "selftests-$1")
	mkdir -p "$folder"
	source=$(kernel_source 6.12) || return 1
	make -s "-j$(nproc)" -C "$TREE/tests/selftests" \
		"KSELFTEST=$source/tools/testing/selftests" \
		"$(selftests_compiler "$1")" "O=$folder"
}

# selftests_program PREFIX NAME: one that lies in the batch already
selftests_program()
{
	batch_add tap "$1$2" "${SELFTESTS_NODE:+DRAY_NODE=$SELFTESTS_NODE }./selftests/$2${SELFTESTS_OPTIONS:+ $SELFTESTS_OPTIONS}"
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
	cp -r "$TREE/docs/abi" "$BATCH/job"
	while read -r name; do
		[[ " $SELFTESTS_WITHOUT " != *" $name "* ]] || continue
		[ "$chosen" = "  " ] || [[ $chosen = *" $name "* ]] || continue
		cp "$folder/$name" "$BATCH/job/selftests"
		selftests_program "$prefix" "$name"
	done <"$folder/run-order"
}

# selftests_add_extended ARCHITECTURE PREFIX PROGRAM: one that is not in their order
selftests_add_extended()
{
	mkdir -p "$BATCH/job/selftests"
	cp "$(build_folder "selftests-$1")/$3" "$BATCH/job/selftests"
	selftests_program "$2" "$3"
}

# program_build FOLDER ARCHITECTURE: what tests/FOLDER makes for guests, into
# the build folder FOLDER-ARCHITECTURE
program_build()
{
	local folder source

	folder=$(build_folder "$1-$2")
	mkdir -p "$folder"
	source=$(kernel_source 6.12) || return 1
	make -s "-j$(nproc)" -C "$TREE/tests/$1" \
		"KSELFTEST=$source/tools/testing/selftests" \
		"$(selftests_compiler "$2")" "O=$folder"
}
