#compdef dmactl
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Completion of dmactl for zsh.  What there is to offer, the program itself tells:
# dmactl help --complete.

# Offers what a KIND names, that the program told.
_dmactl_offer() { # KIND
	local -a words

	case $1 in
	pid) _pids; return ;;
	node) words=(/dev/dray<->(N:t)) ;;
	heap) words=(${(f)"$($program --no-header heaps 2>/dev/null | awk '{ print $2 }')"}) ;;
	id) words=(${(f)"$($program --no-header list 2>/dev/null | awk '{ print $1 }')"}) ;;
	command)
		if [[ -z $plain[2] ]]; then
			words=(${commands%% *})
		else
			words=(${${(M)commands:#$plain[2] *}#* })
		fi
		;;
	nothing | text) return 1 ;;
	*) words=(${(s:|:)1}) ;;
	esac
	compadd -- ${(u)words:#file}
	[[ $words[-1] != file ]] || _files
}

_dmactl() {
	local program=$words[1] line name='' pending='' kind most
	local -a fields plain commands about options texts
	local -A takes takes_of operands offers

	for line in ${(f)"$($program help --complete 2>/dev/null)"}; do
		fields=("${(@ps:\t:)line}")
		if [[ $fields[1] == command ]]; then
			commands+=($fields[2])
			about+=("$fields[2]:$fields[5]")
			operands[$fields[2]]=$fields[3]
			offers[$fields[2]]=$fields[4]
		else
			takes[$fields[3]]=$fields[4]
			takes_of[$fields[2]$fields[3]]=$fields[4]
		fi
	done
	for line in ${words[2,CURRENT-1]}; do
		if [[ -n $pending ]]; then
			pending=
		elif [[ $line == -* ]]; then
			kind=${takes[$line]:-nothing}
			[[ $kind == nothing ]] || pending=$line
		else
			plain+=($line)
		fi
	done
	for line in "$plain[1,2]" "$plain[1]"; do
		if [[ -n $line && -n ${operands[$line]} ]]; then
			name=$line
			break
		fi
	done

	if [[ -n $pending ]]; then
		# commands may offer different values for an option of one name
		_dmactl_offer ${takes_of[$name$pending]:-$takes[$pending]}
	elif [[ $PREFIX == --*=* ]]; then
		pending=${PREFIX%%=*}
		kind=${takes_of[$name$pending]:-${takes[$pending]:-nothing}}
		compset -P '*='
		_dmactl_offer $kind
	elif [[ $PREFIX == -* ]]; then
		for line in ${(f)"$($program help --complete 2>/dev/null)"}; do
			fields=("${(@ps:\t:)line}")
			if [[ $fields[1] == option && ( -z $name || $fields[2] == $name ) ]]; then
				options+=($fields[3])
				texts+=("$fields[3]:$fields[5]")
			fi
		done
		texts=(${(u)texts})
		_describe -o option texts
	elif [[ -z $name ]]; then
		if (( $#plain )); then
			about=(${${(M)about:#$plain[1] *}#* })
		else
			about=(${about/ [a-z]##:/:})
		fi
		_describe command about
	else
		most=$operands[$name]
		(( $#plain - ${#${(z)name}} < most )) || return 1
		_dmactl_offer $offers[$name]
	fi
}

_dmactl "$@"
