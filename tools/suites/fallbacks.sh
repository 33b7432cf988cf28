# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_FALLBACKS="the library with few addresses (RLIMIT_AS, 39 bits), with 32-bit \
pointers, and under Valgrind"
PACKAGES_FALLBACKS=(
	"${PACKAGES_BUILD[@]}" gcc-i686-linux-gnu libc6-dev-i386-cross
	util-linux valgrind
)

# Labels of tests (tests/unit/meson.build): of the window and of memory in it; those that
# Valgrind, which is 20 to 50 times slower, repeats; those with pointers of 32 bits
FALLBACKS_ALL=(
	window memory buffers pool checks forks block resource manager records transfer xrt
)
FALLBACKS_VALGRIND=(buffers pool valgrind)
FALLBACKS_I386=(
	"${FALLBACKS_ALL[@]}" types views casts iterators indices arrays exchange null -wide
)

suite_fallbacks()
{
	local scratch=$1

	tally_run "builds as a release" build_native || return 0
	fallbacks_limit "$scratch" 4
	[ "$FULL" = yes ] || return 0
	# The smallest window, by a single copy of the library: there is no room
	# for another copy's.
	fallbacks_limit "$scratch" 2 'records_fork'
	fallbacks_narrow "$scratch" 39
	# A window of half the size.
	fallbacks_narrow "$scratch" 37
	fallbacks_valgrind "$scratch"
	tally_run "builds with pointers of 32 bits" build_i386 &&
		unit_programs i386 "$scratch" "$(unit_names i386 "${FALLBACKS_I386[@]}")"
}

# fallbacks_limit FOLDER GIB [WITHOUT]: limits the addresses (RLIMIT_AS)
fallbacks_limit()
{
	local names

	names=$(unit_names native "${FALLBACKS_ALL[@]}" | tr '|' '\n' |
		grep -vxE "${3:-}" | paste -sd '|')
	unit_programs native "$1" "$names" "RLIMIT_AS of $2 GiB" \
		prlimit "--as=$(($2 << 30))"
}

# fallbacks_narrow FOLDER BITS
#
# Simulates an arm64 kernel with 39-bit addresses, of which there is no package:
# tests/unit/narrow.c maps all higher addresses before the program starts.  The
# library finds the same room for its mappings; program, libraries and stack lie
# above it.
fallbacks_narrow()
{
	unit_programs native "$1" "$(unit_names native "${FALLBACKS_ALL[@]}")" \
		"$2-bit addresses" \
		env "DRAY_TEST_ADDRESS_BITS=$2" \
		"LD_PRELOAD=$(build_folder native)/tests/unit/narrow.so"
}

# Valgrind checks every access and uses some addresses.  It runs a single thread at a
# time: without turns, two that never block starve a third.
fallbacks_valgrind()
{
	unit_programs native "$1" "$(unit_names native "${FALLBACKS_VALGRIND[@]}")" Valgrind \
		env DRAY_TEST_CHECKER=1 DRAY_TEST_OPERATIONS=1000 \
		valgrind -q --fair-sched=yes --error-exitcode=99
}
