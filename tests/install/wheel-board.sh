#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# An unpacked wheel works on a board without an installed libdray: it shows the node,
# and its engine copies.  Prints TAP.
#
#	wheel-board.sh FOLDER
#
# Needs: a board with dray.ko and an engine that copies; Python with NumPy 1.24.

# shellcheck source=tests/install/package.sh
. tests/install/package.sh
PYTHONPATH=$(realpath "$1")
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

copies()
{
	python3 - <<-'PYTHON'
	import dray, numpy
	with dray.memory():
	    source = numpy.arange(1 << 16, dtype="u1").reshape(256, 256)
	    copy = numpy.zeros((128, 256), "u1")
	assert dray.handler_name(source).startswith("dray kernel"), dray.handler_name(source)
	dray.copy(copy, source[::2], engine=True)
	assert (copy == source[::2]).all()
	PYTHON
}

is nothing_else_is_installed "$(find /usr /job -name 'libdray*' | grep -v "^$PYTHONPATH/")" ''
is it_has_a_library_of_its_own "$(libraries python3)" \
	"$(echo "$PYTHONPATH"/dray/libdray*.so*)"
run it_works_with_debians_numpy works python3 1.24
run it_shows_itself python3 -m dray --json
is it_shows_the_node "$(grep -o '"/dev/dray0"\|"default": .*' "$folder/said")" \
	"$(printf '"default": "dray0",\n"/dev/dray0"')"
run an_engine_copies copies
finish
