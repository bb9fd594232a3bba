#!/usr/bin/env python3
"""The declarations in llms.txt are those of the public headers: nothing is missing, nothing is wrong.

    llms_test.py ROOT
    llms_test.py ROOT --print    prints what the headers declare

A block of C++ in llms.txt is either a snippet (tests/snippets_test.py checks it) or declarations. These are abridged:
without `std::`, `const`, `&`, attributes, bodies and template heads, and with `30s` for std::chrono::seconds(30). Apart from
that a declaration must be the same as in the header, its types and defaults included. Of several overloads one suffices, and
what a base class declares need not be repeated. Elsewhere in llms.txt every `Type::name` and `name()` must be declared. Every
option of URIs is there with its default, and every command.
"""

import pathlib
import re
import sys
import tempfile

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|[\d.][\w.\']*|::|->|<=>|<<|&&|==|\S')
SILENT = {"AIRLOCK_EXPORT", "virtual", "inline", "override", "explicit", "constexpr", "friend", "noexcept", "const", "&", "&&"}
BLOCK = re.compile(r"(<!-- snippet: [^\n]* -->\n)?```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tokens_of(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[\[.*?\]\]", "", text)
    text = text.replace("std::chrono::seconds(300)", "5min")
    text = re.sub(r"std::chrono::seconds\((\d+)\)", r"\1s", text)
    text = re.sub(r"decltype\(auto\)", "auto", text)
    text = re.sub(r"\bstd::(chrono::)?", "", text)
    return [token for token in TOKEN.findall(text) if token not in SILENT]


def closing(tokens, start):
    """The place behind the bracket that closes the one at `start`."""
    pairs = {"{": "}", "(": ")", "<": ">"}
    depth, opened, closed = 0, tokens[start], pairs[tokens[start]]
    for at in range(start, len(tokens)):
        depth += (tokens[at] == opened) - (tokens[at] == closed)
        if depth == 0:
            return at + 1
    raise ValueError("no end: " + " ".join(tokens[start:start + 10]))


def declarations(tokens, scope="", hidden=False):
    """(scope, name, text) of all that users can name, from the tokens of a header or of a block."""
    at = 0
    while at < len(tokens):
        if tokens[at] in ("public", "private", "protected") and tokens[at + 1] == ":":
            hidden = tokens[at] != "public"
            at += 2
            continue
        if tokens[at] == "template":
            at = closing(tokens, at + 1)
            continue
        begin, at = at, end_of_head(tokens, at)
        head, body = tokens[begin:at], None
        if at < len(tokens) and tokens[at] == "{":
            end = closing(tokens, at)
            body, at = tokens[at + 1:end - 1], end
        elif at < len(tokens) and tokens[at] == ":":  # The initialisers of a constructor.
            while tokens[at] != "{" or tokens[at - 1] not in (")", "}"):
                at = closing(tokens, at) if tokens[at] in "({" else at + 1
            at = closing(tokens, at)
        if at < len(tokens) and tokens[at] == ";":
            at += 1
        if not hidden:
            yield from declared(head, body, scope)


def end_of_head(tokens, at):
    """Where a declaration ends: at its semicolon, its body or its initialisers."""
    is_type = tokens[at] in ("class", "struct", "enum", "namespace")
    while at < len(tokens) and tokens[at] != ";":
        if tokens[at] == "(":
            at = closing(tokens, at)
            continue
        if tokens[at] == "{" and (is_type or tokens[at - 1] == ")" or follows_arrow(tokens, at)):
            return at
        if tokens[at] == "{":  # A default.
            at = closing(tokens, at)
            continue
        if tokens[at] == ":" and tokens[at - 1] == ")" and not is_type:
            return at
        at += 1
    return at


def follows_arrow(tokens, at):
    """Whether a function with a trailing type has its body here."""
    before = at - 1
    while before >= 0 and tokens[before] not in (";", "{", "}", "="):
        if tokens[before] == "->":
            return True
        before -= 1
    return False


