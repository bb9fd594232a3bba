#!/usr/bin/env python3
"""Keeps the layers apart: a file includes only what its layer may know.

    layers_test.py ROOT

Long files are named but do not fail the test.
"""

import pathlib
import re
import sys
import tempfile

# A layer is a folder. What it may include, besides itself; the longest matching folder names a file's layer.
LAYERS = {
    "include/airlock": [],
    "src/base": ["include/airlock"],
    "src/model": ["include/airlock", "src/base"],
    "src/store": ["include/airlock", "src/base"],
    "src/store/sharded": ["include/airlock", "src/base", "src/model", "src/store"],
    "src/store/memory": ["include/airlock", "src/base", "src/model", "src/store", "src/store/sharded"],
    "src/store/shm": ["include/airlock", "src/base", "src/model", "src/store", "src/store/sharded"],
    "src/store/redis": ["include/airlock", "src/base", "src/store", "src/store/redis/notify"],
    "src/store/redis/notify": ["include/airlock", "src/base", "src/store", "src/store/redis"],
    "src/seal": ["include/airlock", "src/base", "src/store"],
    "src/pass": ["include/airlock", "src/base"],
    "src/admission": ["include/airlock", "src/base", "src/store", "src/seal"],
    "src/testing": ["include/airlock", "src/base", "src/store", "src/store/memory"],
    "examples": ["include/airlock"],
    # The C interface uses the library as any program does; what is built on it sees its header only.
    "bindings/c": ["include/airlock"],
}

# A component is a folder that others use by these of its headers alone.
COMPONENTS = {
    # For the store, and for a server that has a subscription among its connections.
    "src/store/redis/notify": ["notifications.hpp", "subscription.hpp"],
}

# The rules are given the time and everything else; what would let them reach for it stays out.
IMPURE = re.compile(r"(mutex|shared_mutex|thread|condition_variable|semaphore|future|ctime|random|"
                    r".*stream|cstdio|filesystem|.*\.h)$")

MAX_LINES = {"include": 150, "src": 350, "bindings": 350}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def layer_of(path):
    matches = [layer for layer in LAYERS if path.startswith(layer + "/")]
    return max(matches, key=len, default=None)


def may_include(path, layer, target_layer):
    if target_layer == layer or target_layer in LAYERS[layer]:
        return True
    # open_store() knows the stores; they do not know each other, so this is for its source, not for a header.
    return layer == "src/store" and path.endswith(".cpp") and target_layer.startswith("src/store/")


def problem_with(root, path, layer, form, name):
    """Why the file at `path` may not include `name`, or None."""
    if form == "<":
        if name.startswith("airlock/"):
            return "own headers are included in quotes"
        # The optional header is the one that may know Asio.
        if path == "include/airlock/asio.hpp" and re.match(r"(boost/)?asio/", name):
            return None
        if layer == "include/airlock" and not re.fullmatch(r"[a-z_0-9]+", name):
            return "a public header includes only the standard library"
        if layer == "src/model" and IMPURE.fullmatch(name):
            return "the rules take no lock, read no clock and do no I/O"
        return None
    candidates = [f"include/{name}", f"src/{name}", f"bindings/c/{name}", str(pathlib.PurePosixPath(path).parent / name)]
    found = list(dict.fromkeys(c for c in candidates if (root / c).is_file()))
    if not found:
        return "there is no such header"
    target_layer = layer_of(found[0])
    if target_layer is None or not may_include(path, layer, target_layer):
        return f"{layer} may know only {', '.join([layer] + LAYERS[layer])}"
    entries = COMPONENTS.get(target_layer)
    if entries and layer != target_layer and pathlib.PurePosixPath(found[0]).name not in entries:
        return f"from outside {target_layer} only {', '.join(entries)}"
    return None


def sources(root):
    for top in ("include", "src", "examples", "bindings"):
        for file in sorted((root / top).rglob("*")):
            relative = file.relative_to(root).parts
            if file.suffix in (".hpp", ".cpp") and not (top == "bindings" and "tests" in relative):
                yield file.relative_to(root).as_posix(), file.read_text()


