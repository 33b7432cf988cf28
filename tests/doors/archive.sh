#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Kernels of an invented archive, which lacks a package, changes, or answers with an
# error, and modules of an invented index: each case ends in the newest version that is
# whole, or names the package.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"
export DRAY_CACHE=$folder/cache
# shellcheck source=tools/load.sh
. "$TREE/tools/load.sh"
SCRATCH=$folder archive=$folder/archive host=$(dpkg --print-architecture)
address=file:$archive
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT

foreign_suites()
{
	echo invented
}

foreign_source()
{
	echo "deb [trusted=yes] $address ./"
}

# add NAME ARCHITECTURE [DEPENDS]: a package, with the files that a kernel needs
add()
{
	local tree=$folder/tree version=${1#linux-*-}

	rm -rf "$tree"
	mkdir -p "$tree/DEBIAN" "$archive"
	case $1 in
	linux-image-*)
		mkdir -p "$tree/boot" "$tree/lib/modules/$version"
		echo image >"$tree/boot/vmlinuz-$version"
		touch "$tree/lib/modules/$version"/modules.{order,builtin}
		;;
	linux-headers-*)
		mkdir -p "$tree/usr/src/linux-headers-$version"
		echo "include /usr/src/x" \
			>"$tree/usr/src/linux-headers-$version/Makefile"
		;;
	esac
	cat >"$tree/DEBIAN/control" <<-CONTROL
	Package: $1
	Version: 1
	Architecture: $2
	Maintainer: nobody <nobody@example.org>
	Description: invented
	${3:+Depends: $3}
	CONTROL
	sed -i '/^$/d' "$tree/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$tree" \
		"$archive/$1_1_$2.deb" >/dev/null
}

# add_kernel VERSION [WITHOUT]: the packages of a kernel, but for WITHOUT
add_kernel()
{
	local name architecture=${1##*-}

	for name in $(kernel_packages "$1") "$(kernel_kbuild "$1")"; do
		case $name in
		"${2:-}") ;;
		linux-kbuild-*) add "$name" "$host" ;;
		*-common) add "$name" all ;;
		*) add "$name" "${architecture/armmp/armhf}" ;;
		esac
	done
}

# publish: writes the lists of the packages that are there
publish()
{
	local deb

	for deb in "$archive"/*.deb; do
		dpkg-deb -f "$deb"
		echo "Filename: ./${deb##*/}"
		echo "Size: $(stat -c %s "$deb")"
		echo "SHA256: $(sha256sum <"$deb" | cut -d ' ' -f 1)"
		echo
	done >"$archive/Packages"
	cat >"$archive/Release" <<-RELEASE
	Suite: invented
	Date: $(LC_ALL=C date -uR)
	SHA256:
	 $(sha256sum <"$archive/Packages" | cut -d ' ' -f 1) $(stat -c %s "$archive/Packages") Packages
	RELEASE
}

# afresh: an empty archive, and an empty cache
afresh()
{
	rm -rf "$archive" "$DRAY_CACHE"
	mkdir -p "$archive" "$DRAY_CACHE/locks"
}

