# SPDX-License-Identifier: Apache-2.0
# bash: asks `ttmem complete` what the word before the cursor can become (docs/reference/completion.md). For the
# package bash-completion, which finds it in share/bash-completion/completions.
_ttmem() {
  local cur prev words cword lines line
  _init_completion -n =: || return
  mapfile -t lines < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1:cword-1}" "$cur" 2>/dev/null)
  # What stands before = is a word of its own for bash.
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
