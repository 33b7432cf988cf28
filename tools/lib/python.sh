# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Modules from PyPI in folders for PYTHONPATH, and a Python without a GIL, which
# Debian 12 lacks.  Runs a package's own tests with dray's handler and without.

PACKAGES_PYPI=(python3-pip)
# For the modules of Python that the tests of NumPy use.
PACKAGES_FREE=(gcc libbz2-dev libffi-dev liblzma-dev make xz-utils zlib1g-dev)
FREE_PYTHON=3.13

# pypi_set NAME REQUIREMENTS [PIP OPTION]...
#
# Prints the folder with the modules that a file of pinned versions names, for
# Debian's Python or the Python that pip options describe.
pypi_set()
{
	cache_entry "pypi/$1-$(uname -m)-$(cache_key "${@:3}" <"$2")" \
		"cannot fetch the modules of $2" pypi_fetch "$2" "${@:3}"
}

pypi_fetch()
{
	pypi_install "$1" --target "${*: -1}" "${@:2:$#-2}"
}

# pypi_install REQUIREMENTS --target|--prefix FOLDER [PIP OPTION]...: installs the
# versions of the file, or the newest older versions that the index holds
pypi_install()
{
	local older=${SCRATCH:?}/older-$BASHPID pip=(
		log_quietly /usr/bin/python3 -m pip install --quiet --no-deps
		--only-binary :all: --root-user-action ignore
		--disable-pip-version-check "${@:2}"
	)

	log_note "fetching from PyPI: $(sed -n '/^[a-z]/p' "$1" | tr '\n' ' ')"
	"${pip[@]}" --requirement "$1" && return
	sed 's/==/<=/' "$1" >"$older"
	"${pip[@]}" --requirement "$older" || return
	log_note "older versions: $(find "$3" -name '*.dist-info' -printf '%f ')"
}

# pypi_prefix NAME REQUIREMENTS: like pypi_set for Debian's Python, with the libraries
# beside the modules; prints the folder lib, which has both
pypi_prefix()
{
	local set

	set=$(cache_entry "pypi/$1-$(uname -m)-$(cache_key prefix <"$2")" \
		"cannot fetch the modules of $2" pypi_fetch_prefix "$2") &&
		printf '%s\n' "$set/local/lib"
}

pypi_fetch_prefix()
{
	pypi_install "$1" --prefix "$2" --ignore-installed
}

# free_ready: builds for a Python without a GIL; sets the caller's variables python
# and packages to its folder and the folder of NumPy 2
free_ready()
{
	# shellcheck disable=SC2154 # tally_fetch sets them
	tally_fetch "has a Python without a GIL" python free_python &&
		tally_fetch "fetches NumPy 2 for it" packages free_pypi_set \
			numpy "$TREE/tests/numpy/requirements.txt" &&
		tally_run "builds for it" build_free free "$python" "$packages"
}

# free_python: prints the folder of a free-threaded CPython, built from Debian 13's
# source, as neither Debian nor PyPI has a package
free_python()
{
	local entry

	entry=python/free-$FREE_PYTHON-$(uname -m)-$(cache_key < <(
		declare -f free_python_build))
	[ -e "$CACHE/$entry" ] || packages_need "${PACKAGES_FREE[@]}"
	cache_entry "$entry" "cannot build a Python without a GIL" \
		free_python_build
}

free_python_build()
{
	local into=$1 source=$1.source status=0

	rm -rf "$source"
	log_note "building Python $FREE_PYTHON without a GIL, once"
	foreign_tarball trixie "python$FREE_PYTHON" "$source" || return 1
	tar -C "$source" --strip-components=1 -xf "$source"/*.orig.tar.xz ||
		return 1
	(
		cd "$source" || exit 1
		# Builds quickly rather than for speed; includes the modules for
		# tests, but not Python's own tests.
		OPT='-O1 -DNDEBUG' log_quietly ./configure --prefix="$into" \
			--disable-gil --without-ensurepip &&
			log_quietly make -j "$(nproc)" &&
			log_quietly make install TEST_MODULES=no
	) || status=$?
	rm -rf "$source"
	return "$status"
}

# free_pypi_set NAME REQUIREMENTS: like pypi_set, for the Python without a GIL
free_pypi_set()
{
	pypi_set_of "$(uname -m)" "$FREE_PYTHON" "cp${FREE_PYTHON/./}t" "$@"
}

# board_pypi_set NAME REQUIREMENTS: like pypi_set, for Debian's Python on arm64
board_pypi_set()
{
	pypi_set_of aarch64 3.11 cp311 "$@"
}

# board_copy_numpy PACKAGES JOB: copies NumPy, and dray for it, to numpy2 in the folder
# JOB; without files for developers, since files of a job lie in the board's memory
board_copy_numpy()
{
	local build

	build=$(build_folder arm64-numpy2)
	mkdir -p "$2/numpy2"
	cp -r "$1"/numpy{,.libs} "$build/userspace/python/dray" "$2/numpy2"
	find "$2/numpy2" \( -name tests -o -name include -o -name f2py \
		-o -name '*.p' -o -name '*.pyi' -o -name '*.a' \) \
		-prune -exec rm -r {} +
	build_copy_libraries "$build" "$2/numpy2"
}

# pypi_set_of CPU VERSION ABI NAME REQUIREMENTS
pypi_set_of()
{
	local glibc platforms=()

	for glibc in 17 27 28; do
		platforms+=(--platform "manylinux_2_${glibc}_$1")
	done
	pypi_set "$4" "$5" --implementation cp --python-version "$2" \
		--abi "$3" --abi none "${platforms[@]}" --platform any
}

# python_count NAME KIND LOG PYTHON PACKAGES ARGUMENT...
#
# Runs Python with the build KIND and further packages on the host, and counts its
# tests.
python_count()
{
	local name=$1 kind=$2 log=$3 python=$4 packages=$5 status=0 preload=''
	local run=(timeout --foreground 3600)

	case $kind in
	*sanitized)
		preload="$(gcc -print-file-name=libasan.so) $(
			gcc -print-file-name=libubsan.so)"
		;;
	races)
		preload=$(gcc -print-file-name=libtsan.so)
		run=(setarch -R "${run[@]}")
		;;
	esac
	# Python keeps memory until it ends: not a leak of dray.  fork() takes more locks
	# than the thread sanitizer's search for deadlocks has room for.
	(cd "${log%/*}" && DRAY_BACKEND=host LD_PRELOAD=$preload \
		PATH=${packages:+$packages/bin:}$PATH PYTHONDONTWRITEBYTECODE=1 \
		PYTHONPATH=${packages:+$packages:}$(build_folder "$kind")/userspace/python \
		ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1 \
		TSAN_OPTIONS=halt_on_error=1:detect_deadlocks=0:allocator_may_return_null=1:ignore_noninstrumented_modules=1 \
		"${run[@]}" "$python" "${@:6}" </dev/null) >"$log" 2>&1 ||
		status=$?
	tally_counts "$name" "$status" "$log"
}

# compare_tests FOLDER NAME KIND SCRATCH PYTHON PACKAGES [OPTION]...
#
# Runs tests/FOLDER/run on the host with the build KIND; counts its tests.
compare_tests()
{
	python_count "$2: own tests" "$3" "$4/$3" "$5" "$6" \
		"$TREE/tests/$1/run" "${@:7}"
	grep -E '^[a-z]+ [^ ]+ on .*, handler ' "$4/$3" | while read -r line; do
		log_note "         $line"
	done
}
