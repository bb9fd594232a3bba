"""Trees of processes for the tests of what ends them."""

import fcntl
import os
import pty
import termios

from command_case import eventually, is_alive

# tree.sh DEPTH WIDTH FILE [HOW]: says its pid in FILE, starts WIDTH of its kind, each one less deep, and stays.
# HOW: stubborn ones ignore TERM; `sessions` makes a session of every other one.
TREE = r"""
[ "$4" = stubborn ] && trap '' TERM
i=0
while [ "$1" -gt 0 ] && [ $i -lt "$2" ]; do
  i=$((i+1))
  if [ "$4" = sessions ] && [ $i = 1 ]; then
    setsid sh "$0" $(($1-1)) "$2" "$3" "$4" &
  else
    sh "$0" $(($1-1)) "$2" "$3" "$4" &
  fi
done
echo $$ >> "$3"
exec sleep 300
"""

# Says how many of the processes in FILE live, as seen by the one who is inside.
CENSUS = r"""
while read pid; do grep -qs '^State:.[^ZX]' /proc/$pid/status && echo $pid; done < "$0"
echo end
"""

# Runs a command without the signal that it would get when its parent dies, as exec of a setuid program does.
WITHOUT_DEATH_SIGNAL = ("import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 0, 0, 0, 0); "
                        "os.execvp(sys.argv[1], sys.argv[1:])")


def size(depth, width):
    return sum(width ** level for level in range(depth + 1))


def read_pids(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [int(line) for line in file.read().split("\n")[:-1]]


def alive(path):
    return [pid for pid in read_pids(path) if is_alive(pid)]


def await_tree(path, depth, width, seconds=60):
    return eventually(lambda: len(read_pids(path)) == size(depth, width), seconds)


class Terminal:
    """A terminal for a process that is started with `options`: its session is a new one. What leads a session ends its
    foreground job when it ends: LEADER runs the words behind it as a job in the background."""

    LEADER = ("sh", "-c", 'set -m; "$@" & wait $!; exit $?', "sh")

    def __init__(self):
        self.master, self.slave = pty.openpty()

    @property
    def options(self):
        def take():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        return {"preexec_fn": take, "stdin": self.slave, "pass_fds": [self.slave]}

    def close(self):
        os.close(self.master)
        os.close(self.slave)
