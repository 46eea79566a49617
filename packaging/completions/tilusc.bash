# Completion of tilusc for bash. Commands and options come from the tool's own --help, which takes
# a few milliseconds, so they are never out of date.

# Words that complete the current one: _tilusc_words TOOL COMMAND... reads that command's help.
_tilusc_words() {
  "$@" --help 2> /dev/null | awk '
    /^Subcommands:/ { commands = 1; next }
    /^$/ || /^[^ ]/ { commands = 0 }
    commands && /^  [a-z]/ { print $1 }
    /^  -/ { sub(/^ +/, ""); sub(/ .*/, ""); gsub(/,/, "\n"); print }'
}

_tilusc() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local tool=${COMP_WORDS[0]} values=
  case $previous in
    --target) values=$("$tool" targets 2> /dev/null | grep '^sm_') ;;
    --type) values=$("$tool" type list 2> /dev/null | cut -d ' ' -f 1) ;;
    --emit) values='ptx cubin tir text proto json' ;;
    --device) values='host simulate cuda' ;;
    --print-after) values=all ;;
    -o | --output | --svg) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [[ -z $values ]]; then
    # The command is what comes before the first option: at most two words.
    local command=() word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
      [[ $word == [a-z]* && ${#command[@]} -lt 2 ]] || break
      command+=("$word")
    done
    [[ ${command[0]} =~ ^(layout|type|bench)$ ]] || command=("${command[@]:0:1}")
    if [[ ${command[0]} == type && ${command[1]} =~ ^(codes|encode)$ && $current != -* ]]; then
      values=$("$tool" type list 2> /dev/null | cut -d ' ' -f 1)
    else
      values=$(_tilusc_words "$tool" "${command[@]}")
    fi
  fi
  COMPREPLY=($(compgen -W "$values" -- "$current"))
}

complete -o default -F _tilusc tilusc
