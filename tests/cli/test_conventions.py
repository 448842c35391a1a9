"""Commands, flags, help and exit codes: what scripts rely on."""
import subprocess
import tomllib

import pytest

from conftest import PROGRAM

HELP = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
COMMANDS = [line.split()[0] for line in HELP.split("Commands:\n")[1].split("\n\n")[0].split("\n")]


def test_no_command_and_unknown_command(poise):
    assert subprocess.run([PROGRAM], capture_output=True).returncode == 2
    assert "frobnicate" in poise("frobnicate", code=2).err
    assert "prepare" in poise("--help").out
    assert poise("--version").out.startswith("poise ")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(poise, command):
    text = poise(command, "--help").out
    assert "Example" in text and f"poise {command}" in text.split("Example")[1]


@pytest.mark.parametrize("arguments", [
    ("prepare",),
    ("prepare", "x", "--out", "y", "--no-such-flag"),
    ("prepare", "x", "--out", "y", "--target-share", "2"),
    ("prepare", "x", "--out", "y", "--target-share", "0"),
    ("prepare", "x", "--out", "y", "--target-share", "1"),
    ("prepare", "x", "--out", "y", "--target-share", "-0.1"),
    ("prepare", "x", "--out", "y", "--min-user-items", "-1"),
    ("prepare", "x", "--out", "y", "--split", "sideways"),
    ("prepare", "x", "--out", "y", "--split", "given"),
    ("prepare", "x", "--out", "y", "--test", "z"),
    ("prepare", "x", "--out", "y", "--export-values"),
    ("prepare", "x", "--out", "y", "--split", "none", "--export-pro-sg", "z"),
    ("prepare", "x", "--out", "y", "--columns", "a"),
    ("synth", "--like", "nothing", "--out", "y"),
    ("synth", "--like", "demo", "--scale", "0", "--out", "y"),
    ("train", "x", "--model", "psychic", "--out", "y"),
    ("doctor", "--threads", "0"),
    ("doctor", "--threads", "many"),
    ("doctor", "--memory-limit", "lots"),
    ("completion", "tcsh"),
    ("prepare", "x", "--out", "y", "--target-share", "nan"),
    ("prepare", "x", "--out", "y", "--keep-above", "nan"),
    ("prepare", "x", "--out", "y", "--keep-above", "-inf"),
    ("prepare", "x", "--out", "y", "--keep-above", "1e999"),
    ("prepare", "x", "--out", "y", "--columns", "a,b,c,d,e"),
    ("prepare", "x", "--out", "y", "--columns", "a,,c"),
    ("prepare", "x", "--out", ""),
    ("prepare", "", "--out", "y"),
    ("prepare", "x", "--out", "y", "--export-pro-sg", ""),
    ("prepare", "x", "--out", "y", "--split", "given", "--test", ""),
    ("prepare", "x", "--out", "y", "--seed", "-1"),
    ("synth", "--like", "demo", "--scale", "inf", "--out", "y"),
    ("synth", "--like", "demo", "--scale", "nan", "--out", "y"),
    ("synth", "--like", "demo", "--out", ""),
    ("train", "x", "--model", "popularity", "--out", ""),
    ("evaluate", "x", "y", "--per-user", ""),
    ("doctor", "--memory-limit", "0"),
    ("doctor", "--memory-limit", "63M"),
    ("doctor", "--memory-limit", "-1G"),
    ("doctor", "--memory-limit", "1X"),
    ("doctor", "--memory-limit", "1e400G"),
    ("doctor", "--seed", "x"),
    ("serve",),
    ("serve", "--demo", "--port", "70000"),
    ("serve", "--demo", "--host", "0.0.0.0"),
    ("serve", "--demo", "--rate-limit", "-1"),
    ("help", "frobnicate"),
])
def test_bad_flags(poise, arguments):
    assert len(poise(*arguments, code=2).err) < 300, "a sentence"


@pytest.mark.parametrize("text, size", [("1.5G", 3 << 29), ("64M", 64 << 20), ("100mb", 100 << 20), ("1 GiB", 1 << 30),
                                        ("0.5T", 1 << 39), ("100000000", 10**8), ("200000K", 200000 << 10)])
def test_memory_limit_units(poise, text, size):
    assert poise("doctor", "--memory-limit", text, "--json").json["memory_limit_bytes"] == size


