# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite instructions: what suite driver measures, on a machine whose clock
# counts instructions, so that it says the same however busy the host is.

# shellcheck disable=SC2034 # tools/bench uses them
{
ABOUT_BENCH_INSTRUCTIONS='the same as driver, in instructions instead of time'
PACKAGES_BENCH_INSTRUCTIONS=("${PACKAGES_GUEST[@]}")
DOCUMENT_BENCH_INSTRUCTIONS=docs/cost.md
}

bench_instructions()
{
	driver_measure yes '1000 instr.' "$@"
}
