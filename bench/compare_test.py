#!/usr/bin/env python3
"""Whether ./dev bench --compare takes turns, sees what changed and keeps its hands off the caller's work."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import compare  # noqa: E402
import program  # noqa: E402

class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        quiet = contextlib.redirect_stderr(io.StringIO())
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)


class Programs:
    """Two that answer with these times of rows, one after the other."""

    def __init__(self, **times):
        self.times = times
        self.log = []

    def measure(self, name, title, quick):
        assert quick
        if title not in self.times[name]:
            return None
        some = self.times[name][title]
        self.log.append(name)
        return {"name": title, "value": some[(self.log.count(name) - 1) % len(some)]}

    def compare(self, *titles):
        return compare.Comparison("old", "new", 6, self.measure).run(titles)


class Comparison(Folder):
    def test_the_two_take_turns(self):
        programs = Programs(old={"a": [10]}, new={"a": [10]})
        programs.compare("a")
        self.assertEqual(programs.log, 3 * ["old", "new", "new", "old"])

    def test_a_clear_change_is_measured_twice_as_often_and_named(self):
        fast, slow = {"a": [10, 11]}, {"a": [20, 21]}
        for old, new, word in [(fast, slow, "worse"), (slow, fast, "better")]:
            rows = Programs(old=old, new=new).compare("a")
            self.assertEqual([(row["change"], row["passes"]) for row in rows], [(word, 12)])

    def test_noise_is_not_a_change(self):
        rows = Programs(old={"a": [100, 101]}, new={"a": [101, 102, 99]}).compare("a")
        self.assertEqual([(row["change"], row["passes"]) for row in rows], [("same", 6)])

    def test_a_noisy_row_is_measured_again_and_then_is_unclear(self):
        rows = Programs(old={"a": [10, 11, 12]}, new={"a": [10, 12, 11, 14]}).compare("a")
        self.assertEqual([(row["change"], row["passes"]) for row in rows], [("unclear", 24)])

    def test_a_row_that_only_the_new_one_has_is_left_out_and_said(self):
        rows = Programs(old={"a": [10]}, new={"a": [10], "b": [10]}).compare("a", "b")
        self.assertEqual([row["name"] for row in rows], ["a"])
        self.assertIn("not compared, the old commit does not have it: b", compare.table(rows, ["b"]))


class Measure(Folder):
    def program(self, script):
        path = self.folder / "program"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return path

    def test_the_row_of_exactly_that_name_counts(self):
        path = self.program("""echo '[{"name": "ab", "value": 1}, {"name": "a", "value": 2}]' >"$5"\n""")
        self.assertEqual(program.measure(path, "a", quick=True), {"name": "a", "value": 2})
        self.assertIsNone(program.measure(path, "b", quick=True))

    def test_a_program_without_that_row_says_so_by_its_status(self):
        self.assertIsNone(program.measure(self.program("exit 2\n"), "a", quick=True))

    def test_a_program_that_fails_is_an_error_with_its_words(self):
        path = self.program("echo 'no redis-server' >&2\nexit 1\n")
        with self.assertRaisesRegex(program.Failure, "no redis-server"):
            program.measure(path, "a", quick=True)


class CheckOut(Folder):
    def git(self, *words):
        options = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", *options, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def commit(self, text):
        (self.folder / "file").write_text(text)
        self.git("add", "file")
        self.git("commit", "-m", text)
        return compare.resolve(self.folder, "HEAD")

    def setUp(self):
        super().setUp()
        self.git("init")
        self.first, self.second = self.commit("first"), self.commit("second")
        (self.folder / "file").write_text("not committed")
        self.tree = self.folder / "build/compare/tree"

    def test_commits_go_to_a_tree_that_is_kept(self):
        for commit, text in [(self.first, "first"), (self.second, "second"), (self.first, "first")]:
            compare.check_out(self.folder, commit, self.tree)
            self.assertEqual((self.tree / "file").read_text(), text)
        self.assertEqual((self.folder / "file").read_text(), "not committed")

    def test_a_folder_that_is_no_work_tree_does_not_cost_the_callers_work(self):
        self.tree.mkdir(parents=True)
        with self.assertRaisesRegex(program.Failure, "starts afresh"):
            compare.check_out(self.folder, self.first, self.tree)
        self.assertEqual((self.folder / "file").read_text(), "not committed")

    def test_a_tree_that_was_removed_is_made_again(self):
        compare.check_out(self.folder, self.first, self.tree)
        subprocess.run(["rm", "-r", self.tree], check=True)
        compare.check_out(self.folder, self.second, self.tree)
        self.assertEqual((self.tree / "file").read_text(), "second")

    def test_an_unknown_commit_is_named(self):
        with self.assertRaisesRegex(program.Failure, "no such commit: nowhere"):
            compare.resolve(self.folder, "nowhere")


class Usage(Folder):
    def test_too_few_passes(self):
        with self.assertRaises(SystemExit) as raised:
            compare.parse(["--compare", "main", "--passes", "5"])
        self.assertEqual(raised.exception.code, 2)

    def test_growth_is_left_out_unless_rows_are_chosen(self):
        self.assertEqual(compare.parse(["--compare", "main"]).without, "growth: ")
        self.assertEqual(compare.parse(["--compare", "main", "--filter", "growth"]).without, "")


if __name__ == "__main__":
    unittest.main()
