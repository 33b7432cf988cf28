#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tools/release in a clone: the same files each time, a line for each file and library, and
# a refusal of trees that are not ready.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"

git=(git -c safe.directory='*' -c user.name=t -c user.email=t@example.org)
clone=$folder/clone
"${git[@]}" clone -q "$TREE" "$clone"
"${git[@]}" -C "$TREE" diff HEAD --binary | "${git[@]}" -C "$clone" apply --allow-empty
version=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" "$clone/meson.build")
release=dray-$version

# commit: of all that the clone has
commit()
{
	"${git[@]}" -C "$clone" commit -qam 'for the test' --allow-empty
}

# refused PATTERN: tools/release fails with a sentence, and makes nothing
refused()
{
	! "$clone/tools/release" "$folder/refused" >"$folder/said" 2>&1 &&
		grep -qE "$1" "$folder/said" && [ ! -e "$folder/refused" ]
}

sed -i "s/^## \[$version\].*/## [Unreleased]/" "$clone/CHANGELOG.md"
commit
run a_version_without_a_date_is_refused refused 'CHANGELOG.md has no line'
sed -i "s/^## \[Unreleased\]/## [$version] - 2026-12-01/" "$clone/CHANGELOG.md"
run a_tree_with_changes_is_refused refused 'the tree has changes'
commit
sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="9.9"/' "$clone/dkms.conf"
commit
run files_that_disagree_on_the_version_are_refused refused "not all files say $version: dkms.conf"
sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$version\"/" "$clone/dkms.conf"
commit

run a_release_is_made "$clone/tools/release" "$folder/one"
run it_is_made_again sh -c "umask 077; TZ=Asia/Tokyo LC_ALL=C '$clone/tools/release' '$folder/two'"
run both_are_the_same diff -r "$folder/one" "$folder/two"
run checksums_agree sh -c "cd '$folder/one' && sha256sum --check --quiet SHA256SUMS"
tar -xzf "$folder/one/$release.tar.gz" -C "$folder"
"${git[@]}" -C "$clone" ls-files | LC_ALL=C sort >"$folder/tracked"
(cd "$folder/$release" && find . -type f -o -type l) | sed 's|^\./||' | LC_ALL=C sort >"$folder/archived"
run the_archive_is_the_tree diff "$folder/tracked" "$folder/archived"
sed -n 's|^FileName: \./||p' "$folder/one/$release.spdx" | LC_ALL=C sort >"$folder/listed"
is the_bill_lists_each_file "$(grep -vE '^LICENSES/|^REUSE.toml$|/LICENSE$' "$folder/tracked" |
	LC_ALL=C comm -23 - "$folder/listed")" "$(cd "$clone" && find . -type f -empty ! -path './.git/*' |
	sed 's|^\./||' | LC_ALL=C sort)"
run the_bill_lists_libraries grep -q '^PackageName: libsleef-dev' "$folder/one/$release.spdx"
reuse=$(find "${DRAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dray}/pypi" -maxdepth 1 -name 'reuse-*' |
	head -n 1)
run licences_conform_to_reuse env -C "$folder/$release" PYTHONPATH="$reuse" \
	/usr/bin/python3 -B -m reuse lint --quiet
finish
