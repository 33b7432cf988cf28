# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_FALLBACKS="the library with few addresses (RLIMIT_AS, 39 bits), with 32-bit \
pointers, and under Valgrind"
PACKAGES_FALLBACKS=(
	"${PACKAGES_BUILD[@]}" gcc-i686-linux-gnu libc6-dev-i386-cross
	util-linux valgrind
)

# Tests of the window and of memory in it.
FALLBACKS_ALL='fit|window|addresses|node|buffer.*|sync|pages.*|faults|pool.*|walk|pressure|busy|cache.*|handler|check.*|block.*|random|threads|split|fork|clone|resource.*|tracking|fixed|log|manager.*|records.*|array|strings|ipc.*|copy.*|view_sync|kind|xrt.*|bank'

# Valgrind is 20 to 50 times slower; sanitizers cover other tests.
FALLBACKS_VALGRIND='fit|window|addresses|buffer.*|pool.*|walk|pressure|busy|cache.*|handler|block|block_pod|random|resource'

# Other tests use sizes beyond 32 bits.
FALLBACKS_I386='fit|window|addresses|node|buffer.*|sync|pages.*|faults|pool.*|walk|pressure|busy|cache.*|handler|check.*|block.*|random|threads|split|fork|clone|resource.*|tracking|fixed|log|manager_(faults|plugin|random)|records.*|dtype.*|element|view.*|index.*|sort.*|layout.*|cast_.*|iterator.*|nditer.*|array.*|print|npy|strings|ipc.*|copy.*|view_sync|dlpack.*|arrow.*|kind|rows|xrt.*|xclbin|bank|null_.*'

suite_fallbacks()
{
	local scratch=$1

	tally_run "builds as a release" build_native || return 0
	fallbacks_limit "$scratch" 4
	[ "$FULL" = yes ] || return 0
	# The smallest window, by one copy of the library: there is no room for
	# another one's.
	fallbacks_limit "$scratch" 2 'records_fork'
	fallbacks_narrow "$scratch" 39
	# A window of half the size.
	fallbacks_narrow "$scratch" 37
	fallbacks_valgrind "$scratch"
	tally_run "builds with pointers of 32 bits" build_i386 &&
		unit_programs i386 "$scratch" "$FALLBACKS_I386"
}

# fallbacks_limit FOLDER GIB [WITHOUT]: limits the addresses (RLIMIT_AS)
fallbacks_limit()
{
	local names

	names=$(unit_tests native | cut -d ' ' -f 1 | grep -xE "$FALLBACKS_ALL" |
		grep -vxE "${3:-}" | paste -sd '|')
	unit_programs native "$1" "$names" "RLIMIT_AS of $2 GiB" \
		prlimit "--as=$(($2 << 30))"
}

# fallbacks_narrow FOLDER BITS
#
# Simulates an arm64 kernel with 39-bit addresses, of which there is no package:
# tests/unit/narrow.c takes all higher addresses before the program starts.  The
# library finds the same room for its mappings; program, libraries and stack lie
# above it.
fallbacks_narrow()
{
	unit_programs native "$1" "$FALLBACKS_ALL" "$2-bit addresses" \
		env "DRAY_TEST_ADDRESS_BITS=$2" \
		"LD_PRELOAD=$(build_folder native)/tests/unit/narrow.so"
}

# Valgrind checks every access and takes some addresses.  It runs one thread at a time:
# without turns, two that never block starve a third.
fallbacks_valgrind()
{
	unit_programs native "$1" "$FALLBACKS_VALGRIND" Valgrind \
		env DRAY_TEST_CHECKER=1 DRAY_TEST_OPERATIONS=1000 \
		valgrind -q --fair-sched=yes --error-exitcode=99
}
