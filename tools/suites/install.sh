# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_INSTALL="a new user's commands, taken from the pages: the module built by \
hand and with DKMS in a fresh Debian 12, the udev rule on the board, the Python \
package by pip in venvs, cross builds, and Debian packages, installed and purged"
PACKAGES_INSTALL=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" git mmdebstrap python3-venv
	util-linux
)

suite_install()
{
	local scratch=$1 status=0

	install_rule "$scratch/rule"
	[ "$FULL" = yes ] || return 0
	install_new pip "$scratch/pip"
	DEBIAN_RELEASE=trixie install_new pip "$scratch/pip-trixie"
	install_new gone "$scratch/gone"
	DEBIAN_RELEASE=trixie install_new gone "$scratch/gone-trixie"
	install_wheels "$scratch/wheels"
	install_wheels_arm64 "$scratch/wheels-arm64"
	install_packages "$scratch/packages"
	install_copy image "$scratch/image"
	install_new readme "$scratch/readme"
	tally_wants build || return 0
	tally_run "a fresh Debian 12, with DKMS" install_machine "$scratch" ||
		return 0
	install_build "$scratch" >"$scratch/log" 2>&1 || status=$?
	tally_tap build "$status" "$scratch/log"
}

# install_wheels FOLDER: makes wheels of this machine's Pythons, and tries each
install_wheels()
{
	local status=0

	tally_wants wheels || return 0
	tally_run "tools/wheels makes wheels" "$TREE/tools/wheels" "$1" || return 0
	"$TREE/tests/install/wheels.sh" "$1" >"$1.log" 2>&1 </dev/null || status=$?
	tally_tap wheels "$status" "$1.log"
}

# install_wheels_arm64 FOLDER: makes the wheel of the board's Python, and tries it there
install_wheels_arm64()
{
	tally_wants wheels-arm64 || return 0
	tally_run "tools/wheels makes a wheel for the board" "$TREE/tools/wheels" \
		--arm64 "$1.made" /usr/bin/python3 || return 0
	batch_begin "$1"
	mkdir "$BATCH/job/tests"
	cp -r "$TREE"/tests/{install,fact.sh} "$BATCH/job/tests"
	/usr/bin/python3 -m zipfile -e "$1.made"/*.whl "$BATCH/job/wheel"
	batch_add tap wheels-arm64 'sh tests/install/wheel-board.sh wheel'
	GUEST_PYTHON=yes GUEST_LIMIT=3600 batch_boot "the wheel on the board"
	batch_count "the wheel on the board"
}

# What the tests of packages need, beside the build dependencies
INSTALL_DEBS=(adduser build-essential dkms kmod linux-headers-amd64 lintian)

# install_packages FOLDER
install_packages()
{
	local DEBIAN_PACKAGES=("${INSTALL_DEBS[@]}") status=0

	tally_wants debs || return 0
	mkdir -p "$1/tree"
	install_tree "$1/tree" || die "cannot copy the tree"
	debian_run "$1/tree" sh tests/install/packages.sh >"$1/log" 2>&1 \
		</dev/null || status=$?
	tally_tap debs "$status" "$1/log"
}

# install_copy NAME FOLDER: tests/install/NAME.sh
install_copy()
{
	local status=0

	tally_wants "$1" || return 0
	mkdir -p "$2/tree"
	install_tree "$2/tree" || die "cannot copy the tree"
	debian_run "$2/tree" sh "tests/install/$1.sh" >"$2/log" 2>&1 \
		</dev/null || status=$?
	tally_tap "$1 ($DEBIAN_RELEASE)" "$status" "$2/log"
}

# install_new NAME FOLDER: the same in a Debian that has nothing else
install_new()
{
	local DEBIAN_PACKAGES=(ca-certificates)

	install_copy "$1" "$2"
}

# install_tree FOLDER: a clean copy
install_tree()
{
	(cd "$TREE" && style_files | tar -c -T -) | tar -C "$1" -x
}

# install_machine FOLDER: copies the tree and the writable parts of the root
install_machine()
{
	local root version

	root=$(release_make bookworm) || return 1
	version=$(release_version bookworm) || return 1
	mkdir -p "$1"/{tree,dkms} || return 1
	cp -a "$root/usr/src" "$1/src" || return 1
	cp -a "$root/lib/modules" "$1/modules" || return 1
	install_tree "$1/tree" || return 1
	# Reports the kernel of the headers, as on a fresh machine.
	cat >"$1/uname" <<-UNAME
	#!/bin/sh
	case \$1 in
	-r) echo $version ;;
	-m) echo x86_64 ;;
	*) echo Linux ;;
	esac
	UNAME
	chmod +x "$1/uname"
}

install_build()
{
	release_run bookworm "$1/tree" "$1/src:/usr/src" "$1/dkms:/var/lib/dkms" \
		"$1/modules:/lib/modules" "$1/uname:/bin/uname" -- \
		env "MAKEFLAGS=-j$(nproc)" sh tests/install/build.sh
}

# install_rule FOLDER
install_rule()
{
	local module

	tally_wants rule || return 0
	tally_run "user space builds for the board" build_board tests/dmactl/dmactl-holder || return 0
	batch_begin "$1"
	module=$(module_dray "$(kernel_make arm64 6.1)") ||
		die "no module for the board"
	mkdir -p "$BATCH/job"/{driver,docs,tests}
	cp "$module/dray.ko" "$TREE/driver/60-dray.rules" "$BATCH/job/driver"
	cp -r "$TREE"/tests/{install,fact.sh} "$BATCH/job/tests"
	cp "$TREE/docs/board.md" "$BATCH/job/docs"
	cp "$TREE/tools/lib/guest-unload" \
		"$(find "$(build_folder arm64)" -name dmactl-holder -type f)" \
		"$BATCH/job"
	batch_add tap rule 'sh tests/install/node.sh'
	(
		GUEST_BOARD=zcu102 GUEST_DRAY=no GUEST_UDEV=yes GUEST_LIMIT=3600
		GUEST_ROOTS=("$(build_board_root)")
		batch_boot "the udev rule on the board"
	)
	batch_count "the udev rule on the board"
}
