"""Manual pages, and completion in zsh and fish, by these programs themselves where they are installed."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import HANG, PROGRAM, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELP = run("--help").out
COMMANDS = [line.split()[0] for line in HELP.split("Commands:\n")[1].split("\n\n")[0].split("\n")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, ROOT / "scripts" / "cli-docs.py", PROGRAM, "--man", folder], check=True, timeout=HANG)
    return folder


def test_every_command_has_a_page(pages):
    assert {page.name for page in pages.iterdir()} == {"poise.1", *(f"poise-{command}.1" for command in COMMANDS)}


def test_pages_name_every_flag(pages):
    text = (pages / "poise-train.1").read_text().replace("\\-", "-")
    for flag in ("--lambda", "--zero-diagonal", "--weighting", "--threads"):
        assert f"\n.B {flag}" in text, flag
    assert ".SH SYNOPSIS\n.B poise train" in text and ".SH EXAMPLE" in text


@pytest.mark.skipif(shutil.which("man") is None, reason="man-db is not installed")
def test_man_shows_pages_without_warnings(pages):
    for page in sorted(pages.iterdir()):
        out = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], capture_output=True, text=True, timeout=HANG,
                             env={**os.environ, "MANROFFSEQ": "", "MANWIDTH": "120", "LC_ALL": "C.UTF-8"})
        assert out.returncode == 0 and out.stderr == "", (page.name, out.stderr)
        assert "NAME" in out.stdout and "SYNOPSIS" in out.stdout


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(tmp_path):
    script = tmp_path / "poise.fish"
    script.write_text(run("completion", "fish").out)

    def complete(line):
        out = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], capture_output=True, text=True,
                             timeout=HANG, cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)})
        assert out.returncode == 0 and out.stderr == "", out.stderr
        return [each.split("\t")[0] for each in out.stdout.splitlines()]

    assert set(complete("poise ")) >= {*COMMANDS, "help"}
    assert complete("poise ev") == ["evaluate"]
    assert "--lambda" in complete("poise train x --lam")
    assert complete("poise train --weighting in") == ["inverse-popularity"]
    assert set(complete("poise completion ")) == {"bash", "zsh", "fish"}
    (tmp_path / "folder").mkdir()
    assert "folder/" in complete("poise train fol")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh(tmp_path):
    """zsh completes only at a terminal; here its functions are replaced by ones that print what they were given."""
    script = tmp_path / "_poise"
    script.write_text(run("completion", "zsh").out)
    assert subprocess.run(["zsh", "-n", script], capture_output=True, text=True).stderr == ""
    harness = f"""
_describe() {{ print -l -- $commands }}
_arguments() {{ print -l -- "$@" }}
compdef() {{ : }}
source {script}
words=("$@"); CURRENT=$#
_poise
"""

    def given(*words):
        out = subprocess.run(["zsh", "-f", "-c", harness, "zsh", *words], capture_output=True, text=True, timeout=HANG)
        assert out.returncode == 0 and out.stderr == "", out.stderr
        return out.stdout

    assert all(f"{command}:" in given("poise", "") for command in COMMANDS)
    text = given("poise", "train", "x", "--")
    assert "--lambda[" in text and "(-h --help)--help[" in text and "inverse-popularity" in text
    assert "*:argument:(bash zsh fish)" in given("poise", "completion", "")
