"""Whether the first commands of the README work where people have their clones: in a folder called `airlock`, in a path
with spaces.

usage: checkout_test.py SOURCE
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest


def copy(source, target):
    """What git would check out, and what is not committed yet; without git, everything but what was built."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=source, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, check=False)
    if listed.returncode != 0:
        shutil.copytree(source, target, ignore=lambda folder, names: {"build"} & set(names))
        return
    for name in listed.stdout.splitlines():
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


class Checkout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="airlock test ")
        self.addCleanup(folder.cleanup)
        self.clone = pathlib.Path(folder.name) / "my code" / "airlock"
        copy(pathlib.Path(SOURCE), self.clone)

    def succeeds(self, *command):
        done = subprocess.run(command, cwd=self.clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, env={**os.environ, "CI": "1"})
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])

    def test_it_runs_and_its_tests_do(self):
        self.succeeds("./dev", "run")
        self.succeeds("ctest", "--preset", "dev", "-R",
                      "^(layers|snippets|reliability|chaos|mutants|command|command_run|command_screen)_test$")


if __name__ == "__main__":
    SOURCE = sys.argv.pop(1)
    unittest.main()
