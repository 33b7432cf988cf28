# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The ZDMA engine is real.  With --full NumPy's tests of allocation and indexing run with
# every array in the board's memory.

ABOUT_BOARD='the module, the library, dmactl and Python on the emulated ZCU102'

# For --quick: excludes the library, as its build lasts a minute.
BOARD_QUICK=(info alloc mmap submit_copy submit_refuse leaks)

# Random cases of tests/differential; the emulated board needs a minute.
BOARD_CASES=1000

PACKAGES_BOARD=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}"
	python3-pytest
)

suite_board()
{
	# Python's packages bring the C library.
	local scratch=$1 GUEST_ROOTS GUEST_PYTHON=tests SELFTESTS_WITHOUT=

	if [ "$QUICK" = yes ]; then
		selftests_begin arm64 "the board" "$scratch/batch" || return 0
		selftests_add arm64 "" "${BOARD_QUICK[@]}"
		GUEST_PYTHON=no
		(board_boot batch_guest "the board")
		batch_count "the board"
		return
	fi
	# shellcheck disable=SC2046 # targets
	tally_run "user space builds for the board" build_board $(board_targets) ||
		return 0
	GUEST_ROOTS=("$(build_board_root)")
	# Lasts longest, so that it begins first.
	batch_begin "$scratch/python"
	tally_run "programs for the board" board_add_programs || return 0
	[ "$FULL" = no ] || ! tally_wants random-arrays || board_differential ||
		return 0
	board_boot batch_aside "Python on the board"
	selftests_begin arm64 "the board" "$scratch/batch" || return 0
	[ "$FULL" = yes ] || [ -n "$PATTERN" ] || SELFTESTS_WITHOUT=$BOARD_SLOW
	selftests_add arm64 ""
	selftests_add arm64 "" suspend
	tally_run "libraries for the board" board_add_libraries || return 0
	tally_run "unit tests for the board" board_add_unit rest || return 0
	tally_run "an importer for the board" board_add_importers \
		"$(kernel_chosen "$GUEST_SERIES")" "" || return 0
	board_add_parameters
	board_add_poison
	GUEST_ROOTS+=("$BATCH/lib")
	board_boot batch_aside "the board"
	[ "$FULL" = no ] || {
		tally_run "programs of tools/bench build" board_build_benches
		board_numbers "$scratch/numbers"
		board_overlaid "$scratch/generated"
		board_core "$scratch/core"
		board_copies "$scratch/not-coherent" not-coherent
		board_copies "$scratch/coherent" coherent
	}
	batch_count_aside
}

# Tests of the library and of Python that need most of the module: memory, its life and
# its ways to other processes and devices.
BOARD_UNIT=(
	node buffer buffer_import sync pool pool_heaps busy block handler records
	copy copy_choice view_sync stream_packets stream_ring
)
BOARD_DMACTL=(module why leaks)
# Selftests that last longest
BOARD_SLOW='quota_race attach_sync'
BOARD_PYTHON='test_(copy|fence|ipc|memory|nodes|pool|sharing|stream|stream_frames).py'

# Programs of libdray alone: allocator, IPC, strided copies; streams of the host, as
# this board lacks them
BOARD_CORE=(pool handler records copy view index stream_packets stream_ring)

# board_core FOLDER: boots with libdray alone, without arrays and Python: its unit
# programs, XRT's imports and dmactl, for which Python's packages bring libraries
board_core()
{
	local name node folder GUEST_ROOTS GUEST_PYTHON=tests SELFTESTS_MODULES=(drm_dma_helper)
	local BUILD_TARGETS=(
		programs "${BOARD_CORE[@]/#/tests/unit/test_}"
		tests/xrt/test_xrt_import tests/xrt/test_xrt_export
		tests/dmactl/dmactl-holder
	)

	tally_wants core-board || return 0
	tally_run "libdray alone builds for the board" build_installed core-arm64 \
		-Darrays=false -Dtests=enabled || return 0
	folder=$(build_folder core-arm64)
	GUEST_ROOTS=("$folder.root")
	batch_begin "$1"
	tally_run "the stand-in for zocl builds, again" xrt_add_driver || return 0
	tally_run "libraries for the board, again" board_add_libraries || return 0
	GUEST_ROOTS+=("$BATCH/lib")
	for name in "${BOARD_CORE[@]}"; do
		node=kernel
		[[ $name != stream_* ]] || node=host
		cp "$folder/tests/unit/test_$name" "$BATCH/job/unit/$name"
		batch_add tap "core-board-$name" \
			"CMOCKA_MESSAGE_OUTPUT=TAP DRAY_TEST_NODE=$node unit/$name"
	done
	for name in import export; do
		cp "$folder/tests/xrt/test_xrt_$name" "$BATCH/job/$name"
		batch_add tap "core-board-xrt-$name" "CMOCKA_MESSAGE_OUTPUT=TAP ./$name"
	done
	board_add_dmactl "$folder" core-board- module
	batch_aside "the board, libdray alone" zcu102 6.1 GUEST_XRT=yes
}