def check(root):
    """The violations and the remarks, as lines of text."""
    errors, remarks = [], []
    for path, text in sources(root):
        layer = layer_of(path)
        if layer is None:
            errors.append(f"{path}: no layer has this folder; add it to LAYERS in tests/layers_test.py")
            continue
        for match in INCLUDE.finditer(text):
            problem = problem_with(root, path, layer, *match.groups())
            if problem:
                line = text.count("\n", 0, match.start(1)) + 1
                errors.append(f"{path}:{line}: includes {match[2]}: {problem}")
        lines, limit = text.count("\n"), MAX_LINES.get(path.split("/")[0])
        if limit and lines > limit:
            remarks.append(f"{path}: {lines} lines, more than {limit}: something wants a name of its own")
    return errors, remarks


def prove_that_it_notices():
    good = {
        "include/airlock/a.hpp": "#include <vector>\n",
        "include/airlock/b.hpp": '#include "airlock/a.hpp"\n',
        "include/airlock/asio.hpp": "#include <asio/post.hpp>\n#include <boost/asio/post.hpp>\n",
        "src/base/clock.hpp": '#include <time.h>\n#include "airlock/a.hpp"\n',
        "src/model/gate.hpp": '#include <cstdint>\n#include "base/clock.hpp"\n',
        "src/store/uri.cpp": '#include "store/memory/store.hpp"\n',
        "src/store/memory/store.hpp": '#include "model/gate.hpp"\n',
        "src/store/redis/notify/notifications.hpp": '#include "store/redis/notify/watchers.hpp"\n',
        "src/store/redis/notify/watchers.hpp": '#include "base/clock.hpp"\n',
        "src/store/redis/store.cpp": '#include "store/redis/notify/notifications.hpp"\n',
        "src/admission/keeper.hpp": '#include "airlock/b.hpp"\n',
        "src/admission/keeper.cpp": '#include "admission/keeper.hpp"\n',
        "bindings/c/airlock.h": "",
        "bindings/c/gate.cpp": '#include "airlock.h"\n#include "airlock/b.hpp"\n#include <poll.h>\n',
        "bindings/c/tests/gate_test.cpp": '#include "base/clock.hpp"\n',
    }
    bad = {
        "include/airlock/x.hpp": ['#include "base/clock.hpp"\n', "#include <unistd.h>\n", "#include <airlock/a.hpp>\n",
                                  "#include <boost/asio/post.hpp>\n",
                                  '#include "admission/keeper.hpp"\n'],
        "src/base/x.cpp": ['#include "model/gate.hpp"\n', '#include "admission/keeper.hpp"\n'],
        "src/model/x.cpp": ['#include "store/memory/store.hpp"\n', "#include <mutex>\n"],
        "src/store/x.hpp": ['#include "store/memory/store.hpp"\n', '#include "model/gate.hpp"\n'],
        "src/store/shm/x.cpp": ['#include "store/memory/store.hpp"\n'],
        "src/store/redis/x.cpp": ['#include "model/gate.hpp"\n', '#include "store/redis/notify/watchers.hpp"\n'],
        "src/store/redis/notify/x.cpp": ['#include "store/memory/store.hpp"\n'],
        "src/seal/x.cpp": ['#include "admission/keeper.hpp"\n', '#include "store/memory/store.hpp"\n'],
        "src/admission/x.cpp": ['#include "model/gate.hpp"\n', '#include "nowhere.hpp"\n'],
        "src/airlock/x.cpp": [""],  # "airlock/..." is what users include.
        "src/other/x.cpp": [""],
        "examples/x.cpp": ['#include "base/clock.hpp"\n'],
        "bindings/c/x.cpp": ['#include "base/clock.hpp"\n', '#include "admission/keeper.hpp"\n'],
        "bindings/other/x.cpp": [""],
    }
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)

        def write(path, text):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)

        for path, text in good.items():
            write(path, text)
        assert check(root) == ([], []), check(root)
        for path, texts in bad.items():
            for text in texts:
                write(path, text)
                assert check(root)[0], f"not noticed: {path}: {text}"
            (root / path).unlink()
        write("src/base/long.cpp", "\n" * 351)
        assert check(root)[1], "not noticed: a long file"


def main():
    prove_that_it_notices()
    errors, remarks = check(pathlib.Path(sys.argv[1]))
    for line in remarks:
        print("remark:", line)
    for line in errors:
        print("error:", line)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
