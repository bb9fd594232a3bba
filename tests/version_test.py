#!/usr/bin/env python3
"""The version is the same everywhere, and the changelog has a section for it.

    version_test.py ROOT
"""

import pathlib
import re
import sys
import tempfile

# How files say it: whole, or major and minor only.
WHOLE = {
    "include/airlock/version.hpp": r'^#define AIRLOCK_VERSION "(.*)"$',
    "CMakeLists.txt": r"^project\(airlock\s+VERSION (\S+)",
    "CHANGELOG.md": r"^## (\d\S*) - \d{4}-\d\d-\d\d$",  # The newest; changes since then are above.
}
MINOR = {
    "cmake/airlock.map": r"^AIRLOCK_(\d\S*) \{",
    "tests/consumer/find_package/CMakeLists.txt": r"^find_package\(airlock (\S+)",
}
PART = re.compile(r"^#define AIRLOCK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", re.MULTILINE)
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def version_errors(root):
    version = ".".join(PART.findall((root / "include/airlock/version.hpp").read_text()))
    minor = version.rpartition(".")[0]
    for expected, places in [(version, WHOLE), (minor, MINOR)]:
        for place, pattern in places.items():
            found = re.search(pattern, (root / place).read_text(), re.MULTILINE)
            if not found or found[1] != expected:
                yield f"{place} has {found[1] if found else 'no version'}, AIRLOCK_VERSION_MAJOR and so on are {expected}"


def changelog_errors(text):
    """As in keepachangelog.com: every change under its kind, every kind once per version."""
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, *kinds = re.split(r"^### ", section, flags=re.MULTILINE)
        name, _, rest = heading.partition("\n")
        kinds = [kind.splitlines()[0] for kind in kinds]
        if kinds != [kind for kind in KINDS if kind in kinds]:
            yield f"CHANGELOG.md, {name}: has {', '.join(kinds)}; each of {', '.join(KINDS)} at most once, in this order"
        if re.search(r"^- ", rest, re.MULTILINE):
            yield f"CHANGELOG.md, {name}: has entries before the first of {', '.join(KINDS)}"


def check(root):
    return [*version_errors(root), *changelog_errors((root / "CHANGELOG.md").read_text())]


def prove_that_it_notices():
    texts = {
        "include/airlock/version.hpp": '#define AIRLOCK_VERSION_MAJOR 1\n#define AIRLOCK_VERSION_MINOR 2\n'
                                       '#define AIRLOCK_VERSION_PATCH 3\n#define AIRLOCK_VERSION "1.2.3"\n',
        "CMakeLists.txt": "project(airlock\n  VERSION 1.2.3\n  LANGUAGES CXX)\n",
        "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-01-02\n\n### Added\n\n- A.\n\n### Fixed\n\n- B.\n\n"
                        "## 1.2.2 - 2026-01-01\n",
        "cmake/airlock.map": "AIRLOCK_PRIVATE {\n};\nAIRLOCK_1.2 {\n};\n",
        "tests/consumer/find_package/CMakeLists.txt": "find_package(airlock 1.2 REQUIRED)\n",
    }
    wrong = [(place, "1.2", "1.3") for place in texts] + [
        ("include/airlock/version.hpp", "PATCH 3", "PATCH 4"),
        ("CHANGELOG.md", "1.2.3 - 2026-01-02", "1.2.3"),
        ("CHANGELOG.md", "## 1.2.3 - 2026-01-02", "## 1.3 - 2026-01-03\n\n## 1.2.3 - 2026-01-02"),
        ("CHANGELOG.md", "### Fixed", "### Added"),
        ("CHANGELOG.md", "### Fixed", "### Mended"),
        ("CHANGELOG.md", "### Added\n\n", ""),
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for place, text in texts.items():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(text)
        assert not check(root), check(root)
        for place, old, new in wrong:
            (root / place).write_text(texts[place].replace(old, new))
            assert check(root), f"not noticed: {new} in {place}"
            (root / place).write_text(texts[place])


def main():
    prove_that_it_notices()
    errors = check(pathlib.Path(sys.argv[1]))
    for error in errors:
        print("error:", error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