# board_targets: further targets of the build
board_targets()
{
	if [ "$FULL" = yes ] || [ -n "$PATTERN" ]; then
		echo all
	else
		printf 'tests/unit/test_%s ' "${BOARD_UNIT[@]}"
		printf 'tests/dmactl/dmactl-%s ' holder leaker publisher why-random
		printf 'examples/%s ' runtime record strided
	fi
}

# board_overlaid FOLDER: boots trees with an overlay.  The first places the region; in the
# second Linux chooses its place.
board_overlaid()
{
	local folder=$1 base=$1/base.dtb

	tally_wants overlaid-reserved || tally_wants overlaid-cma || return 0
	mkdir -p "$folder"
	tally_run "a tree without dray's node" board_tree_without "$base" || return 0
	board_overlaid_boot "$folder/reserved" "$base" reserved \
		'reg = <0 0x20000000 0 0x2000000>;'
	board_overlaid_boot "$folder/cma" "$base" cma \
		'compatible = "shared-dma-pool"; reusable; size = <0 0x2000000>;
		alignment = <0 0x400000>; alloc-ranges = <0 0 0 0x80000000>;'
}

# board_copies FOLDER CLAIM: boots with a copy for each mapping.  The tree says whether
# the node is coherent.
board_copies()
{
	local folder=$1 claim=$2

	batch_begin "$folder"
	dtc -q -@ -O dtb -o "$folder/board.dtb" \
		"$TREE/dts/zcu102-emulated.dts"
	[ "$claim" != coherent ] ||
		fdtput "$folder/board.dtb" /dray dma-coherent
	board_copy_dmactl with-copies.sh
	batch_add tap "dmactl-copies-$claim" \
		"cd dmactl && sh with-copies.sh ./dmactl $claim"
	board_boot batch_aside "the board, copies for mappings, $claim" \
		"GUEST_TREE=$folder/board.dtb" GUEST_APPEND=swiotlb=24576,force \
		'GUEST_PARAMETERS=watchdog_ms=30000 bounce=1'
}

# board_copy_dmactl SCRIPT: copies dmactl and a script of its tests to the job
board_copy_dmactl()
{
	mkdir -p "$BATCH/job/dmactl"
	cp "$TREE/tests/dmactl/$1" \
		"$(build_folder arm64)/tools/dmactl/dmactl" "$BATCH/job/dmactl"
	cp "$TREE/tests/fact.sh" "$BATCH/job"
}

board_tree_without()
{
	dtc -q -@ -O dtb -o "$1" "$TREE/dts/zcu102-emulated.dts" &&
		fdtput -r "$1" /dray
}

# board_overlaid_boot FOLDER BASE HEAP PROPERTIES
board_overlaid_boot()
{
	local folder=$1 heap=$3

	batch_begin "$folder"
	tally_run "an overlay for the heap $heap" board_overlay "$@" || return 0
	board_copy_dmactl with-tree.sh
	batch_add tap "overlaid-$heap" \
		"cd dmactl && sh with-tree.sh ./dmactl $heap $((32 << 20))"
	selftests_add arm64 "overlaid-$heap-" submit_copy
	board_boot batch_aside "the board with the $heap heap of an overlay" \
		"GUEST_TREE=$folder/board.dtb"
}

# board_overlay FOLDER BASE HEAP PROPERTIES: merges 32 MiB and two channels into a tree
board_overlay()
{
	dtc -q -@ -O dtb -o "$1/dray.dtbo" <<-OVERLAY &&
		/dts-v1/; /plugin/;
		&{/} {
			reserved-memory {
				dray_buffers: dray-buffers { $4 };
			};
			dray {
				compatible = "dray,node";
				memory-region = <&dray_buffers>;
				memory-region-names = "$3";
				dmas = <&zdma0 0>, <&zdma1 0>;
				dma-names = "mem0", "mem1";
			};
		};
	OVERLAY
		fdtoverlay -i "$2" -o "$1/board.dtb" "$1/dray.dtbo"
}

# board_boot COMMAND TITLE: a stalled host must not fail a round.  NumPy's tests last
# half an hour if the machine is very busy.
board_boot()
{
	"$1" "$2" zcu102 "$(kernel_chosen "$GUEST_SERIES")" \
		hwpoison-inject GUEST_PARAMETERS=watchdog_ms=30000 \
		BATCH_LIMIT=2700 "${@:3}"
}

