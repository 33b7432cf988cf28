# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# What is fetched or built once and found again.  The cache lies outside the
# tree.  An entry is a folder or a file whose name says what it holds; one
# that is not finished never has its name, and two front doors that want the
# same one wait for each other.

CACHE=${DRAY_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dray}
mkdir -p "$CACHE/locks" || die "cannot write the cache $CACHE"
CACHE=$(cd "$CACHE" && pwd -P)

# cache_key WORD... < CONTENT: twelve hexadecimal digits for words and input
cache_key()
{
	{ printf '%s\0' "$@"; cat; } | sha256sum | cut -c 1-12
}

# cache_tree FOLDER...: the content of all files below, as one digest
cache_tree()
{
	find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum |
		sha256sum | cut -c 1-12
}

# cache_make NAME COMMAND...
#
# Makes the entry NAME with COMMAND, which gets a path that does not exist
# yet as its last argument and creates a folder or file there.  Does nothing
# where the entry is.  The lock is held while the command runs.
cache_make()
{
	local name=$1 lock partial status=0

	shift
	[ ! -e "$CACHE/$name" ] || return 0
	mkdir -p "$(dirname "$CACHE/$name")"
	lock=$CACHE/locks/${name//\//_}
	partial=$CACHE/$name.partial
	(
		flock 9
		[ ! -e "$CACHE/$name" ] || exit 0
		rm -rf "$partial"
		"$@" "$partial" || exit 1
		mv "$partial" "$CACHE/$name"
	) 9>"$lock" || status=$?
	return "$status"
}

# cache_prune PREFIX: what a person who edits leaves behind, one build for
# each version; entries that nobody used for two weeks go
cache_prune()
{
	find "$CACHE/${1%/*}" -mindepth 1 -maxdepth 1 -name "${1##*/}*" -mtime +14 \
		-exec rm -rf {} +
}
