"""Every example runs and prints what its `# expect: REGEX` lines say, in their order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import DEADLINE

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.process
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    expected = re.findall(r"^# expect: (.*)$", path.read_text(), re.MULTILINE)
    assert expected
    done = subprocess.run([sys.executable, "-W", "error", str(path)], text=True, capture_output=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    assert re.search(".*".join(expected), done.stdout, re.DOTALL), done.stdout
