#!/usr/bin/env python3
"""The API reference has what the headers say.

    reference_test.py ROOT                  the filter through which doxygen reads headers and pages
    reference_test.py ROOT --pages FOLDER   the html that doxygen made: every class with the first sentence of its comment
"""

import html
import pathlib
import re
import sys
import tempfile
import unittest

HEADER = """\
#pragma once

// About the file.

namespace airlock {

// About X: `a < b`, not <chrono>.
//
//   X x;  // Code.
class X {
  // --- Heading ---

  int a;    // About a.
            // And more.
  bool b;   // NOLINT(some-check)
  // NOLINTNEXTLINE(some-check): its reason
  X(Y y);
  std::string c = "redis://host";
};

}  // namespace airlock
"""

DOCUMENTED = """\
#pragma once
/// @file
/// About the file.

namespace airlock {

/// About X: `a < b`, not \\<chrono\\>.
///
///     X x;  // Code.
class X {
  // --- Heading ---

  int a;    ///< About a.
            ///< And more.
  bool b;   // NOLINT(some-check)
  // NOLINTNEXTLINE(some-check): its reason
  X(Y y);
  std::string c = "redis://host";
};

}  // namespace airlock
"""

PAGE = """\
# Stores
## Options, in short
```sh
## no heading
```
## Options, in short
[here](#options-in-short) [there](../docs/sizing.md#limits) [far](https://example.org/#x)
"""

NAMED = """\
# Stores
## Options, in short {#stores-options-in-short}
```sh
## no heading
```
## Options, in short {#stores-options-in-short-1}
[here](#stores-options-in-short) [there](#sizing-limits) [far](https://example.org/#x)
"""

CLASS = re.compile(r"^(?P<comment>(?://.*\n)+)(?:template .*\n)?(?:class|struct) (?:AIRLOCK_EXPORT |\[\[\w+\]\] )*(?P<name>\w+)[ \n]",
                   re.MULTILINE)
SURELY = {"Airlock", "Bulkhead", "Lease", "Mutex", "Outcome", "Seal", "Store"}


def documented_classes(header):
    """(name, first sentence of its comment), but not of what is internal."""
    public = re.sub(r"^namespace internal \{\n.*?^\}  // namespace internal\n", "", header, flags=re.MULTILINE | re.DOTALL)
    for found in CLASS.finditer(public):
        comment = " ".join(line[2:].strip() for line in found["comment"].splitlines())
        yield found["name"], re.match(r".*?\.(?= |$)|.*", comment)[0]


def classes_of(root):
    headers = sorted((root / "include/airlock").glob("*.hpp"))
    return [found for header in headers for found in documented_classes(header.read_text())]


def letters(text):
    return "".join(re.findall(r"\w", text))


def missing(classes, pages):
    """Classes whose page does not have the sentence."""
    for name, sentence in classes:
        texts = [html.unescape(re.sub(r"<[^>]*>", "", page.read_text())) for page in pages.glob(f"*_1_1{name}.html")]
        if not any(letters(sentence) in letters(text) for text in texts):
            yield f"{name}: {sentence}"


def check(root, pages):
    classes = classes_of(root)
    errors = [f"the reference does not have {error}" for error in missing(classes, pages)]
    errors += [f"{name} has no comment" for name in sorted(SURELY - dict(classes).keys())]
    for error in errors:
        print("error:", error)
    return 1 if errors else 0


class Reference(unittest.TestCase):
    def test_comments_become_doc_comments(self):
        self.assertEqual(doxygen_filter.header(HEADER), DOCUMENTED)

    def test_headings_get_the_names_that_links_use(self):
        self.assertEqual(doxygen_filter.page("stores", PAGE), NAMED)

    def test_classes_are_found_with_their_sentence(self):
        self.assertEqual(list(documented_classes(HEADER)), [("X", "About X: `a < b`, not <chrono>.")])
        self.assertLessEqual(SURELY, dict(classes_of(ROOT)).keys())

    def test_a_sentence_that_is_missing_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            pages = pathlib.Path(folder)
            (pages / "classairlock_1_1X.html").write_text("<p>About <a href='y'>Y</a> &amp; more.</p>")
            self.assertEqual(list(missing([("X", "About Y & more.")], pages)), [])
            self.assertEqual(list(missing([("X", "About Z."), ("Y", "About.")], pages)), ["X: About Z.", "Y: About."])


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1))
    sys.path.insert(0, str(ROOT / "tools"))
    sys.dont_write_bytecode = True
    import doxygen_filter
    if sys.argv[1:2] == ["--pages"]:
        sys.exit(check(ROOT, pathlib.Path(sys.argv[2])))
    unittest.main()
