# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite faults: each allocation that a call makes fails once, in turn; so do
# those of the module's insertion, and some of its workers'.  Which of the places
# that allocate have failed so is counted: none may be left out.  Wants the kernel
# with all checkers: it can let them fail, and finds memory that was lost.

PACKAGES_FAULTS=("${PACKAGES_GUEST[@]}" qemu-system-x86)

suite_faults()
{
	local scratch=$1

	tally_run "failing allocations build for the PC" \
		program_build faults amd64 || return 0
	faults_run "$scratch/pc" pc amd64
	[ "$LONG" = yes ] || return 0
	tally_run "failing allocations build for the board" \
		program_build faults arm64 || return 0
	faults_run "$scratch/board" zcu102 arm64
}

# faults_run FOLDER BOARD ARCHITECTURE
faults_run()
{
	local folder=$1 board=$2 engine='' parameters=''
	local title="failing allocations on the $2"

	tally_wants "$2-faults" || return 0
	batch_begin "$folder"
	cp "$(build_folder "faults-$3")/faults" "$BATCH/job"
	faults_places "$board" "$3" >"$BATCH/job/places" ||
		die "the places that allocate are not known"
	batch_add tap "$board-faults" './faults --places places'
	if [ "$board" = pc ]; then
		engine=$(module_test engine "$(kernel_make amd64 checked)") ||
			die "no engine for tests"
		parameters='nodes=1 channels=2'
	fi
	# A thousand insertions, of half a second each
	[ "$LONG" = no ] || batch_add tap "$board-insertion" \
		"./faults --module /guest/modules/dray.ko '$parameters'"
	faults_boot "$board" "$title" "$engine"
	batch_count "$title"
	faults_judge "$board" "$3" "$title"
}

# faults_boot BOARD TITLE ENGINE: the batch, in a guest with the folder of the
# engine for tests
faults_boot()
(
	board=$1 limit=1500
	[ "$LONG" = no ] || limit=7200
	GUEST_MODULES=(vgem)
	GUEST_BOARD=$board GUEST_SERIES=checked GUEST_LIMIT=$limit
	# The checker of mappings allocates too, and ends when it cannot.
	# The log has a stack for each failure.
	GUEST_APPEND='dma_debug=off log_buf_len=32M'
	GUEST_PARAMETERS=watchdog_ms=60000
	# The program judges each leak, and knows those of others.
	GUEST_HARMLESS+='|kmemleak: [0-9]+ new suspected memory leaks'
	# What a checker says has a line of its own before the trace.
	GUEST_HARMLESS+='|Call [Tt]race:$'
	# So x86 says that remap_pfn_range() has put in no page yet.
	GUEST_HARMLESS+='|WARNING: .* get_pat_info\+'
	# So the kernel's own tracing says that it has failed.
	[ "$LONG" = no ] || GUEST_HARMLESS+='|WARNING: .* event_(define_fields|file_put)(\.part\.[0-9]+)?\+'
	if [ "$board" = pc ]; then
		GUEST_EXTRA=("$3/dray_test_engine.ko")
		GUEST_PARAMETERS+=' nodes=1 channels=2'
	fi
	BATCH_LIMIT=$limit
	progress_follow "$BATCH/output" batch_boot "$2"
)

# faults_judge BOARD ARCHITECTURE TITLE: were all places that allocate reached?
faults_judge()
{
	local board=$1 logs=() place

	logs=("$BATCH/logs/$board-faults")
	[ ! -e "$BATCH/logs/$board-insertion" ] ||
		logs+=("$BATCH/logs/$board-insertion")
	# unreached.txt is for the PC's module: of the board's it is only told.
	if [ "$board" != pc ]; then
		faults_places "$board" "$2" "${logs[@]}" |
			while read -r place; do log_note "$board: $place"; done
		return
	fi
	tally_run "$3: every place that allocates" faults_places "$board" \
		"$2" "${logs[@]}"
}

# faults_places BOARD ARCHITECTURE [LOG...]: those of the module that are to fail;
# with logs, whether they have
faults_places()
{
	local board=$1 kernel module options=()

	kernel=$(kernel_make "$2" checked) || return 1
	module=$(module_dray "$kernel") || return 1
	shift 2
	[ ! -e "$BATCH/logs/$board-insertion" ] || options=(--insertion)
	python3 "$TREE/tests/faults/places.py" "${options[@]}" --machine "$board" \
		"$module/dray.ko" "$TREE/tests/faults/unreached.txt" "$@"
}
