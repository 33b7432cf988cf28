# SPDX-License-Identifier: Apache-2.0 OR MIT
# Completion of dmactl for bash: commands, options, nodes, ids.

_dmactl_nodes() {
	local path

	for path in /dev/dray[0-9]*; do
		[ -e "$path" ] && printf '%s\n' "${path#/dev/}"
	done
}

_dmactl() {
	local commands='list show heaps nodes reclaim help'
	local options='-n --node --json --no-header --bytes -h --help --version'
	local current=${COMP_WORDS[COMP_CWORD]}
	local previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command='' words='' operands=0 i

	# finds the command and counts the words after it, without options
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --node | =) ((i++)) ;;
		-*) ;;
		*)
			[ -n "$command" ] && ((operands++))
			command=${command:-${COMP_WORDS[i]}}
			;;
		esac
	done

	# bash splits --node=NAME into three words
	if [ "$current" = = ] && [ "$previous" = --node ]; then
		current=
		words=$(_dmactl_nodes)
	elif [ "$previous" = = ] &&
		[ "${COMP_WORDS[COMP_CWORD - 2]}" = --node ]; then
		words=$(_dmactl_nodes)
	elif [ "$previous" = -n ] || [ "$previous" = --node ]; then
		words=$(_dmactl_nodes)
	elif [[ $current == -* ]]; then
		case $command in
		show) words=${options/--no-header /} ;;
		reclaim) words="${options/--no-header /} --all" ;;
		help) words='-h --help --version' ;;
		'') words="$options --all" ;;
		*) words=$options ;;
		esac
	elif [ -z "$command" ]; then
		words=$commands
	elif [ "$command" = help ] && [ "$operands" = 0 ]; then
		words=$commands
	elif [[ $command = show || $command = reclaim ]] &&
		[ "$operands" = 0 ]; then
		words=$("${COMP_WORDS[0]}" --no-header list 2>/dev/null |
			while read -r id _; do printf '%s\n' "$id"; done)
		[ "$command" = show ] || words+=' --all'
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _dmactl dmactl
