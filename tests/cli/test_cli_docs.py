"""docs/cli.md is what the program says of itself."""
import pathlib
import subprocess
import sys

from conftest import PROGRAM

ROOT = pathlib.Path(__file__).parents[2]


def test_the_page_is_current():
    ran = subprocess.run([sys.executable, ROOT / "scripts" / "cli-docs.py", PROGRAM, "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
