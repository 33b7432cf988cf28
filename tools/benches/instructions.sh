# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite instructions: suite driver on a machine whose clock counts instructions, so
# that the host's load has no effect.

ABOUT_BENCH_INSTRUCTIONS='the same as driver, in instructions instead of time'
PACKAGES_BENCH_INSTRUCTIONS=("${PACKAGES_GUEST[@]}")
DOCUMENT_BENCH_INSTRUCTIONS=docs/cost.md

bench_instructions()
{
	driver_measure yes '1000 instr.' "$@"
}
