# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_STYLE="formatting, checkpatch, sparse, W=1, clang-tidy, shellcheck, device \
trees (dtc, dtschema, stock ones with dmactl dt), man pages, licences, layers, prose, versions"
PACKAGES_STYLE=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" "${PACKAGES_TREES[@]}"
	clang-format clang-tidy git mandoc perl shellcheck sparse
)

suite_style()
{
	local scratch=$1 kernel kernels=(arm64-6.1) driver=yes

	cd "$TREE" || die "no tree"
	[ -n "$(style_files README.md)" ] ||
		die "git does not know the files of $TREE: style needs a clone"
	tally_check "licences: a line in every file" style_licences
	if clang-format --version | grep -q ' 14\.'; then
		tally_check "clang-format" style_format
	elif tally_wants "clang-format"; then
		tally_add "clang-format: the tree has the form of version 14" 0 0 1
	fi
	tally_check "layers: includes and calls point down" \
		/usr/bin/python3 "$TREE/tools/lib/layers.py" tools/layers
	# Builds of all modules and checkpatch last a minute and a half.
	[ "$FULL" = yes ] || [ -n "$PATTERN" ] ||
		style_changes | grep -qE '^(driver|include|tests/.*/dray_)' ||
		driver=no
	[ "$driver$QUICK" != yesno ] || tally_check "checkpatch --strict on kernel code" \
		style_checkpatch "$scratch"
	tally_check "shellcheck" style_shell
	tally_check "device trees: warnings, the binding, references" \
		style_bindings "$scratch/trees"
	tally_check "man pages" style_manuals
	tally_check "prose: what/who and if/when per 1000 words, phrases" \
		/usr/bin/python3 -B tools/lib/prose.py
	tally_check "pages: each path exists" \
		/usr/bin/python3 -B tools/lib/paths.py
	tally_check "one version everywhere" style_version
	tally_check "udev rule: for a group, never for everyone" style_rule
	[ "$QUICK" = no ] || return 0
	[ "$FULL" = no ] || kernels+=(amd64-6.12 amd64-6.1)
	[ "$driver" = yes ] || kernels=()
	for kernel in "${kernels[@]}"; do
		tally_check "sparse and W=1 on $kernel" style_module \
			"${kernel%-*}" "${kernel#*-}" "$scratch/$kernel"
	done
	tally_check "clang-tidy" style_tidy
	[ "$FULL" = no ] || tally_check "dmactl dt: stock trees have no error" \
		style_stock "$scratch/trees"
}

# style_files PATTERN...: lists the tree's files, tracked or new
style_files()
{
	git -c safe.directory="$TREE" ls-files -co --exclude-standard "$@" |
		while read -r file; do
			[ ! -f "$file" ] || printf '%s\n' "$file"
		done
}

# style_changes: prints the files that the last commit or a later edit changed; of a
# clone without history only the latter
style_changes()
{
	since_files "$(git -c safe.directory="$TREE" rev-parse -q --verify HEAD~1 ||
		echo HEAD)"
}

