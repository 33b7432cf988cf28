# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite pc: the module as a virtual node on an emulated PC, with the kernels
# that Debian 12 has for it, and the tests of the kernel interface there: on a
# node as it is, and on one with an engine for tests, which can be told to be
# late, to fail and to hang, as no emulated engine does.

# Debian's kernels for this machine have neither CMA nor a device tree, so of
# the heaps there is "pages".  What is about the others runs on the board.
PC_OPTIONS='-F reserved -V reserved -V cma -F carveout'

# The kernel has room for copies (swiotlb), which it would not make on a machine
# with so little memory: devices that reach only a part of it get them.  And it
# has huge pages for whoever asks, before memory is in pieces.
# Half of its memory is another NUMA node's, for policies to choose between.
PC_APPEND='iommu=soft swiotlb=8192 hugepages=8 numa=fake=2'

# What --quick runs.
PC_QUICK='-(info|alloc|mmap|submit_copy|submit_refuse|attach_user|faults|lost|leaks)$'

PACKAGES_PC=("${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" qemu-system-x86)

suite_pc()
{
	local scratch=$1 series all=(6.12) PATTERN=$PATTERN

	[ "$QUICK" = no ] || PATTERN=${PATTERN:-$PC_QUICK}
	[ "$FULL" = no ] || all=(6.1 6.12)
	read -ra all <<<"$(kernel_chosen "${all[@]}")"
	tally_run "selftests build for the PC" selftests_build amd64 || return 0
	tally_run "programs for the test engine build" program_build engine amd64 ||
		return 0
	tally_run "the library builds" build_native || return 0
	for series in "${all[@]}"; do
		batch_begin "$scratch/$series"
		tally_run "programs for Linux $series on the PC" \
			pc_programs "$series" || continue
		tally_run "the library for Linux $series on the PC" \
			pc_library "$series" || continue
		pc_stubborn "$series"
		batch_aside "Linux $series on the PC" pc_boot "$series"
	done
	batch_count_aside
}

pc_boot()
{
	GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
	[ "$1" = checked ] || GUEST_MODULES+=(hwpoison-inject)
	GUEST_BOARD=pc GUEST_SERIES=$1 GUEST_LIMIT=3600
	GUEST_PARAMETERS=nodes=1 GUEST_APPEND=$PC_APPEND
	GUEST_ROOTS=("$BATCH/lib")
	batch_boot "Linux $1 on the PC"
}

pc_programs()
{
	local series=$1 modules=/guest/modules kernel engine

	kernel=$(kernel_make amd64 "$series") || return 1
	engine=$(module_test engine "$kernel") || return 1
	cp "$engine"/dray_test_{engine,importer,exporter,mapper}.ko "$TREE/tools/lib/guest-unload" \
		"$BATCH/job"

	batch_add status "$series-the-module-makes-a-node" \
		'test -c /dev/dray0 && grep -x 1 /sys/module/dray/parameters/nodes'
	SELFTESTS_OPTIONS="$PC_OPTIONS -F engine -V submit -V channel_info"
	selftests_add amd64 "$series-no-engine-" structs submit_refuse
	batch_add step "$series-the-module-unloads" \
		'guest-unload dray && ! test -e /dev/dray0'

	# A host that stands still is no reason to give a round up.
	batch_add step "$series-the-module-takes-an-engine" \
		"insmod dray_test_engine.ko && insmod $modules/dray.ko nodes=1 channels=2 watchdog_ms=30000"
	SELFTESTS_OPTIONS=$PC_OPTIONS SELFTESTS_WITHOUT=carveout
	selftests_add amd64 "$series-"
	selftests_add_extended amd64 "$series-" suspend
	SELFTESTS_OPTIONS='' SELFTESTS_WITHOUT=''

	pc_engine "$series"
}

