# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The emulated ZCU102 with the kernel's own drivers: an AXI DMA, modelled by tools/fpga
# with IPs in C, Python or Verilog, and the DMA of the display port.

ABOUT_STREAMS="the AXI DMA of the emulated ZCU102 with an IP in its stream, \
on this machine: packets, views, rings, faults; cores in Verilog; \
its display and sound; also with the driver of the newest Linux"
PACKAGES_STREAMS=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_FPGA[@]}" "${PACKAGES_VERILOG[@]}"
)

suite_streams()
{
	local scratch=$1 kills=40 STREAMS_SERIES=6.1 random=() loop
	local life=' -T an_engine_that_does_not_stop_keeps_its_memory'

	# The driver waits for seconds for an engine that does not stop.
	[ "$FULL" = no ] || kills=500 life='' random=(stream_random)
	tally_run "the model of the AXI DMA builds" fpga_build || return 0
	tally_run "programs for the board build" streams_build || return 0
	batch_begin "$scratch/invert"
	tally_run "tests of the driver build" streams_add_driver || return 0
	streams_through invert packets rings views
	# The killed leave packets in the stream.
	loop=("$TREE/tests/streams/loop.c" stream_ends "stream_life$life"
		'stream_races -t a_silent_transfer_keeps_its_place_on_the_timeline'
		"${random[@]}" "kill --kills $kills")
	streams_begin "$scratch" "${loop[@]}"
	streams_begin "$scratch" brighten registers
	streams_begin "$scratch" "$TREE/tests/streams/storm_ip.c" storm
	[ "$FULL" = no ] || {
		streams_begin "$scratch" brighten.v registers
		streams_begin "$scratch" 'filter.v --width 64' filter
		streams_begin "$scratch" source.v source \
			'stream_races -t an_overwriting_ring_ends_with_its_node'
		streams_begin "$scratch" invert.v packets rings views
		streams_begin "$scratch" sum.v sum
		streams_begin "$scratch" sum sum
		streams_begin "$scratch" 'filter --width 64' filter
		streams_begin "$scratch" 'source --rate 0' source
	}
	[ "$FULL" = no ] || streams_newest "$scratch/newest" "${loop[@]}"
	streams_call "$scratch/calls-verilog" invert.v invert
	[ "$FULL" = no ] || {
		streams_call "$scratch/calls" invert invert
		streams_call "$scratch/calls-add" "$TREE/tests/streams/add.c" add
	}
	streams_registers "$scratch/registers-python" brighten \
		'dmactl registers write control 0 40 && dmactl registers read control 0 && python3 registers.py'
	streams_registers "$scratch/registers-silent" invert 'python3 registers.py silent'
	streams_boot_display "$scratch/display" display ./display
	[ "$FULL" = no ] || streams_show "$scratch/show"
	batch_count_aside
	[ "$FULL" = no ] || streams_page "$scratch/page"
	streams_check_display "$scratch/display"
	streams_check_display "$scratch/show" --silent
}

# streams_newest FOLDER IP PROGRAM...: the driver of the newest Linux, on its kernel
streams_newest()
{
	local STREAMS_SERIES=newest

	tally_run "the newest Linux builds" kernel_make arm64 newest || return 0
	batch_begin "$1/invert"
	tally_run "tests of the newest driver build" streams_add_driver || return 0
	streams_through invert packets rings views
	streams_begin "$@"
}

# streams_page FOLDER: the commands of docs/stream.md
streams_page()
{
	local status=0

	tally_wants page || return 0
	mkdir -p "$1/tree"
	install_tree "$1/tree" || die "cannot copy the tree"
	(cd "$1/tree" && sh tests/streams/page.sh) >"$1/log" 2>&1 </dev/null ||
		status=$?
	tally_tap page "$status" "$1/log"
}

# streams_begin FOLDER IP PROGRAM...
streams_begin()
{
	local name=${2%% *}

	batch_begin "$1/${name##*/}"
	streams_through "${@:2}"
}

# streams_boot_display FOLDER NAME COMMAND: a batch of this program; its pictures and
# sound are written to FOLDER/screen
streams_boot_display()
{
	local GUEST_SCREEN=$1/screen SELFTESTS_MODULES=()

	batch_begin "$1"
	mkdir "$GUEST_SCREEN"
	cp "$(build_folder streams-arm64)/display" \
		"$TREE/tests/streams/show.py" \
		"$TREE/tools/lib/display_port.py" "$BATCH/job"
	batch_add tap "$2" "$3"
	batch_aside "the board's $2" zcu102 6.1
}

# streams_show FOLDER: the same by NumPy on the board
streams_show()
{
	local GUEST_PYTHON=yes GUEST_ROOTS

	tally_run "user space builds for the board" build_board || return 0
	GUEST_ROOTS=("$(build_board_root)")
	streams_boot_display "$1" show "python3 show.py"
}

