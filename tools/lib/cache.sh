# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Keeps downloads and builds for the next run, outside the tree.  An entry is a
# folder or a file, named after its content.  It is made below partial/ and gets
# its name only when it is complete; a failure or a signal removes the rest.  Front
# doors that want the same entry wait for each other.

CACHE=${DRAY_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dray}
mkdir -p "$CACHE/locks" || die "cannot write the cache $CACHE"
CACHE=$(cd "$CACHE" && pwd -P)

# cache_key WORD... < CONTENT: twelve hexadecimal digits for words and input
cache_key()
{
	{ printf '%s\0' "$@"; cat; } | sha256sum | cut -c 1-12
}

# cache_tree FOLDER...: prints a digest of the content of all files below
cache_tree()
{
	find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum |
		sha256sum | cut -c 1-12
}

# cache_make NAME COMMAND...
#
# Makes the entry NAME by COMMAND, unless it exists.  The last argument of the
# command is a new path, at which it creates a folder or a file; other files beside
# it are removed.  The entry is locked meanwhile.
cache_make()
{
	local name=$1 lock partial status=0

	shift
	[ ! -e "$CACHE/$name" ] || return 0
	lock=$CACHE/locks/${name//\//_}
	partial=$CACHE/partial/${name//\//_}
	(
		flock 9
		[ ! -e "$CACHE/$name" ] || exit 0
		trap 'trap "" INT TERM HUP; rm -rf "$partial"' EXIT
		trap 'exit 143' TERM
		trap 'exit 129' HUP
		rm -rf "$partial"
		mkdir -p "$partial" "$(dirname "$CACHE/$name")"
		"$@" "$partial/entry" || exit 1
		mv "$partial/entry" "$CACHE/$name"
	) 9>"$lock" || status=$?
	return "$status"
}

# cache_entry NAME FAILURE COMMAND...: makes the entry if it is missing and
# prints its path; dies with the sentence FAILURE
cache_entry()
{
	cache_make "$1" "${@:3}" || die "$2"
	touch "$CACHE/$1"
	printf '%s\n' "$CACHE/$1"
}

# cache_prune PREFIX: removes entries unused for two weeks, such as
# builds of edited versions
cache_prune()
{
	find "$CACHE/${1%/*}" -mindepth 1 -maxdepth 1 -name "${1##*/}*" -mtime +14 \
		-exec rm -rf {} +
}