def test_columns_leave_the_input_alone(poise, tmp_path, log):
    first = poise("prepare", "--columns", "user,item", log, "--out", tmp_path / "a", "--json").json
    second = poise("prepare", log, "--out", tmp_path / "b", "--columns", "user,item", "--json").json
    assert first == second


def test_seed_is_a_shared_flag(poise, tmp_path, data, model):
    poise("train", data, "--model", "popularity", "--seed", 7, "--out", tmp_path / "seeded")
    assert (tmp_path / "seeded").read_bytes() == model.read_bytes()
    poise("evaluate", model, data, "--seed", 7)


def test_contradicting_flags(poise, tmp_path, log):
    poise("prepare", log, "--out", tmp_path / "d", "--split", "given", "--test", log, "--min-user-items", "3", code=2)
    poise("prepare", log, "--out", tmp_path / "d", "--split", "none", "--held-out-users", "3", code=2)
    poise("prepare", log, "--columns", "user,item", "--keep-above", "3", "--out", tmp_path / "d", code=2)


def test_values_too_few_or_too_many(poise):
    assert "poise: --model needs a value;" in poise("train", "x", "--out", "y", "--model", code=2).err
    assert "poise: --out is given too often" in poise("train", "x", "--model", "wmf", "--out", "y", "--out", "z", code=2).err


def test_flags_come_after_the_command(poise):
    assert "the command comes before --threads" in poise("--threads", 2, "doctor", code=2).err


def test_an_argument_too_many(poise):
    assert "'extra' is one argument too many" in poise("info", "x", "extra", code=2).err


# Enough of each command for its options to be printed; a second line has options that go with others.
COMMAND_LINES = [
    ("synth", "--like", "demo", "--out", "x.csv"),
    ("prepare", "a.csv", "b.csv", "--out", "data"),
    ("prepare", "a.csv", "--out", "data", "--split", "given", "--test", "t.csv", "--keep-above", "-1", "--delimiter", ","),
    ("train", "data", "--model", "full-rank", "--out", "m"),
    ("certify", "m", "data"),
    ("update", "m", "data", "--log", "new.csv"),
    ("train", "data", "--model", "ease", "--out", "m", "--lambda", "1e3", "--keep-top", "5"),
    ("search", "data", "--model", "wmf"),
    ("search", "data", "--model", "wmf", "--lambda", "1,2.5", "--weighting", "log,constant", "--rank", "3"),
    ("study", "data", "more", "--out", "s"),
    ("study", "data", "--out", "s", "--models", "ease,wmf", "--compare-paper", "msd", "--time-limit", "2h", "--no-expand"),
    ("evaluate", "m", "data"),
    ("recommend", "m", "--items", "a,b"),
    ("recommend", "m", "--items", "a"),
    ("recommend", "m", "--history", "h.txt", "-k", "3", "--explain"),
    ("recommend", "m", "--histories", "h.csv", "--columns", "a,b", "--header", "yes", "--skip-bad-lines"),
    ("similar", "m", "--item", "007"),
    ("serve", "m"),
    ("serve", "--demo"),
    ("serve", "m", "wmf=w", "--ab", "wmf=0.1", "--allow-host", "a", "--allow-host", "b", "--rate-limit", "2.5", "--watch"),
    ("export", "m", "--item-factors", "f.npy"),
    ("info", "m"),
    ("doctor", "--threads", "2", "--memory-limit", "2G"),
    ("completion", "bash"),
    ("completion", "fish"),
]


def test_every_command_has_a_line_to_print():
    assert {line[0] for line in COMMAND_LINES} >= set(COMMANDS)


@pytest.mark.parametrize("line", COMMAND_LINES, ids=" ".join)
def test_print_config_is_read_back(poise, tmp_path, line):
    command, *arguments = line
    text = poise(command, *arguments, "--print-config").out
    tomllib.loads(text)
    (tmp_path / "printed.toml").write_text(text)
    assert poise(command, "--config", tmp_path / "printed.toml", "--print-config").out == text
    # Some programs begin every text with a byte-order mark.
    (tmp_path / "marked.toml").write_text("\ufeff" + text)
    assert poise(command, "--config", tmp_path / "marked.toml", "--print-config").out == text