# pc_engine SERIES: faults of engines; the modules are inserted anew for what they
# are told then
pc_engine()
{
	local series=$1 modules=/guest/modules

	cp -r "$(build_folder engine-amd64)" "$BATCH/job/engine"
	batch_add tap "$series-faults" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko && insmod $modules/dray.ko nodes=1 channels=2 && engine/faults"
	batch_add tap "$series-attached" engine/attached
	batch_add tap "$series-lost" engine/lost
	batch_add tap "$series-engine-cancel" engine/cancel
	batch_add tap "$series-life" engine/life
	batch_add tap "$series-reopen" engine/reopen
	batch_add tap "$series-turns" engine/turns
	batch_add tap "$series-importers" \
		"insmod dray_test_importer.ko && engine/importers $PC_OPTIONS -V carveout"
	batch_add tap "$series-exporter" \
		"insmod dray_test_exporter.ko && engine/exporter"
	batch_add tap "$series-refused" engine/refused
	batch_add tap "$series-locked" engine/locked
	batch_add tap "$series-writers" engine/writers
	batch_add tap "$series-tables" \
		"engine/tables $PC_OPTIONS -V carveout"
	batch_add tap "$series-mapper" \
		"insmod dray_test_mapper.ko && engine/mapper $PC_OPTIONS"
	batch_add tap "$series-limits" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko mask_bits=24 align_shift=3 fill=1 && insmod $modules/dray.ko nodes=1 channels=2 && engine/limits"
	batch_add tap "$series-busy" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko && insmod $modules/dray.ko nodes=2 channels=2 && engine/busy"
	batch_add tap "$series-nodes" \
		"guest-unload dray && insmod $modules/dray.ko nodes=10 channels=2 && engine/nodes"
	batch_add tap "$series-unstoppable" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko no_terminate=1 && insmod $modules/dray.ko nodes=1 channels=2 && engine/unstoppable"
	batch_add tap "$series-dependent" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko && insmod $modules/dray.ko nodes=1 channels=2 && engine/dependent"
	batch_add tap "$series-dependent-unordered" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko unordered=1 && insmod $modules/dray.ko nodes=1 channels=2 && engine/dependent"
	batch_add tap "$series-rounds" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko max_segment=4194304 slots=32 && insmod $modules/dray.ko nodes=1 channels=2 && engine/rounds"
	batch_add tap "$series-token" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko zynqmp=1 && insmod $modules/dray.ko nodes=1 channels=2 && engine/token"
	selftests_add_extended amd64 "$series-" poison
	batch_add status "$series-all-modules-unload" \
		'guest-unload dray dray_test_engine dray_test_importer dray_test_exporter dray_test_mapper'
}

# pc_stubborn SERIES: an engine that cannot be stopped when its node goes.  After
# it the module stays, so that nothing can come behind it.
pc_stubborn()
{
	batch_add tap "$1-stubborn" \
		"insmod dray_test_engine.ko && insmod /guest/modules/dray.ko nodes=1 channels=2 watchdog_ms=500 && engine/stubborn"
}

# pc_library SERIES: tests of the library that want what no other machine has: an
# engine that takes its time, and two NUMA nodes
pc_library()
{
	local tap='CMOCKA_MESSAGE_OUTPUT=TAP'

	pc_unit reuse && pc_unit pages_numa || return 1
	batch_add tap "$1-unit-reuse" \
		"insmod dray_test_engine.ko delay_ms=300 && insmod /guest/modules/dray.ko nodes=1 channels=2 && $tap DRAY_TEST_NODE=kernel DRAY_TEST_ENGINE_LATE=1 unit/reuse"
	batch_add tap "$1-unit-pages-numa" \
		"$tap DRAY_TEST_TWO_NUMA_NODES=1 unit/pages_numa"
	batch_add status "$1-the-modules-unload-after-the-library" \
		'guest-unload dray dray_test_engine'
}

# pc_unit NAME: the unit test and the libraries that it needs
pc_unit()
{
	local program file folder

	program=$(unit_tests native | awk -v name="$1" '$1 == name { print $2 }')
	[ -x "$program" ] || return 1
	mkdir -p "$BATCH/job/unit" "$BATCH/lib"
	cp "$program" "$BATCH/job/unit/$1"
	# In the guest as here /lib is a link.
	ldd "$program" | grep -oE '/[^ ]+' | while read -r file; do
		folder=$BATCH/lib$(realpath "${file%/*}")
		mkdir -p "$folder"
		cp -L "$file" "$folder" || return 1
	done
}
