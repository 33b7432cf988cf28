# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite dmactl: commands with 10,000 buffers.  On this machine their time and memory
# over scripted replies; on the emulated ZCU102, over the module, their instructions.

ABOUT_BENCH_DMACTL='list and map with 10,000 buffers: time, memory, instructions'
PACKAGES_BENCH_DMACTL=("${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}")
DOCUMENT_BENCH_DMACTL=docs/cost.md

BENCH_DMACTL_SERIES=6.12
BENCH_DMACTL_COUNT=10000

bench_dmactl()
{
	local samples=$1 scratch=$2 kernel build

	build_native && build_board all || return 1
	kernel=$(kernel_make arm64 "$BENCH_DMACTL_SERIES") || return 1
	build=$(build_folder native)/tests/dmactl
	log_note "measuring on this machine"
	DRAY_SCENE=many "$build/dmactl-timed" 0 21 \
		"$build/dmactl-scripted list" \
		"$build/dmactl-scripted list --json" \
		"$build/dmactl-scripted map reserved" \
		"$build/dmactl-scripted map reserved --json" \
		>"$scratch/host" || return 1
	log_note "measuring in the guest"
	mkdir -p "$scratch/job"
	cp "$(find "$(build_folder arm64)" -name dmactl-timed -type f)" \
		"$scratch/job" || return 1
	# A subshell keeps these settings to this guest.
	(
		GUEST_BOARD=zcu102 GUEST_SERIES=$BENCH_DMACTL_SERIES
		GUEST_PYTHON=yes GUEST_ROOTS=("$(build_board_root)")
		GUEST_FILES=("$scratch/job") GUEST_LIMIT=1800
		GUEST_COUNTED=yes
		guest_run ./dmactl-timed "$BENCH_DMACTL_COUNT" 3 \
			"dmactl list" "dmactl list --json" "dmactl map reserved" \
			"dmactl map reserved --json"
	) >"$scratch/guest" || {
		tail -n 20 "$scratch/guest" >&2
		return 1
	}
	printf 'target\tthis machine, Linux %s; emulated ZCU102, Linux %s\n' \
		"$(uname -r)" "$(kernel_version "$kernel")" >"$samples"
	/usr/bin/python3 -B "$TREE/tools/benches/dmactl.py" "$scratch/host" \
		"$scratch/guest" >>"$samples"
}
