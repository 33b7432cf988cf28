# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite driver: the cost of memory for a device, step by step, from dray's heaps,
# dma-heap's and udmabuf, on the emulated ZCU102.

ABOUT_BENCH_DRIVER='the cost of memory for a device: allocate, map, write, sync, free'
PACKAGES_BENCH_DRIVER=("${PACKAGES_GUEST[@]}")
DOCUMENT_BENCH_DRIVER=docs/cost.md

BENCH_DRIVER_SERIES=6.12

bench_driver()
{
	driver_measure no µs "$@"
}

# driver_measure COUNTED UNIT SAMPLES FOLDER: measures microseconds or thousands of
# instructions
driver_measure()
{
	local counted=$1 unit=$2 samples=$3 scratch=$4 kernel

	kernel=$(kernel_make arm64 "$BENCH_DRIVER_SERIES") || return 1
	log_quietly program_build bench/driver arm64 || return 1
	log_note "measuring in the guest"
	# A subshell keeps these settings to this guest.
	(
		GUEST_BOARD=zcu102 GUEST_SERIES=$BENCH_DRIVER_SERIES
		GUEST_FILES=("$(build_folder bench/driver-arm64)")
		GUEST_MODULES=(vgem) GUEST_LIMIT=1800
		# Adds a virtual node for a heap of the default CMA area, with
		# room for the largest piece.
		GUEST_PARAMETERS=nodes=1 GUEST_APPEND=cma=128M
		GUEST_COUNTED=$counted
		guest_run sh -c './cost && ./handler'
	) >"$scratch/times" || {
		tail -n 20 "$scratch/times" >&2
		return 1
	}
	printf 'target\temulated ZCU102, Linux %s\n' \
		"$(kernel_version "$kernel")" >"$samples"
	/usr/bin/python3 -B "$TREE/tools/benches/driver.py" \
		"$scratch/times" "$unit" >>"$samples"
}