def declared(head, body, scope):
    if not head or head[0] == "using" and "=" not in head or head[-1] in ("default", "delete"):
        return
    if head[0] == "namespace":
        if head[1:] != ["internal"]:
            yield from declarations(body, scope)
    elif head[0] in ("class", "struct", "enum"):
        if body is None or "<" in head:  # A forward declaration or a specialisation.
            return
        at = head.index(":") if ":" in head else len(head)
        name = "".join(token for token in head[1:at] if token != "class")
        inside = "::".join(part for part in [scope, name] if part)
        if head[0] == "enum":
            yield scope, name, f"enum class {name}"
            for value in re.split(r"\s*,\s*", " ".join(body).strip(" ,")):
                yield inside, value, value
            return
        yield scope, name, " ".join(head)
        yield from declarations(body, inside, hidden=head[0] == "class")
    elif "~" not in head and not is_plain(head, scope):
        text = " ".join(head).removesuffix(" = 0" if "(" in head else "")
        yield scope, name_of(head), re.sub(r" = \{ .+ \}$", "", text)


def is_plain(head, scope):
    """Constructors and assignments that only copy or move, and operators that every value type has."""
    own = scope.split("::")[-1]
    return head[:3] == [own, "(", own] or (
        "operator" in head and head[head.index("operator") + 1] in ("=", "==", "<=>", "<<"))


def name_of(head):
    if "operator" in head:
        return "operator " + head[head.index("operator") + 1]
    if head[0] in ("using", "concept"):
        return head[1]
    text = re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "", " ".join(head).replace("->", ""))  # Without arguments of templates.
    return re.findall(r"[A-Za-z_]\w*", re.split(r"[(={]", text)[0])[-1]


def public_api(root):
    found = set()
    for header in sorted((root / "include/airlock").glob("*.hpp")):
        found.update(declarations(tokens_of(header.read_text())))
    return found


def shown_api(text):
    found = set()
    for block in BLOCK.finditer(text):
        if not block[1]:
            found.update(declarations(tokens_of(block[2])))
    return found


def bases_of(api, scope):
    """The scope and all that it inherits from."""
    yield scope
    for _, name, text in api:
        if name == scope and ":" in text.split():
            for base in text.split(" : ", 1)[1].replace("public ", "").split(" , "):
                yield from bases_of(api, base)


def missing(api, shown):
    """What users call or set and llms.txt does not name."""
    named = {(scope, name) for scope, name, _ in shown}
    for scope, name, text in sorted(api):
        is_error = "Error" in bases_of(api, scope)
        if name.startswith("operator ") or name.endswith("_type") or name == scope and is_error:
            continue
        if not any((base, name) in named for base in bases_of(api, scope)):
            yield scope, name, text


def wrong_options(root, text):
    """Options of URIs: `name=default` in llms.txt, the table kOptions in the source. Some defaults are not in that table."""
    source = (root / "src/store/uri.cpp").read_text()
    known = dict(re.findall(r'UriOption\{"(\w+)", \w+, Kind::\w+, "(\w*)"', source))
    shown = dict(re.findall(r"`([a-z_]+)=([^`]*)`", text))
    yield from (f"llms.txt lacks   the option {name}= of URIs" for name in known if name not in shown)
    for name, default in shown.items():
        if name not in known:
            yield f"no URI has       the option {name}="
        elif known[name] and known[name] != default:
            yield f"{name}= of URIs is {known[name]} by default, not {default}"


def wrong_commands(root, text):
    table = re.search(r"kCommands = \{(.*?)\n\};", (root / "tools/cli/main.cpp").read_text(), re.DOTALL)[1]
    shell = text.partition("\n## Shell\n")[2].partition("\n## ")[0]
    for name in re.findall(r'"(\w+)"', table):
        if not re.search(rf"(airlock|\|) {name}\b", shell):
            yield f"llms.txt lacks   the command {name}"