# The programs of tools/bench: a check only builds them.
board_build_benches()
{
	local name

	for name in driver stream works; do
		program_build "bench/$name" arm64 || return 1
	done
}

# Libraries of tests that are not installed.
board_add_libraries()
{
	local sysroot

	sysroot=$(build_sysroot) || return 1
	mkdir -p "$BATCH/job/unit" "$BATCH/lib/usr/lib/aarch64-linux-gnu"
	cp -a "$sysroot"/usr/lib/aarch64-linux-gnu/libcmocka.so* \
		"$BATCH/lib/usr/lib/aarch64-linux-gnu"
}

# Programs about numbers alone.  With them the other guest would run out of memory.
BOARD_NUMBERS='(ufunc|reduce|sequence|elementary|executor|null_(ufunc|reduce|executor))(_.*)?|statistics|linear|opencl(_faults)?|call_queue|stream_executor'

# board_add_unit numbers|rest: the library's tests on the kernel's node
board_add_unit()
{
	local name program rest group

	while read -r name program rest; do
		# Tests with arguments are scripts for the host.
		[ -z "$rest" ] || continue
		board_wants_unit "$name" || continue
		group=rest
		! [[ $name =~ ^($BOARD_NUMBERS)$ ]] || group=numbers
		[ "$group" = "$1" ] || continue
		cp "$program" "$BATCH/job/unit/$name"
		batch_add tap "unit-$name" \
			"CMOCKA_MESSAGE_OUTPUT=TAP DRAY_TEST_NODE=kernel unit/$name"
	done < <(unit_tests arm64)
	# Plug-ins that a test loads from its folder.
	[ ! -e "$BATCH/job/unit/manager_plugin" ] ||
		cp "$(build_folder arm64)"/tests/unit/libdray-manager-*.so \
			"$BATCH/job/unit"
}

board_wants_unit()
{
	[ "$FULL" = yes ] || [ -n "$PATTERN" ] ||
		[[ " ${BOARD_UNIT[*]} " = *" $1 "* ]]
}

# board_numbers FOLDER: boots with programs about numbers alone
board_numbers()
{
	batch_begin "$1"
	mkdir -p "$BATCH/job/unit"
	tally_run "unit tests about numbers for the board" \
		board_add_unit numbers || return 0
	board_boot batch_aside "the board, numbers"
}

