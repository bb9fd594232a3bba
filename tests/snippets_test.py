#!/usr/bin/env python3
"""Code shown to a reader is code that ran: blocks in C, C++, PHP and Python, and configurations of proxies, in README.md, llms.txt and
docs/ equal regions of files.

    snippets_test.py ROOT             check
    snippets_test.py ROOT --update    write the regions into the documents

In a document:                                      In examples/start.cpp:

    <!-- snippet: examples/start.cpp#acquire -->        // [acquire]
    ```cpp                                              ...
    ...                                                 // [/acquire]
    ```

In Python and configurations the marks are `# [acquire]`, in Lua `-- [acquire]`. Blocks in other languages are checked where they
name a snippet. Indentation of the whole is of no account. docs/design.md and docs/formats.md may show C++ that is no snippet, and llms.txt
declarations, which tests/llms_test.py checks.
"""

import pathlib
import re
import sys
import tempfile
import textwrap

MAY_SKETCH = ("docs/design.md", "docs/formats.md", "llms.txt")

BLOCK = re.compile(
    r"(?:<!--\s*snippet:\s*(?P<file>[^\s#]+)#(?P<region>\S+)\s*-->\s*\n)?"
    r"(?P<indent>[ \t]*)```[ \t]*(?(file)|(?:cpp|php|c\+\+|python|nginx|caddyfile|haproxy|lua|c(?![\w+#])))[^\n]*\n"
    r"(?P<code>.*?)^[ \t]*```[ \t]*$",
    re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^\s*(?://|#|--) \[/?[\w-]+\]\s*$")


def region(root, file, name):
    """The lines between the marks of `name`, without indentation and without other marks."""
    if not (root / file).is_file():
        raise LookupError(f"there is no file {file}")
    lines = (root / file).read_text().splitlines()
    begin = [i for i, line in enumerate(lines) if line.strip() in (f"// [{name}]", f"# [{name}]", f"-- [{name}]")]
    end = [i for i, line in enumerate(lines) if line.strip() in (f"// [/{name}]", f"# [/{name}]", f"-- [/{name}]")]
    if len(begin) != 1 or len(end) != 1 or end[0] < begin[0]:
        raise LookupError(f"{file} has no region between // [{name}] and // [/{name}]")
    inside = [line for line in lines[begin[0] + 1:end[0]] if not MARK.match(line)]
    return textwrap.dedent("\n".join(inside)).strip("\n")


def documents(root):
    return [d for d in [root / "README.md", root / "llms.txt", *sorted((root / "docs").glob("*.md"))] if d.is_file()]


def check(root):
    errors = []
    for document in documents(root):
        path, text = document.relative_to(root).as_posix(), document.read_text()
        for block in BLOCK.finditer(text):
            where = f"{path}:{text.count(chr(10), 0, block.start('code'))}"
            if not block["file"]:
                if path not in MAY_SKETCH:
                    errors.append(f"{where}: no snippet; precede it with <!-- snippet: examples/NAME.cpp#REGION -->")
                continue
            try:
                if textwrap.dedent(block["code"]).strip("\n") != region(root, block["file"], block["region"]):
                    errors.append(f"{where}: differs from {block['file']}#{block['region']}; "
                                  "`tests/snippets_test.py . --update` takes it from there")
            except LookupError as error:
                errors.append(f"{where}: {error}")
    return errors


def update(root):
    def current(block):
        if not block["file"]:
            return block[0]
        code = textwrap.indent(region(root, block["file"], block["region"]), block["indent"]) + "\n"
        start, end = (block.start("code") - block.start(), block.end("code") - block.start())
        return block[0][:start] + code + block[0][end:]

    for document in documents(root):
        document.write_text(BLOCK.sub(current, document.read_text()))


def prove_that_it_notices():
    source = "int main() {\n  // [use]\n  if (x) {\n    // [inner]\n    f();\n    // [/inner]\n  }\n  // [/use]\n}\n"
    shown = "<!-- snippet: examples/x.cpp#use -->\n\n```cpp\nif (x) {\n  f();\n}\n```\n"
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "docs").mkdir()
        (root / "examples").mkdir()
        (root / "examples/x.cpp").write_text(source)

        def errors(document, text):
            (root / document).write_text(text)
            found = check(root)
            (root / document).unlink()
            return found

        assert not errors("README.md", "text\n```sh\nls\n```\n" + shown + shown.replace("#use", "#inner").replace(
            "if (x) {\n  f();\n}", "f();")), "a good document"
        (root / "examples/x.py").write_text("def main():\n    # [use]\n    f()\n    # [/use]\n")
        python = "<!-- snippet: examples/x.py#use -->\n```python\nf()\n```\n"
        assert not errors("README.md", python), "good Python"
        assert errors("README.md", python.replace("f()", "g()")), "not noticed: a difference in Python"
        assert errors("docs/stores.md", "```python\nsketch()\n```\n"), "not noticed: a sketch in Python"
        (root / "examples/x.lua").write_text("-- [use]\nf()\n-- [/use]\n")
        for lua in ("lua", "toml"):  # The second is checked for its snippet alone.
            shown_lua = f"<!-- snippet: examples/x.lua#use -->\n```{lua}\nf()\n```\n"
            assert not errors("README.md", shown_lua), f"good {lua}"
            assert errors("README.md", shown_lua.replace("f()", "g()")), f"not noticed: a difference in {lua}"
        assert errors("docs/stores.md", "```nginx\nlisten 80;\n```\n"), "not noticed: a configuration of a proxy that is no snippet"
        assert not errors("docs/stores.md", "```toml\na = 1\n```\n"), "another language that names no snippet"
        assert not errors("docs/design.md", "```cpp\nsketch();\n```\n"), "a sketch where it may be"
        assert errors("docs/stores.md", "```cpp\nsketch();\n```\n"), "not noticed: a sketch"
        assert errors("docs/stores.md", "```c\nsketch();\n```\n"), "not noticed: a sketch in C"
        assert not errors("docs/stores.md", "```css\na {}\n```\n"), "another language"
        assert errors("README.md", shown.replace("f();", "g();")), "not noticed: a difference"
        assert errors("docs/design.md", shown.replace("f();", "g();")), "not noticed: a difference in design.md"
        assert errors("README.md", shown.replace("#use", "#none")), "not noticed: no such region"
        assert errors("README.md", shown.replace("x.cpp", "y.cpp")), "not noticed: no such file"

        (root / "README.md").write_text(shown.replace("f();", "g();"))
        update(root)
        assert (root / "README.md").read_text() == shown, "update"


def main():
    prove_that_it_notices()
    root = pathlib.Path(sys.argv[1])
    if "--update" in sys.argv:
        update(root)
    errors = check(root)
    for line in errors:
        print("error:", line)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
