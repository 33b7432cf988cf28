# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Debian packages of another architecture, release or kernel.  They are fetched
# with an apt state of their own and unpacked in the cache.  The system's
# packages and lists stay unchanged, no maintainer script runs, and root is not
# needed.
#
# An architecture is named as arm64, or as amd64@trixie for another release.

# foreign_suites ARCHITECTURE
foreign_suites()
{
	case $1 in
	*@trixie) echo trixie trixie-backports ;;
	*) echo bookworm bookworm-updates bookworm-security ;;
	esac
}

# foreign_mirror SUITE: this machine's mirror of the suite, or the public one
foreign_mirror()
{
	local uri

	# shellcheck disable=SC2016 # apt replaces these words, not the shell
	uri=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
		'Created-By: Packages' 2>/dev/null |
		awk -v suite="$1" '$2 == suite && $1 ~ /debian/ {
			print $1; exit }')
	case $1 in
	*-security) uri=${uri:-http://deb.debian.org/debian-security} ;;
	*) uri=${uri:-http://deb.debian.org/debian} ;;
	esac
	printf '%s\n' "${uri%/}"
}

# foreign_apt ARCHITECTURE apt-get|apt-cache ARGUMENT...
foreign_apt()
{
	local architecture=$1 program=$2 state=$CACHE/apt/$1

	shift 2
	"$program" -q -o "APT::Architecture=${architecture%@*}" \
		-o "APT::Architectures=${architecture%@*}" \
		-o "Dir::State=$state/state" \
		-o "Dir::State::status=$state/status" \
		-o "Dir::Cache=$state/cache" \
		-o "Dir::Etc::sourcelist=$state/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Sandbox::User= -o APT::Get::List-Cleanup=0 \
		-o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Renews the lists of an architecture before a download, at most once a day.
# The caller holds their lock, descriptor 8.
foreign_update()
{
	local architecture=$1 state=$CACHE/apt/$1 suite

	[ -z "$(find "$state/updated" -mmin -1440 2>/dev/null)" ] || return 0
	mkdir -p "$state"/state/lists/partial "$state"/cache/archives/partial
	: >"$state/status"
	log_note "fetching the package lists of $architecture"
	for suite in $(foreign_suites "$architecture"); do
		foreign_source "$suite"
	done >"$state/sources.list"
	if ! foreign_apt "$architecture" apt-get update >/dev/null 2>&1; then
		# Some mirrors had inconsistent lists of a security suite for
		# days.
		log_note "again, without security updates: some list is broken"
		sed -i '/-security /d' "$state/sources.list"
		log_quietly foreign_apt "$architecture" apt-get update ||
			return 1
	fi
	touch "$state/updated"
}

foreign_source()
{
	printf 'deb [signed-by=%s] %s %s main\n' \
		/usr/share/keyrings/debian-archive-keyring.gpg \
		"$(foreign_mirror "$1")" "$1"
}

# foreign_resolve ARCHITECTURE PATTERN: prints the newest package with such a
# name
foreign_resolve()
{
	(
		flock 8
		foreign_update "$1" || exit 1
		foreign_apt "$1" apt-cache pkgnames | grep -Ex -- "$2" |
			sort -V | tail -n 1
	) 8>"$CACHE/locks/apt-$1"
}

# Fetches and unpacks packages; the last argument is the new folder.
foreign_unpack()
{
	local architecture=$1 how=$2 into deb scratch
	local packages=("${@:3:$#-3}")

	into=${*: -1}
	log_note "fetching for $architecture: ${packages[*]}"
	scratch=$into.debs
	rm -rf "$scratch"
	mkdir -p "$scratch" "$into"
	# The lists of an architecture have one user at a time.
	(
		flock 8
		foreign_update "$architecture" || exit 1
		cd "$scratch" || exit 1
		if [ "$how" = closure ]; then
			foreign_apt "$architecture" apt-get install --print-uris \
				-y --no-install-recommends "${packages[@]}" |
				awk "/^'/ { print \$2 }" | sed 's/_.*//' |
				LC_ALL=C sort -u >names
			mapfile -t packages <names
			rm names
		fi
		[ "${#packages[@]}" -gt 0 ] || exit 1
		log_quietly foreign_apt "$architecture" apt-get download \
			"${packages[@]}"
	) 8>"$CACHE/locks/apt-$architecture" || return 1
	for deb in "$scratch"/*.deb; do
		dpkg-deb -x "$deb" "$into" || return 1
		basename "$deb" >>"$into/.packages"
	done
	rm -rf "$scratch"
}

# foreign_set ARCHITECTURE one|closure NAME PACKAGE...
#
# Prints the folder with the unpacked packages; "closure" includes their
# dependencies.
foreign_set()
{
	local architecture=$1 how=$2 name=$3

	shift 3
	cache_entry "sets/$name-$architecture-$(cache_key "$how" "$@" </dev/null)" \
		"cannot fetch packages of $architecture: $*" \
		foreign_unpack "$architecture" "$how" "$@"
}

# foreign_tarball RELEASE PACKAGE FOLDER
#
# Downloads the upstream tarball of a source package into the folder; apt checks
# Debian's signature.
foreign_tarball()
{
	local lists=amd64@$1 release=$1 package=$2 into=$3 state sources

	state=$CACHE/apt/$lists
	sources=$state/sources-$package.list
	(
		flock 8
		mkdir -p "$state"/state/lists/partial \
			"$state"/cache/archives/partial "$into"
		[ -e "$state/status" ] || : >"$state/status"
		foreign_source "$release" | sed 's/^deb /deb-src /' >"$sources"
		cd "$into" || exit 1
		log_quietly foreign_apt "$lists" apt-get \
			-o "Dir::Etc::sourcelist=$sources" update &&
			log_quietly foreign_apt "$lists" apt-get \
				-o "Dir::Etc::sourcelist=$sources" \
				source --download-only "$package"
	) 8>"$CACHE/locks/apt-$lists" || return 1
	[ -n "$(find "$into" -name '*.orig.tar.*' ! -name '*.asc')" ]
}
