"""Help: a page for each command that fits a screen, and from there every option is found."""
import re

import pytest
from conftest import run

LINES, COLUMNS = 40, 100
NAMES = [line.split()[0] for line in run("--help").out.split("Commands:\n")[1].split("\n\n")[0].split("\n")]
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")


def completed_options(command):
    """The options of a command as its shell completion knows them, which does not come from the help."""
    script = run("completion", "bash").out
    return set(re.search(rf"^    {command}\)\n.*?flags=\"([^\"]*)\"", script, re.S | re.M)[1].split())


def groups(page):
    """The groups that a first page names, each with its options."""
    lines = page.split("`--help all`:\n")[1].split("\n\n")[0].split("\n")
    found = {}
    for line in lines:
        if not line.startswith("   "):
            name = line.split()[0]
        found.setdefault(name, set()).update(OPTION.findall(line))
    return found


def labels(page):
    """The options that have a line of their own."""
    return {name for line in page.split("\n") if line.startswith("  -") for name in OPTION.findall(line.strip().split("  ")[0].split(" ")[0])}


@pytest.mark.parametrize("arguments", [(), *((name,) for name in NAMES)], ids=lambda words: " ".join(words) or "poise")
def test_a_first_page_fits_a_screen(poise, arguments):
    lines = poise(*arguments, "--help").out.rstrip("\n").split("\n")
    assert len(lines) <= LINES, f"{len(lines)} lines"
    assert [line for line in lines if len(line) > COLUMNS] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_an_example_fits_80_columns(poise, name):
    for topic in [[], *([group] for group in groups(poise(name, "--help").out)), ["all"]]:
        text = poise(name, "--help", *topic).out
        options = text.split("\nExample")[0].split("\n")
        assert [line for line in options if line.startswith((" ", "poise ", "Usage", "More")) and len(line) > 80] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_on_a_page(poise, name):
    first = poise(name, "--help").out
    main, others = labels(first), groups(first)
    for group, options in others.items():
        page = poise(name, "--help", group).out
        assert options and options <= labels(page), group
        assert not options & main, "an option is in one place"
        main |= labels(page)
    assert main == completed_options(name)
    assert labels(poise(name, "--help", "all").out) == main


@pytest.mark.parametrize("name", NAMES)
def test_every_option_has_a_page(poise, name):
    for option in completed_options(name):
        text = poise(name, "--help", option.lstrip("-")).out
        assert option in text.split("\n")[0].replace(",", " ").split() and len(text.split("\n")) >= 2, text


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_topic(poise, name):
    error = poise(name, "--help", "frobnicate", code=2).err
    assert f"`poise {name} --help` knows no 'frobnicate'; it takes one of " in error and ", all, or" in error and len(error) < 300
    assert all(group in error for group in groups(poise(name, "--help").out))


def test_slips_in_topics(poise):
    assert "did you mean 'weights'?" in poise("train", "--help", "wieghts", code=2).err
    assert "did you mean 'lambda'?" in poise("help", "train", "lamda", code=2).err


def test_where_help_is_asked_for(poise):
    first, weights = poise("train", "--help").out, poise("train", "--help", "weights").out
    assert first == poise("help", "train").out == poise("--help", "train").out == poise("train", "data", "-h").out
    assert first == poise("train", "--help", "--no-such-flag").out == poise("train", "--threads", "x", "--help").out
    assert weights == poise("help", "train", "weights").out == poise("train", "--help=weights").out == poise("train", "x", "-h", "weights").out
    assert "knows no 'data'" in poise("train", "--help", "data", code=2).err


def test_usage_names_what_is_required(poise):
    assert "Usage: poise train DATA --out FILE --model NAME [OPTIONS]\n" in poise("train", "--help").out
    assert "(--items ID,... | --history FILE |" in poise("recommend", "--help").out
    assert "Usage: poise serve [MODEL...] [OPTIONS]\n" in poise("serve", "--help").out


def test_details_of_an_option(poise):
    text = " ".join(poise("train", "--help", "model").out.split())
    assert "matrix factorization" in text and "full-rank-features" in text
    weighting = " ".join(poise("train", "--help", "weighting").out.split())
    assert "one of constant, none, linear, log" in weighting and "(default: constant)" in weighting
    assert "needs --histories" in " ".join(poise("recommend", "--help", "delimiter").out.split())
    assert "(default: auto)" in poise("doctor", "--help", "device").out and "(default: 8080)" in poise("serve", "--help").out
