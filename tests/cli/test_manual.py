"""The manual: every command runs, every flag exists, every link leads somewhere.

A block of `sh` is run, page by page in one folder. A block of `console` (foreign data, a GPU, several machines) is not: its flags are looked up."""
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from conftest import HANG, PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.S | re.M)


RUN = [page for page in PAGES if blocks(page, "sh")]
CHECKED = [page for page in PAGES if blocks(page, "console")]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_commands_run(page, tmp_path):
    program = tmp_path / "bin"
    program.mkdir()
    (program / "poise").symlink_to(os.path.abspath(PROGRAM))
    folder = tmp_path / "here"
    folder.mkdir()
    script = "set -eu\n" + "\n".join(blocks(page, "sh"))
    ran = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, timeout=HANG,
                         env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"})
    assert ran.returncode == 0, ran.stderr


def test_the_manual_has_commands():
    assert {page.name for page in RUN} >= {"quick-start.md", "data.md", "models.md", "large-catalogues.md"}


@pytest.mark.parametrize("page", CHECKED, ids=lambda page: page.name)
def test_flags_exist(page):
    for line in re.sub(r"\\\n\s*", " ", "\n".join(blocks(page, "console"))).splitlines():
        words = shlex.split(line, comments=True)
        if "poise" not in words:
            continue
        command, *arguments = words[words.index("poise") + 1:]
        known = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True).stdout))
        flags = {argument.split("=")[0] for argument in arguments if re.match(r"--?[a-z]", argument)}
        assert flags <= known, f"{line}: {sorted(flags - known)}"


def anchors(page):
    """The anchors of a page's headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in re.findall(r"^#+ (.*)$", text, re.M)}


def broken_links(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        if not other.exists() or (anchor and other.suffix == ".md" and anchor not in anchors(other)):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    assert list(broken_links(page)) == []


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One thing\n[a](#one-thing) [b](#another) [c](missing.md) [d](https://example.org)\n")
    assert list(broken_links(page)) == ["#another", "missing.md"]
