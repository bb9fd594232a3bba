# bash completion of airlock. Options come from the command's own help, gates from the store.
_airlock() {
  local word=${COMP_WORDS[COMP_CWORD]} sub='' i
  local subs='run acquire release renew take ls show top metrics limit pause resume revoke purge doctor demo'
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ " $subs " == *" ${COMP_WORDS[i]} "* ]]; then sub=${COMP_WORDS[i]}; break; fi
  done
  if [[ -z $sub ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$subs --store --version --help" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(airlock "$sub" --help 2>/dev/null | grep -oE -- '--[a-z-]+')" -- "$word")
  elif [[ $sub == run && $COMP_CWORD -gt $((i + 1)) ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$(airlock ls 2>/dev/null | awk 'NR > 1 {print $1}')" -- "$word")
  fi
}
complete -o default -F _airlock airlock
