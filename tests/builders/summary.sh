#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# meson ends with a summary: what is built, what is not and why, and for which Python.
# Sets up a build without any library, with a Python that lacks NumPy.  Prints TAP.
#
#	summary.sh
#
# Needs: the tree as the current folder; meson, python3-dev, python3-venv.

# shellcheck source=tests/fact.sh
. tests/fact.sh
unset PYTHONPATH
mkdir "$folder/libraries"
/usr/bin/python3 -m venv --without-pip "$folder/venv"

run meson_sets_up_without_them env "PKG_CONFIG_LIBDIR=$folder/libraries" \
	"VIRTUAL_ENV=$folder/venv" /usr/bin/meson setup -Dtests=disabled \
	-Ddefault_library=both "$folder/build"
sed '1,/^dray [0-9.]*$/d' "$folder/said" >"$folder/summary"

# states KEY PATTERN: a fact about that line of the summary
states()
{
	like "it_has_$(echo "$1" | tr -c 'a-zA-Z\n' _)" \
		"$(sed -n "s/^ *$1 *: //p" "$folder/summary")" "$2"
}

states interpreter "$folder/venv/bin/python3"
states 'of NumPy' none
states 'Python package' 'no: missing NumPy'
states dmactl 'no: missing jansson (libjansson-dev)'
states 'dmactl top' 'no: missing ncurses (libncurses-dev) or dmactl'
states 'unit tests' 'no: -Dtests=disabled'
states 'manual pages of functions' yes
states library both
states 'a fully static program' 'loads no library by dlopen(): *'
finish