# streams_call FOLDER IP UFUNC: calls of a ufunc from Python on the board, which the IP
# computes
streams_call()
{
	local GUEST_PYTHON=yes GUEST_ROOTS GUEST_FPGA SELFTESTS_MODULES=()
	local count=200

	[ "$FULL" = no ] || count=2000
	tally_run "user space builds for the board" build_board || return 0
	GUEST_ROOTS=("$(build_board_root)")
	batch_begin "$1"
	cp "$TREE"/tests/{streams/calls,python/random_calls}.py "$BATCH/job"
	# The last call removes the node.
	[ "$2" != invert.v ] || streams_add_page || return 0
	batch_add tap "calls-${2##*/}" "python3 calls.py $3 $count"
	fpga_take "$2" || {
		tally_add "$2 compiles" 0 1 0
		return 0
	}
	batch_aside "calls through the IP $2" zcu102 6.1
}

# streams_registers FOLDER IP COMMAND: registers and interrupts from Python and a shell
streams_registers()
{
	local GUEST_PYTHON=yes GUEST_ROOTS GUEST_FPGA SELFTESTS_MODULES=()

	tally_run "user space builds for the board" build_board || return 0
	GUEST_ROOTS=("$(build_board_root)")
	batch_begin "$1"
	cp "$TREE/tests/streams/registers.py" "$BATCH/job"
	batch_add tap "${1##*/}" "$3"
	fpga_take "$2" || {
		tally_add "$2 compiles" 0 1 0
		return 0
	}
	batch_aside "registers of the IP $2" zcu102 6.1
}

# The program of docs/stream.md, as the page shows it.
streams_add_page()
{
	PYTHONPATH=$TREE/tests/readme /usr/bin/python3 -B -c 'import pages
print(pages.program("docs/stream.md", "packet.py"))' >"$BATCH/job/packet.py" || return 1
	batch_add status page-invert.v \
		"python3 packet.py | tee said && grep -x '32 elements, the first is 255' said"
}

# streams_check_display FOLDER [--silent]: compares the program's views, and its sound,
# with the screen
streams_check_display()
{
	local status=0

	[ -e "$1/status" ] || return 0
	/usr/bin/python3 "$TREE/tests/streams/screen_check.py" "$1/screen" \
		"$1/results" "${@:2}" >"$1/check" 2>&1 || status=$?
	tally_tap "pictures and sound of ${1##*/}" "$status" "$1/check"
}

# streams_through IP PROGRAM...: adds programs and boots the batch with this IP
streams_through()
{
	local name words GUEST_FPGA SELFTESTS_MODULES=() program
	local rounds=300 frames=300 seconds=${DRAY_TEST_SECONDS:-20}
	local -A folders=([kill]=kill-arm64)

	# Ten thousand packets need a minute, as many frames ten seconds.
	[ "$FULL" = no ] || rounds=10000 frames=10000
	read -ra words <<<"$1"
	name=${words[0]##*/}
	[ "$LONG" = no ] || seconds=600
	[ "$LONG" = no ] || [[ $name = *.v ]] || frames=100000
	for program in "${@:2}"; do
		cp "$(build_folder "${folders[${program%% *}]:-streams-arm64}")/${program%% *}" \
			"$BATCH/job"
		[ "$STREAMS_SERIES" = 6.1 ] || name=${name%-newest}-newest
		batch_add tap "${program%% *}-$name" \
			"DRAY_TEST_ROUNDS=$rounds DRAY_TEST_FRAMES=$frames DRAY_TEST_SECONDS=$seconds ${DRAY_TEST_SEED:+DRAY_TEST_SEED=$DRAY_TEST_SEED} ./$program"
	done
	[ "$BATCH_PROGRAMS" -gt 0 ] || return 0
	fpga_take "${words[@]}" || {
		tally_add "$1 compiles" 0 1 0
		return 0
	}
	# A killed process must leave nothing that is held.
	batch_aside "streams with the IP $name" zcu102 "$STREAMS_SERIES" \
		'GUEST_PARAMETERS=watchdog_ms=60000 hold=0'
}

streams_build()
{
	kernel_make arm64 6.1 >/dev/null && program_build streams arm64 &&
		program_build kill arm64
}

# The kernel's driver without dray.
streams_add_driver()
{
	local kernel folder

	kernel=$(kernel_make arm64 "$STREAMS_SERIES") || return 1
	folder=$(module_test streams "$kernel") || return 1
	cp "$folder/dray_test_axidma.ko" "$BATCH/job"
	batch_add tap "driver-$STREAMS_SERIES" \
		"insmod dray_test_axidma.ko && rmmod dray_test_axidma; dmesg | sed -n 's/.*dray_test_axidma: //p'"
}
