# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite targets: the module on other machines than those of the suites pc and
# board, one function for each: a 32-bit board, and the newest kernel.

PACKAGES_TARGETS=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_ARM[@]}" util-linux
)

# The part for --quick.
TARGETS_QUICK=(info alloc mmap submit_copy leaks)

suite_targets()
{
	local scratch=$1

	targets_zynq "$scratch/zynq"
	[ "$QUICK" = no ] || return 0
	targets_newest "$scratch/newest"
}

# A Zynq-7000: 32-bit arm, dedicated memory that is high memory, a PL330.
targets_zynq()
{
	local chosen=()

	[ "$QUICK" = no ] || chosen=("${TARGETS_QUICK[@]}")
	tally_run "selftests build for armhf" selftests_build armhf || return 0
	batch_begin "$1"
	selftests_add armhf zynq- "${chosen[@]}"
	(
		GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
		GUEST_BOARD=zynq GUEST_LIMIT=1500
		batch_boot "the Zynq (armhf)"
	)
	batch_count "the Zynq (armhf)"
}

# The newest kernel that Debian has: built, not run.
targets_newest()
{
	local version

	version=$(release_version trixie) || version=none
	tally_run "dray.ko builds for Linux $version" \
		targets_release trixie "$1"
}

# targets_release RELEASE FOLDER: a build in which nothing is said
targets_release()
{
	local said

	module_copy "$2" || return 1
	said=$(release_build "$1" "$2" 2>&1) || { echo "$said"; return 1; }
	[ -z "$said" ] || { echo "$said"; return 1; }
	[ -e "$2/driver/dray.ko" ]
}