# board_add_dmactl BUILD [PREFIX NAME...]: dmactl with the module, for each script its
# programs; all scripts, or the named ones
board_add_dmactl()
{
	local folder=$BATCH/job/dmactl name programs

	mkdir -p "$folder"
	cp "$TREE"/tests/dmactl/*.{sh,py} "$TREE"/tools/dmactl/schema/*.json \
		"$TREE"/docs/{bring-up,memory-is-gone}.md "$1/tools/dmactl/dmactl" \
		"$1/tools/replay/dray-replay" \
		"$folder"
	# A build without arrays lacks a publisher.
	for name in holder leaker publisher why-random; do
		[ ! -e "$1/tests/dmactl/dmactl-$name" ] ||
			cp "$1/tests/dmactl/dmactl-$name" "$folder"
	done
	cp "$TREE/tests/fact.sh" "$BATCH/job"
	while read -r name programs; do
		[ $# -eq 1 ] || [[ " ${*:3} " = *" $name "* ]] || continue
		batch_add tap "${2:-}dmactl-$name" \
			"cd dmactl && sh with-$name.sh ./dmactl $programs"
	done <<-PROGRAMS
		module ./dmactl-holder
		map ./dmactl-holder map.json
		why ./dmactl-holder ./dmactl-why-random
		leaks ./dmactl-holder ./dmactl-leaker
		trace ./dmactl-holder ./dray-replay $FULL
		arrays ./dmactl-publisher ./dmactl-holder
		calls ./dmactl-holder
		selftest
	PROGRAMS
	[ $# -gt 1 ] || batch_add counts dmactl-top \
		"cd dmactl && PYTHONDONTWRITEBYTECODE=1 DRAY_BACKEND=kernel timeout 600 python3 -m pytest -q --color=no --durations=0 --durations-min=1 -p no:cacheprovider --noconftest with_module_top.py"
}

# dmactl, the Python package, and NumPy's own tests.
board_add_programs()
{
	local build selection=board-part.txt files=.

	[ "$LONG" = no ] || selection=board.txt
	build=$(build_folder arm64)
	if [ "$FULL" = yes ]; then
		board_add_dmactl "$build"
	else
		board_add_dmactl "$build" '' "${BOARD_DMACTL[@]}"
	fi
	board_add_examples "$build/examples"
	cp -r "$TREE"/tests/{python,numpy} "$BATCH/job"
	[ "$FULL" = yes ] || files=$(cd "$TREE/tests/python" &&
		printf '%s\n' test_*.py | grep -xE "$BOARD_PYTHON" | paste -sd ' ')
	batch_add counts python \
		"cd python && PYTHONDONTWRITEBYTECODE=1 DRAY_BACKEND=kernel python3 -m pytest -q --color=no -p no:cacheprovider $files"
	[ "$FULL" = yes ] || return 0
	board_build_policy "$BATCH/job/numpy/mem_policy.so" || return 1
	batch_add counts numpy \
		"DRAY_BACKEND=kernel python3 numpy/run --selection numpy/$selection --once --no-conftest"
}

# Compares dray.Array with NumPy 2, all arrays in the heap "reserved".
board_differential()
{
	local packages

	tally_fetch "fetches NumPy 2 for the board" packages board_pypi_set \
		numpy "$TREE/tests/numpy/requirements.txt" &&
		tally_run "builds for it" build_board_numpy "$packages" &&
		tally_run "random cases for the board" board_add_differential \
			"$packages"
}

# board_add_differential PACKAGES
board_add_differential()
{
	mkdir -p "$BATCH"/job/{docs,tests}
	board_copy_numpy "$1" "$BATCH/job"
	cp -r "$TREE/tests/differential" "$BATCH/job/tests"
	cp "$TREE"/docs/{arrays,ufuncs}.md "$BATCH/job/docs"
	batch_add counts random-arrays \
		"LD_LIBRARY_PATH=numpy2 PYTHONPATH=numpy2 PYTHONDONTWRITEBYTECODE=1 DRAY_BACKEND=kernel python3 tests/differential/run --seed ${DRAY_DIFFERENTIAL_SEED:-1} --cases $BOARD_CASES --heap reserved"
}

# board_add_examples FOLDER: the programs of examples/, on the kernel's node
board_add_examples()
{
	mkdir -p "$BATCH/job/examples"
	cp "$1"/{runtime,record,strided} "$BATCH/job/examples"
	batch_add status example-runtime \
		'examples/runtime | grep "^dray kernel: .* sum 20000$"'
	batch_add status example-record \
		'examples/record | grep "^exporter: .* is now 32766$"'
	batch_add status example-strided \
		'examples/strided | grep "^262144 bytes .* by the engine"'
}

# Compiles the C code of NumPy's test_mem_policy: the board lacks a compiler.
board_build_policy()
{
	local sysroot

	sysroot=$(build_sysroot) || return 1
	/usr/bin/python3 "$TREE/tests/numpy/policy_source.py" |
		aarch64-linux-gnu-gcc -w -shared -fPIC \
			"-I$sysroot/usr/include/python3.11" \
			"-I$sysroot/usr/include/aarch64-linux-gnu" \
			"-I$sysroot/usr/include" \
			"-I$sysroot/usr/lib/python3/dist-packages/numpy/core/include" \
			-x c -o "$1" -
}

# board_add_importers SERIES PREFIX: adds a device of another driver that reads and
# writes buffers of each heap
board_add_importers()
{
	local name kernel engine

	kernel=$(kernel_make arm64 "$1") || return 1
	engine=$(module_test engine "$kernel") || return 1
	program_build engine arm64 || return 1
	mkdir -p "$BATCH/job/engine"
	cp "$engine/dray_test_importer.ko" "$BATCH/job"
	batch_add step "$2importer" 'insmod dray_test_importer.ko'
	for name in importers tables; do
		cp "$(build_folder engine-arm64)/$name" "$BATCH/job/engine"
		batch_add tap "$2$name" "engine/$name"
	done
}

# Inserts the module again with all limits set.
board_add_parameters()
{
	cp "$TREE/tools/lib/guest-unload" "$BATCH/job"
	batch_add tap parameters-set \
		"guest-unload dray && insmod /guest/modules/dray.ko heap_limit=1048576 user_limit=524288 addresses=1 max_runs=1000 max_bytes=1048576 && selftests/parameters"
}

# Runs last, as broken memory is lost.  It does not keep the module, and the next
# module finds it.
board_add_poison()
{
	selftests_add arm64 "" poison
	batch_add status poison-stays \
		'guest-unload dray && insmod /guest/modules/dray.ko && ! grep -x 0 /sys/class/dray-heap/reserved/quarantined'
}
