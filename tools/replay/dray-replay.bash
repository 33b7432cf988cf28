# SPDX-License-Identifier: Apache-2.0 OR MIT
# Completion of dray-replay for bash: options, their values, logs.

_dray_replay() {
	local options='-r --resource -n --node -l --limit -c --rounds --json -h --help --version'
	local current=${COMP_WORDS[COMP_CWORD]}
	local option=${COMP_WORDS[COMP_CWORD - 1]}
	local words=''

	# bash splits --node=SPEC into three words
	if [ "$current" = = ]; then
		current=
	elif [ "$option" = = ]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi

	case $option in
	-r | --resource) words='pool binning malloc' ;;
	-n | --node) words='host host:private host:shareable kernel shareable' ;;
	-l | --limit | -c | --rounds) ;;
	*)
		if [[ $current == -* ]]; then
			words=$options
		else
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
			return
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _dray_replay dray-replay
