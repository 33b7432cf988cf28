# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Includes the module's insertion and some of its workers.  Every place that allocates
# must fail once.  The kernel with all checkers injects failures and finds leaks.

ABOUT_FAULTS="every allocation fails once in turn, on that kernel; only with --full \
or if named"
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
	local board=$2 title="failing allocations on the $2"
	# The checker of mappings allocates too, and switches itself off if that
	# fails.  The log contains a stack for each failure.
	local GUEST_APPEND='dma_debug=off log_buf_len=32M'
	local GUEST_EXTRA=() GUEST_PARAMETERS=watchdog_ms=60000 parameters=''

	tally_wants "$2-faults" || return 0
	batch_begin "$1"
	cp "$(build_folder "faults-$3")/faults" "$BATCH/job"
	faults_places "$board" "$3" >"$BATCH/job/places" ||
		die "the places that allocate are not known"
	if [ "$board" = pc ]; then
		pc_take_engine checked
		parameters=${GUEST_PARAMETERS#* }
		faults_streams || die "no engine of streams for tests"
	else
		batch_add tap "$board-faults" './faults --places places'
	fi
	# A thousand insertions of half a second each
	[ "$LONG" = no ] || batch_add tap "$board-insertion" \
		"./faults --module /guest/modules/dray.ko '$parameters'"
	(faults_boot "$board" "$title")
	batch_count "$title"
	faults_judge "$board" "$3" "$title"
}

# faults_streams: adds a second node to the PC, with streams, and then with a display
faults_streams()
{
	local engine unload='guest-unload dray_test_stream'

	engine=$(module_test engine "$(kernel_make amd64 checked)") || return 1
	cp "$engine/dray_test_stream.ko" "$TREE/tools/lib/guest-unload" \
		"$BATCH/job"
	batch_add step streams 'insmod dray_test_stream.ko'
	batch_add tap pc-faults './faults --places places'
	batch_add step display "$unload && insmod dray_test_stream.ko shows=1"
	batch_add tap pc-faults-picture './faults --only picture'
	batch_add step no-display "$unload"
}

# faults_boot BOARD TITLE: boots the batch
faults_boot()
{
	local limit=2400

	[ "$LONG" = no ] || limit=7200
	# The program judges leaks itself and knows foreign leaks.
	GUEST_HARMLESS+='|kmemleak: [0-9]+ new suspected memory leaks'
	# A checker prints a line of its own before the trace.
	GUEST_HARMLESS+='|Call [Tt]race:$'
	# x86 warns if remap_pfn_range() did not insert a page yet.
	GUEST_HARMLESS+='|WARNING: .* get_pat_info\+'
	# The kernel's tracing warns of its own failed allocations.
	[ "$LONG" = no ] || GUEST_HARMLESS+='|WARNING: .* event_(define_fields|file_put)(\.part\.[0-9]+)?\+'
	SELFTESTS_MODULES=(vgem)
	progress_follow "$BATCH/output" batch_guest "$2" "$1" checked \
		"GUEST_LIMIT=$limit" "BATCH_LIMIT=$limit"
}

# faults_judge BOARD ARCHITECTURE TITLE: checks that all places failed
faults_judge()
{
	local board=$1 logs=() log place

	for log in "$BATCH/logs/$board-"{faults,faults-picture,insertion}; do
		[ ! -e "$log" ] || logs+=("$log")
	done
	# unreached.txt is for the PC's module; the board's result is only noted.
	if [ "$board" != pc ]; then
		faults_places "$board" "$2" "${logs[@]}" |
			while read -r place; do log_note "$board: $place"; done
		return
	fi
	tally_run "$3: every place that allocates" faults_places "$board" \
		"$2" "${logs[@]}"
}

# faults_places BOARD ARCHITECTURE [LOG...]: prints the places of the module that must
# fail; with logs, checks that they did
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
