#!/usr/bin/env python3
"""Copies Lua scripts so that every run of one logs which of its branches it took.

    count_branches.py SOURCE_DIR COPY_DIR STEP...

A branch is a function or loop that is entered; a condition that holds or does not, and by which of its parts joined by
`and` or `or`; the part behind an `and` or `or` elsewhere. COPY_DIR/branches has a line for each: its number, where it
is, and what it is. A run logs `branches` and the numbers that it met.

formats.lua comes before all that is counted, and each STEP last.
"""

import pathlib
import re
import sys

TOKEN = re.compile(r"""(?P<skip>\s+|--[^\n]*)|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<string>'(?:\\.|[^'\\])*')"""
                   r"""|(?P<sign>\.\.|[=~<>]=|[-+*/%^#<>=(){}\[\];:,.])""")

KEYWORDS = {"and", "break", "do", "else", "elseif", "end", "for", "function", "if", "in", "local", "not", "or",
            "repeat", "return", "then", "until", "while"}
CONSTANT = re.compile(r"'|\d|\{|nil$|struct$|[A-Z_]+$")  # What an `or` falls back on is no condition.
OPEN = {"(", "{", "[", "function", "if", "do"}
CLOSE = {")", "}", "]", "end"}

PRELUDE = """
local met, places = {}, {}
local function M(branch) met[branch] = true return true end
local function P(first, place) places[first] = place return true end
local function B(first, last, is_and, value)
  local place = places[first] or 0
  places[first] = nil
  met[(not value) == is_and and first + place or last] = true
  return value
end
local function main()
"""

POSTLUDE = """
end
local fine, answer = pcall(main)
local numbers = {}
for branch in pairs(met) do numbers[#numbers + 1] = branch end
redis.log(redis.LOG_WARNING, 'branches ' .. table.concat(numbers, ' '))
if not fine then return redis.error_reply(answer) end -- pcall() made a text of it.
return answer
"""


class Copier:
    """Makes the copies and numbers the branches of all files together."""

    def __init__(self):
        self.branches = []

    def add(self, at, what):
        line = self.text.count("\n", 0, self.tokens[at][1]) + 1
        self.branches.append(f"{self.name}:{line}: {what}")
        return len(self.branches)

    def copy(self, name, text):
        self.name, self.text = name, text
        self.tokens, position = [], 0
        while position < len(text):
            match = TOKEN.match(text, position)
            if not match:
                raise SystemExit(f"{name}: what is {text[position:position + 20]!r}?")
            if match.lastgroup != "skip":
                self.tokens.append((match.group(), match.start(), match.end(), match.lastgroup))
            position = match.end()
        self.before = [""] * (len(self.tokens) + 1)
        self.after = [""] * (len(self.tokens) + 1)
        self.chained = set()
        for at in range(len(self.tokens)):
            self.count_at(at)
        for at, token in enumerate(self.tokens):
            if token[0] in ("and", "or") and at not in self.chained:
                number = self.add(at, f"goes on behind `{token[0]}` to {self.words(at + 1, self.end_of(at + 1))}")
                self.after[at] = f" M({number}) and" if token[0] == "and" else f" not M({number}) or"
        return self.joined()

    def joined(self):
        parts, position = [], 0
        for at, (_, start, end, _) in enumerate(self.tokens):
            parts += [self.text[position:start], self.before[at], self.text[start:end], self.after[at]]
            position = end
        return "".join(parts) + self.text[position:]

    def count_at(self, at):
        word = self.tokens[at][0]
        if word in ("if", "elseif", "while"):
            self.count_condition(at + 1, always=True)
        elif word == "return" or (word == "=" and self.is_single(at)):
            self.count_condition(at + 1)
        elif word == "(" and not self.ends_operand(at - 1):
            self.count_condition(at + 1)
        elif word == "for":
            self.enter(self.find(at, "do"), at)
        elif word == "function":
            self.enter(self.find(at, ")"), at)

    def is_single(self, at):
        return self.tokens[at - 2][0] == "local"

    def enter(self, at, whence):
        self.after[at] += f" M({self.add(whence, 'enters ' + self.words(whence, at))});"

    def find(self, at, word):
        while self.tokens[at][0] != word:
            at += 1
        return at

    def ends_operand(self, at):
        word, _, _, kind = self.tokens[at]
        return (kind in ("name", "number", "string") and word not in KEYWORDS) or word in CLOSE

    def end_of(self, at, until=()):
        """Behind the expression that begins there; `until`: words that end it besides."""
        start, depth = at, 0
        while at < len(self.tokens):
            word, _, _, kind = self.tokens[at]
            if depth == 0:
                if word in CLOSE or word in ("then", "do", ",", ";", "else", "elseif") or word in until:
                    return at
                starts = kind == "name" and word not in ("and", "or")
                if at > start and starts and self.ends_operand(at - 1):
                    return at
            depth += (word in OPEN) - (word in CLOSE)
            at += 1
        return at

    def count_condition(self, start, always=False):
        end = self.end_of(start)
        joints, depth = [], 0
        for at in range(start, end):
            word = self.tokens[at][0]
            depth += (word in OPEN) - (word in CLOSE)
            if depth == 0 and word in ("and", "or"):
                joints.append(at)
        joins = {self.tokens[at][0] for at in joints}
        is_choice = any(CONSTANT.match(self.words(at + 1, at + 2)) for at in joints)
        if not always and (len(joins) != 1 or is_choice or self.tokens[end:end + 1] and self.tokens[end][0] == ","):
            return
        if len(joins) == 2:
            joints = []
        is_and = joins != {"or"}
        bounds = [start] + [at + 1 for at in joints]
        ends = joints + [end]
        first = None
        for place, (begin, stop) in enumerate(zip(bounds, ends)):
            number = self.add(begin, f"{'not' if is_and else 'yes'}: {self.words(begin, stop)}")
            first = first or number
            if place > 0:
                joint = joints[place - 1]
                self.chained.add(joint)
                self.after[joint] = f" P({first}, {place}) and" if is_and else f" not P({first}, {place}) or"
        last = self.add(start, f"{'yes' if is_and else 'not'}: {self.words(start, end)}")
        self.before[start] = f"B({first}, {last}, {'true' if is_and else 'false'}, " + self.before[start]
        self.after[end - 1] += ")"

    def words(self, start, end):
        return " ".join(self.text[self.tokens[start][1]:self.tokens[end - 1][2]].split())


def main():
    source, copy, steps = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    copy.mkdir(parents=True, exist_ok=True)
    copier = Copier()
    for path in sorted(source.glob("*.lua")):
        if path.stem == "time":
            continue
        text = copier.copy(path.name, path.read_text())
        if path.stem == "formats":
            text = PRELUDE + text
        if path.stem in steps:
            text += POSTLUDE
        (copy / path.name).write_text(text)
    lines = [f"{number} {branch}\n" for number, branch in enumerate(copier.branches, 1)]
    (copy / "branches").write_text("".join(lines))


if __name__ == "__main__":
    main()
