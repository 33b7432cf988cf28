# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The tests of the kernel interface run on a node without an engine and on a node with an
# engine for tests, which can be late, fail or hang.

ABOUT_PC="the module on Debian's 6.1 and 6.12 kernels, and on the newest Linux \
of its backports, of an emulated PC"

# Debian's kernels for this machine lack CMA and a device tree: "pages" is the only
# heap.  The board tests the others.
PC_OPTIONS='-F reserved -V reserved -V cma -F carveout'

# Sets up copies (swiotlb), which a kernel with so little memory omits, for devices
# that reach a part of the memory.  Reserves huge pages before memory is fragmented.
# Splits the memory into two NUMA nodes for policies.
PC_APPEND='iommu=soft swiotlb=8192 hugepages=8 numa=fake=2'

# For --quick.
PC_QUICK='-(info|alloc|mmap|submit_copy|submit_refuse|attach_user|faults|lost|leaks)$'

# Without --full: a call each, as the board runs all of them.
PC_PART=(
	info alloc mmap address sync list submit_copy submit_fence submit_refuse cancel
	rights export attach_user attach_dmabuf import memlock lifetime unbind leaks
)

PACKAGES_PC=("${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" qemu-system-x86)

suite_pc()
{
	local scratch=$1 series all=(6.12) PATTERN=$PATTERN title limit=3600 modules

	[ "$QUICK" = no ] || PATTERN=${PATTERN:-$PC_QUICK}
	[ "$FULL" = no ] || all=(6.1 6.12 newest)
	[ "$LONG" = no ] || limit=7200
	read -ra all <<<"$(kernel_chosen "${all[@]}")"
	tally_run "selftests build for the PC" program_build selftests amd64 || return 0
	tally_run "programs for the test engine build" program_build engine amd64 ||
		return 0
	[ "$FULL" = no ] || tally_run "the library builds" build_native || return 0
	[ "$FULL" = no ] || pc_harness
	for series in "${all[@]}"; do
		title="Linux $series on the PC"
		batch_begin "$scratch/$series"
		mkdir "$BATCH/lib"
		tally_run "programs for $title" pc_programs "$series" || continue
		[ "$FULL" = no ] || tally_run "the library for $title" \
			pc_library "$series" || continue
		pc_stubborn "$series"
		# Only Debian's kernels include modules that few need.
		modules=(hwpoison-inject)
		[ "$series" != newest ] || modules=()
		batch_aside "$title" pc "$series" "${modules[@]}" \
			GUEST_PARAMETERS=nodes=1 "GUEST_APPEND=$PC_APPEND" \
			"GUEST_LIMIT=$limit" "GUEST_ROOTS=$BATCH/lib"
		[ "$FULL" = no ] || [ "$series" = newest ] ||
			pc_examples "$series" "$scratch"
	done
	batch_count_aside
}

# The newest Linux uses another harness.
pc_harness()
{
	local folder

	for folder in selftests engine streams; do
		tally_run "$folder: its programs build with the newest harness" \
			program_build "$folder" amd64 newest || true
	done
}

pc_programs()
{
	local series=$1 kernel engine selftests=("${PC_PART[@]}")

	[ "$FULL" = no ] && [ -z "$PATTERN" ] || selftests=()
	kernel=$(kernel_make amd64 "$series") || return 1
	engine=$(module_test engine "$kernel") || return 1
	cp "$engine"/dray_test_{engine,importer,exporter,mapper,stream}.ko \
		"$TREE/tools/lib/guest-unload" "$BATCH/job"

	batch_add status "$series-the-module-makes-a-node" \
		'test -c /dev/dray0 && grep -x 1 /sys/module/dray/parameters/nodes'
	SELFTESTS_OPTIONS="$PC_OPTIONS -F engine -V submit -V channel_info" \
		selftests_add amd64 "$series-no-engine-" structs submit_refuse
	batch_add step "$series-the-module-unloads" \
		'guest-unload dray && ! test -e /dev/dray0'

	# A stalled host must not fail a round.
	batch_add step "$series-the-module-takes-an-engine" \
		"insmod dray_test_engine.ko && insmod /guest/modules/dray.ko nodes=1 channels=2 watchdog_ms=30000"
	SELFTESTS_OPTIONS=$PC_OPTIONS SELFTESTS_WITHOUT=carveout \
		selftests_add amd64 "$series-" "${selftests[@]}"
	[ "$FULL" = no ] || SELFTESTS_OPTIONS=$PC_OPTIONS \
		selftests_add amd64 "$series-" suspend

	pc_engine "$series"
}

