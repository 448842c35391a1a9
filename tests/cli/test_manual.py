"""The manual: every command runs, every flag exists, every link leads somewhere.

A block of `sh` is run, page by page in one folder. Commands in other blocks and within sentences (foreign data, a GPU, several machines) are not: their
flags are looked up. Where a page ends with a server, it is started and asked what the page asks."""
import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from conftest import HANG, PROGRAM, run
from serving import serving

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.S | re.M)


RUN = [page for page in PAGES if blocks(page, "sh")]
SERVED = ["quick-start.md", "serve.md"]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
# Flags of other programs that the pages name.
FOREIGN = {"--allow-run-as-root", "--benchmark_filter", "--bind-to", "--cflags", "--libs", "--map-by", "--mca", "--mpi", "--preset", "--requeue", "--scales"}


def run_page(page, folder):
    program = folder / "bin"
    program.mkdir()
    (program / "poise").symlink_to(os.path.abspath(PROGRAM))
    here = folder / "here"
    here.mkdir()
    script = "set -eu\n" + "\n".join(blocks(page, "sh"))
    ran = subprocess.run(["sh", "-c", script], cwd=here, capture_output=True, text=True, timeout=HANG,
                         env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"})
    assert ran.returncode == 0, ran.stderr
    return here, ran.stdout


@pytest.mark.parametrize("page", [page for page in RUN if page.name not in [*SERVED, "README.md"]], ids=lambda page: page.name)
def test_commands_run(page, tmp_path):
    run_page(page, tmp_path)


def comparable(text):
    """Lines without times and memory, and the other numbers: those with an exponent depend on rounding."""
    text = re.sub(r"[\d.]+ (s|GB)\b|[\d.]+e[-+]\d+", "#", text)
    return re.sub(r"\d+\.\d+", "#", text), [float(each) for each in re.findall(r"\d+\.\d+", text)]


def test_the_readme_shows_what_its_commands_print(tmp_path):
    page = ROOT / "README.md"
    printed, shown = comparable(run_page(page, tmp_path)[1]), comparable(blocks(page, "text")[0])
    assert printed[0] == shown[0] and printed[1] == pytest.approx(shown[1], rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("name", SERVED)
def test_commands_run_to_a_server(name, tmp_path, monkeypatch):
    page = ROOT / "docs" / name
    monkeypatch.chdir(run_page(page, tmp_path)[0])
    lines = [shlex.split(line, comments=True) for block in blocks(page, "console") for line in block.splitlines()]
    start = next(words for words in lines if words[:2] == ["poise", "serve"] and "--demo" not in words)
    asked = [words for words in lines if words[:1] == ["curl"]]
    assert asked
    with serving(tmp_path, *start[2:]) as server:
        for words in asked:
            address = next(word for word in words if word.startswith("http://127.0.0.1:8080"))
            path = address.removeprefix("http://127.0.0.1:8080")
            answer = server.post(path, json.loads(words[words.index("-d") + 1])) if "-d" in words else server.get(path)
            assert answer.get("recommendations") or answer.get("similar") or answer.get("items"), (words, answer)


def test_the_manual_has_commands():
    assert {page.name for page in RUN} >= {"quick-start.md", "data.md", "models.md", "large-catalogues.md", *SERVED}


def flags_of(help_text):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", help_text))


@pytest.fixture(scope="module")
def known():
    """The flags of each command."""
    names = re.findall(r"^  ([a-z]+) ", run("--help").out.split("Commands:\n")[1].split("\n\n")[0], re.M)
    return {name: flags_of(run(name, "--help", "all").out) for name in names}


def code_of(text):
    """The lines of blocks that are not run, and what stands between backticks in sentences."""
    text = re.sub(r"\\\n\s*", " ", text)
    lines = [line for language, block in FENCED.findall(text) if language != "sh" for line in block.splitlines()]
    rest = FENCED.sub("", text)
    lines += re.findall(r"^    (.*)$", rest, re.M)
    return lines, re.findall(r"`([^`\n]+)`", re.sub(r"^    .*$", "", rest, flags=re.M))


def wrong_flags(text, known):
    lines, words = code_of(text)
    for line in lines + words:
        for command, arguments in re.findall(r"(?:^|&& |\| |mpirun .*|srun .*|-v )(?:\S*/)?poise ([a-z]+)\b([^&|;]*)", line):
            flags = {each.split("=")[0] for each in re.split("  #", arguments)[0].split() if re.match(r"--?[a-z]", each)}
            if command not in known or not flags <= known[command]:
                yield line
    every = set().union(*known.values(), {"--version"}, FOREIGN)
    yield from (word for word in words if not set(re.findall(r"(?<![\w-])--[a-z][\w-]*", word)) <= every)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_flags_exist(page, known):
    assert list(wrong_flags(page.read_text(), known)) == []


def test_a_wrong_flag_is_seen(known):
    wrong = ["poise trian x", "poise train x --lamda 5", "mpirun -n 2 poise study x --rank 5", "curl x && poise info --k 5"]
    text = "\n\n".join(["A `--lamda` in a sentence.", *(f"    {line}" for line in wrong), "```console\npoise train x \\\n  --alhpa 2\n```"])
    assert set(wrong_flags(text, known)) == {"--lamda", *wrong, "poise train x  --alhpa 2"}
    assert list(wrong_flags("`--lambda`\n\n    poise train x --lambda 5 && poise evaluate m x  # --any\n", known)) == []


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in [*(page for page in PAGES if page.name != "cli.md"), *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]:
        lines, words = code_of(page.read_text()) if page.suffix == ".md" else (page.read_text().splitlines(), [])
        named = {name for line in lines + words for name in re.findall(r"(?:^|&& |run: )\s*make ([a-z][a-z-]*)", line)}
        assert named <= targets, page


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