# REUSE-IgnoreStart
style_licences()
{
	local file want said status=0

	while read -r file; do
		case $file in
		LICENSES/* | *.png | *.svg | *.json | *.ipynb | *.abi.xz | */py.typed) continue ;;
		# The licence of a patch is the licence of the file that it changes.
		docs/upstream/*.patch) continue ;;
		# Forms of Debian's without comments.
		debian/changelog | debian/copyright | debian/source/format | \
			debian/*.dkms) continue ;;
		driver/* | include/linux/* | Kbuild) want='GPL-2.0-only' ;;
		include/uapi/*) want='GPL-2.0-only WITH Linux-syscall-note' ;;
		*) want='Apache-2.0 OR MIT' ;;
		esac
		said=$(head -n 5 "$file" |
			sed -n 's/.*SPDX-License-Identifier: *//p' |
			sed 's/ *\(\*\/\|-->\) *$//')
		case $file in
		# Pages that are read as plain text may lack the line.
		*.md | */README | docs/abi/*) [ -n "$said" ] || continue ;;
		# Build files may use either licence.
		Kbuild | */Kbuild | dkms.conf | driver/Makefile | driver/*.rules)
			case $said in
			GPL-2.0-only | 'Apache-2.0 OR MIT') continue ;;
			esac
			;;
		esac
		[ "$said" != "$want" ] || continue
		echo "$file: says \"$said\", not \"$want\""
		status=1
	done < <(style_files)
	return "$status"
}
# REUSE-IgnoreEnd

# Excludes headers: clang-format would not keep the columns of their field comments.
style_format()
{
	local files

	mapfile -t files < <(style_files '*.c')
	[ "${#files[@]}" -gt 0 ] || return 1
	clang-format --dry-run -Werror "${files[@]}"
}

style_checkpatch()
{
	local source file files status=0

	source=$(kernel_source 6.12) || return 1
	mapfile -t files < <(style_files 'driver/*.c' 'driver/*.h' \
		'include/linux/*.h' 'tests/engine/dray_test_*.[ch]' \
		'tests/iommu/dray_*.c' 'tests/streams/dray_test_*.c' \
		'tests/xrt/dray_test_*.c' \
		tests/checkers/dray_test_faults.c |
		grep -vx driver/memory/trace.h)
	[ "${#files[@]}" -gt 0 ] || { echo "no files in driver/"; return 1; }
	# Only the kernel's tree contains a MAINTAINERS file.
	printf '%s\n' "${files[@]}" include/uapi/linux/dray.h |
		xargs -P "$(nproc)" -n 10 perl "$source/scripts/checkpatch.pl" \
		--no-tree --strict --quiet --terse --show-types --color=never \
		--ignore FILE_PATH_CHANGES --file || status=$?
	# Headers of tracepoints follow a special form.
	perl "$source/scripts/checkpatch.pl" --no-tree --strict --quiet \
		--terse --show-types --color=never --ignore \
		FILE_PATH_CHANGES,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT \
		--file driver/memory/trace.h || status=$?
	return "$status"
}

style_shell()
{
	local file files=()

	while read -r file; do
		case $file in
		*.sh) files+=("$file") ;;
		*)
			head -n 1 "$file" | tr -d '\0' |
				grep -qE '^#!.*\b(ba|da|)sh\b' && files+=("$file")
			;;
		esac
	done < <(style_files)
	[ "${#files[@]}" -gt 0 ] || return 1
	shellcheck "${files[@]}"
}

style_bindings()
{
	local files

	mapfile -t files < <(style_files 'dts/*.dts' 'dts/*.dtso')
	[ "${#files[@]}" -gt 0 ] || return 1
	trees_check "$1" "${files[@]}"
}

style_manuals()
{
	local files

	mapfile -t files < <(style_files 'docs/man/*.[0-9]')
	[ "${#files[@]}" -gt 0 ] || { echo "no man pages"; return 1; }
	mandoc -T lint -W warning "${files[@]}"
}

# Checks that the node's rule grants access to a group only: no bits for everyone, no
# tag or program that might add access.
style_rule()
{
	local rule

	rule=$(grep -v '^#' "$TREE/driver/60-dray.rules")
	[ "$rule" = 'SUBSYSTEM=="misc", KERNEL=="dray[0-9]*", GROUP="dray", MODE="0660"' ] ||
		{ printf '%s\n' "$rule"; return 1; }
}

# style_stock FOLDER: the trees of Debian's kernels, and those that style_bindings left
style_stock()
{
	local architecture kernel trees=()

	build_native || return 1
	for architecture in arm64 armhf; do
		kernel=$(kernel_make "$architecture" 6.1) || return 1
		mapfile -t -O "${#trees[@]}" trees < <(find \
			"$kernel"/usr/lib/linux-image-* -name '*.dtb')
	done
	mapfile -t -O "${#trees[@]}" trees < <(find "$1" -name '*.base' -o \
		-name '*.dtb' -size +0)
	/usr/bin/python3 -B "$TREE/tools/lib/stock_trees.py" \
		"$(build_folder native)/tools/dmactl/dmactl" 1000 "${trees[@]}"
}

# Most kernels clear unset variables, but not all.
STYLE_UNSET='-ftrivial-auto-var-init=uninitialized -Wmaybe-uninitialized'

# style_module ARCHITECTURE SERIES FOLDER: a silent build
style_module()
{
	local kernel folder name symbols=()

	kernel=$(kernel_make "$1" "$2") || return 1
	module_copy "$3" || return 1
	for name in '' engine checkers iommu streams; do
		folder=$3${name:+.$name}
		# dray.ko is first: others may use its symbols.
		[ -z "$name" ] || {
			module_test_copy "$name" "$folder" || return 1
			symbols=("DRAY=$TREE" "FPGA=$TREE/tools/fpga.d"
				"KBUILD_EXTRA_SYMBOLS=$3/Module.symvers")
		}
		module_kbuild "$kernel" "$folder" C=2 W=1 \
			"KCFLAGS=$STYLE_UNSET" "${symbols[@]}" ||
			echo "it failed"
	done >"$3.log" 2>&1
	# The compiler's name differs, but not its version, from Debian's builder;
	# and there is no vmlinux with types for BTF.
	grep -vE -e 'the compiler differs from the one used' \
		-e '^ +(The kernel was built by|You are using):' \
		-e '^Skipping BTF generation' "$3.log" || return 0
	return 1
}

# Reads the files that the last commit, or a later edit, changed; with --full all.
# Checks a clean file again only if it, a header or the configuration changed.
style_tidy()
{
	local files headers file name status=0

	build_native || return 1
	# The native build finds archives, so it compiles neither their stand-in nor vectors of
	# another machine.
	mapfile -t files < <(style_files 'userspace/*.c' 'tools/*.c' \
		':!userspace/array/file/npz_none.c' \
		':!userspace/array/loops/elementary_neon*.c')
	[ "${#files[@]}" -gt 0 ] || return 1
	[ "$FULL" = yes ] || mapfile -t files < <(
		grep -xF -f <(style_changes) <(printf '%s\n' "${files[@]}"))
	headers=$(style_files 'include/*.h' 'userspace/*.h' 'tools/*.h' \
		'*.clang-tidy' meson.build | xargs cat | cache_key)
	mkdir -p "$CACHE/tidy"
	cache_prune tidy/
	for file in "${files[@]}"; do
		# shellcheck disable=SC2094 # it is only read
		name=$CACHE/tidy/$(cache_key "$headers" "$file" <"$file")
		[ ! -e "$name" ] || touch "$name"
		[ -e "$name" ] || printf '%s %s\n' "$name" "$file"
	done >"$SCRATCH/tidy"
	# Options of gcc alone.
	mkdir -p "$SCRATCH/commands"
	sed 's/ -fno-tree-[a-z-]*//g; s/ -fvect-cost-model=[a-z]*//g' \
		"$(build_folder native)/compile_commands.json" \
		>"$SCRATCH/commands/compile_commands.json"
	# shellcheck disable=SC2016 # the inner shell replaces them
	xargs -r -P "$(nproc)" -L 1 sh -c 'clang-tidy --quiet -p "$0" "$2" \
		2>"$1.said" && mv "$1.said" "$1" || {
			grep -v "warnings generated" "$1.said"
			rm -f "$1.said"
			exit 1
		}' "$SCRATCH/commands" <"$SCRATCH/tidy" || status=1
	return "$status"
}

# meson.build sets the version.  Files that cannot read it there repeat it: DKMS
# parses its file as text, and the driver lives without meson in a kernel tree.
style_version()
{
	local file version place status=0 places=(
		'driver/**/node.h:#define DRAY_MODULE_VERSION "@"'
		'dkms.conf:PACKAGE_VERSION="@"'
		'docs/board.md:    dkms install dray/@'
		'debian/changelog:dray (@)'
	)

	version=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build)
	[ -n "$version" ] || { echo "meson.build: no version"; return 1; }
	for place in "${places[@]}"; do
		file=$(style_files ":(glob)${place%%:*}")
		place=${place#*:}
		[ -n "$file" ] && grep -qF -- "${place/@/$version}" "$file" &&
			continue
		echo "${file:-no file}: does not say ${place/@/$version}"
		status=1
	done
	return "$status"
}
