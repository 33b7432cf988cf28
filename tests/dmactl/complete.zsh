# SPDX-License-Identifier: Apache-2.0 OR MIT
# Prints the command line after the completion of its last word by a Tab.
#
#	zsh -f complete.zsh SCRIPT PROGRAM WORD...
#
# Completion works only in a shell with a terminal, which zpty makes.
zmodload zsh/zpty
script=$1 program=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$script" "$folder/_dmactl"
ln -s "$program" "$folder/dmactl"

zpty shell zsh -f -i
# A shell continues its jobs, which may undo the stop that a search for leaks waits for.
zpty -w shell "export ASAN_OPTIONS=\$ASAN_OPTIONS:detect_leaks=0"
zpty -w shell "PS1=; PATH=$folder:\$PATH; fpath=($folder \$fpath)"
zpty -w shell 'autoload -Uz compinit; compinit -u -D; LISTMAX=0'
# prints what the line has become, between marks, instead of running it
zpty -w shell 'show() { print -r -- "<<$BUFFER>>"; BUFFER=; }; zle -N show'
zpty -w shell "bindkey '^X' show; bindkey '^I' complete-word; print READY''NOW"
zpty -r shell answer '*READYNOW*'
zpty -w -n shell "dmactl ${(j: :)@}"$'\t\x18'
zpty -r shell answer '*>>*'
print -r -- "${${answer##*<<}%%>>*}"
zpty -d shell
