#!/usr/bin/env python3
"""Lists the fields of the records of a segment as C++, so that a test can show where each of them is.

    fields.py SOURCE OUTPUT
"""

import pathlib
import re
import sys

RECORDS = {
    "src/store/shm/layout.hpp": ["shm::Header", "shm::ProcessRecord", "shm::ShardControl"],
    "src/model/pool.hpp": ["model::PoolHead"],
    "src/model/index.hpp": ["model::IndexHead"],
    "src/model/tree.hpp": ["model::Links", "model::Ends"],
    "src/model/records.hpp": ["model::ShardHead", "model::Gate", "model::Tallies", "model::Visit", "model::ByDeadline",
                              "model::ByOrder", "model::Tier", "model::Pause", "model::SlotNode"],
}


def body_of(text, struct):
    """What stands between the braces of a struct, without comments."""
    text = re.sub(r"//[^\n]*", "", text)
    begin = re.search(r"\bstruct (?:alignas\(\w+\) )?" + struct + r" \{", text).end()
    depth = 1
    for end in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin:end]
    raise ValueError(f"struct {struct} does not end")


def statements(body):
    """Its declarations, without functions, nested types and initialisers in braces."""
    body = re.sub(r"alignas\([^)]*\)|\[\[\w+\]\]", "", body)
    body = re.sub(r"union \{([^{}]*)\};", r"\1", body)
    statement, depth = "", 0
    for character in body:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0 and "(" in statement:  # The body of a function.
                statement = ""
        elif depth == 0 and character == ";":
            yield statement.strip()
            statement = ""
        elif depth == 0:
            statement += character


def fields(body):
    for statement in statements(body):
        if not statement or re.match(r"(static|using|struct|enum|friend)\b", statement):
            continue
        statement = re.sub(r"\s*=[^,;]*", "", statement)
        if "(" in statement:
            continue
        while "<" in statement:  # Commas between angle brackets separate no names.
            statement = re.sub(r"<[^<>]*>", "", statement)
        yield from (re.search(r"(\w+)$", name.strip())[1] for name in statement.split(","))


def main(source, output):
    lines = ["// Made by tests/formats/support/fields.py.", "#pragma once", "",
             '#include "formats/support/record.hpp"']
    lines += [f'#include "{file.removeprefix("src/")}"' for file in RECORDS]
    lines += ["", "namespace airlock::formats {", "", "inline std::vector<Record> all_records() {", "  return {"]
    for file, structs in RECORDS.items():
        text = (source / file).read_text()
        for struct in structs:
            lines.append(f'      {{"{struct}", sizeof({struct}), {{')
            for field in fields(body_of(text, struct.split("::")[1])):
                lines.append(f'          {{"{field}", offsetof({struct}, {field}), sizeof({struct}::{field})}},')
            lines.append("      }},")
    lines += ["  };", "}", "", "}  // namespace airlock::formats", ""]
    output.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines)
    if not output.exists() or output.read_text() != text:
        output.write_text(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
