# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite stream: frames of a ring, and one call for each transfer as with Xilinx's
# dma-proxy, from the engine for tests; and frames of a stream executor beside those of a
# ring.  On a machine with a clock of instructions.

ABOUT_BENCH_STREAM='frames of a stream: a ring, and one call for each transfer'
PACKAGES_BENCH_STREAM=("${PACKAGES_GUEST[@]}")
DOCUMENT_BENCH_STREAM=docs/streams.md

BENCH_STREAM_SERIES=6.1

bench_stream()
{
	local samples=$1 scratch=$2 kernel engine

	kernel=$(kernel_make arm64 "$BENCH_STREAM_SERIES") || return 1
	engine=$(module_test engine "$kernel") || return 1
	log_quietly program_build bench/stream arm64 && build_board || return 1
	mkdir "$scratch/job"
	cp "$engine"/dray_test_{stream,proxy}.ko "$TREE/tools/lib/guest-unload" \
		"$(build_folder bench/stream-arm64)/frames" "$scratch/job"
	log_note "measuring in the guest"
	# A subshell keeps these settings to this guest.
	(
		GUEST_BOARD=zcu102 GUEST_SERIES=$BENCH_STREAM_SERIES
		GUEST_FILES=("$scratch/job") GUEST_LIMIT=1800
		GUEST_APPEND=maxcpus=2 GUEST_COUNTED=yes
		# dray keeps a channel that it has used until the node is unbound.
		guest_run sh -ec '
			insmod dray_test_stream.ko fifo=1048576 slots=65536
			insmod dray_test_proxy.ko
			./frames dma-proxy full
			./frames dray full
			echo dray-test-stream-node \
				>/sys/bus/platform/drivers/dray-test-stream-node/unbind
			guest-unload dray_test_stream
			insmod dray_test_stream.ko fifo=64 slots=65536
			./frames dma-proxy lost
			./frames dray lost'
	) >"$scratch/times" || {
		tail -n 20 "$scratch/times" >&2
		return 1
	}
	stream_executor "$scratch/executor" "$engine" >>"$scratch/times" ||
		return 1
	printf 'target\temulated ZCU102 with two processors, Linux %s\n' \
		"$(kernel_version "$kernel")" >"$samples"
	/usr/bin/python3 -B "$TREE/tools/benches/stream.py" \
		"$scratch/times" >>"$samples"
}

# stream_executor JOB ENGINE: prints the times of frames that go to an IP and back
stream_executor()
{
	local job=$1 engine=$2 build

	build=$(build_folder arm64)
	mkdir "$job"
	cp "$engine/dray_test_stream.ko" "$build/tests/bench/executor/executor-frames" \
		"$job"
	build_copy_libraries "$build" "$job"
	(
		GUEST_BOARD=zcu102 GUEST_SERIES=$BENCH_STREAM_SERIES
		GUEST_FILES=("$job") GUEST_LIMIT=1800 GUEST_PYTHON=yes
		GUEST_APPEND=maxcpus=2 GUEST_COUNTED=yes
		guest_run sh -ec '
			insmod dray_test_stream.ko fifo=4194304 slots=65536
			LD_LIBRARY_PATH=. ./executor-frames'
	) >"$job/times" || {
		tail -n 20 "$job/times" >&2
		return 1
	}
	cat "$job/times"
}
