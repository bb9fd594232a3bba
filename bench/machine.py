"""What the numbers were measured on."""

import os
import pathlib
import platform
import re
import subprocess
import time


def first_match(pattern, path):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(), re.MULTILINE)
    except OSError:
        return None
    return found.group(1).strip() if found else None


def first_line(*command):
    """Of what a command prints; None where it is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return (done.stdout or done.stderr).strip().split("\n")[0]


def describe_machine():
    memory = first_match(r"^MemTotal:\s*(\d+) kB", "/proc/meminfo")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": first_match(r"^model name\s*: (.*)$", "/proc/cpuinfo") or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(int(memory) / 1e6, 1) if memory else None,
        "kernel": platform.release(),
        "system": first_match(r'^PRETTY_NAME="(.*)"', "/etc/os-release"),
        "compiler": first_line("g++", "--version"),
        "redis": first_line("redis-server", "--version"),
        "load_before": round(os.getloadavg()[0], 2),
        "commit": first_line("git", "-C", str(pathlib.Path(__file__).parent), "rev-parse", "--short", "HEAD"),
    }