# old MINUTES: the lists were made so long ago
old()
{
	touch -d "$1 minutes ago" "$DRAY_CACHE"/apt/*/updated
}

# limited COMMAND...: runs a function of tools/lib on the invented archive, and ends it if it
# is stuck.  Each takes a few seconds.
limited()
{
	timeout 60 bash -c "$(declare -p TREE SCRATCH address)
		. '$TREE/tools/load.sh'
		$(declare -f foreign_suites foreign_source)
		\"\$@\"" "$0" "$@" </dev/null
}

# made SERIES [ARCHITECTURE]: makes the kernel; its version is in $version, the messages in
# $said, the seconds in $took
made()
{
	local kernel started=$SECONDS

	version=none
	kernel=$(limited kernel_make "${2:-arm64}" "$1" 2>"$folder/said") &&
		version=$(kernel_version "$kernel")
	said=$(cat "$folder/said") took=$((SECONDS - started))
}

# judge NAME VERSION WORDS: a fact about the kernel made; nothing else stays
judge()
{
	is "$1: the version" "$version" "$2"
	like "$1: the message" "$said" "*$3*"
	is "$1: nothing half made stays" "$(ls "$DRAY_CACHE/partial")" ''
	[ "$took" -lt 60 ]
	ok $? "$1: within 60 seconds, after $took"
}

while read -r architecture series older newer; do
	afresh
	add_kernel "$older"
	add_kernel "$newer" "linux-image-$newer"
	publish
	made "$series" "$architecture"
	judge "$newer, headers without an image" "$older" \
		"linux-image-$newer is not in the archive"
done <<-TABLE
	arm64 6.1 6.1.0-9-arm64 6.1.0-10-arm64
	armhf 6.1 6.1.0-9-armmp 6.1.0-10-armmp
	amd64 6.1-cloud 6.1.0-9-cloud-amd64 6.1.0-10-cloud-amd64
	amd64 6.12-cloud 6.12.9+deb12-cloud-amd64 6.12.10+deb12-cloud-amd64
TABLE

afresh
add_kernel 6.12.8+deb12-arm64
add_kernel 6.12.9+deb12-arm64 linux-kbuild-6.12.9+deb12
publish
made 6.12-debian
judge 'an image without build programs' 6.12.8+deb12-arm64 \
	'linux-kbuild-6.12.9+deb12 is not in the archive'

afresh
add_kernel 6.1.0-8-arm64
add_kernel 6.1.0-9-arm64
publish
limited foreign_names arm64 x 2>/dev/null
rm "$archive/linux-image-6.1.0-9-arm64_1_arm64.deb"
made 6.1
judge 'a listed package that is gone' 6.1.0-8-arm64 \
	'linux-image-6.1.0-9-arm64 cannot be downloaded'

afresh
add_kernel 6.1.0-8-arm64
publish
limited foreign_names arm64 x 2>/dev/null
rm "$archive"/*
add_kernel 6.1.0-9-arm64
publish
old 1000
made 6.1
judge 'lists of this day, before a change' 6.1.0-9-arm64 'kernel 6.1.0-9-arm64'
rm -rf "$DRAY_CACHE/kernels"
rm "$archive"/*
add_kernel 6.1.0-10-arm64
publish
old 1500
made 6.1
judge 'lists of the day before' 6.1.0-10-arm64 'fetching the package lists'

afresh
add_kernel 6.1.0-9-arm64 linux-headers-6.1.0-9-common
publish
made 6.1
judge 'no whole kernel' none \
	'linux-headers-6.1.0-9-common is not in the archive'

afresh
for name in binutils make dash coreutils sed grep findutils mawk; do
	add "$name" amd64
done
add linux-headers-6.12.8+deb13-amd64 amd64 make
add linux-headers-6.12.9+deb13-amd64 amd64 linux-compiler-gcc-14-x86
publish
is 'a compiler that is missing: the next older headers' \
	"$(limited release_version trixie 2>"$folder/said")" 6.12.8+deb13-amd64
like 'a compiler that is missing: the message' "$(cat "$folder/said")" \
	'*linux-headers-6.12.9+deb13-amd64 needs linux-compiler-gcc-14-x86*'

afresh
add_kernel 6.1.0-9-arm64
publish
address=http://127.0.0.1:1
export no_proxy=127.0.0.1
made 6.1
judge 'a mirror that is down' none '127.0.0.1'
address=file:$archive
made 6.1
judge 'the mirror is back' 6.1.0-9-arm64 'kernel 6.1.0-9-arm64'
address=http://127.0.0.1:1
old 1500
DRAY_UPDATE=1 made 6.1
judge 'an update without a mirror keeps the kernel' 6.1.0-9-arm64 '127.0.0.1'

# An error for the first request of each file.
afresh
add_kernel 6.1.0-9-arm64
publish
python3 -c '
import functools, http.server, sys

class Once(http.server.SimpleHTTPRequestHandler):
    seen = set()

    def do_GET(self):
        if self.path in self.seen:
            return super().do_GET()
        self.seen.add(self.path)
        self.send_error(503)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(Once, directory=sys.argv[1]))
print(server.server_address[1], flush=True)
server.serve_forever()' "$archive" >"$folder/port" &
# shellcheck disable=SC2016 # the inner shell replaces it
timeout 60 sh -c 'until [ -s "$0" ]; do sleep 0.1; done' "$folder/port"
address=http://127.0.0.1:$(cat "$folder/port")
made 6.1
judge 'a mirror with an error for each first request' 6.1.0-9-arm64 \
	'kernel 6.1.0-9-arm64'

# An index of PyPI whose newest version is older than the wanted one.
afresh
cat >"$folder/wheel.py" <<'WHEEL'
import sys, zipfile

with zipfile.ZipFile(sys.argv[1] + "/invented-1.9-py3-none-any.whl", "w") as wheel:
    wheel.writestr("invented.py", "")
    info = "invented-1.9.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: invented\nVersion: 1.9\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "")
WHEEL
python3 "$folder/wheel.py" "$archive"
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$archive
echo "invented==2.0" >"$folder/wanted"
is 'a version that PyPI lacks: the next older one' \
	"$(ls -d "$(limited pypi_set invented "$folder/wanted" 2>"$folder/said")"/*-info)" \
	"$(echo "$DRAY_CACHE"/pypi/*/invented-1.9.dist-info)"
like 'a version that PyPI lacks: the message' "$(cat "$folder/said")" \
	'*invented==2.0*older versions: invented-1.9*'
echo "absent==2.0" >"$folder/wanted"
is 'no version on PyPI: no set' \
	"$(limited pypi_set absent "$folder/wanted" 2>"$folder/said")" ''
like 'no version on PyPI: the message' "$(cat "$folder/said")" \
	'*absent*cannot fetch the modules of*'
is 'pinned versions are fetched by pypi_install alone' \
	"$(git -C "$TREE" -c "safe.directory=$TREE" grep -lE -- '--requiremen[t]')" \
	tools/lib/python.sh

finish
