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

# foreign_host: the architecture and release of this machine
foreign_host()
{
	local release

	release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	printf '%s%s\n' "$(dpkg --print-architecture)" \
		"$([ "$release" != trixie ] || echo "@$release")"
}

# foreign_mirror SUITE: this machine's mirror of the suite, or the public mirror
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
		-o APT::Update::Error-Mode=any \
		-o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Renews the lists of an architecture if they are a day old.  The caller holds their
# lock, descriptor 8.
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

# foreign_locked ARCHITECTURE COMMAND...: renews and locks the lists, and runs a command
# on them
foreign_locked()
{
	(
		flock 8
		foreign_update "$1" && "${@:2}"
	) 8>"$CACHE/locks/apt-$1"
}

# foreign_names ARCHITECTURE PATTERN: prints the packages with such a name, the
# newest first, from lists that are less than an hour old
foreign_names()
{
	find "$CACHE/apt/$1/updated" -mmin +60 -delete 2>/dev/null
	foreign_locked "$1" foreign_apt "$1" apt-cache pkgnames |
		grep -Ex -- "$2" | sort -rV
}

# foreign_has ARCHITECTURE PACKAGE...: tells whether the lists have a file of each
# package; names the first that is missing
foreign_has()
{
	local said

	said=$(foreign_locked "$1" foreign_apt "$1" apt-get download \
		--print-uris "${@:2}" 2>&1) && return
	log_note "$(foreign_reasons <<<"$said" | head -n 1)"
	return 1
}

# Turns apt's errors into a line for each package.
foreign_reasons()
{
	sed -n -E \
		-e 's/^E: Can.t select candidate version from package ([^ ]+) .*/\1 is not in the archive/p' \
		-e 's/^E: Unable to locate package (.*)/\1 is not in the archive/p' \
		-e 's/^ *([^ ]+) : Depends: ([^ ]+) .*/\1 needs \2, which is not in the archive/p' \
		-e 's/^E: Failed to fetch .*\/([^/_]+)_[^ ]+ +(.*)/\1 cannot be downloaded: \2/p' |
		grep . || echo 'apt gives no reason'
}

# foreign_newest COMMAND...: runs the command with each version of standard input in
# turn until it succeeds; fails if none does
foreign_newest()
{
	local version last=''

	while read -r version <&3; do
		[ -z "$last" ] ||
			log_note "not $last, then the next older version: $version"
		"$@" "$version" && return
		last=$version
	done 3<&0
	return 1
}

# Fetches and unpacks packages; the last argument is the new folder.
foreign_unpack()
{
	local architecture=$1 how=$2 into deb scratch link file
	local packages=("${@:3:$#-3}")

	into=${*: -1}
	log_note "fetching for $architecture: ${packages[*]}"
	scratch=$into.debs
	rm -rf "$scratch"
	mkdir -p "$scratch" "$into"
	foreign_locked "$architecture" foreign_download_twice "$scratch" \
		"$architecture" "$how" "${packages[@]}" || return 1
	for deb in "$scratch"/*.deb; do
		dpkg-deb -x "$deb" "$into" || return 1
		basename "$deb" >>"$into/.packages"
	done
	# A linker follows absolute links out of the folder.
	find "$into" -name '*.so' -lname '/*' -printf '%p %l\n' |
		while read -r link file; do
			ln -sfr "$into$file" "$link"
		done
	rm -rf "$scratch"
}

# foreign_download_twice FOLDER ARCHITECTURE ...: the archive may have changed since the
# lists were made
foreign_download_twice()
{
	cd "$1" || return 1
	foreign_download "${@:2}" && return
	rm "$CACHE/apt/$2/updated"
	foreign_update "$2" && foreign_download "${@:2}"
}

# foreign_download ARCHITECTURE alone|closure PACKAGE...: downloads packages into the
# working directory
foreign_download()
{
	local architecture=$1 how=$2 packages=("${@:3}") status=0

	if [ "$how" = closure ]; then
		foreign_apt "$architecture" apt-get install --print-uris -y \
			--no-install-recommends "${packages[@]}" >errors 2>&1 ||
			status=$?
		mapfile -t packages < <(awk "/^'/ { print \$2 }" errors |
			sed 's/_.*//' | LC_ALL=C sort -u)
	fi
	[ "$status" -ne 0 ] || foreign_apt "$architecture" apt-get download \
		"${packages[@]}" >errors 2>&1 || status=$?
	[ "$status" -eq 0 ] || foreign_reasons <errors | while read -r line; do
		log_note "$line"
	done
	rm -f errors
	return "$status"
}

# foreign_set ARCHITECTURE alone|closure NAME PACKAGE...
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