# pc_anew NAME PROGRAM [ENGINE-PARAMETERS [DRAY-PARAMETERS]]: a program for engines
# after the modules are inserted anew
pc_anew()
{
	batch_add tap "$1" \
		"guest-unload dray dray_test_engine && insmod dray_test_engine.ko ${3:-} && insmod /guest/modules/dray.ko ${4:-nodes=1 channels=2} && engine/$2"
}

# pc_engine SERIES: faults of engines
pc_engine()
{
	local p=$1- name

	cp -r "$(build_folder engine-amd64)" "$BATCH/job/engine"
	pc_anew "${p}faults" faults
	for name in attached lost; do
		batch_add tap "$p$name" "engine/$name"
	done
	batch_add tap "${p}engine-cancel" engine/cancel
	for name in life reopen turns; do
		batch_add tap "$p$name" "engine/$name"
	done
	batch_add tap "${p}importers" \
		"insmod dray_test_importer.ko && engine/importers $PC_OPTIONS -V carveout"
	batch_add tap "${p}exporter" \
		"insmod dray_test_exporter.ko && engine/exporter"
	for name in refused locked writers; do
		batch_add tap "$p$name" "engine/$name"
	done
	batch_add tap "${p}tables" "engine/tables $PC_OPTIONS -V carveout"
	batch_add tap "${p}mapper" \
		"insmod dray_test_mapper.ko && engine/mapper $PC_OPTIONS"
	pc_anew "${p}limits" limits 'mask_bits=24 align_shift=3 fill=1'
	pc_anew "${p}busy" busy '' 'nodes=2 channels=2'
	pc_anew "${p}nodes" nodes '' 'nodes=10 channels=2'
	pc_anew "${p}unstoppable" unstoppable no_terminate=1
	pc_anew "${p}dependent" dependent
	pc_anew "${p}dependent-unordered" dependent unordered=1
	pc_anew "${p}rounds" rounds 'max_segment=4194304 slots=32'
	pc_anew "${p}token" token zynqmp=1
	selftests_add amd64 "$p" poison
	batch_add status "${p}all-modules-unload" \
		'guest-unload dray dray_test_engine dray_test_importer dray_test_exporter dray_test_mapper'
	pc_streams "$p"
}

# pc_stream NAME PROGRAM [ENGINE-PARAMETERS [VARIABLES]]: a program for streams after
# the modules are inserted anew
pc_stream()
{
	batch_add tap "$1" \
		"for module in dray_test_stream dray dray_test_engine; do [ ! -d /sys/module/\$module ] || guest-unload \$module; done; insmod /guest/modules/dray.ko && insmod dray_test_stream.ko ${3:-} && ${4:-} engine/$2"
}

