# fish completion of airlock. Options come from the command's own help, gates and segments from the store.
set -g __airlock_subs run acquire release renew take ls show top metrics limit pause resume revoke purge stores store doctor serve demo

function __airlock_sub
    for word in (commandline -opc)[2..-1]
        if contains -- $word $__airlock_subs
            echo $word
            return 0
        end
    end
    return 1
end

# --store, or --server and what belongs to it, as they stand on the line, for commands that list what is there.
function __airlock_store
    set -l words (commandline -opc)
    for i in (seq 2 (count $words))
        if string match -qr -- '^--(store|server|ca|token-file)=' $words[$i]
            echo $words[$i]
        else if string match -qr -- '^--(store|server|ca|token-file)$' $words[$i]; and test $i -lt (count $words)
            echo $words[$i]
            echo $words[(math $i + 1)]
        end
    end
end

function __airlock_list
    airlock (__airlock_store) $argv 2>/dev/null | awk 'NR > 1 {print $1}'
end

complete -c airlock -f -n "not __airlock_sub >/dev/null" -a "$__airlock_subs"
complete -c airlock -x -l store -a "shm: (airlock stores 2>/dev/null | awk 'NR > 1 {print \"shm:\" \$1}') redis:// rediss:// redis+unix:// redis+sentinel:// redis+cluster://"
complete -c airlock -x -l server -a "unix: http:// https://"
complete -c airlock -r -l ca
complete -c airlock -r -l token-file
complete -c airlock -n "string match -q run (__airlock_sub)" -a "(__fish_complete_command)"
complete -c airlock -f -n "string match -q store (__airlock_sub)" -a "rm (__airlock_list stores)"
complete -c airlock -f -n "__airlock_sub >/dev/null; and not string match -q store (__airlock_sub)" -a "(__airlock_list ls)"
complete -c airlock -f -n "__airlock_sub >/dev/null" \
    -a "(airlock (__airlock_sub) --help 2>/dev/null | string match -ra -- '--[a-z-]+')"
