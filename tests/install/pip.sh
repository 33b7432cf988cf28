#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Installs the Python package as docs/laptop.md says, and in other venvs, by pip and by
# meson, for the NumPy that is there.  Prints TAP.
#
#	tests/install/pip.sh
#
# Needs: the tree around it, of which it works on a copy; a Debian whose packages apt can
# fetch; PyPI; root.  Installs packages, so a copy of a root.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/install/package.sh
. tests/install/package.sh
trap 'rm -rf "$folder"' EXIT
tree=$folder/tree
mkdir "$tree"
tar -c --exclude=./build --exclude=./.git . | tar -C "$tree" -x
# Debian's python3, as the page has it.
PATH=/usr/bin:$PATH
cd "$tree" || exit 2
export DEBIAN_FRONTEND=noninteractive

# In an active venv, with Debian's meson
in_venv() # NAME COMMAND...
{
	where=$folder/$1
	shift
	VIRTUAL_ENV=$where PATH=$where/bin:/usr/bin:/bin "$@"
}

page=docs/laptop.md
install_block 'sudo apt-get install'
is the_page_makes_a_venv_and_installs_into_it "$(grep -v apt-get "$folder/block")" \
	"$(printf '%s\n' 'python3 -m venv dray-env' 'dray-env/bin/pip install .')"
for program in first share; do
	save "$program.py"
	run_line "$(block "dray-env/bin/python $program.py")"
	cp "$folder/said" "$folder/$program"
done
is arrays_lie_in_memory_of_the_host "$(sed 1q "$folder/first")" \
	'dray host and default_allocator'
is workers_change_the_rows_of_their_parent "$(cat "$folder/share")" 800000.0
installs=$(block 'sudo apt-get install')
page=docs/stream.md
is the_page_of_streams_installs_by_the_same_commands \
	"$(block 'sudo apt-get install')" "$installs"
save packet.py
run_line "$(block 'dray-env/bin/python packet.py')"
is a_packet_passes_the_loop "$(cat "$folder/said")" '32 elements, the first is 0'
ln -s "$tree/dray-env" "$folder/two"
run it_works_with_numpy_2 works "$folder/two/bin/python" 2
# The wheels of NumPy 1 end with Python 3.12, those of 1.24 with 3.11.
if [ "$(python3 -c 'import sys; print(sys.version_info < (3, 12))')" = True ]; then
	run pip_installs_it_beside_numpy_1.26 venv one "$tree" 'numpy==1.26.*'
	run it_works_with_numpy_1.26 works "$folder/one/bin/python" 1.26
	run the_same_package_goes_with_numpy_1.24 \
		"$folder/one/bin/pip" install --quiet 'numpy==1.24.*'
	run it_works_with_numpy_1.24 works "$folder/one/bin/python" 1.24
fi
own=$(echo "$tree"/dray-env/lib/python3*/site-packages/dray/libdray*.so.*)
is it_has_a_library_of_its_own "$(libraries "$folder/two/bin/python")" "$own"

run meson_can_be_had apt-get install -y meson
run a_venv_has_numpy_2 venv meson 'numpy>=2'
run meson_sets_up_in_it in_venv meson /usr/bin/meson setup "$folder/build" \
	"$tree" --prefix "$folder/prefix" -Dpython=enabled \
	-Ddmactl=disabled -Dtests=disabled
run meson_builds_in_it in_venv meson /usr/bin/meson install -C "$folder/build"
PYTHONPATH=$folder/build/userspace/python
export PYTHONPATH
run what_it_built_works_with_its_numpy works "$folder/meson/bin/python" 2
PYTHONPATH=$(echo "$folder"/prefix/lib/python3*/*-packages)
run a_private_prefix_needs_no_path_of_libraries \
	works "$folder/meson/bin/python" 2
unset PYTHONPATH
installed=$(find "$folder/prefix" -name libdray.so.0)
is a_library_that_is_loaded_is_taken \
	"$(libraries "$folder/two/bin/python" "$installed" | tr ' ' '\n' | grep -v array)" \
	"$(readlink -f "$installed")"

finish
