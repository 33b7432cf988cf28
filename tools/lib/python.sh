# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# What Debian 12 has no package of: modules from PyPI, in folders of the cache for
# PYTHONPATH.

# shellcheck disable=SC2034 # front doors use it
PACKAGES_PYPI=(python3-pip)

# pypi_set NAME REQUIREMENTS [PIP OPTION]...
#
# The folder with the modules that a file of pinned versions names, on standard
# output; for the Python of Debian, or for the one that options of pip describe.
pypi_set()
{
	local entry

	entry=pypi/$1-$(uname -m)-$(cache_key "${@:3}" <"$2")
	cache_make "$entry" pypi_fetch "$2" "${@:3}" ||
		die "cannot fetch what $2 names"
	printf '%s\n' "$CACHE/$entry"
}

pypi_fetch()
{
	local requirements=$1 into=${*: -1}
	local options=("${@:2:$#-2}")

	log_note "fetching from PyPI: $(sed -n '/^[a-z]/p' "$requirements" |
		tr '\n' ' ')"
	log_quietly /usr/bin/python3 -m pip install --quiet --no-deps \
		--only-binary :all: --root-user-action ignore \
		--disable-pip-version-check --target "$into" \
		"${options[@]}" --requirement "$requirements"
}
