#!/usr/bin/env python3
"""What doxygen reads instead of a header or a page: prints it line for line, in doxygen's dialect.

    doxygen_filter.py FILE

Headers: plain comments become doc comments.

    // About what follows.          /// About what follows.
    int a;  // About a.             int a;  ///< About a.

Unchanged are headings of sections (comments before an empty line), remarks for clang-tidy and `// namespace`. A heading
before the first namespace is about the file.

Pages: headings get the names by which pages link to them, `stores.md#options`. Doxygen has one space of names for all
pages, so they begin with the page's.
"""

import collections
import itertools
import pathlib
import re
import sys

COMMENT = re.compile(r"(?P<before> *)//(?! NOLINT)(?P<text>.*)")
TRAILING = re.compile(r"(?P<before>\s*[^\s/#].*?  )// (?!NOLINT|namespace )(?P<text>.*)")
# What doxygen would take for a command or a tag. What is in backticks is safe.
SPECIAL = re.compile(r"(`[^`]*`)|([<>@\\#])")


def documented(comment, mark):
    text = comment["text"]
    if text.startswith("   "):  # Code; markdown wants it two further in.
        return f"{comment['before']}{mark}  {text}"
    text = SPECIAL.sub(lambda found: found[1] or "\\" + found[2], text)
    return f"{comment['before']}{mark}{text}"


def comments_at(lines, i):
    return list(itertools.takewhile(bool, map(COMMENT.fullmatch, lines[i:])))


def header(text):
    lines = text.splitlines()
    first_namespace = next((i for i, line in enumerate(lines) if line.startswith("namespace")), len(lines))
    i = 0
    while i < len(lines):
        if trailing := TRAILING.fullmatch(lines[i]):
            column = trailing.end("before")
            lines[i] = documented(trailing, "///< ")
            # It may continue below, in the same column.
            for more in itertools.takewhile(lambda comment: comment.end("before") == column, comments_at(lines, i + 1)):
                i += 1
                lines[i] = documented(more, "///<")
            i += 1
            continue
        block = comments_at(lines, i)
        end = i + len(block)
        is_heading = end < len(lines) and not lines[end]
        if not is_heading or end < first_namespace:
            lines[i:end] = [documented(comment, "///") for comment in block]
        if block and is_heading and end < first_namespace and not lines[i - 1]:
            lines[i - 1] = "/// @file"
        i = max(end, i + 1)
    return "\n".join(lines) + "\n"


def anchors(name):
    """Names headings as GitHub does, after the name of their page: Options is stores-options, the next one stores-options-1."""
    seen = collections.Counter()

    def named(found):
        anchor = re.sub(r"[^\w\- ]", "", found[2].lower()).replace(" ", "-")
        seen[anchor] += 1
        again = f"-{seen[anchor] - 1}" if seen[anchor] > 1 else ""
        return f"{found[0]} {{#{name}-{anchor}{again}}}"

    return named


def page(name, text):
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)  # Code is every other one.
    named = anchors(name)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"^(##+ )(.*)$", named, parts[i], flags=re.MULTILINE)
        parts[i] = re.sub(r"\]\((?:[\w/.]*?(\w+)\.md)?#([\w-]+)\)", lambda found: f"](#{found[1] or name}-{found[2]})",
                          parts[i])
    return "".join(parts)


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    print(page(path.stem, text) if path.suffix == ".md" else header(text), end="")


if __name__ == "__main__":
    main()
