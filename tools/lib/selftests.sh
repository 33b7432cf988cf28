# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Tests of the kernel interface: built statically for any architecture with the
# harness of the kernel's own tests, and added to a batch.

# A disk for direct I/O, and an importer of dma-bufs.
SELFTESTS_MODULES=(loop vgem)

SELFTESTS_OPTIONS=''	# of all programs, to skip tests of missing features
SELFTESTS_NODE=''	# node to test, if not the first
SELFTESTS_WITHOUT=''	# programs that do not apply to the machine

# selftests_compiler ARCHITECTURE: prints the compiler for make
selftests_compiler()
{
	case $1 in
	arm64) echo CROSS_COMPILE=aarch64-linux-gnu- ;;
	armhf) echo CROSS_COMPILE=arm-linux-gnueabihf- ;;
	i386) echo CROSS_COMPILE=i686-linux-gnu- ;;
	*) echo CROSS_COMPILE= ;;
	esac
}

# selftests_begin ARCHITECTURE NAME FOLDER: builds them and starts a batch
selftests_begin()
{
	tally_run "selftests build for $2" program_build selftests "$1" &&
		batch_begin "$3"
}

# selftests_add ARCHITECTURE PREFIX [PROGRAM...]: adds the named programs, or all
# in the order of the Makefile
selftests_add()
{
	local folder name names=("${@:3}")

	folder=$(build_folder "selftests-$1")
	[ "${#names[@]}" -gt 0 ] || mapfile -t names <"$folder/run-order"
	mkdir -p "$BATCH/job/selftests"
	cp -r "$TREE/docs/abi" "$BATCH/job"
	for name in "${names[@]}"; do
		[[ " $SELFTESTS_WITHOUT " != *" $name "* ]] || continue
		cp "$folder/$name" "$BATCH/job/selftests"
		batch_add tap "$2$name" "${SELFTESTS_NODE:+DRAY_NODE=$SELFTESTS_NODE }./selftests/$name${SELFTESTS_OPTIONS:+ $SELFTESTS_OPTIONS}"
	done
}

# program_build FOLDER ARCHITECTURE [SERIES]: builds tests/FOLDER for guests in the
# build folder FOLDER-ARCHITECTURE[-SERIES], with the harness of Linux 6.12 or SERIES
program_build()
{
	local folder source

	folder=$(build_folder "$1-$2${3:+-$3}")
	mkdir -p "$folder"
	source=$(kernel_source "${3:-6.12}") || return 1
	flock "$folder" make -s "-j$(nproc)" -C "$TREE/tests/$1" \
		"KSELFTEST=$source/tools/testing/selftests" \
		"$(selftests_compiler "$2")" "O=$folder"
}
