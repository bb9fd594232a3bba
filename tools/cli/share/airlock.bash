# bash completion of airlock. Options come from the command's own help, gates and segments from the store.

_airlock_gates() { airlock "$@" ls 2>/dev/null | awk 'NR > 1 {print $1}'; }
_airlock_segments() { airlock "$@" stores 2>/dev/null | awk 'NR > 1 {print $1}'; }
_airlock_options() { airlock "$@" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u; }

_airlock() {
  # Words as people see them: readline takes ':' and '=' for ends of words, and gates and stores have them.
  local line=${COMP_LINE:0:COMP_POINT} words word sub='' place=0 previous='' i
  local -a store=() server=()
  read -ra words <<<"$line"
  if [[ $line == *[[:space:]] ]]; then words+=(''); fi
  word=${words[${#words[@]} - 1]}
  local subs='run acquire release renew take ls show top metrics limit pause resume revoke purge stores store doctor serve demo'
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    previous=${words[i]}
    case ${words[i]} in
      --store=* | --server=*) store=("${words[i]%%=*}" "${words[i]#*=}") ;;
      --store | --server) if ((i + 1 < ${#words[@]} - 1)); then store=("${words[i]}" "${words[++i]}") previous=''; fi ;;
      --ca=* | --token-file=*) server+=("${words[i]//[\'\"\\]/}") ;;
      --ca | --token-file) if ((i + 1 < ${#words[@]} - 1)); then server+=("${words[i]}" "${words[++i]//[\'\"\\]/}") previous=''; fi ;;
      -*) ;;
      *) if [[ -n $sub ]]; then ((++place)); elif [[ " $subs " == *" ${words[i]} "* ]]; then sub=${words[i]}; fi ;;
    esac
  done
  if ((${#store[@]})); then store[1]=${store[1]//[\'\"\\]/}; fi
  store+=("${server[@]}")

  local candidates=''
  if [[ $previous == --store ]]; then
    candidates="$(_airlock_segments | sed 's/^/shm:/') shm: redis:// rediss:// redis+unix:// redis+sentinel:// redis+cluster://"
  elif [[ $previous == --server ]]; then
    candidates='unix: http:// https://'
  elif [[ $previous == --ca || $previous == --token-file ]]; then
    return
  elif [[ -z $sub ]]; then
    candidates="$subs --store --server --ca --token-file --version --help"
  elif [[ $word == -* ]]; then
    if [[ $sub == store ]]; then candidates=$(_airlock_options store rm); else candidates=$(_airlock_options "$sub"); fi
  elif [[ $sub == run && $place -gt 0 ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$word")
    return
  elif [[ $sub == store ]]; then
    if ((place == 0)); then candidates=rm; else candidates=$(_airlock_segments "${store[@]}"); fi
  else
    candidates=$(_airlock_gates "${store[@]}")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")

  # Readline puts in only what follows the last ':' or '=' of the word.
  local head=''
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then head=${word%"${word##*:}"}; fi
  if [[ -n $head ]]; then
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$head"}; done
  fi
}
complete -o default -F _airlock airlock