# pc_streams PREFIX: streams, also of engines with limits and quirks
pc_streams()
{
	local name frames=20000

	[ "$LONG" = no ] || frames=100000

	for name in transfers timeline refused fifos ends life ring frames replace races; do
		pc_stream "$1stream-$name" "stream_$name"
	done
	pc_stream "$1stream-life-given" stream_life given=1
	pc_stream "$1stream-ends-chains" stream_ends 'axidma=1 chains=1'
	pc_stream "$1stream-life-axidma" stream_life axidma=1
	pc_stream "$1stream-frames-batches" stream_frames batches=1
	if [ "$FULL" = yes ]; then
		for name in transfers ends limits ring replace races; do
			pc_stream "$1stream-$name-axidma" "stream_$name" axidma=1
		done
		pc_stream "$1stream-ring-long" stream_ring '' \
			"DRAY_TEST_FRAMES=$frames"
		pc_stream "$1stream-transfers-batches" stream_transfers batches=1
		pc_stream "$1stream-ends-batches" stream_ends batches=1
	fi
	pc_stream "$1stream-show" stream_show shows=1
	for name in no_residue=1 align_shift=3 no_terminate=1; do
		pc_stream "$1stream-limits-${name%=*}" stream_limits "$name"
	done
	pc_stream "$1stream-limits-shared" stream_limits 'axidma=1 shared=1'
	pc_random "$1"
	batch_add status "$1the-stream-modules-unload" \
		'guest-unload dray_test_stream dray'
}

