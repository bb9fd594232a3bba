# fish completion of airlock. Options come from the command's own help, gates from the store.
set -l subs run acquire release renew take ls show top metrics limit pause resume revoke purge doctor demo
complete -c airlock -f -n "not __fish_seen_subcommand_from $subs" -a "$subs"
complete -c airlock -n "__fish_seen_subcommand_from run" -a "(__fish_complete_command)"
complete -c airlock -f -n "__fish_seen_subcommand_from $subs" \
    -a "(airlock ls 2>/dev/null | awk 'NR > 1 {print \$1}')"
complete -c airlock -f -n "__fish_seen_subcommand_from $subs" \
    -a "(airlock (commandline -opc)[2] --help 2>/dev/null | string match -ra -- '--[a-z-]+')"
