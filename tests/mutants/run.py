"""Builds each mutant in a copy of the tree and shows that its test fails.

usage: run.py SOURCE WORK [NAME...]     all of them, or those named; WORK keeps the copy and its build
       run.py --check SOURCE            only that every mutant still fits the tree
"""

import pathlib
import shutil
import subprocess
import sys
import time

from mutants import MUTANTS


def misfits(source):
    """What does not fit: a text that is not there once, a test that does not exist, a name used twice."""
    wrong = []
    names = [mutant.name for mutant in MUTANTS]
    tests = {path.stem for path in (source / "tests").rglob("*_test.cpp")}
    for mutant in MUTANTS:
        count = (source / mutant.file).read_text().count(mutant.old)
        if count != 1:
            wrong.append(f"{mutant.name}: its text is {count} times in {mutant.file}")
        if mutant.caught_by not in tests:
            wrong.append(f"{mutant.name}: there is no {mutant.caught_by}")
        if names.count(mutant.name) != 1:
            wrong.append(f"{mutant.name}: the name is used twice")
    return wrong


def quietly(command, timeout, **options):
    return subprocess.run(command, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def build(work, test):
    done = quietly(["cmake", "--build", "--preset", "dev", "--target", test], 1800, cwd=work)
    return done.returncode == 0, done.stdout


def fails(work, test):
    try:
        # In a session of its own, so that what it leaves behind can be ended with it.
        return quietly([work / "build/dev/tests" / test], 300, cwd=work, start_new_session=True).returncode != 0
    except subprocess.TimeoutExpired:
        return True  # It hangs: that is noticed too.


def copy(source, work):
    files = subprocess.run(["git", "ls-files"], cwd=source, check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in files.splitlines():
        there, here = source / name, work / name
        if not there.exists() or (here.exists() and here.read_bytes() == there.read_bytes()):
            continue
        here.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(there, here)


def main(arguments):
    if arguments[:1] == ["--check"]:
        wrong = misfits(pathlib.Path(arguments[1]))
        print("\n".join(wrong))
        return 1 if wrong else 0
    source, work, *names = arguments
    source, work = pathlib.Path(source).resolve(), pathlib.Path(work).resolve()
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    unknown = set(names) - {mutant.name for mutant in chosen}
    if unknown or misfits(source):
        print("\n".join([f"no such mutant: {name}" for name in sorted(unknown)] + misfits(source)))
        return 2
    copy(source, work)
    quietly(["cmake", "--preset", "dev"], 600, cwd=work, check=True)
    for test in sorted({mutant.caught_by for mutant in chosen}):
        if not build(work, test)[0] or fails(work, test):
            print(f"{test} fails without any mutant")
            return 2
    survivors = []
    for number, mutant in enumerate(chosen, 1):
        began = time.monotonic()
        path = work / mutant.file
        whole = path.read_text()
        path.write_text(whole.replace(mutant.old, mutant.new))
        try:
            built, output = build(work, mutant.caught_by)
            caught = built and fails(work, mutant.caught_by)
        finally:
            path.write_text(whole)
        verdict = "caught by " + mutant.caught_by if caught else "SURVIVES " + mutant.caught_by if built else "does not build"
        print(f"{number}/{len(chosen)} {mutant.name}: {verdict} ({time.monotonic() - began:.0f} s)", flush=True)
        if not caught:
            survivors.append(mutant.name)
            if not built:
                print(output[-2000:], flush=True)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants caught" + (": " + ", ".join(survivors) + " not" if survivors else ""))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
