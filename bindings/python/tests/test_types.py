"""Annotations and stubs: mypy accepts the package and the examples, refuses wrong calls, and stubs equal what is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import airlock
from conftest import DEADLINE

PACKAGE = Path(airlock.__file__).parent
EXAMPLES = Path(__file__).parent.parent / "examples"
# What exists for type checkers only.
STUBTEST_ALLOWED = "airlock\\._airlock\\.(Counts|RateState|Visit|_Wait).*\n"

WRONG = """
import airlock
store = airlock.open("memory:")
airlock.Bulkhead("memory:", "x", limit=1)
airlock.Bulkhead(store, "x", limit="1")
airlock.Bulkhead(store, "x", 1).try_acquire().fence
airlock.Lock(store, "x").acquire(timeout="1")
airlock.RateLimiter(store, "x", 100)
airlock.Lease()
"""

pytestmark = pytest.mark.process


def mypy(tmp_path: Path, *arguments: str, module: str = "mypy") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent),
                   "MYPY_CACHE_DIR": str(tmp_path / "cache")}
    return subprocess.run([sys.executable, "-m", module, *arguments], cwd=tmp_path, env=environment, text=True, capture_output=True,
                          timeout=5 * DEADLINE)


def test_mypy(tmp_path):
    right = mypy(tmp_path, "--strict", str(PACKAGE), *map(str, EXAMPLES.glob("*.py")))
    assert right.returncode == 0, right.stdout + right.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    lines = {int(line.split(":")[1]) for line in mypy(tmp_path, "--strict", str(wrong)).stdout.splitlines() if ": error:" in line}
    assert lines == {4, 5, 6, 7, 8}, lines


def test_stubs_equal_what_is_there(tmp_path):
    allowed = tmp_path / "allowed"
    allowed.write_text(STUBTEST_ALLOWED)
    done = mypy(tmp_path, "airlock._airlock", "--allowlist", str(allowed), "--ignore-unused-allowlist", module="mypy.stubtest")
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_public_is_documented():
    assert (PACKAGE / "py.typed").exists()
    for name in airlock.__all__:
        thing = getattr(airlock, name)
        assert name == "__version__" or thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"