# pc_random PREFIX: random calls on all streams
pc_random()
{
	local seconds=${DRAY_TEST_SECONDS:-5} engine name

	[ "$FULL" = yes ] || return 0
	[ "$LONG" = no ] || seconds=600
	for engine in '' batches=1 axidma=1 'axidma=1 chains=1'; do
		name=${engine//=1/}
		pc_stream "$1stream-random${name:+-${name// /-}}" \
			stream_random "$engine" \
			"DRAY_TEST_SECONDS=$seconds ${DRAY_TEST_SEED:+DRAY_TEST_SEED=$DRAY_TEST_SEED}"
	done
}

# pc_stubborn SERIES: an engine that cannot be stopped when its node ends.  It is the
# last program, because the module stays.
pc_stubborn()
{
	batch_add tap "$1-stubborn" \
		"insmod dray_test_engine.ko && insmod /guest/modules/dray.ko nodes=1 channels=2 watchdog_ms=500 && engine/stubborn"
}

# pc_library SERIES: tests of the library that need a slow engine, streams or two NUMA
# nodes
pc_library()
{
	local tap='CMOCKA_MESSAGE_OUTPUT=TAP'

	pc_unit reuse && pc_unit pages_numa || return 1
	batch_add tap "$1-unit-reuse" \
		"insmod dray_test_engine.ko delay_ms=300 && insmod /guest/modules/dray.ko nodes=1 channels=2 && $tap DRAY_TEST_NODE=kernel DRAY_TEST_ENGINE_LATE=1 unit/reuse"
	batch_add tap "$1-unit-pages-numa" \
		"$tap DRAY_TEST_TWO_NUMA_NODES=1 unit/pages_numa"
	pc_dmactl "$1" || return 1
	pc_unit stream_ring || return 1
	pc_stream "$1-unit-stream-ring" ../unit/stream_ring '' \
		"$tap DRAY_TEST_NODE=kernel DRAY_TEST_LOOP=1"
	pc_stream "$1-dmactl-latency-frames" \
		'stream_ring -t frames_of_a_ring_come_whole_and_in_order' '' \
		"sh dmactl/with-latency.sh dmactl/dmactl frame"
	batch_add status "$1-the-modules-unload-after-the-library" \
		'guest-unload dray_test_stream dray'
}

# pc_dmactl SERIES: dmactl with an engine that makes mistakes
pc_dmactl()
{
	local build

	build=$(build_folder native)
	pc_copy "$build/tools/dmactl/dmactl" dmactl &&
		pc_copy "$build/tests/dmactl/dmactl-holder" dmactl || return 1
	cp "$TREE"/tests/dmactl/{hold,with-calls,with-selftest,with-latency}.sh \
		"$BATCH/job/dmactl"
	cp "$TREE/tests/fact.sh" "$BATCH/job"
	batch_add tap "$1-dmactl-calls" \
		"guest-unload dray dray_test_engine; insmod dray_test_engine.ko && insmod /guest/modules/dray.ko nodes=1 channels=2 && cd dmactl && sh with-calls.sh ./dmactl ./dmactl-holder"
	batch_add tap "$1-dmactl-selftest" \
		"cd dmactl && sh with-selftest.sh ./dmactl"
	batch_add tap "$1-dmactl-latency" \
		"cd dmactl && DRAY_TEST_NODE=kernel sh with-latency.sh ./dmactl transfer ./dmactl-holder --copy pages from 65536 to 65536"
}

# pc_examples SERIES SCRATCH: the programs of examples/ that need a camera or a disk, in
# a guest of their own.  The first camera accepts any pages.  The second needs contiguous
# memory, and attaches its device to the dma-bufs.
pc_examples()
{
	local title="a camera and a disk, Linux $1 on the PC"
	local -A GUEST_WORDS=([vivid]='n_devs=2 node_types=0x1,0x1 allocators=0,1')

	batch_begin "$2/$1-examples"
	tally_run "programs for $title" pc_example_programs "$1" || return 0
	batch_aside "$title" pc "$1" vivid ext4 GUEST_PARAMETERS=nodes=1 \
		"GUEST_ROOTS=$BATCH/lib"
}

# pc_example_programs SERIES: before Linux 6.5, io_uring's fixed buffers accept no mapping
# of the module's memory
pc_example_programs()
{
	local build backend backends=(kernel host)
	local attached=/sys/kernel/tracing/events/dray/dray_attach/enable

	build=$(build_folder native)
	pc_copy "$build/examples/camera" examples &&
		pc_copy "$build/examples/uring" examples || return 1
	pc_camera_output dma-bufs >"$BATCH/job/dma-bufs"
	pc_camera_output addresses >"$BATCH/job/addresses"
	batch_add status "$1-example-camera" 'examples/camera | diff dma-bufs -'
	batch_add status "$1-example-camera-contiguous" \
		"echo 1 >$attached && examples/camera /dev/video1 | diff dma-bufs - && grep -c 'dray_attach.*vivid' /sys/kernel/tracing/trace | grep -x 3"
	batch_add status "$1-example-camera-host" \
		'DRAY_BACKEND=host examples/camera | diff addresses -'
	batch_add step "$1-example-disk" \
		'mkdir /mnt && mke2fs -b 4096 /dev/vda 16384 && mount -t ext2 /dev/vda /mnt'
	# Mounted anew, the file is read from the disk.
	[ "$1" != 6.1 ] || backends=(host)
	for backend in "${backends[@]}"; do
		batch_add status "$1-example-uring-$backend" \
			"DRAY_BACKEND=$backend examples/uring /mnt/array && umount /mnt && mount -t ext2 /dev/vda /mnt && md5sum </mnt/array | grep '^9c21ab5dc2e0c66c03ed4dc7e11e799c '"
	done
	batch_add step "$1-example-no-disk" 'umount /mnt'
}

# pc_camera_output KIND: prints the output of examples/camera
pc_camera_output()
{
	local i

	echo "3 arrays as $1, lines of 1024 bytes"
	for ((i = 0; i < 12; i++)); do
		echo "frame $i in array $((i % 3)): 179 160 130 111 83 64 34 16"
	done
}

# pc_take_engine SERIES [NODES]: inserts the engine for tests at boot; the caller declares
# local GUEST_EXTRA and GUEST_PARAMETERS
pc_take_engine()
{
	local engine

	engine=$(module_test engine "$(kernel_make amd64 "$1")") ||
		die "no engine for tests"
	GUEST_EXTRA=("$engine/dray_test_engine.ko")
	GUEST_PARAMETERS+=" nodes=${2:-1} channels=2"
}

# pc_unit NAME: copies the unit test and its libraries
pc_unit()
{
	local program

	program=$(unit_tests native | awk -v name="$1" '$1 == name { print $2 }')
	pc_copy "$program" unit && mv "$BATCH/job/unit/${program##*/}" \
		"$BATCH/job/unit/$1"
}

# pc_copy PROGRAM FOLDER: copies a program to a folder of the job, and its libraries
pc_copy()
{
	[ -x "$1" ] || return 1
	mkdir -p "$BATCH/job/$2"
	cp "$1" "$BATCH/job/$2" && batch_libraries "$1"
}
