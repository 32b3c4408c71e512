# SPDX-License-Identifier: Apache-2.0
# bash: completes the word before the cursor with `ttmem complete` (docs/reference/completion.md). The
# package bash-completion finds this file in share/bash-completion/completions.
_ttmem() {
  local cur prev words cword lines line
  _init_completion -n =: || return
  mapfile -t lines < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1:cword-1}" "$cur" 2>/dev/null)
  # bash treats the part before = as a separate word.
  local before=
  [[ $cur == -*=* ]] && before=${cur%%=*}= cur=${cur#*=}
  case ${lines[0]-} in
    :files) _filedir ;;
    :folders) _filedir -d ;;
    ":command "*) _command_offset $((${lines[0]#:command } + 1)) ;;
    *)
      for line in "${lines[@]}"; do
        line=${line%%$'\t'*}
        COMPREPLY+=("${line#"$before"}")
      done
      __ltrim_colon_completions "$cur"
      ;;
  esac
} &&
  complete -F _ttmem ttmem
