# SPDX-License-Identifier: Apache-2.0 OR MIT
# Completion of dmactl for bash: commands, options, nodes, heaps, ids.  What there
# is to offer, the program itself tells: dmactl help --complete.

_dmactl_nodes() {
	local path

	for path in /dev/dray[0-9]*; do
		[ -e "$path" ] && printf '%s\n' "${path#/dev/}"
	done
}

# The first words of commands, or the second ones of those that begin with FIRST.
_dmactl_commands() { # TABLE FIRST
	awk -F '\t' -v first="$2" '$1 == "command" {
		count = split($2, part, " ")
		if (first == "")
			print part[1]
		else if (count == 2 && part[1] == first)
			print part[2]
	}' <<<"$1" | sort -u
}

# The words for a KIND that the program named; FIRST is the operand before.  Files
# are not among them.
_dmactl_offer() { # PROGRAM TABLE KIND FIRST
	case $3 in
	node) _dmactl_nodes ;;
	heap) "$1" --no-header heaps 2>/dev/null | awk '{ print $2 }' ;;
	id) "$1" --no-header list 2>/dev/null | awk '{ print $1 }' ;;
	pid) compgen -G '/proc/[0-9]*' | sed 's|.*/||' ;;
	command) _dmactl_commands "$2" "$4" ;;
	nothing | text) ;;
	*) tr '|' '\n' <<<"$3" | grep -vx file ;;
	esac
}

# The field FIELD of the table's line for an option of NAME, or of any command.
_dmactl_option() { # TABLE NAME OPTION
	awk -F '\t' -v name="$2" -v option="$3" '
		$1 == "option" && $3 == option && (name == "" || $2 == name) {
			print $4
			exit
		}' <<<"$1"
}

_dmactl() {
	local program=${COMP_WORDS[0]}
	local current=${COMP_WORDS[COMP_CWORD]}
	local table name='' word option='' kind='' value='' words=''
	local operands=0 most=0 i
	local -a plain=()

	table=$("$program" help --complete 2>/dev/null) || return

	# finds the words that are neither options nor their values
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		value=
		case $word in
		=) value=pending ;;
		-*)
			option=$word
			kind=$(_dmactl_option "$table" '' "$option")
			[ "${kind:-nothing}" = nothing ] || value=$kind
			# bash splits --node=NAME into three words
			[ "${COMP_WORDS[i + 1]}" = = ] && ((i++))
			;;
		*) plain+=("$word") ;;
		esac
		[ -z "$value" ] || ((i++))
	done
	for word in "${plain[*]:0:2}" "${plain[0]}"; do
		if awk -F '\t' -v name="$word" '$1 == "command" && $2 == name {
			found = 1 } END { exit !found }' <<<"$table"; then
			name=$word
			break
		fi
	done
	# commands may offer different values for an option of one name
	[ -z "$value" ] || [ -z "$name" ] ||
		kind=$(_dmactl_option "$table" "$name" "$option")
	set -- $name
	operands=$((${#plain[@]} - $#))

	if [ -n "$value" ] && ((i > COMP_CWORD)) || [ "$current" = = ]; then
		[ "$current" != = ] || current=
		words=$(_dmactl_offer "$program" "$table" "$kind" '')
	elif [[ $current == -* ]]; then
		words=$(awk -F '\t' -v name="$name" '$1 == "option" &&
			(name == "" || $2 == name) { print $3 }' <<<"$table" | sort -u)
		kind=
	elif [ -z "$name" ]; then
		kind=
		words=$(_dmactl_commands "$table" "${plain[0]}")
	else
		read -r most kind < <(awk -F '\t' -v name="$name" '
			$1 == "command" && $2 == name { print $3, $4 }' <<<"$table")
		((operands < most)) || kind=
		words=$(_dmactl_offer "$program" "$table" "${kind:-nothing}" "${plain[1]}")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"
		[[ "|$kind|" != *"|file|"* ]] || compgen -f -- "$current")
}

complete -F _dmactl dmactl
