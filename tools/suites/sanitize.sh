# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite sanitize: the tests of the kernel interface on kernels with every
# checker on, where any report is a failure: on the PC with the engine for
# tests, on the board, and on the board once more with every mapping a copy of
# the memory, so that maintenance which is missing, or goes astray, shows as
# wrong bytes, although an emulated processor has no caches.

PACKAGES_SANITIZE=("${PACKAGES_GUEST[@]}" qemu-system-x86)

# What fits in three minutes, once the kernel is there.
SANITIZE_QUICK=(alloc submit_copy import leaks)

# What moves bytes, or maintains caches.  Of attached memory there is only the
# refusal: a device that gets copies does not get it, bounce=1 or not.
SANITIZE_COPIES=(
	info alloc mmap address sync structs mode submit_copy submit_fill
	submit_refuse submit_queue cancel export attach_copies lifetime
	consumers io_uring import leaks
)

suite_sanitize()
{
	local scratch=$1

	tally_run "selftests build for the board" selftests_build arm64 ||
		return 0
	# The kernel would set 1 MiB aside for copies, for lack of other need.
	SELFTESTS_OPTIONS='-V attach'
	sanitize_board "$scratch/copies" "the board, every mapping a copy" \
		'bounce=1' swiotlb=24576,force "${SANITIZE_COPIES[@]}"
	SELFTESTS_OPTIONS=''
	[ "$QUICK" = no ] || return 0
	sanitize_board "$scratch/board" "the board, checked" '' ''
	tally_run "selftests build for the PC" selftests_build amd64 || return 0
	tally_run "programs for the test engine build" selftests_engine_build ||
		return 0
	sanitize_pc "$scratch/pc" "the PC, checked"
}

# sanitize_board FOLDER TITLE PARAMETERS APPEND [PROGRAM...]
sanitize_board()
{
	local title=$2 prefix=${1##*/}- programs=("${@:5}")

	sanitize_kernel arm64 || return 0
	[ "$QUICK" = no ] || programs=("${SANITIZE_QUICK[@]}")
	batch_begin "$1"
	cp "$TREE"/tools/lib/guest-{checkers,unload} "$BATCH/job"
	selftests_add arm64 "$prefix" "${programs[@]}"
	# What only the module points to is lost when it goes.
	batch_add status "${prefix}the-module-unloads" 'guest-unload dray'
	batch_add status "${prefix}checkers" guest-checkers
	(
		GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
		GUEST_BOARD=zcu102 GUEST_SERIES=checked GUEST_LIMIT=1500
		GUEST_PARAMETERS=$3 GUEST_APPEND=$4
		batch_boot "$title"
	)
	batch_count "$title"
}

# sanitize_pc FOLDER TITLE: what suite pc runs, less what needs the board
sanitize_pc()
{
	local title=$2 PC_OPTIONS='-F reserved -V reserved'

	sanitize_kernel amd64 || return 0
	batch_begin "$1"
	cp "$TREE/tools/lib/guest-checkers" "$BATCH/job"
	tally_run "programs for $title" pc_programs checked || return 0
	batch_add status checked-checkers guest-checkers
	(
		GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
		GUEST_BOARD=pc GUEST_SERIES=checked GUEST_LIMIT=1500
		GUEST_PARAMETERS=nodes=1
		batch_boot "$title"
	)
	batch_count "$title"
}

# Here, and not in a run whose words are kept back: it may take minutes, and
# says so.
sanitize_kernel()
{
	(kernel_make "$1" checked >/dev/null) && return
	tally_add "kernel $1-checked" 0 1 0
	return 1
}
