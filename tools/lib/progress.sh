# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Progress of a long run in a guest.  Its programs write lines
# "# progress N of M TITLE"; they become a bar on a terminal, elsewhere a line
# for each tenth.

# progress_follow FILE COMMAND...: runs COMMAND, which appends to FILE, and
# shows its progress; returns the command's exit status
progress_follow()
{
	local file=$1 follower status=0

	shift
	: >"$file"
	progress_show < <(exec tail -n +1 -F "$file" 2>/dev/null) &
	follower=$!
	"$@" || status=$?
	kill "$follower" 2>/dev/null
	wait "$follower" 2>/dev/null
	[ ! -t 2 ] || printf '\r\e[K' >&2
	return "$status"
}

progress_show()
{
	local mark word now of most title bar tenth last=-1

	# Ends the process that feeds it, too.
	trap 'kill $! 2>/dev/null; exit' TERM
	while read -r mark word now of most title; do
		[ "$mark $word $of" = '# progress of' ] || continue
		[ "${most:-0}" -gt 0 ] || continue
		if [ -t 2 ]; then
			bar=$(printf '%*s' $((40 * now / most)) '')
			printf '\r    [%-40s] %d of %d %s\e[K' "${bar// /#}" \
				"$now" "$most" "${title%$'\r'}" >&2
			continue
		fi
		tenth=$((10 * now / most))
		[ "$tenth" -ne "$last" ] || continue
		last=$tenth
		log_note "$now of $most ${title%$'\r'}"
	done
}
