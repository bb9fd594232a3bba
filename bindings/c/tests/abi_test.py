#!/usr/bin/env python3
"""The library exports the functions of airlock.h and nothing else, and no program that was built before notices a change.

    abi_test.py FOLDER COMPILER LIBRARY     check; FOLDER is bindings/c, COMPILER one for C
    abi_test.py FOLDER COMPILER --update    store the ABI of the header (./dev abi)

The ABI is what abidw reads from a library that is made of the header alone, so that it holds nothing private. Functions and
enumerators may be added; anything else differs.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

DECLARATION = re.compile(r"^AIRLOCK_API\s+([^;{]*?\b(airlock_\w+)\([^;{]*\));", re.MULTILINE)
ENUM = re.compile(r"^typedef enum\b[^}]*\}\s*(\w+);", re.MULTILINE)


def functions(header):
    return [name for _, name in DECLARATION.findall(header)]


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in lines.splitlines() if " A " not in line}


def dump(compiler, header):
    """The ABI of a library with this header. Its functions take all enums, so that they are seen, too."""
    bodies = [f"{declaration} {{ __builtin_trap(); }}" for declaration, _ in DECLARATION.findall(header)]
    bodies += [f"void enum_of_{name}({name} value) {{ (void)value; }}" for name in ENUM.findall(header)]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "airlock.h").write_text(header)
        pathlib.Path(folder, "abi.c").write_text('#include "airlock.h"\n' + "\n".join(bodies) + "\n")
        subprocess.run([compiler, "-std=c11", "-g", "-w", "-fPIC", "-shared", "abi.c", "-o", "abi.so"], cwd=folder, check=True)
        return subprocess.run(
            ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--no-architecture",
             "abi.so"], cwd=folder, check=True, capture_output=True, text=True).stdout


def differences(stored, current):
    """What a program that was built before would notice."""
    with tempfile.TemporaryDirectory() as folder:
        before, now = pathlib.Path(folder, "before.abi"), pathlib.Path(folder, "now.abi")
        before.write_text(stored)
        now.write_text(current)
        run = subprocess.run(["abidiff", "--no-added-syms", before, now], capture_output=True, text=True)
    return run.stdout + run.stderr if run.returncode else ""


def prove_that_it_notices(compiler, header):
    def change(pattern, replacement):
        changed = re.sub(pattern, replacement, header, count=1, flags=re.DOTALL)
        assert changed != header, pattern
        return differences(current, dump(compiler, changed))

    current = dump(compiler, header)
    assert not differences(current, current)
    assert not change(r"AIRLOCK_API uint32_t airlock_abi", r"AIRLOCK_API int32_t airlock_added(void);\n\g<0>")
    assert not change(r"AIRLOCK_INTERRUPTED = 5,", r"\g<0> AIRLOCK_ADDED = 9,")
    assert change(r"AIRLOCK_API uint32_t airlock_abi\(void\);", ""), "a function that is gone"
    assert change(r"AIRLOCK_API void airlock_gate_free\(airlock_gate \*gate\)",
                  "AIRLOCK_API void airlock_gate_free(airlock_gate *gate, int how)"), "a parameter more"
    assert change(r"uint32_t overridden;", r"uint64_t overridden;"), "another type of a field"
    assert change(r"AIRLOCK_GONE = 4", r"AIRLOCK_GONE = 14"), "another value"


def main():
    folder, compiler, library = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    header, stored = (folder / "airlock.h").read_text(), folder / "airlock-c.abi"
    current = dump(compiler, header)
    if library == "--update":
        stored.write_text(current)
        return 0

    prove_that_it_notices(compiler, header)
    errors = []
    declared = set(functions(header))
    for name in sorted(exported(library) - declared):
        errors.append(f"{name} is exported and not in airlock.h")
    for name in sorted(declared - exported(library)):
        errors.append(f"{name} is in airlock.h and not exported")
    found = differences(stored.read_text(), current)
    if found:
        errors.append(f"the ABI is not the stored one; if that was never released, ./dev abi stores the new one:\n{found}")
    for error in errors:
        print("error:", error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