def check(root):
    text = (root / "llms.txt").read_text()
    api, shown = public_api(root), shown_api(text)

    def said(row):
        return f"{row[0]}: {row[2]}" if row[0] else row[2]

    errors = [f"llms.txt lacks   {said(row)}" for row in missing(api, shown)]
    errors += [f"no header has    {said(row)}" for row in sorted(shown - api)]
    prose = BLOCK.sub("", text)
    pairs = {(scope.split("::")[-1], name) for scope, name, _ in api}
    for scope, name in re.findall(r"`(?:airlock::)?([A-Z]\w+)::(\w+)[^`]*`", prose):
        if (scope, name) not in pairs:
            errors.append(f"no header has    {scope}::{name}, which the text speaks of")
    names = {name for _, name, _ in api}
    for name in re.findall(r"`(\w+)\([^`]*\)`", prose):
        if name not in names:
            errors.append(f"no header has    {name}(), which the text speaks of")
    return errors + list(wrong_options(root, text)) + list(wrong_commands(root, text))


def prove_that_it_notices():
    header = """
        // A comment with struct Wrong { int x; };
        namespace airlock {
        namespace internal { class Hidden { public: void f(); }; }
        enum class Kind : std::uint8_t { one, two };
        struct AIRLOCK_EXPORT Options { std::uint32_t limit = 0; Duration ttl{0}; };
        class [[nodiscard]] Seal : public Base {
         public:
          Seal(const Seal&) = delete;
          explicit Seal(int a, Options options = {}) : a_(a), b_{} {}
          ~Seal();
          [[nodiscard]] bool ok() const noexcept { return a_; }
         private:
          void secret();
        };
        template <typename T>
        [[nodiscard]] T twice(T value);
        }"""
    good = """# x\n```cpp
        enum class Kind : std::uint8_t { one, two };  // Said.
        struct Options { std::uint32_t limit = 0; Duration ttl{0}; };
        class Seal : public Base {
         public:
          Seal(int a, Options options = {});  // Makes one.
          bool ok();
        };
        T twice(T value);\n```\nCall `twice(2)`, then `Seal::ok()`. `timeout=1s`, `dir=anywhere`\n
## Shell\n\n    airlock run NAME | top\n"""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "include/airlock").mkdir(parents=True)
        (root / "include/airlock/x.hpp").write_text(header)
        (root / "src/store").mkdir(parents=True)
        (root / "src/store/uri.cpp").write_text(
            'UriOption{"timeout", kAll, Kind::duration, "1s", 1},\nUriOption{"dir", kShm, Kind::text, ""},')
        (root / "tools/cli").mkdir(parents=True)
        (root / "tools/cli/main.cpp").write_text('kCommands = {\n  Commands{{"run", "top"}, add},\n};\n')

        def errors(before, after):
            assert before in good, before
            (root / "llms.txt").write_text(good.replace(before, after))
            return len(check(root))

        assert errors("", "") == 0, check(root)
        assert errors(", two", "") == 1, "not noticed: a missing enumerator"
        assert errors("Duration ttl{0};", "") == 1, "not noticed: a missing option"
        assert errors("limit = 0", "limit = 1") == 1, "not noticed: another default"
        assert errors("bool ok();", "") == 1, "not noticed: a missing method"
        assert errors("bool ok()", "int ok()") == 1, "not noticed: another type"
        assert errors("bool ok()", "void secret();\nbool ok()") == 1, "not noticed: something private"
        assert errors("T twice(T value);", "") == 1, "not noticed: a missing function"
        assert errors("`twice(2)`", "`thrice(2)`") == 1, "not noticed: a function that is not there"
        assert errors("`Seal::ok()`", "`Seal::oh()`") == 1, "not noticed: a method that is not there"
        assert errors("`dir=anywhere`", "") == 1, "not noticed: a missing option of URIs"
        assert errors("`dir=anywhere`", "`dir=`, `way=`") == 1, "not noticed: an option that is not there"
        assert errors("`timeout=1s`", "`timeout=2s`") == 1, "not noticed: another default of an option"
        assert errors(" | top", "") == 1, "not noticed: a missing command"


def main():
    prove_that_it_notices()
    root = pathlib.Path(sys.argv[1])
    if "--print" in sys.argv:
        for row in sorted(public_api(root)):
            print(row)
        return 0
    errors = check(root)
    for error in errors:
        print("error:", error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
